"""
Random cascades: the arrivals of an interval are split between its halves, repeatedly, down to the second.

The share of the first half has a symmetric beta distribution, with a shape for each level: the smaller, the
burstier. The number in it is binomial, which preserves the total. Riedi's multipliers (1999) are twice the
share minus 1.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from gwa.models.draws import block_sizes
from gwa.statistics.sample import Floats, Ints
from gwa.store.store import Store

MAXIMUM_SHAPE, MINIMUM_SHAPE = 1e6, 1e-3
"""The shape of nearly equal halves, and that of all arrivals in one half."""

MINIMUM_INTERVALS: Final = 16
"""Intervals required to fit the shape of a level; levels with fewer are pooled."""


def scatter(
    rng: np.random.Generator, counts: Ints, shapes: Sequence[float], width: float
) -> Iterator[Floats]:
    """
    Yield blocks of arrival times: *counts* of them in successive intervals of *width* seconds.

    Each of *shapes* halves the intervals once more; all arrivals in one of the smallest pieces coincide.
    """
    cumulative = np.concatenate(([0], np.cumsum(counts)))
    first = 0
    for size in block_sizes():
        if first == counts.size:
            return
        # The intervals with up to that many arrivals, and at least one interval.
        last = max(int(np.searchsorted(cumulative, cumulative[first] + size, side="right")) - 1, first + 1)
        times = _split(rng, counts[first:last], shapes) * (width / 2 ** len(shapes)) + first * width
        first = last
        if times.size:
            yield times


def regroup(times: Iterator[Floats]) -> Iterator[Floats]:
    """Regroup arrivals into blocks of `block_sizes`, so that jobs do not depend on the pace."""
    pending: list[Floats] = []
    for size in block_sizes():
        while sum(block.size for block in pending) < size:
            pending.append(next(times))
        joined = np.concatenate(pending)
        yield joined[:size]
        pending = [joined[size:]]


def _split(rng: np.random.Generator, counts: Ints, shapes: Sequence[float]) -> Ints:
    """
    Return the smallest pieces in which arrivals fall, in order, as numbers from 0.

    A single arrival is equally likely in each piece of its interval.
    """
    interval = np.flatnonzero(counts)
    count = counts[interval]
    pieces = []
    for level, shape in enumerate(shapes):
        is_single, n = count == 1, 1 << (len(shapes) - level)
        single = interval[is_single] * n
        pieces.append(single + rng.integers(n, size=single.size))
        interval, count = halve(rng, interval[~is_single], count[~is_single], shape)
    return np.sort(np.concatenate([*pieces, np.repeat(interval, count)]))


def halve(rng: np.random.Generator, interval: Ints, count: Ints, shape: float) -> tuple[Ints, Ints]:
    """Return the halves of intervals that have arrivals, and the number of arrivals in each."""
    left = (rng.random(interval.size) < 0.5).astype(np.int64)
    several = np.flatnonzero(count > 1)
    left[several] = rng.binomial(count[several], rng.beta(shape, shape, several.size))
    counts = np.stack([left, count - left], axis=1).ravel()
    halves = np.stack([2 * interval, 2 * interval + 1], axis=1).ravel()
    occupied = counts > 0
    return halves[occupied], counts[occupied]


def fit_shapes(
    store: Store, table: str, column: str, width: float, levels: int, origin: float = 0.0
) -> tuple[float, ...]:
    """
    Fit the shapes of *levels* halvings to the arrivals in *column* of *table*.

    Intervals of *width* seconds, counted from *origin*, are the first to be halved. The variance v of the
    share of a half is the excess of the variance of its number over the binomial one,
    ``sum((x - n/2)**2 - n/4)``, over ``sum(n (n - 1))``; the shape is ``(1 / (4 v) - 1) / 2``.
    """
    rows = [_sum_level(store, table, column, width / 2**level, origin) for level in range(levels)]
    return tuple(_shape(excess, pairs) for excess, pairs in _pool_levels(rows))


def _sum_level(
    store: Store, table: str, column: str, width: float, origin: float
) -> tuple[int, float, float]:
    """Return the number of intervals with two or more arrivals, and the sums of `fit_shapes` over them."""
    since = f"(({column} - {origin!r}) / {width!r})"
    intervals, excess, pairs = store.row(
        "select count(*), sum((x - n / 2) * (x - n / 2) - n / 4), sum(n * (n - 1)) from ("
        f"select cast(count(*) as double) as n, cast(sum(case when {since} - floor({since}) < 0.5"
        f" then 1 else 0 end) as double) as x from {table} where {column} is not null"
        f" group by floor({since})) as intervals where n > 1"
    )
    return int(intervals), float(excess or 0.0), float(pairs or 0.0)


def _pool_levels(rows: Sequence[tuple[int, float, float]]) -> list[tuple[float, float]]:
    """Return the sums of each level; levels with too few intervals are pooled with the next."""
    pooled: list[tuple[float, float]] = []
    waiting: list[tuple[int, float, float]] = []
    for row in rows:
        waiting.append(row)
        if sum(intervals for intervals, _, _ in waiting) >= MINIMUM_INTERVALS:
            pooled += [_sums(waiting)] * len(waiting)
            waiting = []
    rest = _sums(waiting)
    return pooled + [rest if rest[1] else pooled[-1] if pooled else (0.0, 0.0)] * len(waiting)


def _sums(rows: Sequence[tuple[int, float, float]]) -> tuple[float, float]:
    return sum(row[1] for row in rows), sum(row[2] for row in rows)


def _shape(excess: float, pairs: float) -> float:
    """Return the shape of the beta distribution of shares, the maximum if it is unknown."""
    variance = excess / pairs if pairs else 0.0
    return (
        float(np.clip((1 / (4 * variance) - 1) / 2, MINIMUM_SHAPE, MAXIMUM_SHAPE))
        if variance > 0
        else MAXIMUM_SHAPE
    )
