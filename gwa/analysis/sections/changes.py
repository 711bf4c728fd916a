"""What changed over the life of the log: steps in weekly arrivals, load, wait times, failures and users."""

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from gwa.analysis.base import Chapter, analysis
from gwa.metrics.interval_values import MEASURES, interval_values, scaled
from gwa.metrics.intervals import Intervals
from gwa.metrics.timeline import Floats
from gwa.report.document import Block, Column, Fact, Facts, Note, Table, Value
from gwa.report.facts import number
from gwa.report.figures.series import series
from gwa.report.formatting import show
from gwa.report.message import message, plural
from gwa.statistics.changes import MINIMUM_LENGTH, Shift, shifts, window_length
from gwa.store.store import Store

KNOWN_SHARE: Final = 0.75
"""A measure that fewer weeks have, such as run times in a log with long gaps, is left out."""


class Change(NamedTuple):
    """A step of a *measure* in a week, and the medians of the weeks before and after it."""

    measure: str
    week: int
    before: float
    after: float


@analysis(
    "Changes over time",
    Chapter.CHANGES,
    facts=("changes",),
    needs=("submit_time",),
)
def changes(store: Store) -> Iterator[Block]:
    """
    Steps in weekly values: what rose or fell at some time and stayed there for weeks.

    Weeks are whole and begin on Mondays. Jobs, users, wait times, run times and processors are those of jobs
    submitted in the week, failures those of jobs that ended in it; wait times are of jobs that record one.
    Steps are sought by self-normalised sums over nested windows (Shao and Zhang 2010; Zhao, Jiang and Shao
    2022) of the winsorised logarithm, that of shares in the share itself, at 1 % for each series. Steps of
    less than about a fifth (a tenth for the maximum of busy processors, three percentage points for
    failures), less than the usual variation between weeks, or no more than growth or a yearly cycle explains
    are not shown. Before and after are the medians of the weeks from the step to the next one.

    A step close to either end of the log is not found. In a log of less than two years, a season may look
    like a step. Causes are not known: fewer busy processors may be a smaller system, or less work.
    """
    weeks = Intervals.weeks(store)
    if weeks.count < MINIMUM_LENGTH:
        yield Note(
            message(
                "What changed is unknown: the log has {count}, not 26 or more.",
                count=plural("{n} whole week", "{n} whole weeks", weeks.count),
            )
        )
        yield Facts((Fact("changes", None, "Changes of level", text="unknown"),))
        return
    values = {name: known for name, known in interval_values(store, weeks).items() if _is_known(known)}
    if "jobs" not in values:
        yield Note("What changed is unknown: too many weeks have no jobs.")
        yield Facts((Fact("changes", None, "Changes of level", text="unknown"),))
        return
    found = [change for name, known in values.items() for change in steps(name, known)]
    yield Facts((_fact(found, weeks, store),), listed=False)
    edge = plural("{n} week", "{n} weeks", window_length(weeks.count))
    if not found:
        yield Note(
            message(
                "No step is found in {count} weeks. None would be found in the first and last {edge}.",
                count=weeks.count,
                edge=edge,
            )
        )
        return
    yield _table(found, weeks, store)
    for name, known in values.items():
        if own := [change for change in found if change.measure == name]:
            yield _figure(name, known, own, weeks)


def _is_known(values: Floats) -> bool:
    """Return whether enough weeks have a value."""
    return bool(np.isfinite(values).mean() >= KNOWN_SHARE)


def steps(name: str, values: Floats) -> list[Change]:
    """Return the steps of the measure called *name*, in order."""
    found = shifts(scaled(name, values), MEASURES[name].least)
    return [change for change in _medians(name, values, found) if change.before != change.after]


def _medians(name: str, values: Floats, found: list[Shift]) -> list[Change]:
    """Return the steps with the medians of the weeks between them."""
    parts = np.split(values, [shift.place for shift in found])
    levels = [float(np.nanmedian(part)) for part in parts]
    return [
        Change(name, shift.place, before, after)
        for shift, before, after in zip(found, levels[:-1], levels[1:], strict=True)
        if (after > before) == (shift.after > shift.before)
    ]


def _fact(found: list[Change], weeks: Intervals, store: Store) -> Fact:
    """Return the fact that lists all changes, by their weeks."""
    ordered = sorted(found, key=lambda change: (change.week, list(MEASURES).index(change.measure)))
    value: Value = [
        {
            "what": change.measure,
            "when": weeks.label(change.week, store),
            "before": number(change.before),
            "after": number(change.after),
        }
        for change in ordered
    ]
    return Fact(
        "changes",
        value,
        "Changes of level",
        text=plural("{n} change", "{n} changes", len(found)) if found else "none",
    )


def _table(found: list[Change], weeks: Intervals, store: Store) -> Table:
    return Table(
        "changes",
        "Changes of weekly values, by measure",
        (
            Column("what", "Weekly value"),
            Column("when", "From the week of"),
            Column("before", "Before"),
            Column("after", "After"),
            Column("change", "Change", "fraction"),
        ),
        tuple(
            (
                MEASURES[change.measure].title,
                weeks.label(change.week, store),
                show(number(change.before), MEASURES[change.measure].unit),
                show(number(change.after), MEASURES[change.measure].unit),
                (change.after - change.before) / change.before if change.before else None,
            )
            for change in found
        ),
    )


def _figure(name: str, values: Floats, found: list[Change], weeks: Intervals) -> Block:
    """Return the figure of a measure with its levels between the steps."""
    measure = MEASURES[name]
    places = [change.week for change in found]
    parts = np.split(values, places)
    levels = np.concatenate([np.full(part.size, np.nanmedian(part)) for part in parts])
    words = ", then ".join(show(float(np.nanmedian(part)), measure.unit) for part in parts)
    return series(
        f"changes-{name}",
        message("{title} per week", title=measure.title),
        weeks.edges[:-1],
        {"week": values, "median": levels},
        measure.title,
        message(
            "{title} in each of {count} weeks, with the median between changes: {words}.",
            title=measure.title,
            count=weeks.count,
            words=words,
        ),
        unit=measure.unit,
        zone=weeks.zone,
    )
