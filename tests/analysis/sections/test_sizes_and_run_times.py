"""Jobs by size and run time."""

from gwa.analysis.sections.sizes_and_run_times import sizes_and_run_times
from tests.analysis.sections.blocks import figure


def test_jobs_are_counted_by_size_and_run_time(make_store):
    store = make_store(
        submit_time=[1.0] * 6, run_time=[0.0, 1.0, 10.0, 12.0, 99.0, None], n_procs=[1, 1, 4, 5, 8, 8]
    )
    cells = figure(sizes_and_run_times.section(store)).data["cells"]

    assert cells == [[0, 0, 2], [4, 2, 2], [7, 3, 1]]
