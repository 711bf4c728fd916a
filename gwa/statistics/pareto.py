"""Heavy tails: the Pareto distribution, and the generalised Pareto for what exceeds a threshold."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from gwa.statistics.distribution import NONNEGATIVE, Batched, Distribution, FitError, require
from gwa.statistics.numeric import at_least_zero, average, coarse, dot, floats, log
from gwa.statistics.sample import Floats, Sample
from gwa.statistics.search import minimize

_NEARLY_EXPONENTIAL = 1e-9
_MINIMUM_SHAPE = -0.5
_ON_BOUND = 1e-3
_PENALTY = 1e3
_BINS = 1500
"""The number of bins of the sample on which the grid is searched."""


@dataclass(frozen=True)
class GeneralizedPareto(Distribution):
    """
    The generalised Pareto distribution: P(X > x) = (1 + shape x / scale)**(-1 / shape).

    What exceeds a high threshold tends to it (Pickands 1975): *shape* above 0 is a tail as heavy as a
    Pareto of exponent 1 / shape, 0 the exponential, below 0 a tail that ends. Fitted by Grimshaw's (1993)
    reduction of the likelihood to shape / scale alone; shapes below -1/2, where it has no regular
    maximum, are not searched.
    """

    shape: float
    scale: float

    name = "generalizedpareto"
    title = "generalised Pareto"
    parameters: ClassVar = {"shape": "tail index, no unit", "scale": "in units of x"}
    support = NONNEGATIVE

    def __post_init__(self) -> None:
        """Refuse a scale of 0 or less."""
        require(scale=self.scale)

    @classmethod
    def fit(cls, sample: Sample) -> Self:
        """Return the maximum-likelihood fit, see `Distribution.fit`."""
        cls.refuse(sample)
        mean = sample.mean()
        x = sample.map(lambda value: value / mean)
        ratio = _best_ratio(_loss(coarse(x, _BINS)), _loss(x), x.max())
        fitted = _shape(x, ratio) if abs(ratio) >= _NEARLY_EXPONENTIAL else 0.0
        return cls(fitted, mean * fitted / ratio if fitted else mean)

    def _log_sf(self, x: ArrayLike) -> Floats:
        z = at_least_zero(x) / self.scale
        if abs(self.shape) < _NEARLY_EXPONENTIAL:
            return -z
        with np.errstate(divide="ignore"):
            log_survival: Floats = np.log1p(np.maximum(self.shape * z, -1)) / -self.shape
        return log_survival

    def cdf(self, x: ArrayLike) -> Floats:
        """Return P(X <= x)."""
        return -np.expm1(self._log_sf(x))

    def sf(self, x: ArrayLike) -> Floats:
        """Return P(X > x)."""
        return np.exp(self._log_sf(x))

    def logpdf(self, x: ArrayLike) -> Floats:
        """Return the log of the density."""
        density = (1 + self.shape) * self._log_sf(x) - math.log(self.scale)
        return np.where(floats(x) >= 0, density, -math.inf)

    def ppf(self, q: ArrayLike) -> Floats:
        """Return the quantiles."""
        with np.errstate(divide="ignore"):
            log_survival = np.log1p(-floats(q))
        if abs(self.shape) < _NEARLY_EXPONENTIAL:
            return -self.scale * log_survival
        return self.scale * np.expm1(-self.shape * log_survival) / self.shape

    def mean(self) -> float:
        """Return the expectation, infinite from a shape of 1 on."""
        return self.scale / (1 - self.shape) if self.shape < 1 else math.inf

    def degenerate(self) -> str:
        """Say when the shape is the least that is searched."""
        return (
            f"its shape is on the bound of {_MINIMUM_SHAPE}"
            if self.shape < _MINIMUM_SHAPE + _ON_BOUND
            else ""
        )


def _shape(x: Sample, ratio: float) -> float:
    """Return the likeliest shape where shape / scale is *ratio*."""
    return dot(x.weights, np.log1p(ratio * x.values))


def _loss(x: Sample) -> Callable[[float], float]:
    """Return the negative log-likelihood of *x*, an observation's, as a function of shape / scale."""

    def loss(ratio: float) -> float:
        if abs(ratio) < _NEARLY_EXPONENTIAL:
            return 1.0
        fitted = _shape(x, ratio)
        return math.log(fitted / ratio) + fitted + 1 if fitted >= _MINIMUM_SHAPE else _PENALTY - fitted

    return loss


def _best_ratio(rough: Callable[[float], float], loss: Callable[[float], float], largest: float) -> float:
    """Return the ratio shape / scale of least *loss*: the best of a grid by *rough*, refined by *loss*."""
    below = -np.linspace(0.9999, 0.02, 50) / largest
    grid = np.concatenate((below, [0.0], np.logspace(-6, 9, 121)))
    best = int(np.argmin([rough(float(ratio)) for ratio in grid]))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, grid.size - 1)]
    return minimize(loss, low, high, 1e-12)


@dataclass(frozen=True)
class Pareto(Batched):
    """
    The Pareto distribution: P(X > x) = (minimum / x)**shape from *minimum* on.

    Fitted with the sample's least value as minimum and shape = 1 / (mean ln x - ln minimum), which is
    what Da Costa et al. (2018, table 7) did for make-spans. The mean is infinite up to a shape of 1.
    """

    shape: float
    minimum: float

    name = "pareto"
    title = "Pareto"
    parameters: ClassVar = {"shape": "tail exponent, no unit", "minimum": "least value, in units of x"}

    @classmethod
    def estimate(cls, x: Floats, weight: Floats) -> tuple[Floats, ...]:
        """Return tail exponent and least value of each row."""
        minimum = np.where(weight > 0, x, np.inf).min(axis=-1, keepdims=True)
        return 1 / average(np.log(x / minimum), weight), minimum

    def cdf(self, x: ArrayLike) -> Floats:
        """Return P(X <= x)."""
        return -np.expm1(-self.shape * self._excess(x))

    def sf(self, x: ArrayLike) -> Floats:
        """Return P(X > x)."""
        return np.exp(-self.shape * self._excess(x))

    def _excess(self, x: ArrayLike) -> Floats:
        """Return ln(x / minimum), 0 below the minimum."""
        return np.log(np.maximum(floats(x) / self.minimum, 1))

    def logpdf(self, x: ArrayLike) -> Floats:
        """Return the log of the density."""
        density = np.log(self.shape) - self.shape * self._excess(x) - log(x)
        return np.where(floats(x) >= self.minimum, density, -math.inf)

    def ppf(self, q: ArrayLike) -> Floats:
        """Return the quantiles."""
        with np.errstate(divide="ignore"):
            found: Floats = self.minimum * (1 - floats(q)) ** (-1 / self.shape)
        return found

    def mean(self) -> float:
        """Return the expectation, infinite up to a shape of 1."""
        return self.minimum * self.shape / (self.shape - 1) if self.shape > 1 else math.inf


@dataclass(frozen=True)
class Tail:
    """What exceeds *threshold*: the *share* of the observations, and how the excess is distributed."""

    threshold: float
    share: float
    excess: GeneralizedPareto


def tail(sample: Sample, share: float = 0.1) -> Tail:
    """
    Return the fit of the upper *share* of the sample: a generalised Pareto for x - threshold.

    The threshold is the 1 - *share* quantile ("peaks over threshold"). Raises `FitError` if fewer than
    two different values exceed it.
    """
    if not 0 < share < 1:
        raise FitError("the share of a tail is between 0 and 1, not {share}", share=share)
    threshold = sample.quantile(1 - share)
    above = sample.restrict(above=threshold)
    excess = GeneralizedPareto.fit(above.map(lambda x: x - threshold))
    return Tail(threshold, above.n / sample.n, excess)
