"""Random numbers in the units of a log: distributions of logarithms, drawn in blocks that grow."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Final, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from gwa.errors import ModelError
from gwa.models.parameters import Parameters, Quantity
from gwa.statistics.distribution import Distribution
from gwa.statistics.distributions import Normal
from gwa.statistics.gamma import Gamma
from gwa.statistics.sample import Floats
from gwa.statistics.search import minimize_simplex
from gwa.statistics.weibull import Weibull

D = TypeVar("D", bound=Distribution)

FIRST_BLOCK, MAXIMUM_BLOCK = 1 << 12, 1 << 18
"""Draws in the first block, so that a few jobs come at once, and in the largest, which bounds memory."""

MINIMUM_IN_RANGE: Final = 0.01
"""Probability of the range below which redrawing would take too long."""

MIDPOINTS: Final = 1 << 17
"""Equal shares whose middle quantiles give an expectation."""


def block_sizes() -> Iterator[int]:
    """Yield block sizes without end, doubling from `FIRST_BLOCK` to `MAXIMUM_BLOCK`."""
    size = FIRST_BLOCK
    while True:
        yield size
        size = min(2 * size, MAXIMUM_BLOCK)


@dataclass(frozen=True)
class Scaled(Parameters):
    """
    A quantity whose logarithm is distributed: *base* to the power of a draw, or the draw where base is 1.

    Draws of the logarithm outside *low* to *high* are repeated.
    """

    distribution: Distribution
    base: Annotated[float, Quantity("base of the logarithm, 1 for none", low=1.0)] = math.e
    low: Annotated[float | None, Quantity("least logarithm")] = None
    high: Annotated[float | None, Quantity("greatest logarithm")] = None

    def check(self) -> None:
        """Refuse a range that draws hardly ever fall into."""
        if not self._probability_in_range() > MINIMUM_IN_RANGE:
            raise ModelError(
                f"low and high are {self.low} and {self.high}, expected a range that draws fall into"
            )

    def _probability_in_range(self) -> float:
        below = 0.0 if self.low is None else float(self.distribution.cdf_below(self.low))
        return (1.0 if self.high is None else float(self.distribution.cdf(self.high))) - below

    def logarithms(self, rng: np.random.Generator, n: int) -> Floats:
        """Draw *n* logarithms, repeating draws out of range."""
        low, high = -math.inf if self.low is None else self.low, math.inf if self.high is None else self.high
        draws = self.distribution.rvs(rng, n)
        outside = np.flatnonzero((draws < low) | (draws > high))
        while outside.size:
            draws[outside] = self.distribution.rvs(rng, outside.size)
            outside = outside[(draws[outside] < low) | (draws[outside] > high)]
        return draws

    def from_logarithm(self, logarithm: ArrayLike) -> Floats:
        """Convert logarithms to the quantity; overflow gives infinity."""
        x = np.asarray(logarithm, dtype=np.float64)
        with np.errstate(over="ignore"):
            return x if self.base == 1 else np.asarray(self.base**x)

    def quantiles(self, share: Floats) -> Floats:
        """Return the quantiles of draws at each *share*."""
        below = 0.0 if self.low is None else float(self.distribution.cdf_below(self.low))
        with np.errstate(over="ignore"):
            return self.from_logarithm(self.distribution.ppf(below + share * self._probability_in_range()))

    def mean(self) -> float:
        """
        Return the expectation, infinite where it does not exist.

        That is so for a base above 1 without a *high*, if the logarithm's tail is not lighter than that of an
        exponential with mean 1. It is the mean of the quantiles at `MIDPOINTS` equal shares.
        """
        if self.high is None and not self._has_mean():
            return math.inf
        return float(self.quantiles((np.arange(MIDPOINTS) + 0.5) / MIDPOINTS).mean())

    def _has_mean(self) -> bool:
        """Tell whether draws without a *high* have an expectation: E[exp(s X)] is finite for s = ln(base)."""
        if self.base == 1:
            return math.isfinite(self.distribution.mean())
        values = self.distribution.values()
        rate = math.log(self.base) * values.get("scale", math.inf)
        if isinstance(self.distribution, Gamma):
            return rate < 1
        if isinstance(self.distribution, Weibull):
            return values["shape"] > 1 or (values["shape"] == 1 and rate < 1)
        return isinstance(self.distribution, Normal)

    def rvs(self, rng: np.random.Generator, n: int) -> Floats:
        """Draw *n* quantities."""
        return self.from_logarithm(self.logarithms(rng, n))


def minimize_loss(distribution: D, loss: Callable[[D], float]) -> D:
    """Minimize *loss* over the parameters of *distribution*, starting there, by the Nelder-Mead method."""
    names = list(distribution.values())
    positive = np.array([name not in getattr(distribution, "signed", ()) for name in names])

    def with_parameters(x: Floats) -> D:
        values = np.where(positive, np.exp(np.clip(x, -700.0, 700.0)), x)
        return type(distribution)(**dict(zip(names, values.tolist(), strict=True)))

    def loss_at(x: Floats) -> float:
        return loss(with_parameters(x))

    values = np.array(list(distribution.values().values()))
    start: Floats = np.where(positive, np.log(np.where(positive, values, 1.0)), values)
    return with_parameters(minimize_simplex(loss_at, start.tolist(), tolerance=1e-6))
