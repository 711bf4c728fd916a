"""The clock of the trace's time zone in SQL: local seconds, and the month of a moment."""

from datetime import datetime
from itertools import pairwise
from typing import Final
from zoneinfo import ZoneInfo

import numpy as np

from gwa.metrics.calendar import MAXIMUM_DAYS, Calendar
from gwa.metrics.steps import step
from gwa.store.store import Period, Store
from gwa.util.units import DAY

MAXIMUM_SPAN: Final = float(MAXIMUM_DAYS * DAY)
"""Longer traces have no dates: some of their times are wrong."""


def submissions(store: Store, condition: str = "true") -> Period | None:
    """
    Return the first and the last submission of the jobs for which *condition* holds.

    Return None where dates are not known: where times count from an unknown start, or where submissions lie
    more than a century apart.
    """
    first, last = store.once(
        ("submissions", condition),
        lambda: store.row(f"select min(submit_time), max(submit_time) from jobs where {condition}"),
    )
    if store.system.relative or first is None or last - first > MAXIMUM_SPAN:
        return None
    return first, last


def months(store: Store, moment: str, span: Period) -> tuple[str, tuple[str, ...]]:
    """Return the SQL of the number, from 0, of the month of a *moment* within *span*, and their names."""
    edges, names = Calendar.of(*span, store.system.timezone, relative=False).months()
    return step(moment, edges[1:-1].tolist(), range(len(names))), tuple(names)


def years(store: Store, moment: str, span: Period) -> tuple[str, tuple[str, ...]]:
    """Return the SQL of the number, from 0, of the year of a *moment* within *span*, and their names."""
    edges, names = Calendar.of(*span, store.system.timezone, relative=False).months()
    of_months = [name[:4] for name in names]
    begins = [edges[place] for place in range(1, len(names)) if of_months[place] != of_months[place - 1]]
    of_years = tuple(dict.fromkeys(of_months))
    return step(moment, [float(begin) for begin in begins], range(len(of_years))), of_years


def cyclic(number: str, cycle: int) -> str:
    """
    Return the SQL of the place of a whole *number* in a *cycle*, from 0, of numbers below 0 as well.

    >>> cyclic("hour", 24)
    '(hour % 24 + 24) % 24'
    """
    return f"({number} % {cycle} + {cycle}) % {cycle}"


def local(store: Store, moment: str, span: Period) -> str:
    """Return the SQL of a *moment* within *span* in seconds by the clock of the trace's time zone."""
    return f"({moment} + {_offset(moment, span, store.system.timezone)})"


def _offset(moment: str, span: Period, zone: ZoneInfo) -> str:
    """Return the SQL of the offset of *zone* from UTC in seconds, at a *moment*."""
    days = (np.arange(span[0] // DAY, span[1] // DAY + 2) * DAY).tolist()
    offsets = [datetime.fromtimestamp(day, zone).utcoffset() for day in days]
    seconds = [offset.total_seconds() if offset else 0.0 for offset in offsets]
    changed = [place for place, (before, after) in enumerate(pairwise(seconds)) if before != after]
    changes = [_change(days[place], days[place + 1], zone) for place in changed]
    return step(moment, changes, [*(seconds[place] for place in changed), seconds[-1]])


def _change(before: float, after: float, zone: ZoneInfo) -> float:
    """Return when the clock of *zone* is changed between two moments, to the second."""
    first = datetime.fromtimestamp(before, zone).utcoffset()
    while after - before > 1:
        middle = (before + after) // 2
        if datetime.fromtimestamp(middle, zone).utcoffset() == first:
            before = middle
        else:
            after = middle
    return after
