"""The Weibull distribution, fitted by Newton's method on its one implicit equation."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy  # imports scipy.special, which is slow, at its first use
from numpy.typing import ArrayLike

from gwa.statistics.distribution import Batched, Slopes, differences
from gwa.statistics.numeric import at_least_zero, average, floats, log, rising_root
from gwa.statistics.sample import Floats

_MAXIMUM_LOG_RATIO = 60.0
"""The bracket of ln k is this wide: k exceeds its low bound by a factor of about ln n at most."""

_MINIMUM, _MAXIMUM = 1e-300, 1e3
"""Beyond these, a power of x / scale moves no probability."""


@dataclass(frozen=True)
class Weibull(Batched):
    """
    The Weibull distribution: P(X > x) = exp(-(x / scale)**shape).

    A shape below 1 means a heavy tail, 1 is the exponential. The likelihood is greatest where
    ``sum x**k ln x / sum x**k - 1/k = mean ln x`` and ``scale**k = mean x**k``.
    """

    shape: float
    scale: float

    name = "weibull"
    title = "Weibull"
    parameters: ClassVar = {"shape": "exponent k, no unit", "scale": "63 % quantile, in units of x"}

    @classmethod
    def estimate(cls, x: Floats, weight: Floats) -> tuple[Floats, ...]:
        """Solve the likelihood equation of each row, whose left side rises with k, for ln k."""
        y = np.log(x)
        top = y.max(axis=-1, keepdims=True)
        y = y - top
        centre = average(y, weight)

        def excess(log_shape: Floats) -> tuple[Floats, Floats]:
            shape = np.exp(log_shape)
            power = weight * np.exp(shape * y)
            first, second = average(y, power), average(y * y, power)
            return first - 1 / shape - centre, shape * (second - first**2) + 1 / shape

        # The first term is at most 0, so that k is at least 1 / (ln max x - mean ln x).
        low = -np.log(-centre)
        high = low + _MAXIMUM_LOG_RATIO
        start = np.log(math.pi / math.sqrt(6)) - 0.5 * np.log(average((y - centre) ** 2, weight))
        shape = np.exp(rising_root(excess, np.clip(start, low, high), low, high))
        return shape, np.exp(top + np.log(average(np.exp(shape * y), weight)) / shape)

    def _power(self, x: ArrayLike) -> Floats:
        """Return (x / scale)**shape, which is exponential with mean 1."""
        with np.errstate(over="ignore"):
            power: Floats = (at_least_zero(x) / self.scale) ** self.shape
        return power

    def cdf(self, x: ArrayLike) -> Floats:
        """Return P(X <= x)."""
        return -np.expm1(-self._power(x))

    def sf(self, x: ArrayLike) -> Floats:
        """Return P(X > x)."""
        return np.exp(-self._power(x))

    def between_slopes(self, low: Floats, high: Floats) -> tuple[Floats, Slopes]:
        """Return P(low < X <= high) and its derivatives by ln shape and ln scale."""
        return self.between(low, high), differences(self._slopes(high), self._slopes(low))

    def _slopes(self, x: Floats) -> Slopes:
        """Return the derivatives of P(X <= x)."""
        power = np.clip(self._power(x), _MINIMUM, _MAXIMUM)
        logs, density, curve = np.log(power), power * np.exp(-power), 1 - power
        return (
            (density * logs, density * -self.shape),
            (
                density * logs * (1 + logs * curve),
                density * -self.shape * (1 + logs * curve),
                density * self.shape**2 * curve,
            ),
        )

    def logpdf(self, x: ArrayLike) -> Floats:
        """Return the log of the density."""
        y = log(x) - np.log(self.scale)
        inside = np.isfinite(y)
        y = np.where(inside, y, 0.0)
        with np.errstate(over="ignore"):
            density = np.log(self.shape) - np.log(self.scale) + (self.shape - 1) * y - np.exp(self.shape * y)
        return np.where(inside, density, -math.inf)

    def ppf(self, q: ArrayLike) -> Floats:
        """Return the quantiles."""
        with np.errstate(divide="ignore", over="ignore"):  # beyond all doubles is infinite
            quantiles: Floats = self.scale * (-np.log1p(-floats(q))) ** (1 / self.shape)
        return quantiles

    def mean(self) -> float:
        """Return the expectation, scale * Gamma(1 + 1 / shape)."""
        return float(self.scale * scipy.special.gamma(1 + 1 / self.shape))
