"""What a scheduler sees of the jobs that wait: a window of them, as numbers from 0 to 1."""

from math import log1p
from typing import Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from gwa.simulation.jobs import Floats, Integers, Jobs
from gwa.simulation.stepwise import Stepwise
from gwa.util.units import DAY

Flags = NDArray[np.bool_]
Observation = NDArray[np.float32]

MAXIMUM_SECONDS: Final = 30 * DAY
"""Seconds that are seen as 1, as are longer times."""

FEATURES: Final = {
    "waits": "1 in the row of a job; a row without a job is 0 throughout",
    "wait": "the wait so far, as a time",
    "requested": "the requested time, as a time; the run time where none was requested, or less",
    "processors": "the processors of the job, as a share of the machine",
    "fits": "1 if enough processors are free",
    "may_start": "1 if it fits and, by requested times, the first waiting job would start no later for it",
    "free": "the free processors, as a share of the machine; in each row",
    "reservation": "until the first waiting job can start by requested times, as a time; in each row",
    "spare": "processors that are left over then, as a share of the machine; in each row",
    "queue": "waiting jobs n as n / (n + rows of the window); in each row",
}
"""
The columns of an observation, in their order.

A time of t seconds is seen as log(1 + t) / log(1 + 30 days), 1 at most. The reservation is that of EASY
(Lifka 1995; Mu'alem and Feitelson 2001).
"""


class JobWindow(NamedTuple):
    """
    The jobs among which is chosen at one instant.

    *waiting* are all that wait, in the order of submission, and *rows* the numbers of those seen, in that
    order, too: the first one, then those that may start, then others, as long as there are rows. *fits* and
    *may_start* are of the rows, and mean what `FEATURES` says. *reservation* is seconds from now.
    """

    waiting: Integers
    rows: Integers
    fits: Flags
    may_start: Flags
    free: int
    reservation: float
    spare: int

    @classmethod
    def of(cls, cluster: Stepwise, jobs: Jobs, size: int) -> Self:
        """Return a window with *size* rows at most on the waiting *jobs* of a *cluster*, one or more."""
        waiting = np.array(cluster.waiting(), np.int64)
        when, spare = cluster.reservation()
        procs, free = jobs.procs[waiting], cluster.free
        fits = procs <= free
        may_start = fits & ((cluster.now + jobs.estimate[waiting] <= when) | (procs <= spare))
        may_start[0] = fits[0]
        rows = waiting
        if len(waiting) > size:
            behind = ~may_start
            behind[0] = False
            seen = np.sort(np.argsort(behind, kind="stable")[:size])
            rows, fits, may_start = waiting[seen], fits[seen], may_start[seen]
        return cls(waiting, rows, fits, may_start, free, when - cluster.now, spare)

    def observed(self, jobs: Jobs, now: float, cpus: int, size: int) -> Observation:
        """Return the observation: an array of *size* rows with the columns of `FEATURES`."""
        seen = np.zeros((size, len(FEATURES)), np.float32)
        rows = seen[: len(self.rows)]
        rows[:, 0] = 1.0
        rows[:, 1] = as_time(now - jobs.submit[self.rows])
        rows[:, 2] = as_time(jobs.estimate[self.rows])
        rows[:, 3] = jobs.procs[self.rows] / cpus
        rows[:, 4] = self.fits
        rows[:, 5] = self.may_start
        rows[:, 6:] = (
            self.free / cpus,
            min(log1p(self.reservation) / log1p(MAXIMUM_SECONDS), 1.0),
            self.spare / cpus,
            len(self.waiting) / (len(self.waiting) + size),
        )
        return seen


def as_time(seconds: Floats) -> Floats:
    """Return times as they are seen: from 0 to 1, by their logarithm."""
    return np.minimum(np.log1p(seconds) / log1p(MAXIMUM_SECONDS), 1.0)
