"""The gamma distribution, fitted by Newton's method on the digamma function."""

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import scipy  # imports scipy.special, which is slow, at its first use
from numpy.typing import ArrayLike

from gwa.statistics.distribution import Batched, Slopes
from gwa.statistics.numeric import at_least_zero, average, floats, rising_root
from gwa.statistics.sample import Floats

_SMALL_GAP = 1e-3
_STEP = 1e-3
_MAXIMUM = 1e100
"""In units of the scale, where any gamma density is 0."""
_LARGE = 1e4
"""From this shape on, series are exact to the last digits where differences of functions lose them."""


@dataclass(frozen=True)
class Gamma(Batched):
    """
    The gamma distribution: density x**(a-1) exp(-x/scale) / (Gamma(a) scale**a) with shape a.

    The likelihood is greatest where ``ln a - digamma(a) = ln mean x - mean ln x`` and the mean,
    a * scale, is the sample's. The thesis (2009, table 4.3) prints the shape and the *rate*, 1 / scale.
    """

    shape: float
    scale: float

    name = "gamma"
    title = "gamma"
    parameters: ClassVar = {"shape": "a, no unit", "scale": "mean / shape, in units of x"}

    @property
    def rate(self) -> float:
        """One over the scale."""
        return 1 / self.scale

    @classmethod
    def estimate(cls, x: Floats, weight: Floats) -> tuple[Floats, ...]:
        """Solve the likelihood equation of each row."""
        mean = average(x, weight)
        # Both are ln mean - mean ln x. The first loses all digits where values are nearly constant, the
        # second some where they are far apart.
        gap = np.log(mean) - average(np.log(x), weight)
        off = x / mean - 1
        near = average(off - np.log1p(off), weight)
        shape = gamma_shape(np.where(gap < _SMALL_GAP, np.where(near > 0, near, math.nan), gap))
        return shape, mean / shape

    def cdf(self, x: ArrayLike) -> Floats:
        """Return P(X <= x)."""
        return floats(scipy.special.gammainc(self.shape, at_least_zero(x) / self.scale))

    def sf(self, x: ArrayLike) -> Floats:
        """Return P(X > x)."""
        return self.halves(x)[1]

    def halves(self, x: ArrayLike) -> tuple[Floats, Floats]:
        """Return P(X <= x) and P(X > x)."""
        z = at_least_zero(x) / self.scale
        reached = floats(scipy.special.gammainc(self.shape, z))
        survival = np.asarray(1 - reached, dtype=np.float64)
        # The complement is several times slower, and needed only where 1 - cdf loses digits. By indices,
        # not by where=, with which scipy 1.17's own ufuncs overwrite memory (scipy pull request 25127).
        far = survival < 0.01
        survival[far] = scipy.special.gammaincc(np.broadcast_to(self.shape, z.shape)[far], z[far])
        return reached, survival

    def between_slopes(self, low: Floats, high: Floats) -> tuple[Floats, Slopes]:
        """Return P(low < X <= high) and its derivatives by ln shape, which have no formula, and ln scale."""
        inside = self.between(low, high)
        more, less = (
            replace(self, shape=self.shape * math.exp(step)).between(low, high) for step in (_STEP, -_STEP)
        )
        by_scale, both, twice = (a - b for a, b in zip(self._slopes(high), self._slopes(low), strict=True))
        return inside, (
            ((more - less) / (2 * _STEP), by_scale),
            ((more - 2 * inside + less) / _STEP**2, both, twice),
        )

    def _slopes(self, x: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the derivatives of P(X <= x) by ln scale, by that and ln shape, and twice by ln scale."""
        z = np.minimum(at_least_zero(x) / self.scale, _MAXIMUM)
        by_scale = -np.exp(scipy.special.xlogy(self.shape, z) - z - scipy.special.gammaln(self.shape))
        both = self.shape * (scipy.special.xlogy(by_scale, z) - by_scale * scipy.special.digamma(self.shape))
        return by_scale, both, by_scale * (z - self.shape)

    def logpdf(self, x: ArrayLike) -> Floats:
        """Return the log of the density; a shape below 1 has none at 0."""
        at = floats(x)
        z = at_least_zero(at) / self.scale
        density = (
            scipy.special.xlogy(self.shape - 1, z)
            - z
            - scipy.special.gammaln(self.shape)
            - np.log(self.scale)
        )
        return np.where(at > 0, density, -math.inf)

    def ppf(self, q: ArrayLike) -> Floats:
        """Return the quantiles."""
        return self.scale * floats(scipy.special.gammaincinv(self.shape, floats(q)))

    def rvs(self, rng: np.random.Generator, n: int) -> Floats:
        """Return *n* independent draws."""
        return rng.gamma(self.shape, self.scale, n)

    def mean(self) -> float:
        """Return the expectation."""
        return self.shape * self.scale


def gamma_shape(gap: Floats) -> Floats:
    """
    Return the shape a with ln a - digamma(a) = *gap*; nan where *gap* is not above 0.

    *gap* is ln mean x - mean ln x, 0 only when all x are equal. ln a - digamma(a) lies between 1 / (2 a)
    and 1 / a (Alzer, "On some inequalities for the gamma and psi functions", 1997), so the shape does
    between 1 / (2 gap) and 1 / gap. It is searched as ln a from Minka's start ("Estimating a Gamma
    distribution", 2002).
    """
    safe = np.where(gap > 0, gap, math.nan)
    start = (3 - safe + np.sqrt((safe - 3) ** 2 + 24 * safe)) / (12 * safe)

    def excess(log_shape: Floats) -> tuple[Floats, Floats]:
        shape = np.exp(log_shape)
        value, slope = log_less_digamma(shape)
        return safe - value, -slope / shape

    low, high = -np.log(2 * safe), -np.log(safe)
    return floats(np.exp(rising_root(excess, np.clip(np.log(start), low, high), low, high)))


def log_less_digamma(shape: Floats) -> tuple[Floats, Floats]:
    """
    Return ln a - digamma(a), and its derivative by 1/a times -1.

    From `_LARGE` on by the asymptotic series (Abramowitz & Stegun 1964, 6.3.18 and 6.4.12), where the
    differences are rounding errors. Of a negative shape scipy's zeta would never end.
    """
    small = np.where(shape < _LARGE, shape, 1.0)
    large = np.where(shape < _LARGE, _LARGE, shape)
    value = np.where(
        shape < _LARGE, np.log(small) - scipy.special.digamma(small), (0.5 + 1 / (12 * large)) / large
    )
    slope = np.where(shape < _LARGE, small - small**2 * scipy.special.zeta(2, small), -0.5 - 1 / (6 * large))
    nothing = np.isnan(shape)
    return np.where(nothing, math.nan, value), np.where(nothing, math.nan, slope)
