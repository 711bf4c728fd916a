"""Fitting distributions of logarithms to numbers that were rounded to integers and truncated."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from gwa.errors import ModelError
from gwa.models.draws import Scaled, minimize_loss
from gwa.statistics.distribution import Distribution
from gwa.statistics.distributions import Normal
from gwa.statistics.fit import fit_all
from gwa.statistics.numeric import dot
from gwa.statistics.sample import Floats, Sample
from gwa.words.message import message

CANDIDATES: Final = ("normal", "weibull", "gamma", "lognormal")
"""The distributions of Anoep (thesis 2009) that fit some trace best."""

MINIMUM_PROBABILITY: Final = 1e-300
MINIMUM_IN_RANGE: Final = 0.05
"""Minimum probability of the range, for the remainder of a far tail resembles any distribution."""

MAXIMUM_GROUPS: Final = 2000
"""Maximum number of groups of values in a likelihood."""


def fit_rounded(
    sample: Sample,
    name: str,
    base: float,
    *,
    low: float | None = None,
    high: float | None = None,
    candidates: Sequence[str] = CANDIDATES,
) -> Scaled:
    """
    Fit the quantity *name* by maximum likelihood, its draws rounded to whole numbers, to *sample*.

    *low* and *high* are the minimum and maximum logarithm, beyond which draws are repeated. Without them,
    draws below 1 count as 1, and those above the maximum of *sample* as that. Raise `ModelError` for values
    that are all equal.
    """
    positive = sample.restrict(low=1.0)
    starts = fit_all(positive.map(lambda values: np.log(values) / math.log(base)), candidates, "thesis")
    if not len(starts):
        raise ModelError(
            message("{name}: {values} values, expected several that differ", name=name, values=positive.n)
        )
    bounds, count = _group_neighbours(positive)
    bounds = np.log(bounds) / math.log(base)
    bounds[0, 0] = -math.inf if low is None else low
    bounds[1, -1] = math.inf if high is None else min(bounds[1, -1], high)

    def loss(distribution: Distribution) -> float:
        mass = distribution.cdf(bounds[1]) - distribution.cdf(bounds[0])
        inside = (1.0 if high is None else float(distribution.cdf(high))) - (
            0.0 if low is None else float(distribution.cdf_below(low))
        )
        if inside < MINIMUM_IN_RANGE:
            return math.inf
        return -dot(count, np.log(np.maximum(mass / inside, MINIMUM_PROBABILITY)))

    best = min((minimize_loss(fit.distribution, loss) for fit in starts), key=loss)
    return Scaled(best, base, low, high)


def _group_neighbours(sample: Sample) -> tuple[Floats, Floats]:
    """Return bounds and counts of groups of neighbouring values, minimum and maximum alone."""
    n = sample.values.size
    starts = np.unique([0, *np.linspace(1, n - 1, min(n, MAXIMUM_GROUPS) - 1).astype(np.int64)])
    ends = np.append(starts[1:], n) - 1
    counts = np.add.reduceat(sample.counts, starts).astype(np.float64)
    return np.stack([sample.values[starts] - 0.5, sample.values[ends] + 0.5]), counts


def truncate_above(quantity: Scaled, maximum: float) -> Scaled:
    """Truncate *quantity* at the observed *maximum*, for fitted tails may have no end."""
    return replace(quantity, high=math.log(maximum + 0.5) / math.log(quantity.base))


def fit_sizes(sample: Sample) -> tuple[float, Scaled]:
    """
    Fit the share of parallel sizes that were rounded to powers of two, and the distribution of all sizes.

    Other sizes may be powers of two by chance, so that both are estimated together. *sample* has the sizes
    of 2 or more.
    """
    low = math.log2(1.5)
    starts = fit_all(sample.map(np.log2), CANDIDATES[:3], "thesis")
    if not len(starts):
        logarithm = float(np.log2(sample.values[0]))
        return float(logarithm.is_integer()), Scaled(Normal(logarithm, 0.01), 2.0, low)
    logarithms = np.log2(sample.values)
    plain_bounds = np.stack([np.log2(sample.values - 0.5), np.log2(sample.values + 0.5)])
    rounded_bounds = np.stack([np.maximum(logarithms - 0.5, low), logarithms + 0.5])

    def split(distribution: Distribution) -> tuple[float, Floats]:
        inside = max(1 - float(distribution.cdf_below(low)), MINIMUM_PROBABILITY)
        plain = np.diff(distribution.cdf(plain_bounds), axis=0)[0] / inside
        rounded = np.where(
            logarithms == np.rint(logarithms),
            np.diff(distribution.cdf(rounded_bounds), axis=0)[0] / inside,
            0.0,
        )
        share = 0.5
        for _ in range(40):
            mixed = np.maximum(share * rounded + (1 - share) * plain, MINIMUM_PROBABILITY)
            share = dot(sample.weights, share * rounded / mixed)
        return share, mixed

    def loss(distribution: Distribution) -> float:
        return -dot(sample.counts, np.log(split(distribution)[1]))

    best = min((minimize_loss(fit.distribution, loss) for fit in starts), key=loss)
    return split(best)[0], Scaled(best, 2.0, low)
