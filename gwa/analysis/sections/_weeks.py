"""The whole weeks of a log, in which changes over its life are sought."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Self

import numpy as np

from gwa.metrics.timeline import MAXIMUM_DAYS, Floats, Level
from gwa.metrics.window import window
from gwa.store.store import Store, overlap
from gwa.util.units import DAY, WEEK

BIN: Final = 600.0
"""Processors are averaged over ten minutes before their maximum is taken."""


@dataclass(frozen=True)
class Weeks:
    """
    A number of weeks (*count*) of 168 hours each, the first of which begins at *origin*, in seconds.

    Weeks begin on a Monday in the time zone of the trace, or, where times count from an unknown start, with
    the day of the first submission. *zone* is that of dates, None without.
    """

    origin: float
    count: int
    zone: str | None

    @classmethod
    def of(cls, store: Store) -> Self:
        """
        Return the whole weeks of the log; none in logs of over a century.

        They are those from the first submission to the last in which the load is known.
        """
        submitted = store.row("select min(submit_time), max(submit_time) from jobs")
        system = store.system
        if submitted[0] is None or submitted[1] - submitted[0] > MAXIMUM_DAYS * DAY:
            return cls(0.0, 0, None)
        first, last = overlap(window(store).period, submitted) or submitted
        if system.relative:
            origin = float(first // DAY) * DAY
        else:
            day = datetime.fromtimestamp(first, system.timezone).date()
            monday = day + timedelta(days=-day.weekday() % 7)
            begin = datetime(monday.year, monday.month, monday.day, tzinfo=system.timezone)
            origin = begin.timestamp()
        return cls(
            origin, max(int((last - origin) // WEEK), 0), None if system.relative else system.timezone.key
        )

    @property
    def edges(self) -> Floats:
        """The beginnings of the weeks, and the end of the last one."""
        edges: Floats = np.float64(self.origin) + np.arange(self.count + 1, dtype=np.float64) * WEEK
        return edges

    def label(self, week: int, store: Store) -> str:
        """Return the date on which a week begins, or the day of the log."""
        begin = self.origin + week * WEEK
        if self.zone is None:
            return f"day {int(begin // DAY) + 1}"
        # The middle of the first day, because a week may begin an hour before midnight in summer.
        return datetime.fromtimestamp(begin + DAY / 2, store.system.timezone).date().isoformat()

    def peaks(self, level: Level) -> Floats:
        """Return the maximum of a level in each week."""
        edges, begins = self.edges, level.origin + level.begins * level.width
        first = np.clip(np.searchsorted(begins, edges[:-1], side="right") - 1, 0, None)
        last = np.maximum(np.searchsorted(begins, edges[1:], side="left"), first + 1)
        return np.array([level.values[a:b].max() for a, b in zip(first, last, strict=True)])
