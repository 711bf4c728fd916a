"""
Days, and the days that a store has.

The names of its sources say them, such as ``sacct-2025-10-01..2025-10-07.sacct``.
"""

import os
import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from gwa.store.system import is_zone

ONE_DAY: Final = timedelta(days=1)

MINIMUM_SPAN: Final = timedelta(minutes=5)
"""A shorter span is not divided."""

STAMP: Final = "%Y-%m-%dT%H:%M:%S"
"""How a moment is written for sacct, in the zone of its environment, which is UTC."""

RANGE: Final = re.compile(r"-(\d{4}-\d\d-\d\d)\.\.(\d{4}-\d\d-\d\d)\.sacct")

ZONES: Final = "zoneinfo/"
"""What stands before the name of a zone in the target of the link that a system has to its own."""


@dataclass(frozen=True, order=True)
class Span:
    """The time from *begin* to *end*, both in UTC."""

    begin: datetime
    end: datetime

    @classmethod
    def of_day(cls, day: date, zone: ZoneInfo) -> "Span":
        """Return the time of a *day* in a *zone*: 23 to 25 hours."""
        first, after = (datetime.combine(when, time(), zone).astimezone(UTC) for when in (day, day + ONE_DAY))
        return cls(first, after)

    @property
    def length(self) -> timedelta:
        """How long it is."""
        return self.end - self.begin

    def halves(self) -> "tuple[Span, Span] | None":
        """Return its halves, in whole seconds; None where it is too short to be divided."""
        if self.length < 2 * MINIMUM_SPAN:
            return None
        middle = self.begin + timedelta(seconds=int(self.length.total_seconds()) // 2)
        return Span(self.begin, middle), Span(middle, self.end)

    def __str__(self) -> str:
        """Return it in UTC, as names of files have it."""
        return "-".join(f"{when:%Y%m%dT%H%M%SZ}" for when in (self.begin, self.end))


def zone_of_machine() -> str | None:
    """Return the IANA name of the time zone of this machine; None where it does not say one."""
    stated = [os.environ.get("TZ", "").removeprefix(":")]
    with suppress(OSError):  # no link, or a system without one
        stated.append(Path("/etc/localtime").readlink().as_posix().rpartition(ZONES)[2])
    return next((name for name in stated if name and is_zone(name)), None)


def days_between(first: date, last: date) -> Iterator[date]:
    """Yield the days from *first* to *last*, the last one included."""
    for number in range((last - first).days + 1):
        yield first + timedelta(days=number)


def source_name(kind: str, first: date, last: date) -> str:
    """
    Return the name of the source that holds the days from *first* to *last* of one *kind*.

    >>> source_name("sacct-alpha", date(2025, 10, 1), date(2025, 10, 7))
    'sacct-alpha-2025-10-01..2025-10-07.sacct'
    """
    return f"{kind}-{first}..{last}.sacct"


def days_in(names: Collection[str], kind: str) -> set[date]:
    """
    Return the days of one *kind* that the sources called *names* hold.

    >>> len(days_in(["sacct-2025-10-01..2025-10-07.sacct", "year.sacct"], "sacct"))
    7
    """
    found: set[date] = set()
    for name in names:
        said = RANGE.fullmatch(name.removeprefix(kind)) if name.startswith(kind) else None
        if said:
            found.update(days_between(date.fromisoformat(said[1]), date.fromisoformat(said[2])))
    return found


def missing_days(known: Collection[date], since: date, until: date, again: int) -> list[date]:
    """
    Return the days from *since* to *until* that are not *known*, and the last *again* of those that are.

    A day is taken again since records may reach the database late.

    >>> [day.day for day in missing_days({date(2025, 10, 1)}, date(2025, 10, 1), date(2025, 10, 3), 1)]
    [1, 2, 3]
    """
    latest = sorted(day for day in known if since <= day <= until)[-again:] if again else []
    return [day for day in days_between(since, until) if day not in known or day in latest]
