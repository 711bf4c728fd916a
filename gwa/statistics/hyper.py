"""Distributions of two phases, which scipy lacks: hyper-Erlang, hyper-exponential and hyper-gamma."""

from dataclasses import dataclass
from functools import cache
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from gwa.statistics import em
from gwa.statistics.distribution import NONNEGATIVE, require
from gwa.statistics.numeric import at_least_zero, coarse
from gwa.statistics.sample import Floats, Sample

_MAXIMUM_ORDER = 256
_MINIMUM_INTERVAL = 2


class TwoPhases(em.PhaseMixture):
    """A mixture of two phases, the first with the probability *weight*; all other parameters are above 0."""

    def __post_init__(self) -> None:
        """Refuse parameters of 0 or less, and a weight that is not a probability."""
        positive = self.values()
        weight = positive.pop("weight")
        require(**positive)
        if not 0 <= weight <= 1:
            raise ValueError(f"weight is between 0 and 1, not {weight}")


@dataclass(frozen=True)
class HyperErlang(TwoPhases):
    """
    Two Erlangs of the same *order*: sums of that many exponentials of rate1, or with 1 - *weight* of rate2.

    The form of Jann et al. ("Modeling of workload in MPPs", 1997), who matched three moments; here each
    order is fitted by maximum likelihood (EM to convergence), and the best order is kept (searched by
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

    @classmethod
    def fit(cls, sample: Sample) -> Self:
        """Return the maximum-likelihood fit, see `Distribution.fit`."""
        cls.refuse(sample)
        order = _best_order(coarse(sample, 500))
        phases = em.fit_phases(sample, em.column(order, order), em.erlangs(order))
        return cls(order, *_faster_first(phases))

    def phases(self) -> em.Phases:
        """Return the two Erlangs."""
        shapes = em.column(self.order, self.order)
        return em.Phases(em.column(self.weight, 1 - self.weight), shapes, em.column(self.rate1, self.rate2))


def _faster_first(phases: em.Phases) -> tuple[float, float, float]:
    """Return the weight and the rate of the faster of two phases, and the rate of the slower."""
    fast, slow = np.argsort(-phases.rates.ravel(), kind="stable")
    weight, rates = phases.weights.ravel(), phases.rates.ravel()
    return float(weight[fast]), float(rates[fast]), float(rates[slow])


def _best_order(sample: Sample) -> int:
    """Return the order with the maximum likelihood: doubled while that helps, then narrowed down."""

    @cache
    def likelihood(order: int) -> float:
        step, starts = em.phase_step(sample, em.column(order, order)), em.starts_of(sample, em.erlangs(order))
        return max(em.accelerate(step, start.packed(), 1e-3, 20)[1] for start in starts)

    top = 1
    while top < _MAXIMUM_ORDER and likelihood(2 * top) > likelihood(top):
        top *= 2
    low, high = max(top // 2, 1), 2 * top
    while high - low > _MINIMUM_INTERVAL:
        third = (high - low) // 3
        left, right = low + third, high - third
        low, high = (left, high) if likelihood(left) < likelihood(right) else (low, right)
    return max(range(low, high + 1), key=likelihood)


@dataclass(frozen=True)
class HyperExponential(TwoPhases):
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

    @classmethod
    def fit(cls, sample: Sample) -> Self:
        """Return the maximum-likelihood fit, see `Distribution.fit`."""
        cls.refuse(sample)
        ones, mean = em.column(1, 1), sample.mean()
        start = em.Phases(em.column(0.5, 0.5), ones, em.column(2 / mean, 0.5 / mean))
        phases = em.fit_phases(sample, ones, em.erlangs(1), [start])
        return cls(*_faster_first(phases))

    def phases(self) -> em.Phases:
        """Return the two exponentials."""
        return em.Phases(
            em.column(self.weight, 1 - self.weight), em.column(1, 1), em.column(self.rate1, self.rate2)
        )

    def cdf(self, x: ArrayLike) -> Floats:
        """Return P(X <= x)."""
        at = at_least_zero(x)
        return -self.weight * np.expm1(-self.rate1 * at) - (1 - self.weight) * np.expm1(-self.rate2 * at)

    def sf(self, x: ArrayLike) -> Floats:
        """Return P(X > x)."""
        at = at_least_zero(x)
        return self.weight * np.exp(-self.rate1 * at) + (1 - self.weight) * np.exp(-self.rate2 * at)


@dataclass(frozen=True)
class HyperGamma(TwoPhases):
    """
    Two gammas: with probability *weight* of shape1 and scale1, else of shape2 and scale2.

    Lublin and Feitelson ("The workload on parallel supercomputers", 2003) use it for the logarithm of
    run times, with the weight a linear function of job size. Fitted by EM to convergence, the phase of
    the smaller mean first; shapes stay below 10 000.
    """

    weight: float
    shape1: float
    scale1: float
    shape2: float
    scale2: float

    name = "hypergamma"
    title = "hyper-gamma"
    parameters: ClassVar = {
        "weight": "probability of the first phase",
        "shape1": "shape of the first phase, no unit",
        "scale1": "mean / shape of the first phase, in units of x",
        "shape2": "shape of the second phase, no unit",
        "scale2": "mean / shape of the second phase, in units of x",
    }
    needs = 3

    @classmethod
    def fit(cls, sample: Sample) -> Self:
        """Return the maximum-likelihood fit, see `Distribution.fit`."""
        cls.refuse(sample)
        phases = em.fit_phases(sample, None, _start)
        weight, shape, rate = (part.ravel() for part in (phases.weights, phases.shapes, phases.rates))
        small, large = np.argsort(shape / rate, kind="stable")
        return cls(*map(float, (weight[small], shape[small], 1 / rate[small], shape[large], 1 / rate[large])))

    def phases(self) -> em.Phases:
        """Return the two gammas."""
        shapes, scales = em.column(self.shape1, self.shape2), em.column(self.scale1, self.scale2)
        return em.Phases(em.column(self.weight, 1 - self.weight), shapes, 1 / scales)


def _start(low: Sample, high: Sample) -> em.Phases:
    """Return a phase for each part, of its mean and variance."""
    weights = em.column(float(low.n), float(high.n)) / (low.n + high.n)
    means = em.column(low.mean(), high.mean())
    variances = np.maximum(em.column(low.variance(), high.variance()), means**2 / 100)
    shapes: Floats = np.maximum(means**2 / variances, 0.1)
    return em.Phases(weights, shapes, shapes / means)
