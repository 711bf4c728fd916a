"""The days, weeks and months of a trace, in its own time zone."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final, overload
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from gwa.metrics.timeline import QUARTER, Floats, Ints
from gwa.util.units import DAY, HOUR
from gwa.words.message import message

MINIMUM_POINTS: Final = 4
"""A figure with fewer points is drawn by shorter intervals."""

MAXIMUM_DAYS: Final = 40_000
"""For longer traces, over a century, daylight saving is ignored and days have no dates."""

MONTH: Final = 30
"""The days of a month where dates are unknown."""


class Names(Sequence[str]):
    """The names of *count* intervals, each made when it is asked for: of a wrong year there are millions."""

    def __init__(self, count: int, name_of: Callable[[int], str]) -> None:
        self.places, self.name_of = range(count), name_of

    def __len__(self) -> int:
        """Return the number of intervals."""
        return len(self.places)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        """Return the name of an interval, or those of several."""
        places = self.places[place]
        return self.name_of(places) if isinstance(places, int) else [*map(self.name_of, places)]


Named = tuple[Floats, Names]
"""The edges of intervals, one more than there are, and the names of the intervals."""


@dataclass(frozen=True)
class Calendar:
    """
    The days of a trace: *edges* are the midnights, one more than days, and Monday is weekday 0.

    Without *dates* days are numbered.
    """

    edges: Floats
    weekdays: Ints
    first: int
    dates: Sequence[date] | None = None

    @classmethod
    def of(cls, first: float, last: float, zone: ZoneInfo, *, relative: bool) -> "Calendar":
        """Return the days from the moment *first* to the moment *last*."""
        if relative or (last - first) / DAY > MAXIMUM_DAYS:
            days = np.arange(np.floor(first / DAY), np.floor(last / DAY) + 2)
            return cls(days * DAY, (days[:-1].astype(np.int64) + 3) % 7, int(days[0]))
        start = datetime.fromtimestamp(first, zone).replace(
            hour=0, minute=0, second=0, microsecond=0, tzinfo=None
        )
        end = datetime.fromtimestamp(last, zone).replace(tzinfo=None)
        midnights = [start + timedelta(days=day) for day in range((end - start).days + 2)]
        edges = np.array([day.replace(tzinfo=zone).timestamp() for day in midnights])
        dates = [day.date() for day in midnights[:-1]]
        return cls(edges, np.array([day.weekday() for day in dates], np.int64), 0, dates)

    def days(self) -> Named:
        """Return the edges and the names of the days."""
        return self.edges, Names(len(self.weekdays), self._name)

    def weeks(self) -> Named:
        """Return the edges of the weeks and the Mondays they are called by; the first may begin later."""
        return self._grouped(self.weekdays == 0, self._week)

    def months(self) -> Named:
        """Return the edges and names of the months; stretches of 30 days where dates are unknown."""
        if self.dates is None:
            return self._grouped(np.arange(len(self.weekdays)) % MONTH == 0, self._stretch)
        return self._grouped(np.array([day.day == 1 for day in self.dates]), self._month)

    def shown(self, first: float, last: float) -> tuple[str, Floats]:
        """
        Return the name and the edges of the intervals of a figure: days, or less where those are few.

        >>> Calendar.of(0.0, 7000.0, ZoneInfo("UTC"), relative=False).shown(0.0, 7000.0)[0]
        'quarter of an hour'
        """
        if len(self.weekdays) >= MINIMUM_POINTS:
            return "day", self.edges
        hours = int(last // HOUR) - int(first // HOUR) + 1
        name, width = ("hour", HOUR) if hours >= MINIMUM_POINTS else ("quarter of an hour", QUARTER)
        return name, np.arange(first // width, last // width + 2) * width

    def _grouped(self, begins: NDArray[np.bool_], name_of: Callable[[int], str]) -> Named:
        """Return the edges and names of groups of days: *name_of* the place of the first of each."""
        begins[0] = True
        starts = np.flatnonzero(begins)
        names = Names(len(starts), lambda group: name_of(int(starts[group])))
        return np.append(self.edges[starts], self.edges[-1]), names

    def _name(self, place: int) -> str:
        if self.dates is None:
            return message("day {number}", number=self.first + place + 1)
        return self.dates[place].isoformat()

    def _week(self, place: int) -> str:
        if self.dates is None:
            return message("week of {day}", day=self._name(place))
        monday = self.dates[place] - timedelta(days=int(self.weekdays[place]))
        return message("week of {day}", day=monday.isoformat())

    def _month(self, place: int) -> str:
        return self._name(place)[:7]

    def _stretch(self, place: int) -> str:
        return message("30 days from {day}", day=self._name(place))


def article(name: str) -> str:
    """
    Return the *name* of an interval after its article.

    >>> article("hour"), article("day")
    ('an hour', 'a day')
    """
    return f"an {name}" if name == "hour" else f"a {name}"
