"""
The performance of schedulers: wait times and slowdowns of the jobs at the same load on the same system.

Interarrival gaps are scaled so that processors times run time are the share `LOAD` of the capacity of the
system from the first submission to the last. Jobs larger than the system get all of it. The requested time
of jobs without one is their run time.

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
"""Load of the system; first come first served cannot sustain much more."""

MAXIMUM_JOBS: Final = 200_000
"""Jobs of a workload that are scheduled; later ones are ignored."""


@dataclass(frozen=True, eq=False)
class Performance:
    """The *wait* time in seconds and the bounded *slowdown* of each job."""

    wait: Floats
    slowdown: Floats


@lru_cache(maxsize=2)
def _schedule(workload: JobArrays, policy: str) -> Performance | None:
    """Schedule the jobs by *policy*; None if all are submitted at once, or have no work."""
    submit, run = workload.submit[:MAXIMUM_JOBS], workload.run[:MAXIMUM_JOBS]
    procs = np.minimum(workload.procs[:MAXIMUM_JOBS], workload.cpus)
    span = submit[-1] - submit[0] if submit.size else 0.0
    work = float((run * procs).sum())
    if not span > 0 or not work > 0:
        return None
    scaled = (submit - submit[0]) * (work / (LOAD * workload.cpus * span))
    jobs = Jobs.of(scaled, run, procs, workload.requested[:MAXIMUM_JOBS])
    start = schedule(jobs, workload.cpus, policy)
    return Performance(metrics.wait(jobs, start), metrics.bounded_slowdown(jobs, start))


def _wait(workload: JobArrays, policy: str) -> float | None:
    performance = _schedule(workload, policy)
    return None if performance is None else float(performance.wait.mean()) + MINUTE


def _waits(workload: JobArrays, policy: str) -> Sample | None:
    performance = _schedule(workload, policy)
    return None if performance is None else Sample.of(np.rint(performance.wait))


def _slowdown(workload: JobArrays, policy: str) -> float | None:
    performance = _schedule(workload, policy)
    return None if performance is None else float(performance.slowdown.mean())


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
