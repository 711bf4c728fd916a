"""The hyper-Erlang distribution of common order."""

from dataclasses import dataclass
from functools import cache
from typing import ClassVar, Self

import numpy as np

from gwa.statistics.distribution import require
from gwa.statistics.em import (
    PhaseMixture,
    Phases,
    accelerate,
    column,
    erlangs,
    fit_phases,
    phase_step,
    starts_of,
)
from gwa.statistics.numeric import coarse
from gwa.statistics.sample import Sample

_MAX_ORDER = 256
_MIN_INTERVAL = 2


@dataclass(frozen=True)
class HyperErlang(PhaseMixture):
    """
    Two Erlangs of the same *order*: sums of that many exponentials of rate1, or with 1 - *weight* of rate2.

    The form of Jann et al. ("Modeling of workload in MPPs", 1997), who matched three moments; here the
    likelihood is greatest for each order (EM to convergence) and the best order is kept (searched by
    doubling, then by thirds). Order 1 is the hyper-exponential.
    """

    order: int
    weight: float
    rate1: float
    rate2: float

    name = "hypererlang"
    title = "hyper-Erlang"
    parameters: ClassVar = {
        "order": "number of exponentials in each sum",
        "weight": "probability of the first branch",
        "rate1": "rate of each exponential in the first branch, per unit of x",
        "rate2": "rate of each exponential in the second branch, per unit of x",
    }
    needs = 3

    def __post_init__(self) -> None:
        """Refuse an order or rates of 0 or less, and a weight that is not a probability."""
        require(order=self.order, rate1=self.rate1, rate2=self.rate2)
        if not 0 <= self.weight <= 1:
            raise ValueError(f"weight is between 0 and 1, not {self.weight}")

    @classmethod
    def fit(cls, sample: Sample) -> Self:
        """Return the distribution of greatest likelihood, see `Distribution.fit`."""
        cls.refuse(sample)
        order = _best_order(coarse(sample, 500))
        phases = fit_phases(sample, column(order, order), erlangs(order))
        fast, slow = np.argsort(-phases.rates.ravel(), kind="stable")
        weight, rates = phases.weights.ravel(), phases.rates.ravel()
        return cls(order, float(weight[fast]), float(rates[fast]), float(rates[slow]))

    def phases(self) -> Phases:
        """Return the two Erlangs."""
        shapes = column(self.order, self.order)
        return Phases(column(self.weight, 1 - self.weight), shapes, column(self.rate1, self.rate2))


def _best_order(sample: Sample) -> int:
    """Return the order of greatest likelihood: doubled while that helps, then narrowed down."""

    @cache
    def likelihood(order: int) -> float:
        step, starts = phase_step(sample, column(order, order)), starts_of(sample, erlangs(order))
        return max(accelerate(step, start.packed(), 1e-3, 20)[1] for start in starts)

    top = 1
    while top < _MAX_ORDER and likelihood(2 * top) > likelihood(top):
        top *= 2
    low, high = max(top // 2, 1), 2 * top
    while high - low > _MIN_INTERVAL:
        third = (high - low) // 3
        left, right = low + third, high - third
        low, high = (left, high) if likelihood(left) < likelihood(right) else (low, right)
    return max(range(low, high + 1), key=likelihood)
