"""
Random cascades: a number of arrivals is split in halves of time, again and again, down to the second.

The share of the first half is symmetrical beta, of a shape for each level: the smaller, the burstier.
The number in it is binomial, so that nobody is lost. Riedi's multipliers (1999) are twice the share less 1.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from gwa.models.draws import sizes
from gwa.statistics.sample import Floats, Ints
from gwa.store.store import Store

EVEN, ALL_IN_ONE = 1e6, 1e-3
"""The greatest shape, of halves that are nearly equal, and the least, of all arrivals in one half."""

FEWEST: Final = 16
"""Intervals that tell the shape of a level; levels of fewer are estimated together."""


def scattered(
    rng: np.random.Generator, counts: Ints, shapes: Sequence[float], width: float
) -> Iterator[Floats]:
    """
    Yield the times of arrivals, in blocks: *counts* of them in successive intervals of *width* seconds.

    Each of *shapes* halves them once more, from the first to the last; all arrivals of one last piece come
    at the same moment.
    """
    before = np.concatenate(([0], np.cumsum(counts)))
    first = 0
    for size in sizes():
        if first == counts.size:
            return
        # As many intervals as have so many arrivals, and one at least.
        last = max(int(np.searchsorted(before, before[first] + size, side="right")) - 1, first + 1)
        times = _split(rng, counts[first:last], shapes) * (width / 2 ** len(shapes)) + first * width
        first = last
        if times.size:
            yield times


def batched(times: Iterator[Floats]) -> Iterator[Floats]:
    """Yield arrivals in blocks of `sizes`, wherever they were cut: jobs stay the same at any pace."""
    held: list[Floats] = []
    for size in sizes():
        while sum(block.size for block in held) < size:
            held.append(next(times))
        joined = np.concatenate(held)
        yield joined[:size]
        held = [joined[size:]]


def _split(rng: np.random.Generator, counts: Ints, shapes: Sequence[float]) -> Ints:
    """
    Return the last pieces in which arrivals fall, in order, numbered from the first of all.

    Who is alone is in each half as probably, however often it is halved: anywhere.
    """
    place = np.flatnonzero(counts)
    count = counts[place]
    found = []
    for level, shape in enumerate(shapes):
        alone, pieces = count == 1, 1 << (len(shapes) - level)
        single = place[alone] * pieces
        found.append(single + rng.integers(pieces, size=single.size))
        place, count = halved(rng, place[~alone], count[~alone], shape)
    return np.sort(np.concatenate([*found, np.repeat(place, count)]))


def halved(rng: np.random.Generator, place: Ints, count: Ints, shape: float) -> tuple[Ints, Ints]:
    """Return the halves of intervals that have arrivals, and how many they have."""
    left = (rng.random(place.size) < 0.5).astype(np.int64)
    several = np.flatnonzero(count > 1)
    left[several] = rng.binomial(count[several], rng.beta(shape, shape, several.size))
    counts = np.stack([left, count - left], axis=1).ravel()
    places = np.stack([2 * place, 2 * place + 1], axis=1).ravel()
    found = counts > 0
    return places[found], counts[found]


def fitted_shapes(
    store: Store, moments: str, column: str, width: float, levels: int, origin: float = 0.0
) -> tuple[float, ...]:
    """
    Return the shapes of *levels* halvings of the arrivals in *column* of the table *moments*.

    Intervals of *width* seconds, counted from *origin*, are the first to be halved. The variance v of the
    share of a half is what that of its number has beyond the binomial, ``sum((x - n/2)**2 - n/4)`` over
    ``sum(n (n - 1))``; the shape is ``(1 / (4 v) - 1) / 2``.
    """
    rows = [_moments(store, moments, column, width / 2**level, origin) for level in range(levels)]
    return tuple(_shape(excess, pairs) for excess, pairs in _pooled(rows))


def _moments(
    store: Store, moments: str, column: str, width: float, origin: float
) -> tuple[int, float, float]:
    """Return how many intervals have several arrivals, and the sums of `fitted_shapes` over them."""
    since = f"(({column} - {origin!r}) / {width!r})"
    many, excess, pairs = store.row(
        "select count(*), sum((x - n / 2) * (x - n / 2) - n / 4), sum(n * (n - 1)) from ("
        f"select cast(count(*) as double) as n, cast(sum(case when {since} - floor({since}) < 0.5"
        f" then 1 else 0 end) as double) as x from {moments} where {column} is not null"
        f" group by floor({since})) as intervals where n > 1"
    )
    return int(many), float(excess or 0.0), float(pairs or 0.0)


def _pooled(rows: Sequence[tuple[int, float, float]]) -> list[tuple[float, float]]:
    """Return the sums of each level, those with too few intervals added up with the next."""
    found: list[tuple[float, float]] = []
    waiting: list[tuple[int, float, float]] = []
    for row in rows:
        waiting.append(row)
        if sum(many for many, _, _ in waiting) >= FEWEST:
            found += [_sums(waiting)] * len(waiting)
            waiting = []
    rest = _sums(waiting)
    return found + [rest if rest[1] else found[-1] if found else (0.0, 0.0)] * len(waiting)


def _sums(rows: Sequence[tuple[int, float, float]]) -> tuple[float, float]:
    return sum(row[1] for row in rows), sum(row[2] for row in rows)


def _shape(excess: float, pairs: float) -> float:
    """Return the shape of the beta distribution of shares; nearly even ones where nothing is known."""
    variance = excess / pairs if pairs else 0.0
    return float(np.clip((1 / (4 * variance) - 1) / 2, ALL_IN_ONE, EVEN)) if variance > 0 else EVEN
