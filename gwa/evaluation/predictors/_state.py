"""What is known of the machine when a job is submitted."""

from typing import Literal

import numpy as np

from gwa.evaluation.prediction import WaitingJobs
from gwa.statistics.sample import Floats, Ints
from gwa.util.units import HOUR

BACKLOGS = (0.01, 0.5, 2.0, 6.0, 15.0, 40.0)
"""Hours that the machine would take for all that waits, between the classes."""

OWN = (1, 4, 16)
"""Own jobs that wait, between the classes: 0, 1 to 3, 4 to 15, more."""


def backlogs(jobs: WaitingJobs) -> Ints:
    """Return the class of the work that waits when each job is submitted."""
    work: Floats = np.asarray(jobs.procs, np.float64) * np.where(jobs.requested > 0, jobs.requested, 0.0)
    submitted: Floats = np.cumsum(work) - work
    waiting = submitted - sum_before(jobs.start, work, jobs.submit)
    return _classes(waiting / (jobs.cpus * HOUR), BACKLOGS)


def fits(jobs: WaitingJobs) -> Ints:
    """Return 1 for each job for which enough processors are idle when it is submitted, else 0."""
    procs = np.asarray(jobs.procs, np.float64)
    busy = sum_before(jobs.start, procs, jobs.submit) - sum_before(jobs.start + jobs.run, procs, jobs.submit)
    return (procs <= jobs.cpus - busy).astype(np.int64)


def own_waiting(jobs: WaitingJobs) -> Ints:
    """Return the class of how many jobs of the same user wait when each job is submitted."""
    if not len(jobs):
        return np.zeros(0, np.int64)
    first = jobs.submit[0]
    starts: Floats = np.where(np.isfinite(jobs.start), jobs.start, -np.inf)
    span = max(float(starts.max()), float(jobs.submit[-1])) - first + 2.0
    # One axis of time for each user, one behind the other.
    moment = (jobs.user + 1) * span + (jobs.submit - first)
    started = np.sort((jobs.user + 1) * span + np.minimum(jobs.start - first, span - 1.0))
    count = np.searchsorted(np.sort(moment), moment) - np.searchsorted(started, moment)
    return _classes(count.astype(np.float64), OWN, side="right")


def sum_before(moments: Floats, amounts: Floats, limits: Floats) -> Floats:
    """Return the sum of the *amounts* whose *moments* are before each of *limits*."""
    order = np.argsort(moments, kind="stable")
    sums = np.append(0.0, np.cumsum(amounts[order]))
    return sums[np.searchsorted(moments[order], limits)]


def _classes(values: Floats, edges: tuple[float, ...], side: Literal["left", "right"] = "left") -> Ints:
    return np.searchsorted(edges, values, side=side).astype(np.int64)
