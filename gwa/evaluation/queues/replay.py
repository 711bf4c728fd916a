"""
Replay a workload under a policy at an offered load.

The offered load is processors times run time over processors of the system times the time from the first
submission to the last. Gaps between submissions are scaled by one factor to reach another. Jobs larger than
the system get all of it, and a job without a request asks for its run time.

Replay has no feedback: users do not submit less because the queue is long. That is why loads above .8 are not
replayed (Zakay and Feitelson, Preserving user behavior characteristics in trace-based simulation, 2014).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from gwa.evaluation.job_arrays import UNKNOWN_USER, JobArrays
from gwa.simulation import metrics
from gwa.simulation.backfilling import schedule
from gwa.simulation.jobs import Jobs, Names
from gwa.statistics.sample import Floats
from gwa.util.units import HOUR

LOADS: Final = (0.7, 0.8)
"""Offered loads that workloads are brought to; what is said is said of the first."""

POLICIES: Final[Mapping[str, str]] = {
    "fcfs": "fcfs",
    "easy": "easy",
    "conservative": "conservative",
    "sjf": "sjf-backfill",
}
"""The policies, by their names in the ids of numbers, as `gwa.simulation.backfilling.schedule` calls them."""

MOVES_OF_A_JOB: Final = 10
"""
Reservations that conservative backfilling may move for each job of a workload; else it is left out.

Half of KTH has 2, halves of RICC and Curie have up to 40. Ten times 40,000 moves take a quarter of a second,
and a comparison makes such a schedule fifty times.
"""

MINIMUM_MOVES: Final = 100_000
"""Small workloads may have as many moves."""

MAXIMUM_HOURS: Final = 1_000_000
"""The queue is not counted by hours where there are more."""


@dataclass(frozen=True, eq=False)
class Replay:
    """What became of each of some *jobs*: its *wait* in seconds, and its bounded *slowdown* (of 10 s)."""

    jobs: Jobs
    wait: Floats
    slowdown: Floats

    def queue(self) -> Floats:
        """
        Return how many jobs wait at the end of each hour that begins before the last submission.

        Hours are those of the replay, from the first submission. Of more than a million none are returned.
        """
        hours = self.jobs.submit[-1] // HOUR + 1
        if hours > MAXIMUM_HOURS:
            return np.empty(0)
        edges = np.arange(1, int(hours) + 1) * HOUR
        starts = np.sort(self.jobs.submit + self.wait)
        submitted = np.searchsorted(self.jobs.submit, edges)
        return (submitted - np.searchsorted(starts, edges)).astype(np.float64)


def work(workload: JobArrays) -> Floats:
    """Return the processor seconds of each job, on at most the processors of the system."""
    return np.asarray(workload.run * np.minimum(workload.procs, workload.cpus), np.float64)


def offered_load(workload: JobArrays) -> float:
    """Return the offered load, nan where all jobs are submitted at once."""
    span = float(workload.submit[-1] - workload.submit[0]) if len(workload) else 0.0
    return float(work(workload).sum()) / (workload.cpus * span) if span > 0 else float("nan")


def replay(workload: JobArrays, load: float, policy: str) -> Replay | None:
    """
    Return what becomes of the jobs at an offered *load* under a *policy* called as in `schedule`.

    The workload must have an offered load above 0. A policy of one's own sees users by their numbers. None
    is returned where conservative backfilling takes more than `MOVES_OF_A_JOB`.
    """
    submit = (workload.submit - workload.submit[0]) * (offered_load(workload) / load)
    procs = np.minimum(workload.procs, workload.cpus)
    users = None if policy in POLICIES.values() else _names(workload)
    jobs = Jobs.of(submit, workload.run, procs, workload.requested, users)
    most = max(MOVES_OF_A_JOB * len(jobs), MINIMUM_MOVES)
    start = schedule(jobs, workload.cpus, policy, most_moves=most)
    if np.isnan(start).any():
        return None
    return Replay(jobs, metrics.wait(jobs, start), metrics.bounded_slowdown(jobs, start))


def _names(workload: JobArrays) -> Names:
    """Return the user of each job in text, empty where it is unknown."""
    return np.where(workload.user == UNKNOWN_USER, "", workload.user.astype(np.str_))
