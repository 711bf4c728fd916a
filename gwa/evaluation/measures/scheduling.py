"""
The performance of schedulers: wait times and slowdowns of the jobs at the same load on the same system.

Interarrival gaps are scaled so that processors times run time are the share `LOAD` of the capacity of the
system from the first submission to the last. Jobs larger than the system get all of it. The requested time
of jobs without one is their run time.

Source of the metrics: D. G. Feitelson, Metrics for parallel job scheduling and their convergence (2001).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from gwa.evaluation.job_arrays import JobArrays
from gwa.evaluation.measure import KS, RATIO, Aspect, RealismMeasure, Statistic
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


def _of(
    policy: str, statistic: Callable[[Performance], Statistic]
) -> Callable[[JobArrays], Statistic | None]:
    """Return what takes a *statistic* of the jobs of a workload as scheduled by *policy*."""

    def of(workload: JobArrays) -> Statistic | None:
        performance = _schedule(workload, policy)
        return None if performance is None else statistic(performance)

    return of


def _mean_wait(of: Performance) -> float:
    return float(of.wait.mean()) + MINUTE


def _waits(of: Performance) -> Sample:
    return Sample.of(np.rint(of.wait))


def _mean_slowdown(of: Performance) -> float:
    return float(of.slowdown.mean())


FCFS: Final = "first come first served"

SCHEDULED: Final = tuple(
    RealismMeasure(f"{policy}-{name}", title, Aspect.SCHEDULE, distance, about, True, _of(policy, of))  # noqa: FBT003
    for policy, name, title, distance, about, of in (
        ("fcfs", "wait", f"Mean wait, {FCFS}", RATIO, f"Mean wait in seconds, plus a minute, under {FCFS}.",
         _mean_wait),
        ("fcfs", "waits", f"Waits, {FCFS}", KS, f"Waits in whole seconds under {FCFS}.", _waits),
        ("fcfs", "slowdown", f"Mean slowdown, {FCFS}", RATIO,
         f"Mean bounded slowdown (of at least 10 s) under {FCFS}.", _mean_slowdown),
        ("easy", "wait", "Mean wait, EASY", RATIO,
         "Mean wait in seconds, plus a minute, under EASY backfilling (Lifka 1995).", _mean_wait),
        ("easy", "waits", "Waits, EASY", KS, "Waits in whole seconds under EASY backfilling.", _waits),
        ("easy", "slowdown", "Mean slowdown, EASY", RATIO,
         "Mean bounded slowdown (of at least 10 s) under EASY backfilling.", _mean_slowdown),
    )
)  # fmt: skip
