"""Parallel jobs on one cluster: the fast schedulers against a slow one, and what each policy promises."""

import subprocess
import sys
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gwa.errors import SimulationError
from gwa.simulation import _queue
from gwa.simulation.backfilling import POLICIES, WITH_CEILINGS, schedule
from gwa.simulation.jobs import Jobs
from gwa.simulation.metrics import bounded_slowdown, response, utilization, wait
from tests.simulation.slow import Cluster, Job

CPUS = 6
EVERY = pytest.mark.parametrize("policy", POLICIES)
MANY = st.lists(
    st.tuples(st.integers(0, 12), st.integers(0, 9), st.integers(1, CPUS), st.integers(0, 12)),
    min_size=1,
    max_size=14,
)

ALIKE = st.lists(
    st.tuples(
        st.integers(0, 8), st.integers(1, 9), st.sampled_from([(1, 9), (1, 14), (2, 9), (3, 11), (6, 20)])
    ),
    min_size=8,
    max_size=24,
)
"""Submission, run time and shape (processors and estimate) of many jobs that wait at once."""


@pytest.fixture(scope="module", autouse=True)
def compiled():
    """Compile each policy, which takes seconds, before any test is timed."""
    with patch.object(_queue, "MINIMUM_COMPILED", 0):
        for policy in POLICIES:
            schedule(Jobs.of([0], [1], [1]), CPUS, policy)


def jobs_of(rows):
    return Jobs.of(*np.array(rows, float).T)


def slow(jobs, cpus, policy):
    columns = [jobs.submit, jobs.run, jobs.procs, jobs.estimate]
    columns += [] if jobs.limit is None else [jobs.user, jobs.limit]
    return Cluster(
        [Job(*row) for row in zip(*(column.tolist() for column in columns), strict=True)], cpus, policy
    ).schedule()


def with_ceilings(rows, limits):
    """Return the jobs of rows by turns of three users, each with a ceiling."""
    user = np.array([f"u{place % 3}" for place in range(len(rows))])
    limit = np.array([limits[place % 3] for place in range(len(rows))])
    submit, run, procs, estimate = np.array(rows, float).T
    return Jobs.of(submit, run, procs, estimate, user, limit)


@EVERY
@settings(max_examples=300)
@given(rows=MANY)
def test_agrees_with_the_slow_scheduler_event_for_event(policy, rows):
    jobs = jobs_of(rows)
    assert schedule(jobs, CPUS, policy).tolist() == slow(jobs, CPUS, policy)


@settings(max_examples=100)
@given(rows=ALIKE)
def test_reservations_of_jobs_of_few_shapes_move_up_as_those_of_the_slow_scheduler(rows):
    """Jobs of one shape look for earlier places from where another one has found none."""
    jobs = jobs_of([(submit, run, *shape) for submit, run, shape in rows])
    assert schedule(jobs, CPUS, "conservative").tolist() == slow(jobs, CPUS, "conservative")


@settings(max_examples=50)
@given(rows=ALIKE, most=st.integers(0, 60))
def test_a_schedule_of_too_many_moves_of_reservations_is_none_and_any_other_is_whole(rows, most):
    jobs = jobs_of([(submit, run, *shape) for submit, run, shape in rows])
    found = schedule(jobs, CPUS, "conservative", most_moves=most)
    assert np.isnan(found).all() or found.tolist() == schedule(jobs, CPUS, "conservative").tolist()


def test_reservations_that_may_not_move_are_no_schedule():
    """The first job ends early, and the second, which was to start at 10, moves up."""
    jobs = Jobs.of([0, 0], [2, 3], [4, 4], [10, 10])
    assert schedule(jobs, CPUS, "conservative").tolist() == [0.0, 2.0]
    assert np.isnan(schedule(jobs, CPUS, "conservative", most_moves=0)).all()
    assert schedule(jobs, CPUS, "conservative", most_moves=2).tolist() == [0.0, 2.0]


@pytest.mark.slow
@settings(max_examples=5000)
@given(rows=ALIKE)
def test_reservations_of_jobs_of_few_shapes_move_up_thousands_of_times(rows):
    jobs = jobs_of([(submit, run, *shape) for submit, run, shape in rows])
    assert schedule(jobs, CPUS, "conservative").tolist() == slow(jobs, CPUS, "conservative")


@EVERY
@settings(max_examples=300)
@given(rows=MANY)
def test_the_compiled_loop_starts_each_job_when_the_plain_one_does(policy, rows):
    jobs = jobs_of(rows)
    plain = schedule(jobs, CPUS, policy)
    with patch.object(_queue, "MINIMUM_COMPILED", 0):
        assert schedule(jobs, CPUS, policy).tolist() == plain.tolist()


LIMITS = st.tuples(*[st.integers(1, CPUS + 1)] * 3)


@pytest.mark.parametrize("policy", WITH_CEILINGS)
@settings(max_examples=300)
@given(rows=MANY, limits=LIMITS)
def test_with_ceilings_of_users_it_agrees_with_the_slow_scheduler(policy, rows, limits):
    jobs = with_ceilings(rows, limits)
    expected = slow(jobs, CPUS, policy)
    assert schedule(jobs, CPUS, policy).tolist() == expected
    with patch.object(_queue, "MINIMUM_COMPILED", 0):
        assert schedule(jobs, CPUS, policy).tolist() == expected


@pytest.mark.parametrize("policy", WITH_CEILINGS)
@given(rows=MANY, limits=LIMITS)
def test_no_user_holds_more_than_the_ceiling_but_for_one_job_that_is_larger(policy, rows, limits):
    jobs = with_ceilings(rows, limits)
    start = schedule(jobs, CPUS, policy)
    for place, instant in enumerate(start):
        runs = (start <= instant) & (instant < start + jobs.run) & (jobs.user == jobs.user[place])
        assert jobs.procs[runs].sum() <= jobs.limit[place] or runs.sum() == 1


@pytest.mark.parametrize("policy", WITH_CEILINGS)
@given(rows=MANY)
def test_ceilings_that_nobody_reaches_change_nothing(policy, rows):
    free = schedule(jobs_of(rows), CPUS, policy)
    assert (schedule(with_ceilings(rows, [2 * CPUS] * 3), CPUS, policy) == free).all()


def test_a_job_at_the_ceiling_of_its_user_is_passed_over():
    """The second job waits for the first of its user; the third, of another user, does not wait behind it."""
    jobs = Jobs.of(
        [0, 1, 2], [10, 10, 10], [2, 2, 2], user=np.array(["a", "a", "b"]), limit=np.array([2, 2, 6])
    )
    assert schedule(jobs, CPUS, "fcfs").tolist() == [0.0, 10.0, 2.0]
    with pytest.raises(
        SimulationError, match="knows no ceilings of users, expected one of fcfs, sjf, sjf-backfill, easy"
    ):
        schedule(jobs, CPUS, "conservative")


def test_few_jobs_are_scheduled_without_numba():
    code = (
        "import sys\n"
        "from gwa.simulation.backfilling import schedule\n"
        "from gwa.simulation.jobs import Jobs\n"
        "schedule(Jobs.of([0, 1], [2, 2], [1, 1]), 1, 'easy')\n"
        "assert 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.slow
@EVERY
@settings(max_examples=5000)
@given(rows=MANY)
def test_agrees_with_the_slow_scheduler_thousands_of_times(policy, rows):
    jobs = jobs_of(rows)
    assert schedule(jobs, CPUS, policy).tolist() == slow(jobs, CPUS, policy)


@EVERY
@given(rows=MANY)
def test_no_processor_is_used_twice_and_nobody_starts_before_submission(policy, rows):
    jobs = jobs_of(rows)
    start = schedule(jobs, CPUS, policy)
    assert (start >= jobs.submit).all()
    for instant in start:
        assert jobs.procs[(start <= instant) & (instant < start + jobs.run)].sum() <= CPUS


@given(rows=MANY)
def test_first_come_is_first_served(rows):
    assert (np.diff(schedule(jobs_of(rows), CPUS, "fcfs")) >= 0).all()


@given(rows=MANY)
def test_with_true_estimates_conservative_backfilling_delays_nobody(rows):
    jobs = jobs_of([(submit, run + 1, procs, run + 1) for submit, run, procs, _ in rows])
    assert (schedule(jobs, CPUS, "conservative") <= schedule(jobs, CPUS, "fcfs")).all()


@settings(max_examples=300)
@given(rows=MANY)
def test_easy_never_delays_the_head_of_the_queue(rows):
    """Every run has a length: others look again at the same instant, and change the head at once."""
    jobs = jobs_of([(submit, run + 1, procs, estimate) for submit, run, procs, estimate in rows])
    start = schedule(jobs, CPUS, "easy")
    number = np.arange(len(jobs))
    for job in number:
        heads = max(jobs.submit[job], start[:job].max(initial=-np.inf))
        if start[job] > heads:
            before = (start < heads) | ((start == heads) & (number < job))
            runs = before & ((start + jobs.run > heads) | (start == heads))
            ends = np.maximum((start + jobs.estimate)[runs], heads)
            promised = min(
                end for end in [heads, *ends] if jobs.procs[runs][ends > end].sum() + jobs.procs[job] <= CPUS
            )
            assert start[job] <= promised


@settings(max_examples=200)
@given(rows=MANY)
def test_conservative_backfilling_delays_no_reservation(rows):
    """What was promised to the last of some jobs is when it starts if from then on none ends early."""
    jobs = jobs_of(rows)
    start = schedule(jobs, CPUS, "conservative")
    for job, now in enumerate(jobs.submit):
        past = start[: job + 1] + jobs.run[: job + 1] <= now
        run = np.where(past, jobs.run[: job + 1], jobs.estimate[: job + 1])
        known = Jobs(jobs.submit[: job + 1], run, jobs.procs[: job + 1], jobs.estimate[: job + 1])
        assert start[job] <= schedule(known, CPUS, "conservative")[job]


@EVERY
def test_no_jobs_need_no_time(policy):
    jobs = Jobs.of([], [], [])
    assert schedule(jobs, CPUS, policy).tolist() == []
    assert utilization(jobs, np.array([]), CPUS) == 0


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (([0], [1], [7]), "job 0 needs 7 processors, and there are 6"),
        (([0, 1], [1, -1], [1, 1]), "job 1: its run is -1"),
        (([0, np.nan], [1, 1], [1, 1]), "job 1: its submit is nan"),
        (([0], [1], [0]), "job 0: its procs is 0"),
        (([0, 1], [1], [1]), "the columns of the jobs differ in their length"),
    ],
)
def test_what_cannot_be_scheduled_is_said(columns, said):
    with pytest.raises(SimulationError, match=said):
        schedule(Jobs.of(*columns), CPUS, "fcfs")


def test_an_unknown_policy_is_named_with_those_there_are():
    with pytest.raises(SimulationError, match="'lottery' is not a policy, expected one of fcfs, sjf"):
        schedule(Jobs.of([0], [1], [1]), CPUS, "lottery")


def test_an_estimate_is_never_below_the_run_time():
    jobs = Jobs.of([0] * 4, [5, 5, 5, 0], [1] * 4, [9, 2, np.nan, 0])
    assert jobs.estimate.tolist() == [9, 5, 5, 1]


def test_metrics_are_those_of_the_literature():
    jobs = Jobs.of([0, 0], [2, 100], [1, 1])
    start = np.array([8.0, 100.0])
    assert wait(jobs, start).tolist() == [8, 100]
    assert response(jobs, start).tolist() == [10, 200]
    assert bounded_slowdown(jobs, start).tolist() == [1, 2]
    assert utilization(jobs, start, 2) == 102 / 400
