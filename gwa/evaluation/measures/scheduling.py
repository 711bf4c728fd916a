"""
What a scheduler sees: waits and slowdowns when the jobs are scheduled at one load on one system.

The times between submissions are stretched so that processors times run time are `LOAD` of what the system
offers from the first submission to the last. Jobs larger than the system get all of it. Who requested no
time is known to run as long as it does.

Source of the metrics: D. G. Feitelson, Metrics for parallel job scheduling and their convergence (2001).
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from gwa.evaluation.job_arrays import JobArrays
from gwa.evaluation.measure import KS, RATIO, Aspect, measure
from gwa.simulation import metrics
from gwa.simulation.backfilling import schedule
from gwa.simulation.jobs import Jobs
from gwa.statistics.sample import Floats, Sample
from gwa.util.units import MINUTE

LOAD: Final = 0.6
"""Load of the system; first come first served cannot bear much more."""

MOST: Final = 200_000
"""Jobs that are scheduled; of a longer workload, the first."""


@dataclass(frozen=True, eq=False)
class Seen:
    """What a schedule does to each job: its *wait* in seconds, its bounded *slowdown*."""

    wait: Floats
    slowdown: Floats


@lru_cache(maxsize=2)
def _seen(workload: JobArrays, policy: str) -> Seen | None:
    """Return what *policy* does; None where all jobs come at once, or need no time."""
    submit, run = workload.submit[:MOST], workload.run[:MOST]
    procs = np.minimum(workload.procs[:MOST], workload.cpus)
    span = submit[-1] - submit[0] if submit.size else 0.0
    work = float((run * procs).sum())
    if not span > 0 or not work > 0:
        return None
    stretched = (submit - submit[0]) * (work / (LOAD * workload.cpus * span))
    jobs = Jobs.of(stretched, run, procs, workload.requested[:MOST])
    start = schedule(jobs, workload.cpus, policy)
    return Seen(metrics.wait(jobs, start), metrics.bounded_slowdown(jobs, start))


def _wait(workload: JobArrays, policy: str) -> float | None:
    """Return the mean wait and a minute, so that seconds do not matter when such means are compared."""
    seen = _seen(workload, policy)
    return None if seen is None else float(seen.wait.mean()) + MINUTE


def _waits(workload: JobArrays, policy: str) -> Sample | None:
    seen = _seen(workload, policy)
    return None if seen is None else Sample.of(np.rint(seen.wait))


def _slowdown(workload: JobArrays, policy: str) -> float | None:
    seen = _seen(workload, policy)
    return None if seen is None else float(seen.slowdown.mean())


@measure("Mean wait, first come first served", Aspect.SCHEDULE, RATIO, orderly=True)
def fcfs_wait(workload: JobArrays) -> float | None:
    """Mean wait in seconds, plus a minute, under first come first served."""
    return _wait(workload, "fcfs")


@measure("Waits, first come first served", Aspect.SCHEDULE, KS, orderly=True)
def fcfs_waits(workload: JobArrays) -> Sample | None:
    """Waits in whole seconds under first come first served."""
    return _waits(workload, "fcfs")


@measure("Mean slowdown, first come first served", Aspect.SCHEDULE, RATIO, orderly=True)
def fcfs_slowdown(workload: JobArrays) -> float | None:
    """Mean bounded slowdown (of at least 10 s) under first come first served."""
    return _slowdown(workload, "fcfs")


@measure("Mean wait, EASY", Aspect.SCHEDULE, RATIO, orderly=True)
def easy_wait(workload: JobArrays) -> float | None:
    """Mean wait in seconds, plus a minute, under EASY backfilling (Lifka 1995)."""
    return _wait(workload, "easy")


@measure("Waits, EASY", Aspect.SCHEDULE, KS, orderly=True)
def easy_waits(workload: JobArrays) -> Sample | None:
    """Waits in whole seconds under EASY backfilling."""
    return _waits(workload, "easy")


@measure("Mean slowdown, EASY", Aspect.SCHEDULE, RATIO, orderly=True)
def easy_slowdown(workload: JobArrays) -> float | None:
    """Mean bounded slowdown (of at least 10 s) under EASY backfilling."""
    return _slowdown(workload, "easy")
