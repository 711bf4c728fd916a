"""
The weeks of a workload: its halves, and its own weeks drawn again.

Weeks are those of the log's clock, counted from second 0, and keep their hours wherever they are laid. Blocks
of two weeks stay together: what the order of weeks carries beyond that is little.
"""

import math
from typing import Final

import numpy as np

from gwa.evaluation.job_arrays import JobArrays, choose_period
from gwa.statistics.sample import Ints
from gwa.util.units import WEEK

BLOCK: Final = 2
"""Consecutive weeks that are drawn together."""

MINIMUM_WEEKS: Final = 6
"""Of fewer weeks, drawing them again says little of other weeks."""


def weeks_of(workload: JobArrays) -> range:
    """Return the numbers of the weeks that lie by half or more between first and last submission."""
    if not len(workload):
        return range(0)
    return range(round(float(workload.submit[0]) / WEEK), round(float(workload.submit[-1]) / WEEK))


def draw_weeks(workload: JobArrays, rng: np.random.Generator) -> JobArrays | None:
    """
    Return as many weeks as the workload has, drawn from it with replacement in blocks of two.

    The week after the last one is the first. None is returned where there are fewer than six weeks.
    """
    weeks = weeks_of(workload)
    if len(weeks) < MINIMUM_WEEKS:
        return None
    firsts = rng.integers(len(weeks), size=-(-len(weeks) // BLOCK))
    drawn = ((firsts[:, None] + np.arange(BLOCK)) % len(weeks)).ravel()[: len(weeks)]
    return _laid(workload, weeks.start + drawn, weeks.start)


def _laid(workload: JobArrays, drawn: Ints, first: int) -> JobArrays:
    """Return the weeks *drawn* of a workload, by their numbers, one after the other from week *first* on."""
    begins, ends = (np.searchsorted(workload.submit, number * WEEK) for number in (drawn, drawn + 1))
    rows = np.concatenate([np.arange(begin, end) for begin, end in zip(begins, ends, strict=True)])
    shifts = (first + np.arange(drawn.size) - drawn) * WEEK
    return workload.take(rows, workload.submit[rows] + np.repeat(shifts, ends - begins))


def borders(first: float, last: float) -> tuple[float, float, float] | None:
    """
    Return where the first and the second half of the time from *first* to *last* begin, and where that ends.

    Both halves are the same number of whole weeks; of shorter workloads, of days or hours
    (`gwa.evaluation.job_arrays.choose_period`). None is returned where that is too short for it.
    """
    period = choose_period(first, last)
    if period is None:
        return None
    begin, end = math.ceil(first / period), math.floor(last / period)
    half = (end - begin) // 2
    return begin * period, (begin + half) * period, (begin + 2 * half) * period


def halves(workload: JobArrays) -> tuple[JobArrays, JobArrays] | None:
    """Return the first and the second half of a workload, None where one of them has no jobs."""
    found = borders(float(workload.submit[0]), float(workload.submit[-1])) if len(workload) else None
    if found is None:
        return None
    begin, middle, end = np.searchsorted(workload.submit, found)
    first, second = (
        workload.take(rows, workload.submit[rows])
        for rows in (np.arange(begin, middle), np.arange(middle, end))
    )
    return (first, second) if min(len(first), len(second)) else None
