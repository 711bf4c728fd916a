"""
Periods that have names: last-month, this-week, and the period before another one.

They are relative to the end of what the log knows, not to the clock of the machine: the same log gives the
same period whenever it is asked. A date may be stated instead.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final, NamedTuple, Self

from gwa.errors import ArgumentError, DefinitionError, TraceError
from gwa.metrics.window import window
from gwa.store.store import Store
from gwa.store.subset import after, bounds, moment
from gwa.store.system import System
from gwa.util.units import DAY

PREVIOUS: Final = "previous"
"""The name of the period of the same length before another one."""

NAMED: Final = re.compile(r"(last|this)-(week|month|year)")

EPOCH: Final = datetime(1, 1, 1)  # noqa: DTZ001 - of no zone; it is a Monday
WEEKDAYS: Final = 7


class _Unit(NamedTuple):
    """A unit of the calendar: the *number* of the one that a moment is in, and how that is *written*."""

    number: Callable[[datetime], int]
    written: Callable[[int], str]


_UNITS: Final[Mapping[str, _Unit]] = {
    "year": _Unit(lambda when: when.year, lambda n: f"{n:04}"),
    "month": _Unit(lambda when: when.year * 12 + when.month - 1, lambda n: f"{n // 12:04}-{n % 12 + 1:02}"),
    "week": _Unit(lambda when: (when - EPOCH).days // WEEKDAYS, lambda n: _days(n * WEEKDAYS, WEEKDAYS)),
    "day": _Unit(lambda when: (when - EPOCH).days, lambda n: _days(n, 1)),
    "minute": _Unit(
        lambda when: (when - EPOCH) // timedelta(minutes=1),
        lambda n: (EPOCH + timedelta(minutes=n)).isoformat(timespec="minutes"),
    ),
}


def _days(first: int, count: int) -> str:
    """Return *count* days as a period."""
    dates = [(EPOCH + timedelta(days=day)).date().isoformat() for day in (first, first + count - 1)]
    return "..".join(dict.fromkeys(dates))


@dataclass(frozen=True)
class Today:
    """
    The day that names of periods are relative to, and the first one that is not over, *upto*.

    Days count from 0: from `EPOCH`, or from the unknown start. Of a log, the day is the one on which its
    knowledge ends, and it is taken to be over.
    """

    day: int
    upto: int

    @classmethod
    def of(cls, store: Store, today: str | None = None) -> Self:
        """Return the day *today*, else the one on which the knowledge of the whole log ends."""
        if today is not None:
            day = _stated_day(today, relative=store.system.relative)
            return cls(day, day)
        end = known_until(store)
        if store.system.relative:
            return cls(int(end // DAY), int(end // DAY) + 1)
        day = datetime.fromtimestamp(end, store.system.timezone).toordinal() - 1
        return cls(day, day + 1)


def _stated_day(text: str, *, relative: bool) -> int:
    """Return the number of the day *text*; raise `ArgumentError` where it is none."""
    try:
        return int(text) - 1 if relative else date.fromisoformat(text).toordinal() - 1
    except ValueError:
        expected = "the number of a day" if relative else "a date such as 2007-03-05"
        raise ArgumentError(f"today is '{text}', expected {expected}") from None


def known_until(store: Store) -> float:
    """
    Return when the window of observation of the whole log ends or, where it has none, its last submission.

    Raise `TraceError` if no job has a submission time.
    """
    whole = store.whole
    last = window(whole).last
    if last is None:
        (last,) = whole.row("select max(submit_time) from jobs")
    if last is None:
        raise TraceError("no job has a submission time, so that no period of the trace has a name")
    return float(last)


def known_day(store: Store) -> str:
    """Return the last day that the log knows, in words."""
    day = Today.of(store).day
    return f"the load until day {day + 1}" if store.system.relative else f"the load until {_days(day, 1)}"


def is_named(period: str) -> bool:
    """Whether *period* is a name that depends on the log, such as last-month."""
    return NAMED.fullmatch(period) is not None


def dated(period: str, store: Store, today: str | None = None) -> str:
    """
    Return *period* as dates, or as numbers of days where times count from an unknown start.

    ``last-month`` is the last calendar month that the log knows to its last day, in the time zone of the
    trace, and ``this-month`` the one in which its knowledge ends. With *today*, a date, they are the month
    before the one of that date, and its own. Weeks begin on Mondays, or every seven days from the first.
    Other texts are returned as they are. Raise `ArgumentError` for a month or year without dates, or if
    *today* is not a date.
    """
    named = NAMED.fullmatch(period)
    if not named:
        return period
    which, unit = named.groups()
    known = Today.of(store, today)
    day = known.day if which == "this" else known.upto
    if not store.system.relative:
        number = _UNITS[unit].number(EPOCH + timedelta(days=day))
        return _UNITS[unit].written(number - (which == "last"))
    week = day // WEEKDAYS - (which == "last")
    if unit != "week" or week < 0:
        raise ArgumentError(
            f"the period is '{period}', expected a week that is over, or numbers of days such as 3..10:"
            " the times of this trace count from an unknown start"
        )
    return f"{week * WEEKDAYS + 1}..{(week + 1) * WEEKDAYS}"


def before(period: str, system: System) -> str:
    """
    Return the period of the same kind and length that ends where *period*, in dates, begins.

    Raise `DefinitionError` if *period* is none, or begins the calendar.

    >>> utc = System(zone="UTC", relative=False)
    >>> before("2007-03", utc), before("2007-03-05..2007-03-11", utc), before("8..14", System())
    ('2007-02', '2007-02-26..2007-03-04', '1..7')
    """
    begin, end = bounds(period, system)
    if system.relative:
        first, length = int(begin // DAY) + 1, int((end - begin) // DAY)
        if first <= length:
            raise DefinitionError(f"there is no period as long as '{period}' before it")
        return f"{first - length}..{first - 1}"
    ends = [moment(text) for text in _ends(period)]
    unit = _UNITS[("year", "month", "day", "minute")[max(parts for _, parts in ends) - 1]]
    start = unit.number(ends[0][0])
    length = unit.number(after(*ends[1])) - start
    try:
        texts = [unit.written(number) for number in (start - length, start - 1)]
        bounds(texts[0], system)
    except (OverflowError, ArgumentError):
        raise DefinitionError(f"there is no period as long as '{period}' before it") from None
    return "..".join(dict.fromkeys(texts))


def _ends(period: str) -> tuple[str, str]:
    """Return the texts of the first and the last part of a period."""
    first, dots, last = period.partition("..")
    return first, last if dots else first


def within(month: str, period: str | None, system: System) -> str:
    """
    Return what of a *month* lies in *period*, as a period; they must overlap.

    >>> utc = System(zone="UTC", relative=False)
    >>> within("2007-03", "2007", utc), within("2007-03", "2007-03-05..2007-07", utc)
    ('2007-03', '2007-03-05..2007-03')
    """
    if period is None:
        return month
    (begin, end), (first, last) = bounds(period, system), bounds(month, system)
    ends = _ends(period)
    texts = (ends[0] if begin > first else month, ends[1] if end < last else month)
    return "..".join(dict.fromkeys(text.strip() for text in texts))
