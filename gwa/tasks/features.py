"""What was known of each job when it was submitted: its request, the queue as it stood, and the past."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np

from gwa.evaluation.job_classes import crossed
from gwa.statistics.sample import Floats, Ints
from gwa.tasks.history import Ledger, sum_before
from gwa.tasks.jobs import UNKNOWN, SubmittedJobs
from gwa.util.units import DAY, HOUR, MINUTE

REQUESTS: Final = (15 * MINUTE, HOUR, 4 * HOUR, 12 * HOUR)
"""Requested times between the classes of jobs that are alike."""

MONDAY: Final = 3
"""The day of the week on which Unix time begins, Thursday, from Monday on."""

MEANING: Final[Mapping[str, str]] = tomllib.loads(
    Path(__file__).with_name("features.toml").read_text(encoding="utf-8")
)
"""What each column says, in the order of the columns."""


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
