"""The size of the system, as the jobs show it."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from gwa.analysis.base import Chapter, analysis
from gwa.analysis.sections._size import size_line
from gwa.analysis.sections.changes import MeasuredChange, steps
from gwa.metrics.calendar import MAXIMUM_DAYS
from gwa.metrics.intervals import BIN, Intervals
from gwa.metrics.presence import present, recorded
from gwa.metrics.stillness import stillness
from gwa.metrics.timeline import Floats, Level, level
from gwa.metrics.window import RUNNING, window
from gwa.report.columns import column, table_of
from gwa.report.document import Block, Column, Facts, Note, Table
from gwa.report.facts import facts_of, number
from gwa.report.figures.series import series
from gwa.statistics.changes import MINIMUM_LENGTH
from gwa.store.store import Store
from gwa.util.units import DAY
from gwa.words.formatting import decimal
from gwa.words.formatting import number as number_text
from gwa.words.message import message

MAXIMUM_SHADED: Final = 20
"""The number of outages that are shaded in the figure."""

MINIMUM_DAYS: Final = 2
"""Fewer days are not drawn."""


@analysis(
    "Changes of size",
    Chapter.UTILIZATION,
    facts=("capacity.peak", "capacity.changes"),
    needs=("submit_time", "run_time", "n_procs"),
    order=3,
)
def capacity(store: Store) -> Iterator[Block]:
    """
    The most processors that were ever busy, and steps in them.

    A change of size is likely where the maximum of busy processors in a week, in averages of ten minutes,
    has a step of a tenth or more that the section on changes over time finds; that takes a log of 26 weeks.
    These are signs, not proof: a log cannot tell a smaller system from one that was not filled.
    """
    period = window(store).period or recorded(store)
    if period is None or period[1] <= period[0]:
        yield Note("No job ran for any time.")
        return
    first, last = period
    if last - first > MAXIMUM_DAYS * DAY:
        yield Note("Jobs lie more than a century apart: some times in the log are wrong.")
        return
    busy = level(store, "n_procs", RUNNING, present(store), width=BIN, period=period)
    weeks = Intervals.weeks(store)
    changes = steps("peak", weeks.peaks(busy)) if weeks.count >= MINIMUM_LENGTH else None
    most, several = number(float(busy.values.max())), len(changes) if changes is not None else None
    yield Facts(
        facts_of(
            "capacity",
            ("peak", most, "Most processors in ten minutes", "count"),
            ("changes", several, "Likely changes of size", "count"),
            unknown="unknown",
        )
    )
    if changes:
        yield _change_table(changes, weeks)
    if last - first > MINIMUM_DAYS * DAY:
        yield _figure(store, busy)


def maxima(busy: Level, width: float) -> Floats:
    """Return the maximum of a level in each interval of *width* seconds from its origin."""
    factor = int(width // busy.width)
    first, last = busy.begins // factor, (busy.begins + busy.lengths - 1) // factor
    maximum = np.zeros(int(last[-1]) + 1)
    for offset in range(int((last - first).max()) + 1):
        covered = first + offset <= last
        np.maximum.at(maximum, first[covered] + offset, busy.values[covered])
    return maximum


def _change_table(changes: list[MeasuredChange], weeks: Intervals) -> Table:
    return table_of(
        "capacity-changes",
        "Likely changes of size",
        changes,
        {
            Column("from", "In the week from", "timestamp"): lambda one: float(weeks.edges[one.week]),
            Column("before", "Weekly maximum before, median", "count"): lambda one: number(one.before),
            Column("after", "Weekly maximum after, median", "count"): lambda one: number(one.after),
            column("change"): lambda one: one.relative,
        },
    )


def _figure(store: Store, busy: Level) -> Block:
    longest = sorted(stillness(store).of("outage"), key=lambda one: (-one.seconds, one.begin))[
        :MAXIMUM_SHADED
    ]
    outages = [(one.begin, one.end) for one in longest]
    daily = maxima(busy, DAY)
    times = busy.origin + np.arange(len(daily)) * DAY
    cpus = store.system.cpus
    return series(
        "capacity",
        "Most processors busy in a day",
        times,
        {"in the day": daily, "highest so far": np.maximum.accumulate(daily)},
        "Processors",
        message(
            "The maximum ten-minute average of each day; the maximum of all days is {max}.",
            max=decimal(busy.values.max(), ".0f"),
        ),
        unit="count",
        zone=None if store.system.relative else store.system.timezone.key,
        reference=size_line(cpus, is_inferred=store.system.cpus_inferred) if cpus else None,
        shaded=outages,
        note=message("Shaded: outages, the longest {rows}.", rows=number_text(len(outages)))
        if outages
        else "",
    )
