"""What is measured in each interval, against NumPy."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gwa.metrics.interval_values import interval_values
from gwa.metrics.intervals import Intervals
from gwa.store.store import Store

RUN_TIMES = st.one_of(
    st.sampled_from([0.0, 1.0, 2.0, 8.0, 9.0, 100.0]), st.floats(0, 1e6, allow_subnormal=False)
)
JOBS = st.lists(
    st.tuples(st.floats(0, 400), st.none() | RUN_TIMES, st.integers(1, 5)), min_size=1, max_size=40
)
HUNDREDS = Intervals(0.0, 4, None, 100.0)


@settings(max_examples=80, deadline=None)
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
