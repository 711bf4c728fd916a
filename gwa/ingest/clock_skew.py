"""
Whether the clock of a node's samples is that of the log: memory of a GPU in use lies inside of jobs.

For each shift of the clock the samples in use that no job holds are counted. The shifts with hardly more
than the best are an interval; where it does not hold 0, the clock differs. A difference of a minute is seen,
one of ten seconds in samples that are dense, beside many jobs; one of a few seconds never.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

NEAR: Final = 150.0
"""Seconds around 0, and around each whole hour, that a clock may be off by."""

HOURS: Final = 14
"""Hours that time zones are apart at most."""

REACH: Final = 3600.0 * HOURS + NEAR
"""Seconds that a clock may be off by, at most."""

MINIMUM_IN_USE: Final = 30
"""Samples in use that are needed to say anything."""

MAXIMUM_WIDTH: Final = 600.0
"""An interval that is wider, in seconds, says nothing."""

_HOURS: Final = 3600.0 * np.array([hour for hour in range(-HOURS, HOURS + 1) if hour])
COARSE: Final = np.sort(np.concatenate([np.arange(-NEAR, NEAR + 1, 5.0), _HOURS]))
FINE: Final = np.sort(
    np.concatenate(
        [np.arange(-NEAR, NEAR + 1), (_HOURS[:, np.newaxis] + np.arange(-NEAR, NEAR + 1, 2.0)).ravel()]
    )
)


def outside(in_use: Floats, free: Floats, shifts: Floats) -> NDArray[np.int64]:
    """
    Count, for each of *shifts*, the moments *in_use*, which rise, that lie in intervals without it.

    Rows of *free* are the begins and ends of the intervals.

    >>> outside(np.array([10.0, 20.0]), np.array([[15.0, 25.0]]), np.array([0.0, 10.0])).tolist()
    [1, 0]
    """
    found = np.zeros(len(shifts), np.int64)
    for begin, end in free:
        found += np.searchsorted(in_use, end + shifts) - np.searchsorted(in_use, begin + shifts)
    return found


def skew(in_use: Floats, free: Floats) -> tuple[float, float] | None:
    """
    Return from how many seconds to how many the clock of samples is ahead; None if it may be right.

    *in_use* are the moments of samples with memory in use, which rise, by their own clock; *free* the
    intervals in which no job held the node, by the log's.
    """
    if len(in_use) < MINIMUM_IN_USE:
        return None
    (now,) = outside(in_use, free, np.zeros(1))
    if now <= _tolerated(int(outside(in_use, free, COARSE).min())):
        return None
    counts = outside(in_use, free, FINE)
    likely = FINE[counts <= _tolerated(int(counts.min()))]
    low, high = float(likely.min()), float(likely.max())
    return None if high - low > MAXIMUM_WIDTH or low <= 0 <= high else (low, high)


def _tolerated(least: int) -> float:
    return least + 2 + 2 * float(np.sqrt(least))
