"""What jobs held of a resource, against sums over the jobs themselves: those that run still count, too."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.metrics.stillness import known_area
from gwa.metrics.usage import holding, known_mean, usage
from gwa.metrics.window import window
from gwa.store.resources import GPU, NODE
from gwa.store.store import Store
from tests.claims.machine import Machine
from tests.claims.worlds import DAY, MONDAY
from tests.conftest import examples

HOUR = 3600

JOBS = st.lists(
    st.fixed_dictionaries(
        {
            "submit_time": st.integers(0, 500),
            "wait_time": st.one_of(st.none(), st.integers(0, 90)),
            "run_time": st.one_of(st.none(), st.integers(0, 200)),
            "n_gpus": st.one_of(st.none(), st.sampled_from([0.0, 0.5, 2.0])),
            "status": st.sampled_from([None, 0, 1]),
        }
    ),
    min_size=1,
    max_size=15,
)


def store_of(jobs):
    store = Store.create()
    store.begin(["job_id", "submit_time", "wait_time", "run_time", "n_nodes", "n_gpus", "status"])
    names = [name for name, *_ in store.rows("describe recorded")]
    rows = [{"job_id": number, "n_nodes": 1, **job} for number, job in enumerate(jobs, 1)]
    store.insert("recorded", [[row[name] for name in names] for row in rows])
    return store


def lives(jobs):
    """Return the GPUs, the start and the end of each job that held some, and whether it had not ended."""
    last = max(job["submit_time"] + (job["wait_time"] or 0) + (job["run_time"] or 0) for job in jobs)
    is_told = any(job["status"] is not None for job in jobs)
    for job in jobs:
        start = job["submit_time"] + (job["wait_time"] or 0)
        if not job["n_gpus"]:
            continue
        if job["run_time"] is not None:
            yield job["n_gpus"], start, start + job["run_time"], False
        elif is_told and job["status"] is None and job["wait_time"] is not None:
            yield job["n_gpus"], start, last, True


@examples(60)
@given(JOBS, st.booleans())
def test_hours_and_the_peak_are_those_of_all_jobs_that_held_some(jobs, is_part):
    held = list(lives(jobs))
    first, last = (120, 400) if is_part else (-1, 10_000)
    inside = [
        (amount, max(start, first), min(end, last), open_)
        for amount, start, end, open_ in held
        if (start < last and end > first) or not is_part
    ]
    edges = {moment for _, start, end, _ in held if end > start for moment in (start, end)}
    levels = [sum(amount for amount, start, end, _ in held if start <= t < end) for t in edges]
    with store_of(jobs) as store:
        used = usage(store.filtered("true", (first, last)) if is_part else store, GPU)
    assert (used.jobs, used.unfinished) == (len(inside), sum(open_ for *_, open_ in inside))
    assert used.hours * HOUR == pytest.approx(sum(amount * (end - start) for amount, start, end, _ in inside))
    assert (used.total or 0) == max(levels, default=0)


def test_hours_of_running_jobs_are_those_of_whoever_runs_them(make_store):
    store = make_store(
        submit_time=[0.0, 0.0, 7200.0], wait_time=[0.0, 3600.0, 0.0], run_time=[3600.0, None, 0.0],
        n_nodes=[1, 2, 1], status=[1, None, 1], user_id=["ann", "bob", "eve"],
    )  # fmt: skip
    rows = store.rows(f"select user_id, sum(run_time * held) from {holding(store, NODE)} group by user_id")
    assert dict(rows) == {"ann": 3600, "bob": 7200, "eve": 0}


def test_no_mean_of_gpus_is_taken_across_stillness_of_days(make_store):
    """Each processor has a GPU."""
    closed = (MONDAY + 40 * DAY, MONDAY + 60 * DAY)
    log = Machine(load=0.8, days=91).log(np.random.default_rng(5), (closed,), closed=True)
    columns = {name: np.asarray(values).tolist() for name, values in log.items()}
    header = (("Times", "Unix seconds, UTC"), ("MaxProcs", "128"))
    store = make_store(header, **columns, n_gpus=[float(procs) for procs in columns["n_procs"]])

    period, levels, mean = window(store).period, usage(store, GPU).levels, known_mean(store, GPU)
    assert period is not None
    assert levels is not None
    assert mean is not None
    held, length = known_area(store, period)
    assert mean == pytest.approx(held / length)
    assert mean > 1.2 * levels.mean()
