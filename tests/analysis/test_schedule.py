"""Jobs are placed as a cluster could have run them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.analysis.sections.fits import fits
from gwa.analysis.sections.schedule import schedule
from gwa.analysis.sections.sizes_and_run_times import sizes_and_run_times
from gwa.report.document import Figure
from gwa.report.figures.gantt import placed

JOBS = st.lists(
    st.tuples(st.integers(0, 50), st.integers(0, 20), st.integers(1, 9)), min_size=1, max_size=40
).map(lambda jobs: [(float(a), float(a + b), c, f"u{n}") for n, (a, b, c) in enumerate(sorted(jobs))])


@given(JOBS)
def test_every_job_has_its_processors_alone_and_none_is_left_free_below(jobs):
    bars = placed(jobs)

    for start, end, procs, user in jobs:
        own = [bar for bar in bars if bar[4] == user]
        taken = {place for _, _, low, high, _ in own for place in range(low, high)}
        others = {
            place
            for begin, until, low, high, other in bars
            if other != user and begin <= start < until and int(other[1:]) < int(user[1:])
            for place in range(low, high)
        }
        assert len(taken) == procs
        assert all(bar[:2] == (start, end) for bar in own)
        assert not taken & others
        assert set(range(max(taken))) <= taken | others


def figure(section):
    """Return the only figure of a section."""
    (found,) = (block for block in section.blocks if isinstance(block, Figure))
    return found


def test_a_crowd_that_ran_before_is_left_out_and_said_to_be(make_store):
    before, after = 150, 300
    store = make_store(
        submit_time=[0.0] * before + [86400.0 + n for n in range(after)],
        run_time=[1e6] * before + [10.0] * after,
        n_procs=[2] * (before + after),
    )
    found = figure(schedule.section(store))

    assert found.data["period"] == [86400.0, 86400.0 + 199]
    assert "left out" in found.note
    assert "200 jobs that start" in found.alt


def test_jobs_that_start_at_once_are_drawn_until_half_of_them_have_ended(make_store):
    store = make_store(
        submit_time=[n / 100 for n in range(300)], run_time=[500.0 + n for n in range(300)], n_procs=[1] * 300
    )
    found = figure(schedule.section(store))

    assert found.data["period"] == pytest.approx([0.0, 601.0])
    assert found.note == "Only 200 of the jobs that start are drawn."


def test_jobs_are_counted_by_size_and_run_time(make_store):
    store = make_store(
        submit_time=[1.0] * 6, run_time=[0.0, 1.0, 10.0, 12.0, 99.0, None], n_procs=[1, 1, 4, 5, 8, 8]
    )
    cells = figure(sizes_and_run_times.section(store)).data["cells"]

    assert cells == [[0, 0, 2], [4, 2, 2], [7, 3, 1]]


def test_a_tail_is_what_the_distribution_leaves(make_store):
    times = [float(2**n) for n in range(1, 12)] * 5
    store = make_store(submit_time=[60.0 * n for n in range(55)], run_time=times, n_procs=[1] * 55)
    tail = next(
        block
        for block in fits.section(store).blocks
        if isinstance(block, Figure) and block.id == "fit-runtime-ccdf"
    )
    data: Any = tail.data
    curve = data["lines"][0]

    assert curve["x"] == pytest.approx([2**n for n in range(1, 11)])
    assert curve["y"] == pytest.approx([1 - n / 11 for n in range(1, 11)], rel=1e-4)


def test_the_schedule_begins_at_midnight_by_the_clock_of_the_trace(make_store):
    midnight = 852_076_800.0 - 3600.0  # 1 January 1997 in Stockholm
    header = (("Times", "Unix seconds, UTC"), ("TimeZoneString", "Europe/Stockholm"))
    moments = [midnight + 600.0 * n for n in range(9)]
    store = make_store(header, submit_time=moments, run_time=[5000.0] * 9, n_procs=[1] * 9)
    assert figure(schedule.section(store)).data["period"][0] == midnight
