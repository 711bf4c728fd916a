"""
The weekly values of a log in which changes over its life are sought: whole weeks that the log knows.

A week that lies mostly in a silence of the log is unknown: nothing tells whether no job was submitted then or
rows are missing, so its values are not zero. Weeks at both ends that hold hardly any jobs, as those of wrong
clocks and of jobs taken along from an earlier log, are left out.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gwa.metrics.interval_values import interval_values
from gwa.metrics.intervals import Intervals
from gwa.metrics.timeline import QUARTER, Floats, counts
from gwa.metrics.window import window
from gwa.store.store import Store
from gwa.util.units import DAY

Flags = NDArray[np.bool_]

KNOWN_SHARE: Final = 0.75
"""A measure that a smaller share of the weeks has, such as run times in a log with long gaps, is left out."""

HARDLY_ANY: Final = 0.1
"""Weeks at both ends with less than this share of the usual jobs of a week are left out."""

USUAL: Final = (0.05, 0.95)
"""The usual week is the median of those between these quantiles of all submissions."""

SILENT_DAYS: Final = 7
EXPECTED_JOBS: Final = 10.0
"""A silence is this many days without a submission, if the log has this many jobs in that time on average: by
chance alone that would be rare."""

DAYS_OF_A_WEEK: Final = 7


@dataclass(frozen=True)
class WeeklyValues:
    """
    The whole *weeks* of a log and their *values* by measure, nan where unknown.

    *omitted* counts the weeks at both ends that are left out, *silent* those that lie mostly in silences.
    """

    weeks: Intervals
    values: dict[str, Floats]
    omitted: int
    silent: int


def weekly_values(store: Store) -> WeeklyValues:
    """
    Return the weekly values of each measure that is known in three quarters of the weeks.

    Busy processors are unknown in weeks that are not within the window of observation.
    """
    every = Intervals.weeks_of_submissions(store)
    daily = _daily_jobs(store, every)
    first, last = _ends(daily.reshape(-1, DAYS_OF_A_WEEK).sum(axis=1))
    weeks = every.part(first, last - first)
    daily = daily[first * DAYS_OF_A_WEEK : last * DAYS_OF_A_WEEK]
    is_silent = in_silences(daily)
    values = {}
    for name, known in interval_values(store, weeks).items() if weeks.count else ():
        seen = np.where(is_silent, np.nan, np.nan_to_num(known) if name in {"jobs", "users"} else known)
        if name == "busy":
            seen = np.where(_in_window(store, weeks), seen, np.nan)
        if np.isfinite(seen).mean() >= KNOWN_SHARE:
            values[name] = seen
    return WeeklyValues(weeks, values, every.count - weeks.count, int(is_silent.sum()))


def in_silences(daily: Floats) -> Flags:
    """
    Return which weeks lie mostly in silences, from the jobs submitted on each day of them.

    A silence has at least a week's whole days without a submission, where jobs are many enough for that to be
    rare.

    >>> in_silences(np.array([5.0] * 9 + [0] * 15 + [5] * 4)).tolist()
    [False, True, True, False]
    """
    empty = np.concatenate(([False], daily == 0, [False]))
    begins = np.flatnonzero(empty[1:] & ~empty[:-1])
    ends = np.flatnonzero(empty[:-1] & ~empty[1:])
    is_silent = np.zeros(daily.size, np.bool_)
    if daily.size and daily.mean() * SILENT_DAYS >= EXPECTED_JOBS:
        for begin, end in zip(begins, ends, strict=True):
            is_silent[begin:end] = end - begin >= SILENT_DAYS
    return np.asarray(2 * is_silent.reshape(-1, DAYS_OF_A_WEEK).sum(axis=1) > DAYS_OF_A_WEEK)


def _daily_jobs(store: Store, weeks: Intervals) -> Floats:
    """Return the jobs submitted on each day of *weeks*."""
    days = weeks.origin + np.arange(weeks.count * DAYS_OF_A_WEEK + 1) * float(DAY)
    quarters = counts(store, "submit_time", QUARTER)
    index = np.searchsorted(days, quarters.times, side="right") - 1
    inside = (index >= 0) & (index < days.size - 1)
    jobs = np.bincount(index[inside], quarters.counts[inside], days.size - 1)
    return np.asarray(jobs, np.float64)


def _ends(jobs: Floats) -> tuple[int, int]:
    """Return the first week and the one after the last, without ends that hold hardly any *jobs*."""
    if not jobs.sum():
        return 0, 0
    share = np.cumsum(jobs) / jobs.sum()
    low, high = np.searchsorted(share, USUAL)
    enough = np.flatnonzero(jobs >= HARDLY_ANY * np.median(jobs[low : high + 1]))
    return int(enough[0]), int(enough[-1]) + 1


def _in_window(store: Store, weeks: Intervals) -> Flags:
    """Return which weeks are within the window of observation."""
    known = window(store).period
    if known is None:
        return np.zeros(weeks.count, np.bool_)
    return np.asarray((weeks.edges[:-1] >= known[0]) & (weeks.edges[1:] <= known[1]))
