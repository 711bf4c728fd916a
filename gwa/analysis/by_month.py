"""The months of a log on one page: its days as a strip, and the changes of each month against the last."""

import math
from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np

from gwa.analysis.answers.base import Known
from gwa.analysis.build import reproduction
from gwa.analysis.comparison.levels import signed
from gwa.analysis.comparison.over_time import Months, calendar_months, month_figures, over_time, strips_of
from gwa.analysis.credits import credits_of
from gwa.analysis.lead import lead, linked
from gwa.errors import TraceError
from gwa.metrics.intervals import Stretches
from gwa.report.document import Block, Fact, FactTable, Report, Section
from gwa.report.facts import number
from gwa.store.store import Store
from gwa.util.units import DAY
from gwa.words.compared import look_equal
from gwa.words.formatting import seconds, show, significant
from gwa.words.message import Number, Verbatim, joined, message, within_sentence
from gwa.words.quantities import Quantity, quantity
from gwa.words.unit import Unit

SHOWN: Final[Mapping[str, Quantity]] = {
    name: quantity(of)
    for name, of in {
        "utilization": "utilization",
        "busy": "busy_processors",
        "jobs": "arrivals_per_day",
        "users": "users",
        "median_wait": "wait_median",
        "failed": "failed_core_hours_share",
    }.items()
}
"""What is shown of each month; busy processors only where utilization is not known."""

UNCHANGED: Final = message("none")
"""The change of what looks equal in both months."""

MINIMUM_DAYS: Final = 27.0
"""The days of a month that the log has, from which it is nearly whole."""

MINIMUM_COMPARED_DAYS: Final = 7.0
"""The days that the log must have of both months for a change of what does not grow with the days."""

SUBMITTED: Final = """
select distinct {place} as place from jobs where submit_time is not null order by place
"""
"""The months in which jobs of the period were submitted."""

TINY: Final = 60.0
"""Of a shorter wait no change is given in percent, in seconds."""

MAXIMUM_PERCENT_RATIO: Final = 4.0
"""A larger ratio is given as a factor, not in percent."""


def by_month(store: Store, name: str, pages: Mapping[str, str]) -> Report:
    """
    Return the page of the months of *store*; *pages* are the addresses of reports on months, by their names.

    Raise `TraceError` where no job has a submission time.
    """
    course = over_time(name, store)
    if course.months is None:
        raise TraceError(f"{name}: no job has a submission time, so it has no months")
    shown = _measures(course.months)
    blocks: tuple[Block, ...] = (
        *strips_of([course]), _table(course.months, shown, pages), *month_figures([course]),
    )  # fmt: skip
    section = Section("months", message("Month by month"), "", blocks, is_on_top=True)
    return Report(
        Verbatim(name),
        "",
        (section,),
        None if store.system.relative else store.system.timezone.key,
        reproduction(store),
        overline=message("Month by month"),
        credits=credits_of(store.header),
        answer=_sentence(course.months, shown),
        lead=linked(lead(store, Known({}, {})), pages),
    )


def months_of(store: Store) -> list[str]:
    """Return the months of *store* that have a date and a job that was submitted in them, such as 2007-03."""
    found = None if store.system.relative else calendar_months(store)
    if found is None:
        return []
    names, borders, _ = found
    query = SUBMITTED.format(place=Stretches(tuple(borders.tolist())).place("submit_time"))
    return [names[place] for (place,) in store.rows(query)]


def _measures(months: Months) -> list[str]:
    """Return the measures that are known of any month."""
    known = [name for name in SHOWN if name in months.values and np.isfinite(months.values[name]).any()]
    return [name for name in known if name != "busy" or "utilization" not in known]


def _table(months: Months, shown: list[str], pages: Mapping[str, str]) -> FactTable:
    """Return a row for each month, the last on top: each value, and its change against the month before."""
    rows = []
    for place in reversed(range(len(months.names))):
        facts = [fact for name in shown for fact in _facts(months, name, place)]
        rows.append((Verbatim(months.names[place]), tuple(facts)))
    columns = [column for name in shown for column in (SHOWN[name].heading, message("change"))]
    links = tuple(pages.get(name, "") for name, _ in rows)
    note = message(
        "Changes are against the month before, where the log has {n} days or more of both, of users {m}. The"
        " first and the last month are of the days that the log has. Utilization is left out where the log"
        " does not know all load of a month."
        " gwa report --period MONTH --against previous says whether a change is beyond chance.",
        n=int(MINIMUM_COMPARED_DAYS),
        m=int(MINIMUM_DAYS),
    )
    return FactTable(
        "months", "Months and their changes", tuple(columns), tuple(rows), note,
        darkest="greatest", links=links if any(links) else (),
    )  # fmt: skip


def _facts(months: Months, name: str, place: int) -> Iterator[Fact]:
    """Yield the value of a measure in a month, and its change; both unknown where it is."""
    title, unit = SHOWN[name].heading, SHOWN[name].unit
    values = months.values[name]
    days = MINIMUM_DAYS if name == "users" else MINIMUM_COMPARED_DAYS
    # A rate a day is not that of a few seconds.
    value = math.nan if name == "jobs" and not _has(months, place, 1.0) else float(values[place])
    before = float(values[place - 1]) if _has_change(months, place, days) else math.nan
    prefix = f"month.{months.names[place]}.{name}"
    shown = _rounded(value, unit)
    yield Fact(prefix, number(value), title, unit, text=show(shown, unit) if shown is not None else "–")
    change, text = _change(before, value, unit)
    if math.isfinite(before) and shown is not None and look_equal(_rounded(before, unit), shown, unit):
        text = UNCHANGED
    yield Fact(f"{prefix}.change", number(change), message("{title}, change", title=title), "", text=text)


def _rounded(value: float, unit: Unit) -> float | int | None:
    """Return a value with the digits that the table has."""
    return number(round(value, 1) if unit == "count" and math.isfinite(value) else value)


def _change(before: float, value: float, unit: Unit) -> tuple[float | None, str]:
    """Return the change of a share, else as a share of the value before; and its text, – for none."""
    if not (math.isfinite(before) and math.isfinite(value)):
        return None, "–"
    if unit == "fraction":
        return value - before, message("{n} points", n=signed(100 * (value - before), 1))
    low, high = sorted((before, value))
    if low <= 0 or (unit == "seconds" and low < TINY):
        way = (value > before) - (value < before)
        return None, {1: message("up"), -1: message("down"), 0: UNCHANGED}[way]
    if high > MAXIMUM_PERCENT_RATIO * low:
        return value / before - 1, Number(f"×\N{NO-BREAK SPACE}{significant(value / before, 2)}")
    return value / before - 1, message("{n} %", n=signed(100 * (value / before - 1)))


def _has(months: Months, place: int, days: float = MINIMUM_DAYS) -> bool:
    """Whether the log has at least *days* days of a month, by default nearly all."""
    return bool(months.edges[place + 1] - months.edges[place] >= days * DAY)


def _has_change(months: Months, place: int, days: float = MINIMUM_DAYS) -> bool:
    """Whether a month can be compared with the one before: a day has fewer users than a month has."""
    return place > 0 and _has(months, place, days) and _has(months, place - 1, days)


def _sentence(months: Months, shown: list[str]) -> str:
    """
    Return what the last month says, against the one before where the log has both.

    Of the last two such months it is the one of which more is known.
    """
    filled = [place for place, jobs in enumerate(months.values["jobs"]) if math.isfinite(jobs) and jobs]
    compared = [place for place in filled if _has_change(months, place) and place - 1 in filled]
    if not filled:
        return ""
    candidates = compared[-2:] or [max(filled, key=lambda one: (_has(months, one), one))]
    place = max(candidates, key=lambda one: (_known(months, shown, one), one))
    parts = []
    for name in shown:
        value, change = _facts(months, name, place)
        if value.value is not None:
            what = within_sentence(SHOWN[name].heading)
            parts.append(
                message("{what} {value}", what=what, value=value.text)
                if change.text in {"–", UNCHANGED}
                else message("{what} {value} ({change})", what=what, value=value.text, change=change.text)
            )
    month = Verbatim(months.names[place])
    if compared:
        before = Verbatim(months.names[place - 1])
        return message(
            "{month}, against {before}: {parts}.", month=month, before=before, parts=joined(", ", parts)
        )
    days = seconds(float(months.edges[place + 1] - months.edges[place]))
    called = month if _has(months, place) else message("{month} ({length})", month=month, length=days)
    return message("{month}: {parts}.", month=called, parts=joined(", ", parts))


def _known(months: Months, shown: list[str], place: int) -> int:
    """Return how many measures of a month and of the one before are known."""
    return sum(int(np.isfinite(months.values[name][max(place - 1, 0) : place + 1]).sum()) for name in shown)
