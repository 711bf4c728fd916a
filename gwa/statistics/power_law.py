"""
Power laws with a chosen beginning, after Clauset, Shalizi and Newman (SIAM Review 51, 2009).

A power law is a statement about a tail: P(X >= x) = (x / minimum)**(1 - exponent) from *minimum* on. The
paper's section 3 chooses the minimum at which data and law are nearest (KS), its section 4 tests the
law by a bootstrap that repeats the choice. A large p does not show that there is a power law; a small one
shows that there is none.
"""

import math
from dataclasses import dataclass

import numpy as np

from gwa.statistics.distribution import FitError
from gwa.statistics.sample import Floats, Ints, Sample

MINIMUM_TAIL = 50
"""Of fewer values an exponent is biased (Clauset et al., section 3.4)."""

_ROUNDED_FROM = 6
"""Where rounded values may begin, in steps of rounding: from here on the estimate is within a percent."""

_ENOUGH = 20
"""The number of replicates as far away after which p is known well enough (Besag & Clifford 1991)."""

_STRETCH = 8
"""Tails are first compared at every eighth value, and only then at all of them."""

_SLACK = 1e-12


@dataclass(frozen=True)
class PowerLaw:
    """
    A power law of density x**-*exponent* from *minimum* on.

    *above* is the number of observations there, *share* their share of all; *ks* the largest distance of the
    two distribution functions over them. The mean is infinite up to an exponent of 2.
    """

    exponent: float
    minimum: float
    above: int
    share: float
    ks: float


def power_law(sample: Sample, resolution: float = 0.0, candidates: int | None = None) -> PowerLaw:
    """
    Return the power law whose beginning makes it nearest to the values from there on.

    Of the *sample* only values above 0 count, and of the share only. *resolution* is the step to which values
    were rounded, 0 for none: a rounded x stands for x - step / 2 to x + step / 2 (Clauset et al., equation
    3.7), and the minimum is at least 6 steps. At most *candidates* values are tried for it, spread evenly
    over the ranks; all distinct values by default. Raise `FitError` if no minimum leaves 50 values, of which
    two differ.
    """
    x, counts = sample.values, sample.counts
    above = sample.n - sample.cumulative + counts
    eligible = (x > 0) & (x >= _ROUNDED_FROM * resolution) & (above >= MINIMUM_TAIL)
    places = np.flatnonzero(eligible[:-1])
    if not places.size:
        raise FitError("a power law needs {count} different values above 0", count=MINIMUM_TAIL)
    if candidates is not None and places.size > candidates:
        ranks = np.linspace(0, above[places[0]] - above[places[-1]], candidates)
        nearest = np.searchsorted(above[places[0]] - above[places], ranks)
        places = places[np.unique(nearest.clip(0, places.size - 1))]
    place, slope, distance = _nearest(sample, places, above, resolution)
    count = int(above[place])
    return PowerLaw(1 + slope, float(x[place]), count, count / sample.n, distance)


def _nearest(sample: Sample, places: Ints, above: Ints, resolution: float) -> tuple[int, float, float]:
    """
    Return from which of *places* on values are nearest to their law, its exponent less 1, and KS.

    The exponents are those of maximum likelihood. The result is exact although most tails are compared in a
    few places only: there they are already farther from their law than another tail is anywhere.
    """
    first = int(places[0])
    x, counts, starts = sample.values[first:], sample.counts[first:], places - first
    logs, low, high = (np.log(x + half) for half in (0.0, -resolution / 2, resolution / 2))
    sums = np.cumsum((logs * counts)[::-1])[::-1]
    left = np.append(above[first:], 0)
    slopes = left[starts] / (sums[starts] - left[starts] * low[starts])

    def distances(tails: Ints, at: Ints) -> Floats:
        """Return the largest distance of each of *tails* from its law at those of the values."""
        start, slope = starts[tails, np.newaxis], slopes[tails, np.newaxis]
        total, origin = left[start], low[start]
        gap = np.abs(left[at] / total - np.exp(slope * np.minimum(origin - low[at], 0.0)))
        beyond = np.abs(left[at + 1] / total - np.exp(slope * np.minimum(origin - high[at], 0.0)))
        largest: Floats = np.where(at >= start, np.maximum(gap, beyond), 0.0).max(axis=1)
        return largest

    least = distances(np.arange(places.size), np.arange(0, x.size, _STRETCH))
    # Of values that are equal but for rounding, no law has a distance.
    found = np.where(np.isfinite(slopes), math.inf, math.nan)
    for tail in np.argsort(least, kind="stable"):
        if least[tail] > found.min():
            break
        found[tail] = distances(tail[np.newaxis], np.arange(starts[tail], x.size))[0]
    best = int(np.argmin(found))
    return int(places[best]), float(slopes[best]), float(found[best])


def power_law_p_value(
    sample: Sample,
    rng: np.random.Generator,
    resolution: float = 0.0,
    n: int = 1000,
    replicates: int = 99,
    candidates: int | None = 50,
) -> float:
    """
    Return how often chance alone brings data that follow the law as far from it as *sample* is.

    On at most *n* observations drawn at random. Each replicate draws from the fitted law above its minimum
    and from the observations below it, in the proportions of the data (Clauset et al., section 4.1), and
    chooses its own minimum. Once 20 are as far, p is their share of those drawn (Besag and Clifford,
    Biometrika 78, 1991): there is no more to learn of a law that is not refuted. The least possible is
    1 / (*replicates* + 1). Raises `FitError` as `power_law` does.
    """
    drawn = sample.subsample(n, rng)
    law = power_law(drawn, resolution, candidates)
    below = drawn.restrict(below=law.minimum)
    farther = 0
    for drawn_so_far in range(1, replicates + 1):
        tail = int(rng.binomial(drawn.n, law.share))
        x = np.concatenate((_draw(law, rng, tail, resolution), _resampled(below, rng, drawn.n - tail)))
        farther += _distance(Sample.of(x), resolution, candidates) >= law.ks * (1 - _SLACK)
        if farther == _ENOUGH:
            return farther / drawn_so_far
    return (1 + farther) / (1 + replicates)


def _draw(law: PowerLaw, rng: np.random.Generator, n: int, resolution: float) -> Floats:
    """Return *n* values of the law, rounded as the data are."""
    x: Floats = (law.minimum - resolution / 2) * (1 - rng.random(n)) ** (1 / (1 - law.exponent))
    return np.rint(x / resolution) * resolution if resolution else x


def _resampled(sample: Sample, rng: np.random.Generator, n: int) -> Floats:
    """Return *n* of the observations, drawn with replacement; none where there are none."""
    return rng.choice(sample.values, n, p=sample.weights) if sample.n else np.zeros(0)


def _distance(sample: Sample, resolution: float, candidates: int | None) -> float:
    """Return the distance of *sample* from its own law; infinite if it has none."""
    try:
        return power_law(sample, resolution, candidates).ks
    except FitError:
        return math.inf
