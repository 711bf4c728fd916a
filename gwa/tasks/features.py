"""What was known of each job when it was submitted: its request, the queue as it stood, and the past."""

from collections.abc import Mapping
from typing import Final

import numpy as np

from gwa.evaluation.prediction import crossed
from gwa.statistics.sample import Floats, Ints
from gwa.tasks.history import Ledger, sum_before
from gwa.tasks.jobs import UNKNOWN, SubmittedJobs
from gwa.util.units import DAY, HOUR, MINUTE

REQUESTS: Final = (15 * MINUTE, HOUR, 4 * HOUR, 12 * HOUR)
"""Requested times between the classes of jobs that are alike."""

MONDAY: Final = 3
"""The day of the week on which Unix time begins, Thursday, from Monday on."""

MEANING: Final[Mapping[str, str]] = {
    "procs": "processors requested, those allocated where no request is recorded",
    "nodes": "nodes, as allocated",
    "gpus": "GPUs requested, those allocated where no request is recorded",
    "request": "wall-clock time requested, s",
    "req_memory": "memory requested per processor, KB",
    "queue": "code of the queue",
    "partition": "code of the partition",
    "qos": "code of the quality of service",
    "project": "code of the project, of the group where there is none",
    "user": "code of the user",
    "executable": "code of the program or job name",
    "hour": "hour of the day at submission by the clock of the site, with decimals",
    "weekday": "day of the week at submission by the clock of the site, Monday is 0",
    "gap": "time since the last earlier second with a submission, s",
    "waiting": "jobs waiting: submitted before, not started before",
    "backlog": "work requested by the waiting jobs in seconds of the whole machine",
    "free": "share of the processors that no running job held",
    "own_waiting": "jobs of the same user waiting",
    "own_running": "jobs of the same user running",
    "run_last": "run time of the user's last ended job, s",
    "run_two": "mean run time of the user's last two ended jobs, s",
    "run_mean": "geometric mean of 1 s + run time of the user's last 50 ended jobs, less 1 s",
    "run_like": "the same for jobs of the same user, processors and class of request",
    "wait_like": "geometric mean of 1 s + wait of the last 50 started jobs of the same kind, less 1 s",
    "wait_like_last": "wait of the last started job of the same kind, s",
    "bad_mean": "share of the user's last 50 ended jobs that did not complete",
    "bad_like": "the same for jobs of the same kind",
    "memory_last": "peak memory of the user's last ended job, KB",
    "memory_like": "the same of 1 KB + peak memory of ended jobs, less 1 KB",
    "energy_last": "energy of the user's last ended job, J",
    "energy_like": "the same of 1 J + energy of ended jobs, less 1 J",
    "user_jobs": "ended jobs of the user",
}
"""What each column says; the codes of names count from 0 in the order of first submission."""


def features(jobs: SubmittedJobs) -> dict[str, Floats]:
    """Return the columns of `MEANING` for each job, nan where something is not known."""
    named = {
        name: np.where(codes == UNKNOWN, np.nan, codes.astype(np.float64))
        for name, codes in jobs.names.items()
    }
    found = {**jobs.asked, **named, **_calendar(jobs), **_state(jobs), **_history(jobs)}
    return {name: found[name] for name in MEANING}


def alike(jobs: SubmittedJobs) -> Ints:
    """Return a number for each user, processors and class of requested time; below 0 without a user."""
    user, request = jobs.names["user"], jobs.asked["request"]
    sizes = np.nan_to_num(jobs.asked["procs"], nan=UNKNOWN).astype(np.int64)
    classes = np.where(request > 0, np.searchsorted(REQUESTS, np.nan_to_num(request)), UNKNOWN)
    return np.where(user < 0, UNKNOWN, crossed(user, sizes, classes))


def _calendar(jobs: SubmittedJobs) -> dict[str, Floats]:
    seconds, place = np.unique(jobs.submit, return_inverse=True)
    gaps = np.diff(seconds, prepend=np.nan)
    return {
        "hour": jobs.clock % DAY / HOUR,
        "weekday": (jobs.clock // DAY + MONDAY) % 7,
        "gap": gaps[place],
    }


def _state(jobs: SubmittedJobs) -> dict[str, Floats]:
    """Return how queue and machine stood; a job that left the queue at an unknown time is not in it."""
    submit, cpus = jobs.submit, jobs.cpus or np.nan
    queued = ~np.isnan(jobs.left)
    work = jobs.asked["procs"] * jobs.asked["request"]
    waiting, backlog = _level(submit[queued], jobs.left[queued], work[queued], submit)
    _, busy = _level(jobs.start, jobs.end, jobs.asked["procs"], submit)
    user = jobs.names["user"]
    in_queue = np.where(queued, user, UNKNOWN)

    def told(keys: Ints, moments: Floats) -> Floats:
        return Ledger(keys, moments, submit).count()

    return {
        "waiting": waiting,
        "backlog": backlog / cpus,
        "free": 1.0 - busy / cpus,
        "own_waiting": told(in_queue, submit) - told(in_queue, jobs.left),
        "own_running": told(user, jobs.start) - told(user, jobs.end),
    }


def _level(begin: Floats, end: Floats, amounts: Floats, at: Floats) -> tuple[Floats, Floats]:
    """Return how many jobs are between *begin* and *end*, and their *amounts*, nan where one is not known."""

    def level(each: Ints) -> Ints:
        return sum_before(begin, each, at) - sum_before(end, each, at)

    unknown = np.isnan(amounts)
    total = level(np.rint(np.nan_to_num(amounts)).astype(np.int64))
    count = level(np.ones(begin.size, np.int64)).astype(np.float64)
    return count, np.where(level(unknown.astype(np.int64)) > 0, np.nan, total.astype(np.float64))


def _history(jobs: SubmittedJobs) -> dict[str, Floats]:
    """Return what had become of the user's earlier jobs, of all of them and of those of the same kind."""
    user, like = jobs.names["user"], alike(jobs)
    outcomes = jobs.outcomes
    ended, ended_like, started_like = (
        Ledger(keys, known, jobs.submit)
        for keys, known in ((user, jobs.end), (like, jobs.end), (like, jobs.start))
    )
    run = ended.recent(outcomes["run_time"], logarithmic=True)
    waited = started_like.recent(outcomes["wait"], logarithmic=True)
    found = {
        "run_last": run.last,
        "run_two": run.two,
        "run_mean": run.mean,
        "run_like": ended_like.recent(outcomes["run_time"], logarithmic=True).mean,
        "wait_like": waited.mean,
        "wait_like_last": waited.last,
        "bad_mean": ended.recent(outcomes["failure"], logarithmic=False).mean,
        "bad_like": ended_like.recent(outcomes["failure"], logarithmic=False).mean,
        "user_jobs": ended.count(),
    }
    for short, name in (("memory", "max_memory"), ("energy", "energy")):
        found[f"{short}_last"] = ended.recent(outcomes[name], logarithmic=True).last
        found[f"{short}_like"] = ended_like.recent(outcomes[name], logarithmic=True).mean
    return found
