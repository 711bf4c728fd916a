"""Distributions of logarithms, estimated from numbers that were rounded to whole ones and cut off."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from gwa.errors import ModelError
from gwa.models.draws import Scaled, improved
from gwa.statistics.distribution import Distribution
from gwa.statistics.distributions import Normal
from gwa.statistics.fit import fit_all
from gwa.statistics.numeric import dot
from gwa.statistics.sample import Floats, Sample

KINDS: Final = ("normal", "weibull", "gamma", "lognormal")
"""The candidates of Anoep (thesis 2009) that are the best of some trace."""

TINY: Final = 1e-300
INSIDE: Final = 0.05
"""The least share of draws that may be in range: what is left of a far tail looks like anything."""

MOST: Final = 2000
"""Different values for which a likelihood is worked out; more are thinned."""


def rounded(
    sample: Sample,
    what: str,
    base: float,
    *,
    low: float | None = None,
    high: float | None = None,
    kinds: Sequence[str] = KINDS,
) -> Scaled:
    """
    Return the quantity *what* whose draws, rounded to whole numbers, are most likely *sample*.

    *low* and *high* are the least and the greatest logarithm, beyond which draws are repeated. Without
    them, all draws that would be less than 1 count as 1, and those above the largest value as that one. Raise
    `ModelError` for values that are all alike.
    """
    kept = sample.restrict(low=1.0)
    starts = fit_all(kept.map(lambda values: np.log(values) / math.log(base)), kinds, "thesis")
    if not len(starts):
        raise ModelError(f"{what}: {kept.n} values, expected several that differ")
    bounds, count = _groups(kept)
    bounds = np.log(bounds) / math.log(base)
    bounds[0, 0] = -math.inf if low is None else low
    bounds[1, -1] = math.inf if high is None else min(bounds[1, -1], high)

    def loss(distribution: Distribution) -> float:
        mass = distribution.cdf(bounds[1]) - distribution.cdf(bounds[0])
        inside = (1.0 if high is None else float(distribution.cdf(high))) - (
            0.0 if low is None else float(distribution.cdf_below(low))
        )
        if inside < INSIDE:
            return math.inf
        return -dot(count, np.log(np.maximum(mass / inside, TINY)))

    best = min((improved(fit.distribution, loss) for fit in starts), key=loss)
    return Scaled(best, base, low, high)


def _groups(sample: Sample) -> tuple[Floats, Floats]:
    """
    Return the bounds of groups of neighbouring values, in two rows, and how many observations are in each.

    The least and the greatest value are groups of their own.
    """
    n = sample.values.size
    starts = np.unique([0, *np.linspace(1, n - 1, min(n, MOST) - 1).astype(np.int64)])
    ends = np.append(starts[1:], n) - 1
    counts = np.add.reduceat(sample.counts, starts).astype(np.float64)
    return np.stack([sample.values[starts] - 0.5, sample.values[ends] + 0.5]), counts


def at_most(size: Scaled, largest: float) -> Scaled:
    """Return *size* without what is larger than any that was seen: fitted tails may have no end."""
    return replace(size, high=math.log(largest + 0.5) / math.log(size.base))


def sizes(sample: Sample) -> tuple[float, Scaled]:
    """
    Return the share of parallel sizes that were rounded to powers of two, and the distribution of all.

    Others may be powers of two by chance, so that both are estimated together; *sample* are sizes from 2 on.
    """
    low = math.log2(1.5)
    starts = fit_all(sample.map(np.log2), KINDS[:3], "thesis")
    if not len(starts):
        only = float(np.log2(sample.values[0]))
        return float(only.is_integer()), Scaled(Normal(only, 0.01), 2.0, low)
    power = np.log2(sample.values)
    other = np.stack([np.log2(sample.values - 0.5), np.log2(sample.values + 0.5)])
    exact = np.stack([np.maximum(power - 0.5, low), power + 0.5])

    def split(distribution: Distribution) -> tuple[float, Floats]:
        inside = max(1 - float(distribution.cdf_below(low)), TINY)
        by_chance = np.diff(distribution.cdf(other), axis=0)[0] / inside
        by_rule = np.where(power == np.rint(power), np.diff(distribution.cdf(exact), axis=0)[0] / inside, 0.0)
        share = 0.5
        for _ in range(40):
            mixed = np.maximum(share * by_rule + (1 - share) * by_chance, TINY)
            share = dot(sample.weights, share * by_rule / mixed)
        return share, mixed

    def loss(distribution: Distribution) -> float:
        return -dot(sample.counts, np.log(split(distribution)[1]))

    best = min((improved(fit.distribution, loss) for fit in starts), key=loss)
    return split(best)[0], Scaled(best, 2.0, low)
