"""How many jobs were submitted in each hour of the log's own clock."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

import numpy as np

from gwa.metrics.timeline import QUARTER, Floats, Ints, counts
from gwa.statistics.stillness import HOURS_OF_WEEK
from gwa.store.store import Store
from gwa.util.units import HOUR

THURSDAY: Final = 3
"""1970 began on a Thursday; weeks begin on Mondays."""

STRAGGLING_SHARE: Final = 0.1
"""The log begins and ends with weeks of this share of the median jobs of weeks: the others are stragglers."""

BEGUN: Final = 20
"""It does not begin before this many jobs have come."""


@dataclass(frozen=True)
class Hours:
    """
    The hours from the first to the last submission.

    *edges* has the moments at which they begin, and the end of the last one; *counts* the jobs submitted in
    each; *of_week* which hour of the week it is, from Monday at midnight, by the clock of the log's time
    zone, or from an unknown one where times are relative.
    """

    edges: Floats
    counts: Ints
    of_week: Ints

    @classmethod
    def of(cls, store: Store) -> "Hours | None":
        """Count the submissions of all jobs; None where none is known."""
        quarters = counts(store, "submit_time", QUARTER, "all_jobs")
        if not len(quarters.bins):
            return None
        zone = None if store.system.relative else store.system.timezone
        shift = _offset(float(quarters.times[0]), zone) % HOUR
        first, last = (np.floor((quarters.times[[0, -1]] + shift) / HOUR) * HOUR - shift).tolist()
        edges = np.arange(int((last - first) // HOUR) + 2) * float(HOUR) + first
        local = edges[:-1] + _offsets(edges[:-1], zone)
        of_week = (np.floor(local / HOUR).astype(np.int64) + THURSDAY * 24) % HOURS_OF_WEEK
        return cls(edges, quarters.per(edges), of_week)

    def body(self) -> slice:
        """
        Return the hours between the stragglers.

        They are those from the first to the last week with a tenth of the median jobs of weeks that have any,
        without those before twenty jobs have come.
        """
        weeks = np.add.reduceat(self.counts, np.arange(0, len(self.counts), HOURS_OF_WEEK))
        full = np.flatnonzero(weeks >= STRAGGLING_SHARE * np.median(weeks[weeks > 0]))
        begun = int(np.searchsorted(np.cumsum(self.counts), min(BEGUN, self.counts.sum())))
        first, after = int(full[0]) * HOURS_OF_WEEK, (int(full[-1]) + 1) * HOURS_OF_WEEK
        return slice(max(first, begun), min(after, len(self.counts)))


def _offsets(moments: Floats, zone: ZoneInfo | None) -> Floats:
    """Return the offset of *zone* from UTC, in seconds, at consecutive *moments* an hour apart."""
    days = np.append(np.arange(0, len(moments), 24), len(moments))
    at_midnight = [_offset(float(moments[min(day, len(moments) - 1)]), zone) for day in days]
    offsets = np.repeat(np.array(at_midnight[:-1]), np.diff(days))
    for place in np.flatnonzero(np.diff(at_midnight)):  # the clock is changed on that day
        hours = slice(days[place], days[place + 1])
        offsets[hours] = [_offset(float(moment), zone) for moment in moments[hours]]
    return offsets


def _offset(moment: float, zone: ZoneInfo | None) -> float:
    offset = datetime.fromtimestamp(moment, zone).utcoffset() if zone else None
    return offset.total_seconds() if offset else 0.0
