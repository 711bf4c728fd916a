"""Outages and changes of size, as the jobs show them."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from gwa.analysis.base import Chapter, analysis
from gwa.analysis.sections.changes import Change, steps
from gwa.metrics.calendar import MAXIMUM_DAYS
from gwa.metrics.intervals import BIN, Intervals
from gwa.metrics.timeline import Floats, Ints, Level, level
from gwa.metrics.window import RUNNING, WAITING, present, recorded, window
from gwa.report.document import Block, Column, Fact, Facts, Note, Table
from gwa.report.facts import number
from gwa.report.figures.series import series
from gwa.report.formatting import decimal
from gwa.report.formatting import number as number_text
from gwa.report.message import message
from gwa.statistics.changes import MINIMUM_LENGTH
from gwa.statistics.sample import Sample
from gwa.store.store import Store
from gwa.util.units import DAY, HOUR, WEEK

ZERO: Final = 1e-9
"""An average below this is zero but for rounding."""

BUSY_SHARE: Final = 0.9
OUTAGE_INTERVAL: Final = WEEK
"""A system that is busy for this share of the time, and without a job for an hour less than once in this
interval on average, is not idle for want of work."""

MAXIMUM_ROWS: Final = 20

MINIMUM_DAYS: Final = 2
"""Fewer days are not drawn."""


@analysis(
    "Outages and changes of size",
    Chapter.UTILIZATION,
    facts=("capacity",),
    needs=("submit_time", "run_time", "n_procs"),
    order=3,
)
def capacity(store: Store) -> Iterator[Block]:
    """
    Stretches in which nothing ran though something should have, and steps in the processors in use.

    An outage is proposed where no processor was busy for an hour or more, in whole intervals of ten minutes,
    and a job waited all that time; or where something runs nine tenths of the time and there is less than
    one such stretch a week. All that is of the window in which the log knows the load.

    A change of size is proposed where the maximum of busy processors in a week, in averages of ten minutes,
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
    facts, outages, longest = _outages(store, busy, period)
    weeks = Intervals.weeks(store)
    changes = steps("peak", weeks.peaks(busy)) if weeks.count >= MINIMUM_LENGTH else None
    yield Facts(
        (
            *facts,
            Fact(
                "capacity.peak", number(float(busy.values.max())), "Most processors in ten minutes", "count"
            ),
            Fact(
                "capacity.changes",
                len(changes) if changes is not None else None,
                "Changes of size proposed",
                "count",
                text="unknown" if changes is None else "",
            ),
        )
    )
    yield from outages
    if changes:
        yield _change_table(changes, weeks)
    if last - first > MINIMUM_DAYS * DAY:
        yield _figure(store, busy, longest)


def maxima(busy: Level, width: float) -> Floats:
    """Return the maximum of a level in each interval of *width* seconds from its origin."""
    factor = int(width // busy.width)
    first, last = busy.begins // factor, (busy.begins + busy.lengths - 1) // factor
    maximum = np.zeros(int(last[-1]) + 1)
    for offset in range(int((last - first).max()) + 1):
        covered = first + offset <= last
        np.maximum.at(maximum, first[covered] + offset, busy.values[covered])
    return maximum


def _outages(
    store: Store, busy: Level, period: tuple[float, float]
) -> tuple[tuple[Fact, ...], list[Table], list[tuple[float, float]]]:
    """Return the facts of idle intervals, the table of those that look like outages, and when these are."""
    begins, lengths = idle_intervals(busy)
    span = busy.end - busy.origin
    idle_share = float(lengths.sum()) / span
    begins, lengths = begins[lengths >= HOUR], lengths[lengths >= HOUR]
    waiting_jobs = np.zeros(len(begins), np.int64)
    if len(begins) and store.has("wait_time"):
        waiting = level(store, "1", WAITING, "all_jobs", width=BIN, period=period)
        waiting_jobs = _minimum_waiting(waiting, begins, begins + lengths)
    is_outage = (waiting_jobs > 0) | (1 - idle_share >= BUSY_SHARE and len(begins) * OUTAGE_INTERVAL < span)
    outages = Sample.of(lengths[is_outage])
    facts = (
        Fact("capacity.idle", idle_share, "Time in which nothing ran", "fraction"),
        Fact("capacity.stretches", len(begins), "Stretches of an hour or more without any job", "count"),
        Fact("capacity.outages.count", outages.n, "Stretches that look like outages", "count"),
        Fact("capacity.outages.seconds", number(outages.total()), "Time of likely outages", "seconds"),
    )
    order = np.argsort(-lengths[is_outage], kind="stable")[:MAXIMUM_ROWS]
    columns = (column[is_outage][order].tolist() for column in (begins, lengths, waiting_jobs))
    rows = list(zip(*columns, strict=True))
    intervals = [(begin, begin + length) for begin, length, _ in rows]
    return facts, [_outage_table(rows, outages.n)] if rows else [], intervals


def idle_intervals(busy: Level) -> tuple[Floats, Floats]:
    """Return the start and the seconds of each interval in which the level is zero."""
    idle = np.concatenate(([False], busy.values < ZERO, [False]))
    first = np.flatnonzero(idle[1:] & ~idle[:-1])
    next_busy = np.flatnonzero(idle[:-1] & ~idle[1:])
    edges = np.append(busy.origin + busy.begins * busy.width, busy.end)
    return edges[first], edges[next_busy] - edges[first]


def _outage_table(rows: list[tuple[float, float, int]], total: int) -> Table:
    return Table(
        "outages",
        "Stretches that look like outages, the longest first",
        (
            Column("begin", "From", "timestamp"),
            Column("end", "To", "timestamp"),
            Column("seconds", "For", "seconds"),
            Column("waiting", "Jobs waiting, at least", "count"),
        ),
        tuple((begin, begin + length, length, jobs) for begin, length, jobs in rows),
        note=message("The first {maximum_rows} of {total}.", maximum_rows=MAXIMUM_ROWS, total=total)
        if total > MAXIMUM_ROWS
        else "",
    )


def _minimum_waiting(waiting: Level, begins: Floats, ends: Floats) -> Ints:
    """Return the minimum of waiting jobs between each of *begins* and of *ends*."""
    starts = waiting.origin + waiting.begins * waiting.width
    first = np.clip(np.searchsorted(starts, begins, side="right") - 1, 0, None)
    last = np.searchsorted(starts, ends, side="left")
    averages = np.array([waiting.values[a:b].min() for a, b in zip(first, last, strict=True)])
    whole: Ints = np.floor(averages + 1e-6).astype(np.int64)
    return whole


def _change_table(changes: list[Change], weeks: Intervals) -> Table:
    return Table(
        "capacity-changes",
        "Proposed changes of size",
        (
            Column("from", "In the week from", "timestamp"),
            Column("before", "Weekly maximum before, median", "count"),
            Column("after", "Weekly maximum after, median", "count"),
            Column("change", "Change", "fraction"),
        ),
        tuple(
            (
                float(weeks.edges[change.week]),
                number(change.before),
                number(change.after),
                (change.after - change.before) / change.before if change.before else None,
            )
            for change in changes
        ),
    )


def _figure(store: Store, busy: Level, outages: Sequence[tuple[float, float]]) -> Block:
    daily = maxima(busy, DAY)
    times = busy.origin + np.arange(len(daily)) * DAY
    cpus = store.system.cpus
    return series(
        "capacity",
        "Most processors busy in a day",
        times,
        {"in the day": daily, "ever so far": np.maximum.accumulate(daily)},
        "Processors",
        message(
            "The greatest ten-minute average of each day; {max} is the greatest of all.",
            max=decimal(busy.values.max(), ".0f"),
        ),
        unit="count",
        zone=None if store.system.relative else store.system.timezone.key,
        reference=(cpus, "all processors") if cpus else None,
        shaded=outages,
        note=message("Shaded: what looks like outages, the longest {rows}.", rows=number_text(len(outages)))
        if outages
        else "",
    )
