"""
The one grid of all series: quarter hours, hours, days and weeks by the log's own clock, changes included.

Jobs are counted by quarter hours once (`gwa.metrics.timeline.counts`): every time zone of today is a multiple
of them from UTC, so that all longer intervals are made of whole ones.
"""

from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

import numpy as np

from gwa.metrics.calendar import MAXIMUM_DAYS, Calendar
from gwa.metrics.timeline import QUARTER, Counts, Floats, Ints
from gwa.store.store import Period, Store
from gwa.util.units import DAY, HOUR, WEEK

HOURS_OF_WEEK: Final = 168

MONDAY: Final = 3.0 * DAY
"""1 January 1970 was a Thursday."""


def clock(store: Store) -> ZoneInfo | None:
    """Return the zone by whose clock the days and hours of a trace are counted, None from its own time 0."""
    return None if store.system.relative else store.system.timezone


@dataclass(frozen=True)
class ClockIntervals:
    """
    How many things happened in each interval by the clock, and where the first one begins and the last ends.

    The bins of *counts* are numbered from 0, the interval of the first thing; those without any are left out.
    """

    counts: Counts
    begin: float
    end: float

    @property
    def number(self) -> int:
        """How many intervals there are, empty ones included."""
        return int(self.counts.bins[-1]) + 1 if len(self.counts.bins) else 0

    def dense(self) -> Floats:
        """Return the counts of all intervals."""
        dense = np.zeros(self.number)
        dense[self.counts.bins] = self.counts.counts
        return dense


def by_clock(quarters: Counts, width: float, zone: ZoneInfo | None) -> ClockIntervals:
    """
    Return counts by *quarters* of an hour as counts by intervals of *width* seconds on the clock of *zone*.

    *width* is a multiple of a quarter of an hour, and a part of an hour, of a day, or a week from Monday.
    Without a zone, or over more than a century, intervals are multiples of the width since the time 0.
    """
    if not len(quarters.bins):
        return ClockIntervals(quarters, 0.0, 0.0)
    first, last = float(quarters.times[0]), float(quarters.times[-1])
    edges = clock_edges(first, last, width, zone)
    if edges is None:
        coarse = quarters.coarser(int(width // QUARTER))
        begin, end = float(coarse.times[0]), float(coarse.times[-1]) + width
        return ClockIntervals(Counts(width, coarse.bins - coarse.bins[0], coarse.counts), begin, end)
    place = np.searchsorted(edges, quarters.times, side="right") - 1
    bins, index = np.unique(place, return_inverse=True)
    total = np.zeros(len(bins), np.int64)
    np.add.at(total, index, quarters.counts)
    return ClockIntervals(Counts(width, bins.astype(np.int64), total), float(edges[0]), float(edges[-1]))


def clock_edges(first: float, last: float, width: float, zone: ZoneInfo | None) -> Floats | None:
    """
    Return the edges of intervals of *width* seconds by the clock of *zone*, from that of *first* to *last*'s.

    An interval begins where the clock first shows a multiple of *width* or more: a day has 23 or 25 hours
    when the clock changes by one, and the hour that it shows twice is two. None without a zone, or over more
    than a century, where all intervals are alike.

    >>> edges = clock_edges(1743289200.0, 1743370000.0, 86400.0, ZoneInfo("Europe/Berlin"))  # 30 March 2025
    >>> [int(edge) for edge in np.diff(edges)]
    [82800]
    """
    if zone is None or (last - first) / DAY > MAXIMUM_DAYS:
        return None
    margin = max(width, float(DAY)) + DAY
    times, shown = _clock(float((first - margin) // QUARTER), float((last + margin) // QUARTER), zone)
    # The clock never goes back to an interval that is over, but for hours that it shows again.
    number = np.maximum.accumulate(np.floor((shown + (MONDAY if width == WEEK else 0.0)) / width))
    begins = np.diff(number, prepend=number[0]) > 0
    if width <= HOUR:
        begins |= shown % width == 0
    edges = times[begins]
    inside = slice(np.searchsorted(edges, first, "right") - 1, np.searchsorted(edges, last, "right") + 1)
    return edges[inside]


@lru_cache(maxsize=8)
def _clock(first: float, last: float, zone: ZoneInfo) -> tuple[Floats, Floats]:
    """Return the quarter hours numbered *first* to *last*, and what the clock shows then, in seconds."""
    times = np.arange(first, last + 1) * QUARTER
    return times, times + _offsets(times, zone)


def hours_of_week(times: Floats, zone: ZoneInfo | None) -> Ints:
    """
    Return the hour of the week, 0 to 167 from Monday 0:00 by the clock of *zone*, of rising *times*.

    >>> hours_of_week(np.array([852073200.0]), ZoneInfo("Europe/Paris"))  # 1 January 1997, a Wednesday
    array([48])
    """
    return (local_hours(times, zone) + int(MONDAY) // HOUR) % HOURS_OF_WEEK


def local_hours(times: Floats, zone: ZoneInfo | None) -> Ints:
    """Return the hours since 1970, or the time 0, that the clock of *zone* shows at rising *times*."""
    shown = times + _offsets(times, zone) if zone and len(times) else times
    return np.floor(shown / HOUR).astype(np.int64)


def _offsets(times: Floats, zone: ZoneInfo) -> Floats:
    """Return the offsets of *zone* from UTC in seconds, computed by day except on days of a clock change."""
    edges = Calendar.of(float(times[0]), float(times[-1]), zone, relative=False).edges
    of_edges = np.array([_offset(edge, zone) for edge in edges.tolist()])
    day = np.clip(np.searchsorted(edges, times, side="right") - 1, 0, len(edges) - 2)
    offsets: Floats = of_edges[day]
    for place in np.flatnonzero(of_edges[day] != of_edges[day + 1]):
        offsets[place] = _offset(float(times[place]), zone)
    return offsets


def _offset(moment: float, zone: ZoneInfo) -> float:
    ahead = datetime.fromtimestamp(moment, zone).utcoffset()
    return ahead.total_seconds() if ahead else 0.0


def whole_quarters(period: Period) -> Period:
    """
    Return the whole quarter hours within a *period*, or the period where there are none.

    >>> whole_quarters((10.0, 2000.0)), whole_quarters((10.0, 20.0))
    ((900.0, 1800.0), (10.0, 20.0))
    """
    first, last = np.ceil(period[0] / QUARTER) * QUARTER, np.floor(period[1] / QUARTER) * QUARTER
    return (float(first), float(last)) if last > first else period
