"""Random numbers in the units of a log: distributions of logarithms, and blocks that grow."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Final, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from gwa.errors import ModelError
from gwa.models.parameters import Parameters, Quantity
from gwa.statistics.distribution import Distribution
from gwa.statistics.sample import Floats

D = TypeVar("D", bound=Distribution)

FIRST, MOST = 1 << 12, 1 << 18
"""Draws in the first block, and in those of a long workload: a few jobs come at once, many in flat memory."""

TRIES: Final = 100
"""How often draws out of range are repeated before the range is called impossible."""


def sizes() -> Iterator[int]:
    """Yield the sizes of blocks, each twice the one before up to `MOST`, without end."""
    size = FIRST
    while True:
        yield size
        size = min(2 * size, MOST)


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
        """Refuse a range that the distribution never meets."""
        if not self._inside() > 1 / TRIES:
            raise ModelError(
                f"low and high are {self.low} and {self.high}, expected a range that draws fall into"
            )

    def _inside(self) -> float:
        """Return the probability of the range."""
        below = 0.0 if self.low is None else float(self.distribution.cdf_below(self.low))
        return (1.0 if self.high is None else float(self.distribution.cdf(self.high))) - below

    def logarithms(self, rng: np.random.Generator, n: int) -> Floats:
        """Return *n* draws of the logarithm."""
        low, high = -math.inf if self.low is None else self.low, math.inf if self.high is None else self.high
        found = self.distribution.rvs(rng, n)
        wrong = np.flatnonzero((found < low) | (found > high))
        while wrong.size:
            found[wrong] = self.distribution.rvs(rng, wrong.size)
            wrong = wrong[(found[wrong] < low) | (found[wrong] > high)]
        return found

    def raw(self, logarithm: ArrayLike) -> Floats:
        """Return quantities of their logarithms, infinite where they are beyond all numbers."""
        x = np.asarray(logarithm, dtype=np.float64)
        with np.errstate(over="ignore"):
            return x if self.base == 1 else np.asarray(self.base**x)

    def quantiles(self, share: Floats) -> Floats:
        """Return the quantities below which such *share* of all draws are."""
        below = 0.0 if self.low is None else float(self.distribution.cdf_below(self.low))
        with np.errstate(over="ignore"):
            return self.raw(self.distribution.ppf(below + share * self._inside()))

    def rvs(self, rng: np.random.Generator, n: int) -> Floats:
        """Return *n* draws."""
        return self.raw(self.logarithms(rng, n))


def improved(distribution: D, loss: Callable[[D], float]) -> D:
    """Return the distribution of least *loss* near *distribution*, of the same kind (Nelder and Mead)."""
    names = list(distribution.values())
    positive = np.array([name not in getattr(distribution, "signed", ()) for name in names])

    def made(x: Floats) -> D:
        values = np.where(positive, np.exp(np.clip(x, -700.0, 700.0)), x)
        return type(distribution)(**dict(zip(names, values.tolist(), strict=True)))

    def lost(x: Floats) -> float:
        return loss(made(x))

    values = np.array(list(distribution.values().values()))
    start: Floats = np.where(positive, np.log(np.where(positive, values, 1.0)), values)
    found = minimize(lost, start, method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-6})
    return made(np.asarray(found.x))
