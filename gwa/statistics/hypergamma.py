"""The hyper-gamma distribution of Lublin and Feitelson."""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from gwa.statistics.distribution import require
from gwa.statistics.em import PhaseMixture, Phases, column, fit_phases
from gwa.statistics.sample import Floats, Sample


@dataclass(frozen=True)
class HyperGamma(PhaseMixture):
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

    def __post_init__(self) -> None:
        """Refuse shapes and scales of 0 or less, and a weight that is not a probability."""
        require(shape1=self.shape1, scale1=self.scale1, shape2=self.shape2, scale2=self.scale2)
        if not 0 <= self.weight <= 1:
            raise ValueError(f"weight is between 0 and 1, not {self.weight}")

    @classmethod
    def fit(cls, sample: Sample) -> Self:
        """Return the distribution of greatest likelihood, see `Distribution.fit`."""
        cls.refuse(sample)
        phases = fit_phases(sample, None, _start)
        weight, shape, rate = (part.ravel() for part in (phases.weights, phases.shapes, phases.rates))
        small, large = np.argsort(shape / rate, kind="stable")
        return cls(*map(float, (weight[small], shape[small], 1 / rate[small], shape[large], 1 / rate[large])))

    def phases(self) -> Phases:
        """Return the two gammas."""
        shapes, scales = column(self.shape1, self.shape2), column(self.scale1, self.scale2)
        return Phases(column(self.weight, 1 - self.weight), shapes, 1 / scales)


def _start(low: Sample, high: Sample) -> Phases:
    """Return a phase for each part, of its mean and variance."""
    weights = column(float(low.n), float(high.n)) / (low.n + high.n)
    means = column(low.mean(), high.mean())
    variances = np.maximum(column(low.variance(), high.variance()), means**2 / 100)
    shapes: Floats = np.maximum(means**2 / variances, 0.1)
    return Phases(weights, shapes, shapes / means)
