"""What jobs requested, and what they used of it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gwa.analysis.base import analyses
from gwa.store.store import Store
from tests.analysis.sections.blocks import START, facts


def test_requested_and_used_are_compared_job_by_job(section, make_store):
    store = make_store(
        submit_time=[START] * 5,
        run_time=[3600.0, 60.0, 7300.0, 100.0, None],
        n_procs=[1, 2, 1, 1, 1],
        req_time=[3600.0, 3600.0, 7200.0, None, 3600.0],
        req_memory=[100.0, 200.0, None, 0.0, 50.0],
        used_memory=[50.0, 300.0, 10.0, 10.0, None],
        average_cpu_time=[1800.0, 60.0, 7300.0, None, None],
    )
    made = section("estimates", store)
    found = facts(made)

    assert found["estimates.time.median"] == pytest.approx(1.0)
    assert found["estimates.time.max"] == pytest.approx(1.01)
    assert found["estimates.time.limit"] == pytest.approx(2 / 3)
    assert found["estimates.time.below_tenth"] == pytest.approx(1 / 3)
    assert found["estimates.time.overall"] == pytest.approx((3600 + 120 + 7300) / (3600 + 7200 + 7200))
    assert (found["estimates.memory.min"], found["estimates.memory.max"]) == (0.5, 1.5)
    assert found["estimates.cpu.mean"] == pytest.approx(2.5 / 3)
    assert found["estimates.modal"][0] == {"req_time": 3600, "jobs": 3, "share": 0.75}
    assert found["estimates.modal_share"] == 1


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(0, 9e3), min_size=1, max_size=9))
def test_ratios_are_counted_to_three_digits(values):
    by_id = {one.id: one for one in analyses()}
    with Store.create() as store:
        store.begin(["job_id", "run_time", "n_procs", "req_time"])
        store.insert("recorded", [(place, value, 1, 1.0) for place, value in enumerate(values)])
        found = facts(by_id["estimates"].section(store))
    ends = [found["estimates.time.min"], found["estimates.time.max"]]

    assert ends == pytest.approx([min(values), max(values)], rel=5.1e-3, abs=0.51e-3)
    assert all(float(f"{end:.3g}") == end for end in ends)
