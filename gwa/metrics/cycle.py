"""Whether the same hours are busy day after day."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

BAND: Final = 6
"""Hours of the busy and of the quiet time of a day."""

MINIMUM_JOBS: Final = 4
"""Days with fewer jobs in all show no cycle."""


def daily_repetitions(jobs: NDArray[np.float64]) -> tuple[int, int]:
    """
    Return how many days can show a daily cycle, and how many do.

    *jobs* has a row for each day and a column for each hour.

    The busiest and the quietest six hours in a row are those of every second day, each day weighing the
    same; on the other days, these hours are compared, and the other way round. Without a cycle, one has
    more jobs than the other on half of the days. Days on which they are equal do not count: a day of one
    burst counts once, whatever the size of the burst.

    >>> days = np.zeros((20, 24))
    >>> days[:, 9:15] = 3
    >>> daily_repetitions(days)
    (20, 20)
    """
    jobs = jobs[jobs.sum(axis=1) >= MINIMUM_JOBS]
    days = repeated = 0
    for chosen, tested in ((jobs[::2], jobs[1::2]), (jobs[1::2], jobs[::2])):
        if not len(chosen) or not len(tested):
            continue
        share = _bands(chosen / chosen.sum(axis=1, keepdims=True)).sum(axis=0)
        bands = _bands(tested)
        difference = bands[:, int(np.argmax(share))] - bands[:, int(np.argmin(share))]
        days += int(np.count_nonzero(difference))
        repeated += int(np.count_nonzero(difference > 0))
    return days, repeated


def _bands(jobs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sums over `BAND` hours from each hour of the day, across midnight."""
    turned = np.concatenate((jobs, jobs[:, : BAND - 1]), axis=1)
    sums: NDArray[np.float64] = np.lib.stride_tricks.sliding_window_view(turned, BAND, axis=1).sum(axis=2)
    return sums
