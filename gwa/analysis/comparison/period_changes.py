"""
What is different from an earlier period, and how large that is among the log's own earlier changes.

Two months are too few days for a test that finds much: busy processors of a machine may fall by a fifth
without being different by more than chance. So both values are said always, and, where the log has a history,
the rank of this change among those between all adjacent periods of the same length before it.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from gwa.analysis.change_sentences import WORDS
from gwa.errors import ArgumentError, DefinitionError
from gwa.metrics.interval_values import MEASURES, interval_values
from gwa.metrics.intervals import Stretches
from gwa.metrics.periods import before, known_until
from gwa.metrics.timeline import Floats
from gwa.metrics.window import window
from gwa.report.columns import Cells, column, table_of
from gwa.report.document import Block, Column, Fact, Facts, Note
from gwa.report.facts import facts_of, number
from gwa.store.store import Period, Store
from gwa.store.subset import bounds
from gwa.util.units import DAY
from gwa.words.compared import look_equal
from gwa.words.formatting import show
from gwa.words.message import Verbatim, capitalized, joined, message
from gwa.words.unit import Unit

MINIMUM_EARLIER: Final = 12
"""Among fewer earlier changes a rank says little."""

MAXIMUM_PERIODS: Final = 60

WHOLE: Final = 0.95
"""A period of which a smaller share is observed has no rank."""

HARDLY_ANY: Final = 0.1
"""A period with less than this share of the usual jobs is unknown: it may be a hole in the log."""

LAST: Final = 1.0
"""How far, in seconds, a period may go beyond what is observed: it holds what happens in the last second."""

EQUAL: Final = 1e-9
"""Changes that differ by less are equal but for rounding."""

MONTH: Final = re.compile(r"\d{4}-\d\d")


class PeriodPart(NamedTuple):
    """A part of a trace by the *name* of its period, and the *store* of its jobs."""

    name: str
    store: Store


class PeriodChange(NamedTuple):
    """
    The values of a measure *before* and *after*, and the *rank* of that change among all *changes*.

    Rank 1 is the largest; both are None without a history.
    """

    before: float
    after: float
    rank: int | None = None
    changes: int | None = None

    def is_seen(self, unit: Unit) -> bool:
        """Whether both values look different."""
        return not look_equal(number(self.before), number(self.after), unit)

    def relative(self, unit: Unit) -> float | None:
        """Return the difference as a share of the value before; None of nothing, and where none is seen."""
        return (self.after - self.before) / self.before if self.before and self.is_seen(unit) else None


@dataclass(frozen=True)
class PeriodChanges:
    """The change of each measure from the period called *earlier*, and whether the periods are months."""

    earlier: str
    by_measure: Mapping[str, PeriodChange]
    are_months: bool = False


def period_changes(part: PeriodPart, earlier: PeriodPart) -> PeriodChanges:
    """Return how each measure that is known in both parts changed from the *earlier* one to *part*."""
    seen = _observed(part.store)
    if seen is None:
        return PeriodChanges(earlier.name, {})
    periods = _adjacent(part, earlier, seen)
    if periods is None:
        pair = [_clipped(one.store.period or seen, seen) for one in (earlier, part)]
        values = [
            period_values(one.store, Stretches(period))
            for one, period in zip((earlier, part), pair, strict=True)
        ]
        columns = {
            name: np.concatenate((values[0][name], values[1][name]))
            for name in MEASURES
            if all(name in known for known in values)
        }
    else:
        columns = period_values(part.store, periods)
    return PeriodChanges(
        earlier.name,
        {name: _change(name, known) for name, known in columns.items() if np.isfinite(known[-2:]).all()},
        are_months=bool(MONTH.fullmatch(part.name)),
    )


def _observed(store: Store) -> Period | None:
    """Return the first submission of the whole log and the end of what it knows."""
    (first,) = store.whole.row("select min(submit_time) from jobs")
    return None if first is None else (first, known_until(store))


def _clipped(period: Period, seen: Period) -> Period:
    """Return what is *seen* of a period; all of it where nothing is."""
    first, last = max(period[0], seen[0]), min(period[1], seen[1])
    return (first, last) if first < last else period


def _adjacent(part: PeriodPart, earlier: PeriodPart, seen: Period) -> Stretches | None:
    """
    Return *part*, *earlier* and the periods before them that are seen, the first first.

    None if *earlier* is not the one before *part*.
    """
    system, own, previous = part.store.system, part.store.period, earlier.store.period
    if own is None or previous is None or previous[1] != own[0]:
        return None
    borders, name = [own[1], own[0]], part.name
    try:
        for _ in range(MAXIMUM_PERIODS):
            name = before(name, system)
            begin, end = bounds(name, system)
            if begin < seen[0] - (1 - WHOLE) * (end - begin) and len(borders) > 2:  # noqa: PLR2004 - a pair
                break
            borders.append(begin)
    except (ArgumentError, DefinitionError):  # where the calendar begins
        pass
    if len(borders) < 3 or borders[2] != previous[0]:  # noqa: PLR2004 - a pair
        return None
    borders[0] = _clipped(own, seen)[1]
    return Stretches(tuple(reversed(borders)))


def period_values(store: Store, periods: Stretches) -> dict[str, Floats]:
    """Return the values in each period: jobs as those of a day, nan where a period is hardly observed."""
    values = interval_values(store, periods, of_any_time=True)
    edges = periods.edges
    jobs = np.nan_to_num(values["jobs"]) / (np.diff(edges) / DAY)
    is_hole = jobs < HARDLY_ANY * np.median(jobs)
    known = window(store.whole).period
    if "busy" in values:
        inside = (
            (edges[:-1] >= known[0]) & (edges[1:] <= known[1] + LAST)
            if known
            else np.zeros(jobs.size, np.bool_)
        )
        values["busy"] = np.where(inside, values["busy"], np.nan)
    return {name: np.where(is_hole, np.nan, column) for name, column in (values | {"jobs": jobs}).items()}


def _change(name: str, values: Floats) -> PeriodChange:
    """Return the last change of *values*, with its rank if there are enough before it."""
    differences = np.array([abs(MEASURES[name].difference(*pair)) for pair in pairwise(values)])
    known = differences[np.isfinite(differences)]
    if known.size <= MINIMUM_EARLIER:
        return PeriodChange(float(values[-2]), float(values[-1]))
    rank = 1 + int((known[:-1] >= known[-1] - EQUAL).sum())
    return PeriodChange(float(values[-2]), float(values[-1]), rank, int(known.size))


def change_statement(changes: PeriodChanges) -> tuple[str, str]:
    """Return the values of the change that ranks first, and all in a sentence but those that look equal."""
    different = [one for one in changes.by_measure.items() if one[1].is_seen(MEASURES[one[0]].unit)]
    if not different:
        text = message(
            "All values that are known are as in {earlier}, to the digits shown.",
            earlier=Verbatim(changes.earlier),
        )
        return message("no difference"), text
    ordered = sorted(different, key=lambda one: one[1].rank or math.inf)
    (first, lead), others = ordered[0], ordered[1:]
    values = message("{before} to {after}", **_shown(first, lead))
    text = message(
        "{subject} went from {before} in {earlier} to {after}",
        subject=_subject(first),
        earlier=Verbatim(changes.earlier),
        **_shown(first, lead),
    )
    if lead.rank:
        text += _ranked(lead, are_months=changes.are_months)
    parts = [
        message(
            "{subject} from {before} to {after} (rank {rank})"
            if one.rank
            else "{subject} from {before} to {after}",
            subject=WORDS[name].subject if name != "jobs" else message("jobs a day"),
            rank=one.rank,
            **_shown(name, one),
        )
        for name, one in others
    ]
    if parts:
        text += message("; {others}", others=joined("; ", parts))
    return values, text + message(".")


def _ranked(change: PeriodChange, *, are_months: bool) -> str:
    between = (
        message("from month to month") if are_months else message("between adjacent periods of this length")
    )
    if change.rank == 1:
        return message(
            ", the largest of {changes} changes {between}", changes=change.changes, between=between
        )
    return message(
        " (rank {rank} of {changes} changes {between}, 1 being the largest)",
        rank=change.rank,
        changes=change.changes,
        between=between,
    )


def _subject(name: str) -> str:
    return capitalized(WORDS[name].subject if name != "jobs" else message("jobs a day"))


def _shown(name: str, change: PeriodChange) -> dict[str, str]:
    unit = MEASURES[name].unit
    return {"before": show(number(change.before), unit), "after": show(number(change.after), unit)}


def change_table(changes: PeriodChanges, names: tuple[str, str]) -> Iterator[Block]:
    """
    The values of both periods, and how large each change is among the earlier ones of the log.

    Jobs, users, waits, run times and processors are of jobs submitted in the period, core-hours of those that
    ended in it; busy processors are of the time in which the log knows the load. A change is ranked among
    those between all adjacent periods of the same length before it, on the logarithm of the values (shares as
    they are), 1 for the largest, if there are 12 earlier ones. That says how unusual it is for this log, and
    nothing about causes.
    """
    if not changes.by_measure:
        yield Note("No measure is known in both periods.")
        return
    yield Facts(tuple(_facts(changes)), listed=False)
    if all(one.rank is None for one in changes.by_measure.values()):
        yield Note("The log has fewer than 12 earlier changes of this kind, so that no rank is given.")
    found = changes.by_measure
    cells: Cells[str] = {
        Column("what", "Measure"): _subject,
        Column("before", names[0]): lambda name: _shown(name, found[name])["before"],
        Column("after", names[1]): lambda name: _shown(name, found[name])["after"],
        column("change"): lambda name: found[name].relative(MEASURES[name].unit),
        Column("rank", "Rank", "count"): lambda name: found[name].rank,
        Column("changes", "Of changes", "count"): lambda name: found[name].changes,
    }
    yield table_of("against", "Values of both periods", found, cells)


def _facts(changes: PeriodChanges) -> Iterator[Fact]:
    for name, one in changes.by_measure.items():
        title, unit = _subject(name), MEASURES[name].unit
        yield from facts_of(
            f"against.{name}",
            ("before", number(one.before), message("{title}, before", title=title), unit),
            ("after", number(one.after), message("{title}, after", title=title), unit),
            ("rank", one.rank, message("{title}, rank of the change", title=title), "count"),
            ("changes", one.changes, message("{title}, changes ranked", title=title), "count"),
        )
