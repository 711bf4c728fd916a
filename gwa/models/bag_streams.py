"""Drawing bags of tasks: the gaps between their tasks, and run times that are similar within a bag."""

import math
from collections.abc import Iterator
from typing import Final

import numpy as np
import scipy  # imports scipy.special, which is slow, at its first use

from gwa.models.draws import Scaled
from gwa.models.streams import Block, concatenate, sort_by_submission
from gwa.statistics.sample import Floats, Ints

JOBS_PER_BLOCK: Final = 1 << 14
"""Jobs drawn at a time by models without bags."""

BAGS_PER_BLOCK: Final = 1 << 11
"""Bags drawn at a time; some users have bags of a hundred tasks."""


def split_blocks(times: Iterator[Floats], maximum: int = JOBS_PER_BLOCK) -> Iterator[Floats]:
    """Split blocks of arrivals into blocks of at most *maximum*."""
    for block in times:
        for start in range(0, block.size, maximum):
            yield block[start : start + maximum]


def order_tasks(bags: Iterator[tuple[float, Block]]) -> Iterator[Block]:
    """
    Yield the tasks of bags in the order of submission.

    *bags* yields the arrival of the last bag of a block, before which no later block begins, and its tasks.
    """
    pending: Block | None = None
    for last, block in bags:
        waiting = sort_by_submission(block if pending is None else concatenate([pending, block]))
        count = int(np.searchsorted(waiting["submit_time"], last, side="right"))
        pending = {name: column[count:] for name, column in waiting.items()}
        yield {name: column[:count] for name, column in waiting.items()}


def draw_offsets(rng: np.random.Generator, sizes: Ints, gap: Scaled, simultaneous: float) -> Floats:
    """Draw the seconds from the first task of each bag to each of its tasks, bag by bag."""
    gaps = np.maximum(np.rint(gap.rvs(rng, int(sizes.sum()))), 1.0)
    gaps[rng.random(gaps.size) < simultaneous] = 0.0
    first_tasks = np.cumsum(sizes) - sizes
    gaps[first_tasks] = 0.0
    elapsed = np.cumsum(gaps)
    offsets: Floats = elapsed - np.repeat(elapsed[first_tasks], sizes)
    return offsets


def draw_correlated(
    rng: np.random.Generator, n: int, first: Scaled, second: Scaled, correlation: float
) -> tuple[Floats, Floats]:
    """Draw *n* pairs of quantities whose normal scores have this *correlation*."""
    score, noise = rng.standard_normal(n), rng.standard_normal(n)
    correlated = correlation * score + math.sqrt(1 - correlation**2) * noise
    return first.quantiles(scipy.special.ndtr(score)), second.quantiles(scipy.special.ndtr(correlated))


def draw_lognormal(rng: np.random.Generator, centre: Floats, variance: Floats, sizes: Ints) -> Floats:
    """
    Draw lognormal run times with the geometric mean *centre* and about the *variance* of their bag.

    Their logarithms have the deviation s of a lognormal with that median and variance,
    ``exp(s*s) = (1 + sqrt(1 + 4 variance / centre**2)) / 2``. The normal draws of each bag are standardized
    to mean 0 and deviation 1, so that small bags have the variance, too. A bag of one task has the centre.
    """
    deviation = np.sqrt(np.log((1 + np.sqrt(1 + 4 * variance / centre**2)) / 2))
    first_tasks = np.cumsum(sizes) - sizes
    draws = rng.standard_normal(int(sizes.sum()))
    draws -= np.repeat(np.add.reduceat(draws, first_tasks) / sizes, sizes)
    spread = np.sqrt(np.add.reduceat(draws**2, first_tasks) / sizes)
    draws *= np.repeat(np.where(sizes > 1, deviation / np.where(sizes > 1, spread, 1.0), 0.0), sizes)
    return np.repeat(centre, sizes) * np.exp(draws)


def draw_truncated_normal(rng: np.random.Generator, centre: Floats, variance: Floats, sizes: Ints) -> Floats:
    """Draw normal run times around the *centre* of their bag, repeating draws below one second."""
    mean = np.maximum(np.repeat(centre, sizes), 1.0)
    deviation = np.repeat(np.where(sizes > 1, np.sqrt(variance), 0.0), sizes)
    run_times = mean + deviation * rng.standard_normal(mean.size)
    too_short = np.flatnonzero(run_times < 1)
    while too_short.size:
        run_times[too_short] = mean[too_short] + deviation[too_short] * rng.standard_normal(too_short.size)
        too_short = too_short[run_times[too_short] < 1]
    return run_times
