"""
How a trace changes over time: jobs per interval, and levels such as busy processors.

The engine returns only intervals in which something happens, and those between follow from them, so the
cost per event is the same for a trace of days and one of years.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gwa.metrics.spans import EXACT, spans
from gwa.statistics.numeric import dot
from gwa.statistics.sample import Sample
from gwa.store.store import Store
from gwa.util.units import MINUTE

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

QUARTER: Final = 15.0 * MINUTE
"""Every time zone of today is a multiple of 15 minutes from UTC."""


def exact(expression: str) -> str:
    """Return the SQL of a value whose sum does not depend on the order of the rows: to a microsecond."""
    return f"cast({expression} as decimal(38, 6))"


def decimal_sum(expression: str) -> str:
    """Return the SQL of a sum that can be added to others without an error."""
    return f"sum({exact(expression)})"


def exact_sum(expression: str) -> str:
    """Return the SQL of a sum that is the same whatever the order of the rows."""
    return f"cast({decimal_sum(expression)} as double)"


@dataclass(frozen=True)
class Counts:
    """How many things happened in intervals of *width* seconds; *bins* without any are left out."""

    width: float
    bins: Ints
    counts: Ints

    @property
    def times(self) -> Floats:
        """When each interval begins."""
        return (self.bins * self.width).astype(np.float64)

    def sample(self) -> Sample:
        """Return the counts of all intervals from the first to the last, empty ones included."""
        if not len(self.bins):
            return Sample.of([])
        empty = int(self.bins[-1] - self.bins[0]) + 1 - len(self.bins)
        return Sample.weighted(np.append(self.counts, 0), np.append(np.ones(len(self.bins), np.int64), empty))

    def coarser(self, factor: int) -> "Counts":
        """Return the counts in intervals of *factor* of these."""
        bins, index = np.unique(self.bins // factor, return_inverse=True)
        total = np.zeros(len(bins), np.int64)
        np.add.at(total, index, self.counts)
        return Counts(self.width * factor, bins, total)

    def per(self, edges: Floats) -> Ints:
        """Return the counts between consecutive *edges*."""
        index = np.searchsorted(edges, self.times, side="right") - 1
        total = np.zeros(max(len(edges) - 1, 0), np.int64)
        np.add.at(total, np.clip(index, 0, len(total) - 1), self.counts)
        return total


@dataclass(frozen=True)
class Level:
    """
    A level over time, as averages over intervals of *width* seconds from *origin*.

    Runs of intervals that share a level are held once: *begins* and *lengths* count intervals. The
    last interval may be shorter than the others; *end* says when it ends.
    """

    origin: float
    width: float
    end: float
    begins: Ints
    lengths: Ints
    values: Floats

    @property
    def durations(self) -> Floats:
        """How many seconds each run lasts."""
        durations: Floats = (self.lengths * self.width).astype(np.float64)
        if len(durations):
            durations[-1] = self.end - (self.origin + self.begins[-1] * self.width)
        return durations

    def mean(self) -> float:
        """Return the average over time."""
        return dot(self.values, self.durations) / float(self.durations.sum())

    def mean_nonzero(self) -> float:
        """Return the average over the intervals in which the level was not zero throughout."""
        busy = self.values > 0
        return (
            dot(self.values[busy], self.durations[busy]) / float(self.durations[busy].sum())
            if busy.any()
            else 0.0
        )

    def between(self, edges: Floats) -> Floats:
        """Return the averages between consecutive *edges*, over the part of them that is observed."""
        times = np.append(self.origin + self.begins * self.width, self.end)
        area = np.concatenate(([0.0], np.cumsum(self.values * self.durations)))
        inside = np.clip(edges, times[0], times[-1])
        widths = np.diff(inside)
        with np.errstate(invalid="ignore", divide="ignore"):
            averages: Floats = np.diff(np.interp(inside, times, area)) / widths
        return np.where(widths > 0, averages, np.nan)

    def points(self, maximum: int = 2000) -> tuple[Floats, Floats, Floats, Floats]:
        """Return times, means, minima and maxima of at most *maximum* equal stretches, for drawing."""
        stretches = max(1, min(maximum, int(np.ceil((self.end - self.origin) / self.width))))
        edges = np.linspace(self.origin, self.end, stretches + 1)
        starts = self.origin + self.begins * self.width
        first = np.clip(np.searchsorted(starts, edges[:-1], side="right") - 1, 0, None)
        last = np.maximum(np.searchsorted(starts, edges[1:], side="left"), first + 1)
        low = np.array([self.values[a:b].min() for a, b in zip(first, last, strict=True)])
        high = np.array([self.values[a:b].max() for a, b in zip(first, last, strict=True)])
        return edges[:-1], np.nan_to_num(self.between(edges)), low, high


def counts(store: Store, moment: str, width: float, table: str = "jobs") -> Counts:
    """
    Return how many rows of *table* have their *moment* in each interval of *width* seconds.

    Several sections ask for the same ones: rows are counted once, for hours and days by quarters of an hour.
    """
    factor, rest = divmod(width, QUARTER)
    if factor > 1 and not rest:
        return counts(store, moment, QUARTER, table).coarser(int(factor))
    return store.once(("counts", moment, width, table), lambda: _counted(store, moment, width, table))


def _counted(store: Store, moment: str, width: float, table: str) -> Counts:
    columns = store.arrays(
        f"select cast(floor({moment} / {float(width)!r}) as bigint) as bin, count(*) as n from {table} as t"
        f" where {moment} is not null group by bin order by bin"
    )
    return Counts(width, np.asarray(columns["bin"], np.int64), np.asarray(columns["n"], np.int64))


def level(
    store: Store, weight: str, span: tuple[str, str], table: str, *, width: float, period: tuple[float, float]
) -> Level:
    """
    Return the sum of *weight* over the rows of *table* that are between the two moments of *span*.

    It is exact: a job that begins within an interval counts for the part after its begin, and one that began
    before the *period*, the first and the last second, counts from its first on. A level that several
    sections need is summed once.
    """
    (found,) = levels(store, (weight,), span, table, width=width, period=period)
    return found


def levels(
    store: Store,
    weights: Sequence[str],
    span: tuple[str, str],
    table: str,
    *,
    width: float,
    period: tuple[float, float],
) -> tuple[Level, ...]:
    """Return the `level` of each of *weights*, all from one scan of *table*."""
    origin, end = period
    found = _added(store, weights, span, table, width=width, period=period)
    if found is None:
        columns = store.arrays(
            f"select * from {changes(store, weights, span, table, width=width, period=period)} order by bin"
        )
        found = {name: np.asarray(column) for name, column in columns.items()}
    return tuple(
        _runs(found["bin"], found[f"net{place}"], found[f"area{place}"], width=width, origin=origin, end=end)
        for place in range(len(weights))
    )


MOST_BINS: Final = 8_000_000
"""Intervals that have a place each in memory: ten years of minutes."""


def _added(
    store: Store,
    weights: Sequence[str],
    span: tuple[str, str],
    table: str,
    *,
    width: float,
    period: tuple[float, float],
) -> dict[str, NDArray[Any]] | None:
    """Return what `changes` yields, added up in memory; None where that takes too much, or is not exact."""
    size = (period[1] - period[0]) // width + 2
    if size > MOST_BINS or period[0] % 1 or width % 1:
        return None
    whole = spans(store, weights, span, table)
    if whole is None:
        return None
    parts = whole.within(period)
    edges = (parts.begin, parts.end)
    bins = [(t // width).astype(np.int64) for t in edges]
    happens = np.zeros(int(size), np.bool_)
    for places in bins:
        happens[places] = True
    bin_of = np.flatnonzero(happens)
    found: dict[str, NDArray[Any]] = {"bin": bin_of}
    for place, weight in enumerate(parts.weights):
        if float(np.abs(weight).sum()) * width >= EXACT:
            return None
        counted = [np.bincount(places, weight, int(size))[bin_of] for places in bins]
        areas = [
            np.bincount(places, weight * ((places + 1) * width - t), int(size))[bin_of]
            for places, t in zip(bins, edges, strict=True)
        ]
        found |= {f"net{place}": counted[0] - counted[1], f"area{place}": areas[0] - areas[1]}
    return found


def changes(
    store: Store,
    weights: Sequence[str],
    span: tuple[str, str],
    table: str,
    *,
    width: float,
    period: tuple[float, float],
) -> str:
    """
    Return the table of the changes in each interval (``bin``) in which there are any, for each of *weights*.

    Of the first weight, ``net0`` is the change, ``rise0`` that of what begins, and ``area0`` what it adds to
    the area under the level until the end of the interval, in weight times seconds; the others likewise.
    """
    origin, end = period
    begin, finish = span
    inside = f"where {begin} < {end!r} and {finish} > {origin!r}"
    # Doubles are exact up to 2⁵³; whole numbers times a constant with a point would be decimals, and slow.
    begun = ", ".join(f"cast({weight} as double) as d{place}" for place, weight in enumerate(weights))
    ended = ", ".join(f"-cast({weight} as double) as d{place}" for place, weight in enumerate(weights))
    sums = ", ".join(
        f"sum(d{place}) as net{place}, sum(case when d{place} > 0 then d{place} else 0.0 end) as rise{place},"
        f" {exact_sum(f'd{place} * ((bin + 1) * {width!r} - t)')} as area{place}"
        for place in range(len(weights))
    )
    query = f"""
        with edge as (
            select greatest({begin} - {origin!r}, 0.0) as t, {begun} from {table} as begun {inside}
            union all
            select least({finish}, {end!r}) - {origin!r} as t, {ended} from {table} as ended {inside}
        ), placed as (
            select floor(t / {width!r}) as bin, * from edge where t is not null
        )
        select cast(bin as bigint) as bin, {sums} from placed group by bin
        """
    return store.keep_once("changes", query)


def _runs(bins: Ints, changes: Floats, area: Floats, *, width: float, origin: float, end: float) -> Level:
    """Turn changes per interval into runs of equal level, from the origin on."""
    total = max(1, int(np.ceil((end - origin) / width)))
    if not len(bins) or bins[0] > 0:  # nothing happens at first: that is observed, too
        bins, changes, area = (np.append(0, part) for part in (bins, changes, area))
    inside = bins < total
    base = np.concatenate(([0.0], np.cumsum(changes)))[:-1]
    begins, values = bins[inside], (base + area / width)[inside]
    after = np.cumsum(changes)[inside]
    following = np.append(begins[1:], total)
    gaps = following - begins - 1 > 0
    all_begins = np.concatenate((begins, begins[gaps] + 1))
    all_lengths = np.concatenate((np.ones(len(begins), np.int64), (following - begins - 1)[gaps]))
    all_values = np.concatenate((values, after[gaps]))
    order = np.argsort(all_begins, kind="stable")
    runs = Level(origin, width, end, all_begins[order], all_lengths[order], all_values[order])
    return _with_short_end(runs, total)


def _with_short_end(runs: Level, total: int) -> Level:
    """Give the last interval a run of its own, averaged over the time that it really lasts."""
    if not len(runs.begins):
        return Level(runs.origin, runs.width, runs.end, np.zeros(1, np.int64), np.array([total]), np.zeros(1))
    short = runs.end - (runs.origin + (total - 1) * runs.width)
    begins, lengths, values = runs.begins, runs.lengths.copy(), runs.values.copy()
    if lengths[-1] > 1:
        lengths[-1] -= 1
        begins, lengths = np.append(begins, total - 1), np.append(lengths, 1)
        values = np.append(values, values[-1])
    elif short > 0:
        values[-1] *= runs.width / short
    return Level(runs.origin, runs.width, runs.end, begins, lengths, values)
