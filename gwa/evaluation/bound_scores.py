"""How well bounds on waits, and on run times, held."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from gwa.evaluation.job_classes import crossed, requests
from gwa.evaluation.prediction import QUANTILE, UNKNOWN, Bounds, WaitingJobs, bound_in_order
from gwa.statistics.sample import Floats, Ints
from gwa.util.units import DAY
from gwa.words.message import message

WINDOW: Final = 28.0 * DAY

LARGEST_SHARE: Final = 0.1
"""The share of the jobs that are the largest."""


@dataclass(frozen=True)
class BoundScore:
    """
    How well bounds on waits held, of the *jobs* that had one (*answered* is their share).

    *coverage* is the share whose wait stayed within its bound, *largest* that of the tenth with most
    processors, and *windows* the share of four-week windows in which less than 90 % did. *loss* is the mean
    pinball loss at 95 % over the mean wait (Koenker and Bassett 1978): smaller is tighter. *median* is the
    median bound in seconds.
    """

    jobs: int
    answered: float
    coverage: float
    largest: float
    windows: float
    loss: float
    median: float

    @classmethod
    def of(cls, jobs: WaitingJobs, bounds: Bounds) -> Self | None:
        """Return the score of *bounds*; None if no job has one."""
        return cls.of_values(jobs.submit, jobs.wait, jobs.procs, bounds.bound)

    @classmethod
    def of_values(cls, moments: Floats, values: Floats, procs: Ints, bound: Floats) -> Self | None:
        """Return the score of the *bound* of each of the *values*."""
        known = ~np.isnan(bound)
        if not known.any():
            return None
        value, limit, size, moment = values[known], bound[known], procs[known], moments[known]
        within = value <= limit
        large = size >= np.quantile(size, 1 - LARGEST_SHARE, method="higher")
        loss = np.where(within, (1 - QUANTILE) * (limit - value), QUANTILE * (value - limit))
        return cls(
            int(known.sum()),
            float(known.mean()),
            float(within.mean()),
            float(within[large].mean()),
            _bad_windows(moment, within),
            float(loss.mean() / value.mean()) if value.any() else 0.0,
            float(np.median(limit)),
        )


BAD: Final = 0.9
MINIMUM_OF_WINDOW: Final = 100


def _bad_windows(moments: Floats, within: NDArray[np.bool_]) -> float:
    """Return the share of the windows of four weeks, of a hundred jobs or more, that held too seldom."""
    edges = np.searchsorted(moments, np.arange(moments[0], moments[-1] + WINDOW, WINDOW))
    shares = [
        within[first:last].mean()
        for first, last in pairwise([*edges.tolist(), moments.size])
        if last - first >= MINIMUM_OF_WINDOW
    ]
    return float(np.mean([share < BAD for share in shares])) if shares else 0.0


def run_time_bounds(jobs: WaitingJobs) -> dict[str, Floats]:
    """
    Return bounds on the run time of each job at its submission, by how they are found.

    The requested time is one; the other is BMBP on the run times of the user's jobs of the same class of
    requests that have ended, else of all the user's jobs.
    """
    ends = jobs.start + jobs.run
    by_user = bound_in_order(jobs.submit, ends, jobs.run, crossed(jobs.user, requests(jobs)))
    found = by_user.or_else(bound_in_order(jobs.submit, ends, jobs.run, jobs.user))
    requested: Floats = np.where(jobs.requested > 0, jobs.requested, np.nan)
    unknown = jobs.user == UNKNOWN
    return {
        message("requested time"): requested,
        message("BMBP by the user's last jobs"): np.where(unknown, np.nan, found.bound),
    }
