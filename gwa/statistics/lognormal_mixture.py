"""Mixtures of lognormal distributions: mixtures of normals on ln x."""

import math
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from gwa.statistics.distribution import Distribution
from gwa.statistics.mixture import GaussianMixture, Vector, select
from gwa.statistics.numeric import floats, log
from gwa.statistics.sample import Floats, Sample

_SAME = 0.01
"""Components are one if their means of ln x and their widths differ by less than this share of the width."""

_NOTHING = 1e-6
"""A component of so little weight is none."""


@dataclass(frozen=True)
class LognormalMixture(Distribution):
    """
    A mixture of lognormals: ln x is a Gaussian mixture with these weights, *mus* and *sigmas*.

    Two components halve the KS distance of Da Costa et al.'s (2018) single lognormal for make-spans.
    """

    weights: Vector
    mus: Vector
    sigmas: Vector

    name = "lognormalmixture"
    title = "lognormal mixture"
    parameters: ClassVar = {
        "weights": "probabilities of the components",
        "mus": "their means of ln x",
        "sigmas": "their standard deviations of ln x",
    }

    def __post_init__(self) -> None:
        """Refuse what a Gaussian mixture refuses."""
        self.logs()

    @classmethod
    def fit(cls, sample: Sample, components: int = 2) -> Self:
        """Return the maximum-likelihood mixture of that many *components*, see `Distribution.fit`."""
        cls.refuse(sample)
        mixture = GaussianMixture.fit(sample.map(np.log), components)
        return cls(mixture.weights, mixture.means, mixture.sigmas)

    @classmethod
    def selected(cls, sample: Sample, max_components: int = 20) -> Self:
        """Return the mixture whose number of components, up to *max_components*, BIC prefers."""
        cls.refuse(sample)
        mixture = select(sample.map(np.log), range(1, max_components + 1)).best
        return cls(mixture.weights, mixture.means, mixture.sigmas)

    def logs(self) -> GaussianMixture:
        """Return the distribution of ln x."""
        return GaussianMixture(self.weights, self.mus, self.sigmas)

    def cdf(self, x: ArrayLike) -> Floats:
        """Return P(X <= x)."""
        return self.logs().cdf(log(x))

    def sf(self, x: ArrayLike) -> Floats:
        """Return P(X > x)."""
        return self.logs().sf(log(x))

    def logpdf(self, x: ArrayLike) -> Floats:
        """Return the log of the density."""
        y = log(x)
        inside = np.isfinite(y)
        y = np.where(inside, y, 0.0)
        return np.where(inside, self.logs().logpdf(y) - y, -math.inf)

    def ppf(self, q: ArrayLike) -> Floats:
        """Return the quantiles."""
        return np.exp(self.logs().ppf(q))

    def rvs(self, rng: np.random.Generator, n: int) -> Floats:
        """Return *n* independent draws."""
        return np.exp(self.logs().rvs(rng, n))

    def degenerate(self) -> str:
        """Say when two components are one, or one has no weight."""
        weights, mus, sigmas = floats(self.weights), floats(self.mus), floats(self.sigmas)
        order = np.argsort(mus)
        steps, spread = np.diff(mus[order]), sigmas[order]
        close = (steps < _SAME * spread[:-1]) & (np.abs(np.diff(spread)) < _SAME * spread[:-1])
        return "two components are one" if close.any() or weights.min() <= _NOTHING else ""

    def mean(self) -> float:
        """Return the expectation, the weighted mean of exp(mu + sigma**2 / 2)."""
        return float(floats(self.weights) @ np.exp(floats(self.mus) + floats(self.sigmas) ** 2 / 2))

    def values(self) -> dict[str, float]:
        """Return the parameters by name and number, such as ``mu1``."""
        return {name.replace("mean", "mu"): value for name, value in self.logs().values().items()}

    def free(self) -> int:
        """Return 3 k - 1: the weights add up to 1."""
        return self.logs().free()
