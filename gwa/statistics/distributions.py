"""
The distributions whose maximum-likelihood fit is a formula: normal, lognormal, exponential.

Three of the six that Anoep's thesis (2009, tables 4.2 to 4.18) compares; Weibull, gamma and the
hyper-exponential have files of their own.
"""

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy  # imports scipy.special, which is slow, at its first use
from numpy.typing import ArrayLike

from gwa.statistics.distribution import NONNEGATIVE, REAL, Batched, Slopes, differences
from gwa.statistics.numeric import at_least_zero, average, floats, log
from gwa.statistics.sample import Floats

_LOG_ROOT_2PI = 0.5 * math.log(2 * math.pi)
_FAR = 40.0
"""The number of standard deviations from the mean beyond which the density counts as 0."""


@dataclass(frozen=True)
class Exponential(Batched):
    """The exponential distribution, density rate exp(-rate x): the memoryless one; the mean is 1 / rate."""

    rate: float

    name = "exponential"
    title = "exponential"
    parameters: ClassVar = {"rate": "events per unit of x, one over the mean"}
    support = NONNEGATIVE
    needs = 1

    @classmethod
    def estimate(cls, x: Floats, weight: Floats) -> tuple[Floats, ...]:
        """Return one over the mean of each row."""
        return (1 / average(x, weight),)

    def cdf(self, x: ArrayLike) -> Floats:
        """Return P(X <= x)."""
        return -np.expm1(-self.rate * at_least_zero(x))

    def sf(self, x: ArrayLike) -> Floats:
        """Return P(X > x)."""
        return np.exp(-self.rate * at_least_zero(x))

    def between_slopes(self, low: Floats, high: Floats) -> tuple[Floats, Slopes]:
        """Return P(low < X <= high) and its derivatives by ln rate."""
        return self.between(low, high), differences(self._slopes(high), self._slopes(low))

    def _slopes(self, x: Floats) -> Slopes:
        power = np.minimum(self.rate * at_least_zero(x), _FAR**2)
        slope = power * np.exp(-power)
        return (slope,), (slope * (1 - power),)

    def logpdf(self, x: ArrayLike) -> Floats:
        """Return the log of the density."""
        at = floats(x)
        return np.where(at >= 0, np.log(self.rate) - self.rate * at, -math.inf)

    def ppf(self, q: ArrayLike) -> Floats:
        """Return the quantiles."""
        with np.errstate(divide="ignore"):
            quantiles: Floats = -np.log1p(-floats(q)) / self.rate
        return quantiles

    def mean(self) -> float:
        """Return the expectation."""
        return 1 / self.rate


@dataclass(frozen=True)
class _Normal(Batched):
    """A distribution of which the values, or their logarithms, are normal."""

    mu: float
    sigma: float

    signed = ("mu",)

    @abstractmethod
    def _z(self, x: ArrayLike) -> Floats:
        """Return the standard normal value of *x*."""

    def cdf(self, x: ArrayLike) -> Floats:
        """Return P(X <= x)."""
        return floats(scipy.special.ndtr(self._z(x)))

    def sf(self, x: ArrayLike) -> Floats:
        """Return P(X > x)."""
        return floats(scipy.special.ndtr(-self._z(x)))

    def between(self, low: ArrayLike, high: ArrayLike) -> Floats:
        """Return P(low < X <= high): above the median as that between the negatives."""
        z, upto = self._z(low), self._z(high)
        side = np.where(z < 0, 1.0, -1.0)
        return np.abs(floats(scipy.special.ndtr(side * upto)) - floats(scipy.special.ndtr(side * z)))

    def between_slopes(self, low: Floats, high: Floats) -> tuple[Floats, Slopes]:
        """Return P(low < X <= high) and its derivatives by mu and ln sigma."""
        return self.between(low, high), differences(self._slopes(high), self._slopes(low))

    def _slopes(self, x: Floats) -> Slopes:
        """Return the derivatives of P(X <= x)."""
        z = np.clip(self._z(x), -_FAR, _FAR)
        curve = z * z - 1
        by_mu = np.exp(-0.5 * (curve + 1) - _LOG_ROOT_2PI) / -self.sigma
        by_sigma = z * by_mu * self.sigma
        return (by_mu, by_sigma), (by_sigma / self.sigma**2, by_mu * curve, by_sigma * curve)


@dataclass(frozen=True)
class Lognormal(_Normal):
    """
    The lognormal distribution: ln x is normal with mean *mu* and standard deviation *sigma*.

    The median is exp(mu), the mean exp(mu + sigma**2 / 2).
    """

    name = "lognormal"
    title = "lognormal"
    parameters: ClassVar = {"mu": "mean of ln x", "sigma": "standard deviation of ln x"}

    @classmethod
    def estimate(cls, x: Floats, weight: Floats) -> tuple[Floats, ...]:
        """Return mean and standard deviation of ln x in each row."""
        return Normal.estimate(np.log(x), weight)

    def _z(self, x: ArrayLike) -> Floats:
        return (log(x) - self.mu) / self.sigma

    def logpdf(self, x: ArrayLike) -> Floats:
        """Return the log of the density."""
        y = log(x)
        inside = np.isfinite(y)
        y = np.where(inside, y, 0.0)
        density = -0.5 * ((y - self.mu) / self.sigma) ** 2 - np.log(self.sigma) - _LOG_ROOT_2PI - y
        return np.where(inside, density, -math.inf)

    def ppf(self, q: ArrayLike) -> Floats:
        """Return the quantiles."""
        with np.errstate(over="ignore"):  # beyond all doubles is infinite
            quantiles: Floats = np.exp(self.mu + self.sigma * scipy.special.ndtri(floats(q)))
        return quantiles

    def mean(self) -> float:
        """Return the expectation."""
        return math.exp(self.mu + self.sigma**2 / 2)


@dataclass(frozen=True)
class Normal(_Normal):
    """
    The normal distribution: density exp(-z**2 / 2) / (sigma sqrt(2 pi)) with z = (x - mu) / sigma.

    The fit is the sample's mean and its standard deviation with divisor n.
    """

    name = "normal"
    title = "normal"
    parameters: ClassVar = {"mu": "mean, in units of x", "sigma": "standard deviation, in units of x"}
    support = REAL

    @classmethod
    def estimate(cls, x: Floats, weight: Floats) -> tuple[Floats, ...]:
        """Return mean and standard deviation of each row."""
        mu = average(x, weight)
        return mu, np.sqrt(average((x - mu) ** 2, weight))

    def _z(self, x: ArrayLike) -> Floats:
        return (floats(x) - self.mu) / self.sigma

    def logpdf(self, x: ArrayLike) -> Floats:
        """Return the log of the density."""
        return floats(-0.5 * self._z(x) ** 2 - np.log(self.sigma) - _LOG_ROOT_2PI)

    def ppf(self, q: ArrayLike) -> Floats:
        """Return the quantiles."""
        return self.mu + self.sigma * floats(scipy.special.ndtri(floats(q)))

    def mean(self) -> float:
        """Return the expectation."""
        return self.mu
