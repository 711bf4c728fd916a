"""
Whether the levels of two short series, such as the days of two months, differ by more than chance.

It is the self-normalised statistic of Shao and Zhang (2010) at the one place that is given: it needs no
estimate of how long a series remembers. Its distribution is that of autoregressive series with a coefficient
of 0.6 and no difference.
"""

from functools import cache
from typing import Final

import numpy as np
import scipy  # imports scipy.signal, which is slow, at its first use
from numpy.typing import ArrayLike

from gwa.statistics.numeric import floats
from gwa.statistics.sample import Floats

MINIMUM_LENGTH: Final = 5
"""A shorter series has too few values for its level to be known."""

MAXIMUM_LENGTH: Final = 400
"""Longer series have to be given in longer intervals: what is drawn grows with the length."""

_COEFFICIENT: Final = 0.6
_WARM_UP: Final = 50
_DRAWS: Final = 5000
_SEED: Final = 2010


def p_value(first: ArrayLike, second: ArrayLike, cycle: int = 7, places: tuple[int, int] = (0, 0)) -> float:
    """
    Return how often levels of series without a difference are as far apart as those of *first* and *second*.

    Both have `MINIMUM_LENGTH` to `MAXIMUM_LENGTH` finite values at equal distances. What repeats every
    *cycle* values, such as the days of a week, is not a difference, if both have two cycles at least; 1 where
    nothing repeats. *places* are those of the first value of each series in the cycle.

    The result is from 0 to 1, in steps of 1/5000; 1 where neither series varies and both are equal. Raise
    `ValueError` for a series that is too short, too long, or not finite.
    """
    pair = (floats(first), floats(second))
    for x in pair:
        if not (MINIMUM_LENGTH <= x.size <= MAXIMUM_LENGTH and np.isfinite(x).all()):
            raise ValueError(
                f"a series has {x.size} values, expected {MINIMUM_LENGTH} to {MAXIMUM_LENGTH} that are finite"
            )
    found = float(_statistic(*_without_cycle(pair[0][None, :], pair[1][None, :], cycle, places))[0])
    return float((_null(pair[0].size, pair[1].size, cycle) >= found).mean())


def half_width(
    first: ArrayLike, second: ArrayLike, chance: float, cycle: int = 7, places: tuple[int, int] = (0, 0)
) -> float:
    """
    Return how far the difference of the levels may be from that of the means, where `p_value` is *chance*.

    Differences within that are those which the test does not reject. The other parameters are those of
    `p_value`; *chance* is above 0.
    """
    pair = _without_cycle(floats(first)[None, :], floats(second)[None, :], cycle, places)
    distance = float(pair[1].mean() - pair[0].mean())
    found = float(_statistic(*pair)[0])
    if not np.isfinite(found):
        return 0.0
    limit = float(np.quantile(_null(pair[0].shape[1], pair[1].shape[1], cycle), 1 - chance, method="higher"))
    if found > 0:
        return float(abs(distance) * np.sqrt(limit / found))
    # The levels are equal: how far apart they may be shows where one of them is moved.
    step = max(float(np.ptp(pair[1])), float(np.ptp(pair[0])))
    moved = float(_statistic(pair[0], pair[1] + step)[0]) if step else np.inf
    return float(step * np.sqrt(limit / moved)) if np.isfinite(moved) else 0.0


def _statistic(first: Floats, second: Floats) -> Floats:
    """Return the squared difference of the means of two rows over the variation of their partial sums."""
    sizes = first.shape[1], second.shape[1]
    count = sum(sizes)
    means = [x.mean(axis=1, keepdims=True) for x in (first, second)]
    distance = sizes[0] * sizes[1] / count**1.5 * (means[0] - means[1])[:, 0]
    sums = [np.cumsum(x - mean, axis=1) for x, mean in zip((first, second), means, strict=True)]
    variation = sum((part**2).sum(axis=1) for part in sums) / count**2
    scale = np.maximum(np.abs(means[0]), np.abs(means[1]))[:, 0]
    # What varies by rounding only does not vary.
    steady = variation <= (1e-12 * scale) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = distance**2 / variation
    return np.where(steady, np.where(np.abs(distance) > 1e-12 * scale, np.inf, 0.0), ratio)


def _without_cycle(
    first: Floats, second: Floats, cycle: int, begins: tuple[int, int] = (0, 0)
) -> tuple[Floats, Floats]:
    """Return the rows of both without the mean, around their own levels, of each place in the *cycle*."""
    places = [
        (np.arange(x.shape[1]) + begin) % cycle for x, begin in zip((first, second), begins, strict=True)
    ]
    if cycle == 1 or min(len(place) for place in places) < 2 * cycle:
        return first, second
    around = np.concatenate([x - x.mean(axis=1, keepdims=True) for x in (first, second)], axis=1)
    place = np.concatenate(places)
    profile = np.stack([around[:, place == k].mean(axis=1) for k in range(cycle)], axis=1)
    profile -= profile.mean(axis=1, keepdims=True)
    return first - profile[:, places[0]], second - profile[:, places[1]]


@cache
def _null(first: int, second: int, cycle: int) -> Floats:
    """Return the statistic of series of these lengths that remember, and do not differ."""
    rng = np.random.default_rng(_SEED)
    noise = rng.standard_normal((_DRAWS, _WARM_UP + first + second))
    series = scipy.signal.lfilter([1.0], [1.0, -_COEFFICIENT], noise, axis=1)[:, _WARM_UP:]
    return _statistic(*_without_cycle(series[:, :first], series[:, first:], cycle))
