"""The two-phase hyper-exponential distribution, which scipy lacks."""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from gwa.statistics.distribution import NONNEGATIVE, require
from gwa.statistics.em import PhaseMixture, Phases, column, erlangs, fit_phases
from gwa.statistics.numeric import at_least_zero
from gwa.statistics.sample import Floats, Sample


@dataclass(frozen=True)
class HyperExponential(PhaseMixture):
    """
    Two exponentials: with probability *weight* of *rate1*, else of *rate2*.

    Density weight rate1 exp(-rate1 x) + (1 - weight) rate2 exp(-rate2 x), rate1 > rate2; it varies more
    than the exponential (coefficient of variation above 1), and data that vary less make it one. Fitted by EM
    to convergence, which keeps the sample's mean. The thesis (2009, tables 4.2 to 4.18) stopped early: its
    parameters do not keep the mean, and its p belongs to the second rate.
    """

    weight: float
    rate1: float
    rate2: float

    name = "hyperexponential"
    title = "hyper-exponential"
    parameters: ClassVar = {
        "weight": "probability of the fast phase",
        "rate1": "events per unit of x in the fast phase",
        "rate2": "events per unit of x in the slow phase",
    }
    support = NONNEGATIVE

    def __post_init__(self) -> None:
        """Refuse rates of 0 or less, and a weight that is not a probability."""
        require(rate1=self.rate1, rate2=self.rate2)
        if not 0 <= self.weight <= 1:
            raise ValueError(f"weight is between 0 and 1, not {self.weight}")

    @classmethod
    def fit(cls, sample: Sample) -> Self:
        """Return the distribution of greatest likelihood, see `Distribution.fit`."""
        cls.refuse(sample)
        ones, mean = column(1, 1), sample.mean()
        start = Phases(column(0.5, 0.5), ones, column(2 / mean, 0.5 / mean))
        phases = fit_phases(sample, ones, erlangs(1), [start])
        fast, slow = np.argsort(-phases.rates.ravel(), kind="stable")
        weight, rates = phases.weights.ravel(), phases.rates.ravel()
        return cls(float(weight[fast]), float(rates[fast]), float(rates[slow]))

    def phases(self) -> Phases:
        """Return the two exponentials."""
        return Phases(column(self.weight, 1 - self.weight), column(1, 1), column(self.rate1, self.rate2))

    def cdf(self, x: ArrayLike) -> Floats:
        """Return P(X <= x)."""
        at = at_least_zero(x)
        return -self.weight * np.expm1(-self.rate1 * at) - (1 - self.weight) * np.expm1(-self.rate2 * at)

    def sf(self, x: ArrayLike) -> Floats:
        """Return P(X > x)."""
        at = at_least_zero(x)
        left: Floats = self.weight * np.exp(-self.rate1 * at) + (1 - self.weight) * np.exp(-self.rate2 * at)
        return left
