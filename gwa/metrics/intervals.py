"""The whole weeks or days of a log, in which changes over its life or between two periods are sought."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Protocol, Self
from zoneinfo import ZoneInfo

import numpy as np

from gwa.metrics.calendar import MAXIMUM_DAYS
from gwa.metrics.presence import recorded
from gwa.metrics.timeline import Floats, Level
from gwa.metrics.window import window
from gwa.store.store import Period, Store, overlap
from gwa.util.units import DAY, WEEK
from gwa.words.message import message

BIN: Final = 600.0
"""Processors are averaged over ten minutes before their maximum is taken."""


class TimeSpans(Protocol):
    """Stretches of time, one after the other, in which something is measured."""

    @property
    def count(self) -> int:
        """How many there are."""

    @property
    def edges(self) -> Floats:
        """Their beginnings, and the end of the last one, in seconds."""

    def place(self, moment: str) -> str:
        """Return the SQL of the number, from 0, of the one in which a *moment* is."""


@dataclass(frozen=True)
class Stretches:
    """Stretches of any lengths between consecutive *borders*, in seconds, such as the months of a log."""

    borders: tuple[float, ...]

    @property
    def count(self) -> int:
        """How many there are."""
        return max(len(self.borders) - 1, 0)

    @property
    def edges(self) -> Floats:
        """Their beginnings, and the end of the last one, in seconds."""
        return np.array(self.borders, np.float64)

    def place(self, moment: str) -> str:
        """Return the SQL of the number of the stretch in which a *moment* is, -1 before the first."""
        branches = (f"when {moment} < {border!r} then {n}" for n, border in enumerate(self.borders, -1))
        return f"(case {' '.join(branches)} else {self.count} end)"


@dataclass(frozen=True)
class Intervals:
    """
    A number of intervals (*count*) of *width* seconds each; the first begins at *origin*, in seconds.

    *zone* is the time zone of dates, None without.
    """

    origin: float
    count: int
    zone: str | None
    width: float = float(WEEK)

    @classmethod
    def weeks(cls, store: Store) -> Self:
        """
        Return the whole weeks of the log; none in logs of over a century.

        They are those from the first submission to the last in which the load is known. They begin on a
        Monday in the time zone of the trace, or, where times count from an unknown start, with the day of the
        first submission.
        """
        submitted = store.row("select min(submit_time), max(submit_time) from jobs")
        if submitted[0] is None or submitted[1] - submitted[0] > MAXIMUM_DAYS * DAY:
            return cls(0.0, 0, None)
        known = overlap(window(store).period, submitted) or submitted
        return cls._within(store, known, float(WEEK), on_mondays=True)

    @classmethod
    def weeks_of_submissions(cls, store: Store) -> Self:
        """
        Return the whole weeks between the first submission and the last; none in logs of over a century.

        In a log that lacks jobs that had not ended at its end, they end with the window of observation.
        """
        first, last = store.row("select min(submit_time), max(submit_time) from jobs")
        if first is None or last - first > MAXIMUM_DAYS * DAY:
            return cls(0.0, 0, None)
        known = window(store)
        if known.last is not None and known.cut in {"end", "both"}:
            last = min(last, known.last)
        return cls._within(store, (first, last), float(WEEK), on_mondays=True)

    @classmethod
    def days(cls, store: Store, *, weekly: bool = False) -> Self:
        """
        Return the whole days in which the load is known, idle ones included; or, if *weekly*, weeks.

        They are those of the period that *store* is of; there are none in logs of over a century.
        """
        known = window(store).period or recorded(store)
        if known is None or not 0 < known[1] - known[0] <= MAXIMUM_DAYS * DAY:
            return cls(0.0, 0, None)
        return cls._within(store, known, float(WEEK if weekly else DAY), on_mondays=weekly)

    @classmethod
    def _within(cls, store: Store, known: Period, width: float, *, on_mondays: bool) -> Self:
        """Return the intervals of *width* in the time that is *known*."""
        system, (first, last) = store.system, known
        if system.relative:
            origin, zone = float(first // DAY if on_mondays else -(-first // DAY)) * DAY, None
        else:
            zone = system.timezone.key
            midnight = datetime.fromtimestamp(first, system.timezone).replace(
                hour=0, minute=0, second=0, microsecond=0
            )
            if on_mondays:
                begin = midnight + timedelta(days=-midnight.weekday() % 7)
            else:
                begin = midnight + timedelta(days=midnight.timestamp() < first)
            origin = begin.timestamp()
        return cls(origin, max(int((last - origin) // width), 0), zone, width)

    @property
    def edges(self) -> Floats:
        """The beginnings of the intervals, and the end of the last one."""
        return np.float64(self.origin) + np.arange(self.count + 1, dtype=np.float64) * self.width

    def place(self, moment: str) -> str:
        """Return the SQL of the number, from 0, of the interval in which a *moment* is."""
        return f"cast(floor(({moment} - {self.origin!r}) / {self.width!r}) as bigint)"

    def part(self, first: int, count: int) -> "Intervals":
        """Return *count* of the intervals, from the one numbered *first* on."""
        return replace(self, origin=self.origin + first * self.width, count=count)

    @property
    def weekday(self) -> int:
        """The day of the week on which the first interval begins, from 0; days of any week without dates."""
        if self.zone is None:
            return int(self.origin // DAY) % 7
        return datetime.fromtimestamp(self.origin, ZoneInfo(self.zone)).weekday()

    def label(self, number: int, store: Store) -> str:
        """Return the date on which an interval begins, or the day of the log."""
        begin = self.origin + number * self.width
        if self.zone is None:
            return message("day {number}", number=int(begin // DAY) + 1)
        # The middle of the first day, because a week may begin an hour before midnight in summer.
        return datetime.fromtimestamp(begin + DAY / 2, store.system.timezone).date().isoformat()

    def peaks(self, level: Level) -> Floats:
        """Return the maximum of a level in each interval."""
        edges, begins = self.edges, level.origin + level.begins * level.width
        first = np.clip(np.searchsorted(begins, edges[:-1], side="right") - 1, 0, None)
        last = np.maximum(np.searchsorted(begins, edges[1:], side="left"), first + 1)
        return np.array([level.values[a:b].max() for a, b in zip(first, last, strict=True)])
