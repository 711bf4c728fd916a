"""What is measured in each interval, against NumPy."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gwa.metrics.interval_values import interval_values
from gwa.metrics.intervals import Intervals, Stretches
from gwa.store.store import Store
from tests.conftest import examples

RUN_TIMES = st.one_of(
    st.sampled_from([0.0, 1.0, 2.0, 8.0, 9.0, 100.0]), st.floats(0, 1e6, allow_subnormal=False)
)
JOBS = st.lists(
    st.tuples(st.floats(0, 400), st.none() | RUN_TIMES, st.integers(1, 5)), min_size=1, max_size=40
)
HUNDREDS = Intervals(0.0, 4, None, 100.0)


@examples(80)
@given(JOBS)
def test_run_times_are_medians_and_processors_means_of_the_jobs_submitted(jobs):
    with Store.create() as store:
        store.begin(["job_id", "submit_time", "run_time", "n_procs"])
        store.connection.executemany(
            "insert into recorded values (?, ?, ?, ?)", [(number, *job) for number, job in enumerate(jobs)]
        )
        values = interval_values(store, HUNDREDS)

    ran = [(submit, run, procs) for submit, run, procs in jobs if run is not None]
    of_interval = [[one for one in ran if one[0] // 100 == place] for place in range(HUNDREDS.count)]
    for name, column, summary in (("runtime", 1, np.median), ("processors", 2, np.mean)):
        expected = [summary([job[column] for job in part]) if part else np.nan for part in of_interval]
        found = values.get(name, np.full(HUNDREDS.count, np.nan))
        np.testing.assert_array_equal(found, expected)


BORDERS = st.lists(st.integers(0, 400), min_size=2, max_size=6, unique=True).map(sorted)


@examples(40)
@given(
    BORDERS,
    st.lists(
        st.tuples(
            st.floats(0, 400),
            st.none() | st.integers(-1, 50),
            st.integers(0, 60),
            st.integers(1, 5),
            st.sampled_from([None, 0, 1, 5]),
        ),
        min_size=1,
        max_size=30,
    ),
)
def test_waits_and_core_hours_in_stretches_of_any_length(borders, jobs):
    """Median waits are of jobs submitted in a stretch, core-hours of those that ended in it."""
    stretches = Stretches(tuple(map(float, borders)))
    with Store.create() as store:
        store.begin(["job_id", "submit_time", "wait_time", "run_time", "n_procs", "status"])
        store.connection.executemany(
            "insert into recorded values (?, ?, ?, ?, ?, ?)",
            [(number, *job) for number, job in enumerate(jobs)],
        )
        values = interval_values(store, stretches)

    def expected(measured):
        return [measured(low, high) for low, high in pairwise(borders)]

    def median_wait(low, high):
        waits = [wait for submit, wait, *_ in jobs if low <= submit < high and wait is not None and wait >= 0]
        return np.median(waits) if waits else np.nan

    def failed(low, high):
        spent = {True: 0, False: 0}
        for submit, wait, run, procs, status in jobs:
            if low <= submit + (wait or 0) + run < high and status is not None:
                spent[status == 0] += run * procs
        total = sum(spent.values())
        return spent[True] / total if total else np.nan

    unknown = np.full(stretches.count, np.nan)
    np.testing.assert_allclose(values.get("median_wait", unknown), expected(median_wait))
    if any(status == 0 for *_, status in jobs):
        np.testing.assert_allclose(values.get("failed", unknown), expected(failed))
    else:
        assert "failed" not in values
