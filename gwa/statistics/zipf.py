"""The Zipf distribution: users by activity, and how two ways to fit it differ."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
import scipy  # imports scipy.special, which is slow, at its first use
from numpy.typing import ArrayLike

from gwa.statistics.distribution import COUNTING, Distribution, FitError, require
from gwa.statistics.goodness import ks
from gwa.statistics.numeric import dot, floats, log
from gwa.statistics.sample import Floats, Sample
from gwa.statistics.search import minimize

_MAXIMUM_EXPONENT = 50.0
_TOLERANCE = 1e-6
_SLACK = 1e-12

_TABLE = 10_000
"""Up to this rank probabilities are added up one by one."""

_MAXIMUM_TABLE = 1_000_000
"""The largest rank up to which all are tabulated: beyond it quantiles are searched."""


@dataclass(frozen=True)
class Zipf(Distribution):
    """
    The Zipf distribution on 1 to *ranks*: P(X = k) = k**-exponent / H, H the sum of all k**-exponent.

    Two fits, because the papers differ: `fit`, maximum likelihood, and `least_squares` on the
    probabilities, the way that Anoep's table 4.20 (2009) comes out (LCG, users by tasks: 1.316, printed
    1.32; a line through the log-log plot has 2.56). *ranks* may be infinite for an exponent above 1.
    """

    exponent: float
    ranks: float

    name = "zipf"
    title = "Zipf"
    parameters: ClassVar = {"exponent": "how fast popularity falls, no unit", "ranks": "the largest rank"}
    support = COUNTING

    def __post_init__(self) -> None:
        """Refuse fewer than one rank, and an exponent up to 1 with infinitely many."""
        require(ranks=self.ranks)
        if math.isinf(self.ranks) and not self.exponent > 1:
            raise ValueError(f"the exponent is above 1 without a largest rank, not {self.exponent}")

    @classmethod
    def fit(cls, sample: Sample, ranks: float | None = None) -> Self:
        """
        Return the maximum-likelihood fit on 1 to *ranks*, by default the largest value.

        Raises `FitError` for values that are not ranks, and for fewer than two different ones, see
        `Distribution.fit`.
        """
        cls.refuse(sample)
        last = cls._last(sample, ranks)
        mean_log = dot(sample.weights, np.log(sample.values))
        low = 1 + 1e-6 if math.isinf(last) else -_MAXIMUM_EXPONENT
        return cls(_best_exponent(lambda a: a * mean_log + math.log(_total(a, last)), low), last)

    @classmethod
    def least_squares(cls, sample: Sample, ranks: float | None = None) -> Self:
        """Return the least sum of squares between observed shares and probabilities, over all ranks."""
        cls.refuse(sample)
        last = cls._last(sample, ranks)
        if last > _MAXIMUM_TABLE:
            raise FitError(
                "least squares need at most {most} ranks, not {ranks}",
                most=f"{_MAXIMUM_TABLE:,}",
                ranks=f"{last:g}",
            )
        observed = np.zeros(int(last))
        observed[sample.values.astype(np.int64) - 1] = sample.weights
        k = np.arange(1, last + 1)

        def loss(exponent: float) -> float:
            power = k**-exponent
            return float(((observed - power / power.sum()) ** 2).sum())

        return cls(_best_exponent(loss, 0.0), last)

    @staticmethod
    def _last(sample: Sample, ranks: float | None) -> float:
        """Return the largest rank, refusing one below an observed value."""
        if ranks is not None and ranks < sample.max():
            raise FitError(
                "a value of {value} is beyond the largest rank {rank}",
                value=f"{sample.max():g}",
                rank=f"{ranks:g}",
            )
        return sample.max() if ranks is None else float(ranks)

    def cdf(self, x: ArrayLike) -> Floats:
        """Return P(X <= x)."""
        k = np.clip(np.floor(floats(x)), 0, self.ranks)
        if math.isinf(self.ranks):
            return floats(1 - scipy.special.zeta(self.exponent, k + 1) / scipy.special.zeta(self.exponent, 1))
        return _totals(self.exponent, k) / _total(self.exponent, self.ranks)

    def cdf_below(self, x: ArrayLike) -> Floats:
        """Return P(X < x)."""
        return self.cdf(np.ceil(floats(x)) - 1)

    def logpdf(self, x: ArrayLike) -> Floats:
        """Return the log of the probability of *x*."""
        at = floats(x)
        inside = COUNTING.inside(at) & (at <= self.ranks)
        total = math.log(_total(self.exponent, self.ranks))
        probability = -self.exponent * log(np.where(inside, at, 1.0)) - total
        return np.where(inside, probability, -math.inf)

    def ppf(self, q: ArrayLike) -> Floats:
        """Return the quantiles, the smallest rank with cdf(rank) >= *q*."""
        if self.ranks > _MAXIMUM_TABLE:
            return np.clip(np.ceil(super().ppf(q) - 1e-9), 1.0, self.ranks)
        return (
            np.searchsorted(self.cdf(np.arange(1, self.ranks + 1)), floats(q)).clip(0, int(self.ranks) - 1)
            + 1.0
        )

    def mean(self) -> float:
        """Return the expectation; infinite up to an exponent of 2 without a largest rank."""
        if math.isinf(self.ranks) and self.exponent <= 1 + 1:
            return math.inf
        return _total(self.exponent - 1, self.ranks) / _total(self.exponent, self.ranks)

    def free(self) -> int:
        """Return 1: the number of ranks is given, or the largest value."""
        return 1


def by_rank(popularity: ArrayLike) -> Sample:
    """
    Return ranks as values: 1 for the largest *popularity* (jobs of a user, say), counted that often.

    >>> by_rank([5, 90, 5]).counts.tolist()
    [90, 5, 5]
    """
    counts = np.sort(np.asarray(popularity, dtype=np.int64))[::-1]
    counts = counts[counts > 0]
    return Sample(floats(np.arange(1, counts.size + 1)), counts)


def rank_p_value(ranks: Sample, rng: np.random.Generator, n: int = 1000, replicates: int = 200) -> float:
    """
    Return how often chance alone brings ranks as far (KS) from their own Zipf fit as *ranks* are.

    The same jobs that are fitted also decide who is first, so each of the *replicates* draws all its jobs
    from the fit of the whole and ranks its users again; then *n* jobs of it are fitted and measured, as are
    *n* of the data. A true Zipf law is rejected as often as it should be where there are many jobs for each
    user, and less often where there are few. 1 / (*replicates* + 1) is the least possible.
    """
    fitted = Zipf.fit(ranks)
    shares = fitted.pdf(np.arange(1, fitted.ranks + 1))
    observed = _distance(ranks.subsample(n, rng), fitted)
    farther = 0
    for _ in range(replicates):
        drawn = by_rank(rng.multinomial(ranks.n, shares / shares.sum()))
        farther += _distance(drawn.subsample(n, rng), fitted) >= observed * (1 - _SLACK)
    return (1 + farther) / (1 + replicates)


def _distance(sample: Sample, fit: Zipf) -> float:
    """Return the KS distance of *sample* from its own fit, whose exponent is near that of *fit*."""
    mean_log = dot(sample.weights, np.log(sample.values))

    def loss(exponent: float) -> float:
        return exponent * mean_log + math.log(_total(exponent, fit.ranks))

    return ks(sample, Zipf(minimize(loss, fit.exponent - 1, fit.exponent + 1, _TOLERANCE), fit.ranks))


def _total(exponent: float, ranks: float) -> float:
    """Return the sum of k**-exponent over the ranks."""
    return (
        float(scipy.special.zeta(exponent, 1))
        if math.isinf(ranks)
        else float(_totals(exponent, floats([ranks]))[0])
    )


def _totals(exponent: float, last: Floats) -> Floats:
    """
    Return the sums of k**-exponent over 1 to each of *last*, whole numbers.

    Beyond `_TABLE` by Euler and Maclaurin's formula, to ten digits: there may be 1e18 ranks.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        reach = int(min(last.max(initial=0.0), _TABLE))
        table = np.concatenate(([0.0], np.cumsum(np.arange(1.0, reach + 1) ** -exponent)))
        near = table[np.minimum(last, reach).astype(np.int64)]
        far = last > _TABLE
        if not far.any():
            return floats(near)
        total = near + np.where(far, _beyond(exponent, np.maximum(last, _TABLE)), 0.0)
        return np.where(np.isnan(total), math.inf, total)


def _beyond(exponent: float, last: Floats) -> Floats:
    """Return the sums of k**-exponent from `_TABLE` + 1 to each of *last*."""
    ends = (floats([_TABLE]), last)
    first, final = (end**-exponent for end in ends)
    third = exponent * (exponent + 1) * (exponent + 2)
    slopes = [
        -exponent * power / end / 12 + third * power / end**3 / 720
        for power, end in zip((first, final), ends, strict=True)
    ]
    logs = np.log(last / _TABLE)
    # The integral, exact where the exponent is near 1.
    area = first * _TABLE * (np.expm1((1 - exponent) * logs) / (1 - exponent) if exponent != 1 else logs)
    return floats(area + (final - first) / 2 + slopes[1] - slopes[0])


def _best_exponent(loss: Callable[[float], float], low: float) -> float:
    """Return the exponent of least *loss*, the best of a grid refined between its neighbours."""
    rising = np.linspace(low, 0, 11)[:-1] if low < 0 else np.zeros(0)
    grid = np.concatenate((rising, np.linspace(max(low, 0), 6, 61), [10, 20, _MAXIMUM_EXPONENT]))
    losses = [loss(float(a)) for a in grid]
    best = int(np.argmin(losses))
    return minimize(loss, grid[max(best - 1, 0)], grid[min(best + 1, grid.size - 1)], 1e-11)
