"""
The equal split of what was held, and whether a class held more than it by more than chance.

The split is max-min fair (Bertsekas and Gallager 1992, section 6.5.2): no class gets more than it asks, and
what one leaves is divided among the others. What jobs consume against what they deserve is the resource
equality of Sabin and Sadayappan (2005), after Raz, Levy and Avi-Itzhak (2004), here of classes of jobs in
place of single ones: a class that runs a hundred jobs has one say.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
import scipy  # imports scipy.special, which is slow, at its first use

from gwa.statistics.sample import Floats, Ints

MINIMUM_BLOCKS: Final = 8
"""Fewer weeks do not tell chance from habit."""

CONFIDENCE: Final = 0.95


def equal_split(places: Ints, asked: Floats, held: Floats, weights: Floats | None = None) -> Floats:
    """
    Return what each class would have of what all classes held at one place, if it were split equally.

    Arrays of equal length have an entry for each class at each of the *places* (such as hours), in any order:
    what it *asked* for and what it *held* of that, in the same unit. With *weights*, all above 0, the split
    is in proportion to them. At each place the result adds up to what was held.

    >>> at = np.zeros(3, np.int64)
    >>> equal_split(at, np.array([1.0, 9.0, 9.0]), np.array([1.0, 8.0, 0.0])).tolist()
    [1.0, 4.0, 4.0]
    """
    weights = np.ones(len(asked)) if weights is None else weights
    order = np.lexsort((asked / weights, places))
    place, want, weight = places[order], asked[order], weights[order]
    first = np.flatnonzero(np.diff(place, prepend=place[:1] - 1))
    total = _of_each(np.add.reduceat(held[order], first), first, len(order)) if len(order) else want
    # Who asks for least has it all; the level is what is left then for the others, where it is highest.
    left = total - _before(want, first)
    heads = _of_each(np.add.reduceat(weight, first), first, len(order)) if len(order) else weight
    level = left / (heads - _before(weight, first))
    top = _of_each(np.maximum.reduceat(level, first), first, len(order)) if len(order) else level
    found = np.empty(len(order))
    found[order] = np.minimum(want, np.maximum(top, 0.0) * weight)
    return found


def _of_each(values: Floats, first: Ints, count: int) -> Floats:
    """Return the value of its group for each of *count* entries; groups begin at *first*."""
    return np.repeat(values, np.diff(first, append=count))


def _before(values: Floats, first: Ints) -> Floats:
    """Return the sum of the values before each one in its group."""
    sums = np.cumsum(values) - values
    return sums - _of_each(sums[first], first, len(values)) if len(values) else sums


def at_least(held: Floats, split: Floats) -> tuple[float, float] | None:
    """
    Return the least ratio of what was *held* to its *split*, and how likely as much is by chance.

    Both are sums of blocks of time, such as weeks, so that what belongs together, as the jobs of a session,
    is in one. The ratio is one-sided, with 95 % confidence; the probability is of Student's t for the mean
    difference of blocks. None of fewer than `MINIMUM_BLOCKS` blocks in which anything was held or due.
    """
    used = (held > 0) | (split > 0)
    held, split = held[used], split[used]
    count, due = len(held), float(split.sum())
    if count < MINIMUM_BLOCKS or not due:
        return None
    ratio = float(held.sum()) / due
    error = float(np.std(held - ratio * split, ddof=1)) * np.sqrt(count) / due
    low = ratio - float(scipy.special.stdtrit(count - 1, CONFIDENCE)) * float(error)
    return low, mean_above(held - split)


def mean_above(values: Floats) -> float:
    """Return how likely a mean as high is where that of all blocks is 0: Student's t, one-sided."""
    if len(values) < MINIMUM_BLOCKS:
        return 1.0
    deviation, mean = float(np.std(values, ddof=1)), float(values.mean())
    if not deviation:
        return 0.0 if mean > 0 else 1.0
    return float(scipy.special.stdtr(len(values) - 1, -mean / deviation * np.sqrt(len(values))))


def holm(chances: Sequence[float]) -> list[float]:
    """
    Return probabilities as they are of several tests at once (Holm 1979), in the same order.

    >>> [round(one, 2) for one in holm([0.01, 0.5, 0.02])]
    [0.03, 0.5, 0.04]
    """
    found, most = [0.0] * len(chances), 0.0
    for rank, place in enumerate(sorted(range(len(chances)), key=chances.__getitem__)):
        most = max(most, min(chances[place] * (len(chances) - rank), 1.0))
        found[place] = most
    return found
