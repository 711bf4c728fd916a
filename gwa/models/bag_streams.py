"""How bags of tasks are drawn: their sizes, the times between their tasks, and run times that are alike."""

import math
from collections.abc import Iterator
from typing import Final

import numpy as np
from scipy.special import ndtr

from gwa.models.draws import Scaled
from gwa.models.streams import Block, in_order, joined
from gwa.statistics.sample import Floats, Ints

MOST: Final = 1 << 14
"""Jobs that are drawn at a time, where they come one by one."""

BAGS: Final = 1 << 11
"""Bags that are drawn at a time: some users' have a hundred tasks each."""


def pieces(times: Iterator[Floats], most: int = MOST) -> Iterator[Floats]:
    """Yield arrivals in blocks of at most so many."""
    for block in times:
        for start in range(0, block.size, most):
            yield block[start : start + most]


def in_time(bags: Iterator[tuple[float, Block]]) -> Iterator[Block]:
    """
    Yield the tasks of bags in the order of submission.

    *bags* yields blocks of tasks, and the arrival of their last bag, before which no later bag begins.
    """
    held: Block | None = None
    for last, block in bags:
        waiting = in_order(block if held is None else joined([held, block]))
        due = int(np.searchsorted(waiting["submit_time"], last, side="right"))
        held = {name: column[due:] for name, column in waiting.items()}
        yield {name: column[:due] for name, column in waiting.items()}


def offsets(rng: np.random.Generator, sizes: Ints, gap: Scaled, simultaneous: float) -> Floats:
    """Return the seconds from the first task of each bag to each of its tasks, bag by bag."""
    gaps = np.maximum(np.rint(gap.rvs(rng, int(sizes.sum()))), 1.0)
    gaps[rng.random(gaps.size) < simultaneous] = 0.0
    firsts = np.cumsum(sizes) - sizes
    gaps[firsts] = 0.0
    total = np.cumsum(gaps)
    found: Floats = total - np.repeat(total[firsts], sizes)
    return found


def alike(
    rng: np.random.Generator, n: int, first: Scaled, second: Scaled, correlation: float
) -> tuple[Floats, Floats]:
    """Return *n* pairs of draws whose normal scores are correlated."""
    one, other = rng.standard_normal(n), rng.standard_normal(n)
    mixed = correlation * one + math.sqrt(1 - correlation**2) * other
    return first.quantiles(ndtr(one)), second.quantiles(ndtr(mixed))


def lognormal(rng: np.random.Generator, centre: Floats, variance: Floats, sizes: Ints) -> Floats:
    """
    Return run times around the *centre* of their bag, their geometric mean, with about its *variance*.

    Their logarithms are normal with the deviation s of a lognormal of that median and variance,
    ``exp(s*s) = (1 + sqrt(1 + 4 variance / centre**2)) / 2``; in each bag the normal draws are brought to
    mean 0 and deviation 1, so that bags of two tasks have the variance, too. A bag of one is its centre.
    """
    deviation = np.sqrt(np.log((1 + np.sqrt(1 + 4 * variance / centre**2)) / 2))
    firsts = np.cumsum(sizes) - sizes
    draws = rng.standard_normal(int(sizes.sum()))
    draws -= np.repeat(np.add.reduceat(draws, firsts) / sizes, sizes)
    spread = np.sqrt(np.add.reduceat(draws**2, firsts) / sizes)
    draws *= np.repeat(np.where(sizes > 1, deviation / np.where(sizes > 1, spread, 1.0), 0.0), sizes)
    found: Floats = np.repeat(centre, sizes) * np.exp(draws)
    return found


def normal_reject(rng: np.random.Generator, centre: Floats, variance: Floats, sizes: Ints) -> Floats:
    """Return run times that are normal around their bag's *centre*, those below a second drawn again."""
    mean = np.maximum(np.repeat(centre, sizes), 1.0)
    deviation = np.repeat(np.where(sizes > 1, np.sqrt(variance), 0.0), sizes)
    found = mean + deviation * rng.standard_normal(mean.size)
    wrong = np.flatnonzero(found < 1)
    while wrong.size:
        found[wrong] = mean[wrong] + deviation[wrong] * rng.standard_normal(wrong.size)
        wrong = wrong[found[wrong] < 1]
    return found
