"""Outages and changes of size, as the jobs show them."""

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from gwa.analysis.base import Chapter, analysis
from gwa.metrics.timeline import MOST_DAYS, Floats, Ints, Level, level
from gwa.report.document import Block, Column, Fact, Facts, Note, Table
from gwa.report.facts import number
from gwa.report.figures.series import series
from gwa.statistics.sample import Sample
from gwa.store.store import Store
from gwa.util.units import DAY, HOUR, WEEK

BIN: Final = 600.0

NOTHING: Final = 1e-9
"""An average below this is a rounding error of zero."""

USUAL: Final = 0.9
RARE: Final = WEEK
"""A system on which something runs for this share of the time, and that is seldom without a job for an hour:
on average less than once in so long, is not idle for want of work."""

STEP: Final = 0.1
"""By how much the size must change."""

WEEKS: Final = 8
FEWEST: Final = 2
"""How many weeks on either side of a change are compared, and how few."""

SHOWN: Final = 20

FEWEST_DAYS: Final = 2
"""Fewer days make no curve."""


class CapacityChange(NamedTuple):
    """A week from which on the most processors ever busy are others than before."""

    week: int
    before: float
    after: float


@analysis(
    "Outages and changes of size",
    Chapter.USAGE,
    facts=("capacity",),
    needs=("submit_time", "run_time", "n_procs"),
    order=5,
)
def capacity(store: Store) -> Iterator[Block]:
    """
    Stretches in which nothing ran though something should have, and steps in the processors in use.

    An outage is proposed where no processor was busy for an hour or more, in whole intervals of ten minutes,
    and a job waited all that time; or where something runs nine tenths of the time and there is less than
    one such stretch a week. A change of size is proposed in a week whose greatest ten-minute average exceeds
    those of the 8 weeks before by 10 %, if both sides look like a limit that is met: half of the weeks come
    within 10 % of the greatest of the 8 weeks before, and half of the 8 weeks from then on within 10 % of
    theirs (at the ends of the trace, of as many as there are, 2 at least). The size fell where the same holds
    backwards in time. These are signs, not proof: a log cannot tell a smaller system from one that nobody
    filled.
    """
    first, last = store.row("select min(submit_time), max(end_time) from ran")
    if first is None or last <= first:
        yield Note("No job ran for any time.")
        return
    if last - first > MOST_DAYS * DAY:
        yield Note("Jobs lie more than a century apart: some times in the log are wrong.")
        return
    busy = level(store, "n_procs", ("start_time", "end_time"), "ran", width=BIN, period=(first, last))
    facts, outages = _outages(store, busy, (first, last))
    found = changes(greatest(busy, WEEK))
    yield Facts(
        (
            *facts,
            Fact(
                "capacity.peak", number(float(busy.values.max())), "Most processors in ten minutes", "count"
            ),
            Fact("capacity.changes", len(found), "Changes of size proposed", "count"),
        )
    )
    yield from outages
    if found:
        yield _table(found, first)
    if last - first > FEWEST_DAYS * DAY:
        yield _figure(store, busy)


def greatest(busy: Level, width: float) -> Floats:
    """Return the greatest value of a level in each stretch of *width* seconds from its origin."""
    per = int(width // busy.width)
    first, last = busy.begins // per, (busy.begins + busy.lengths - 1) // per
    most = np.zeros(int(last[-1]) + 1)
    for reach in range(int((last - first).max()) + 1):
        inside = first + reach <= last
        np.maximum.at(most, first[inside] + reach, busy.values[inside])
    return most


def changes(weekly: Floats) -> list[CapacityChange]:
    """
    Return the steps in weekly maxima.

    >>> changes(np.array([100.0] * 10 + [150.0] * 10 + [90.0] * 9))
    [CapacityChange(week=10, before=100.0, after=150.0), CapacityChange(week=20, before=150.0, after=90.0)]
    """
    up = _rises(weekly)
    down = [CapacityChange(len(weekly) - week, after, before) for week, before, after in _rises(weekly[::-1])]
    return sorted(up + down)


def _rises(weekly: Floats) -> list[CapacityChange]:
    found: list[CapacityChange] = []
    for week in range(FEWEST, len(weekly) - FEWEST + 1):
        before, ahead = weekly[max(week - WEEKS, 0) : week], weekly[week : week + WEEKS]
        low, high = float(before.max()), float(ahead.max())
        is_step = 0 < low * (1 + STEP) < min(weekly[week], float(np.median(ahead)))
        if is_step and all(np.median(part) >= part.max() / (1 + STEP) for part in (before, ahead)):
            found.append(CapacityChange(week, low, high))
    return found


def _outages(store: Store, busy: Level, period: tuple[float, float]) -> tuple[tuple[Fact, ...], list[Table]]:
    """Return the stretches in which nothing ran, as far as they look like outages."""
    begins, lengths = silences(busy)
    span = busy.end - busy.origin
    idle = float(lengths.sum()) / span
    begins, lengths = begins[lengths >= HOUR], lengths[lengths >= HOUR]
    least = np.zeros(len(begins), np.int64)
    if len(begins) and store.has("wait_time"):
        waiting = level(store, "1", ("submit_time", "start_time"), "ran", width=BIN, period=period)
        least = _least(waiting, begins, begins + lengths)
    is_outage = (least > 0) | (1 - idle >= USUAL and len(begins) * RARE < span)
    found = Sample.of(lengths[is_outage])
    facts = (
        Fact("capacity.idle", idle, "Time in which nothing ran", "fraction"),
        Fact("capacity.stretches", len(begins), "Stretches of an hour or more without any job", "count"),
        Fact("capacity.outages.count", found.n, "Stretches that look like outages", "count"),
        Fact("capacity.outages.seconds", number(found.total()), "Time of likely outages", "seconds"),
    )
    order = np.argsort(-lengths[is_outage], kind="stable")[:SHOWN]
    rows = list(zip(*(part[is_outage][order].tolist() for part in (begins, lengths, least)), strict=True))
    return facts, [_listed(rows, found.n)] if rows else []


def silences(busy: Level) -> tuple[Floats, Floats]:
    """Return when each stretch without anything begins, and how many seconds it lasts."""
    nothing = np.concatenate(([False], busy.values < NOTHING, [False]))
    first = np.flatnonzero(nothing[1:] & ~nothing[:-1])
    following = np.flatnonzero(nothing[:-1] & ~nothing[1:])
    edges = np.append(busy.origin + busy.begins * busy.width, busy.end)
    return edges[first], edges[following] - edges[first]


def _listed(rows: list[tuple[float, float, int]], total: int) -> Table:
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
        note=f"The first {SHOWN} of {total}." if total > SHOWN else "",
    )


def _least(waiting: Level, begins: Floats, ends: Floats) -> Ints:
    """Return how many jobs waited at least, in every interval between each of *begins* and of *ends*."""
    starts = waiting.origin + waiting.begins * waiting.width
    first = np.clip(np.searchsorted(starts, begins, side="right") - 1, 0, None)
    last = np.searchsorted(starts, ends, side="left")
    averages = np.array([waiting.values[a:b].min() for a, b in zip(first, last, strict=True)])
    whole: Ints = np.floor(averages + 1e-6).astype(np.int64)
    return whole


def _table(found: list[CapacityChange], first: float) -> Table:
    return Table(
        "capacity-changes",
        "Proposed changes of size",
        (
            Column("from", "In the week from", "timestamp"),
            Column("before", f"Most busy in {WEEKS} weeks before", "count"),
            Column("after", f"Most busy in {WEEKS} weeks after", "count"),
            Column("change", "Change", "fraction"),
        ),
        tuple(
            (first + week * WEEK, number(before), number(after), (after - before) / before)
            for week, before, after in found
        ),
    )


def _figure(store: Store, busy: Level) -> Block:
    daily = greatest(busy, DAY)
    times = busy.origin + np.arange(len(daily)) * DAY
    cpus = store.system.cpus
    return series(
        "capacity",
        "Most processors busy in a day",
        times,
        {"in the day": daily, "ever so far": np.maximum.accumulate(daily)},
        "Processors",
        f"The greatest ten-minute average of each day; {busy.values.max():.0f} is the greatest of all.",
        unit="count",
        zone=None if store.system.relative else store.system.timezone.key,
        reference=(cpus, "all processors") if cpus else None,
    )
