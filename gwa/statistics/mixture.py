"""
Mixtures of normal distributions, their number chosen by BIC: model-based clustering in one dimension.

Minh and Wolters (2009, 2010) cluster run times this way (with MCLUST, up to 20 groups). Here the
expectation-maximisation runs on value counts, in at most 2000 bins, so that its cost does not depend on the
trace, and it is deterministic: each number of components starts from quantiles, from k-means and from
the next smaller mixture with a component split, and the best of them counts. `of_seconds` is for whole
seconds, on their own scale or that of ln(1 + x).
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar, Self, TypeAlias

import numpy as np
import scipy  # imports scipy.special, which is slow, at its first use
from numpy.typing import ArrayLike, NDArray

from gwa.statistics.distribution import REAL, Distribution, FitError
from gwa.statistics.em import Step, accelerate, log_total
from gwa.statistics.numeric import bisect, coarse, dot, floats
from gwa.statistics.sample import Floats, Sample

Vector: TypeAlias = tuple[float, ...]

Width: TypeAlias = Callable[[Floats], Floats]
"""How wide the interval is that a rounded value stands for, at each x."""

Floor: TypeAlias = Callable[[Floats], Floats]
"""The least variance of a component, by its mean."""

_BINS = 2000
_MINIMUM_VARIANCE = 1e-3
_SLACK = 1e-6
_TINY = 1e-300
_SPLIT_SHIFT, _SPLIT_SIGMA = 0.8, 0.6
_MERGE_TOLERANCE = 0.01
_LOG_ROOT_2PI = 0.5 * math.log(2 * math.pi)
_GAIN = 0.05
"""A round of EM that gains less in log-likelihood does not change which number of components BIC prefers."""


@dataclass(frozen=True)
class GaussianMixture(Distribution):
    """A mixture of normal distributions, ordered by their means."""

    weights: Vector
    means: Vector
    sigmas: Vector

    name = "gaussianmixture"
    title = "Gaussian mixture"
    parameters: ClassVar = {
        "weights": "probabilities of the components",
        "means": "their means, in units of x",
        "sigmas": "their standard deviations, in units of x",
    }
    support = REAL

    def __post_init__(self) -> None:
        """Refuse vectors of different lengths, weights that do not add up to 1 and sigmas of 0."""
        if not len(self.weights) == len(self.means) == len(self.sigmas) or min(self.sigmas) <= 0:
            raise ValueError("a mixture needs a weight, a mean and a sigma above 0 for each component")
        if abs(math.fsum(self.weights) - 1) > _SLACK or min(self.weights) < 0:
            raise ValueError(f"the weights of a mixture add up to 1, not {math.fsum(self.weights)}")

    @classmethod
    def fit(cls, sample: Sample, components: int = 2) -> Self:
        """Return the maximum-likelihood mixture of that many *components*, see `Distribution.fit`."""
        cls.refuse(sample)
        mixture = select(sample, range(1, components + 1)).every[-1]
        return cls(mixture.weights, mixture.means, mixture.sigmas)

    def joint(self, x: ArrayLike) -> Floats:
        """Return the log of weight times density, a row per component."""
        weight, mean, sigma = (
            floats(part)[:, np.newaxis] for part in (self.weights, self.means, self.sigmas)
        )
        z = (floats(x).ravel() - mean) / sigma
        with np.errstate(divide="ignore"):
            return floats(np.log(weight / sigma) - _LOG_ROOT_2PI - z * z / 2)

    def logpdf(self, x: ArrayLike) -> Floats:
        """Return the log of the density."""
        return log_total(self.joint(x)).reshape(np.shape(x))

    def labels(self, x: ArrayLike) -> NDArray[np.intp]:
        """Return for each *x* the component it most probably comes from, 0 for the one of least mean."""
        label: NDArray[np.intp] = np.argmax(self.joint(x), axis=0).reshape(np.shape(x))
        return label

    def cdf(self, x: ArrayLike) -> Floats:
        """Return P(X <= x)."""
        return self._tails(x, 1)

    def sf(self, x: ArrayLike) -> Floats:
        """Return P(X > x)."""
        return self._tails(x, -1)

    def _tails(self, x: ArrayLike, sign: int) -> Floats:
        z = (floats(x)[..., np.newaxis] - floats(self.means)) / floats(self.sigmas)
        return floats(scipy.special.ndtr(sign * z) @ floats(self.weights))

    def ppf(self, q: ArrayLike) -> Floats:
        """Return the quantiles, by bisection."""
        share, means, reach = floats(q), floats(self.means), 40 * max(self.sigmas)
        low, high = np.full(share.shape, means.min() - reach), np.full(share.shape, means.max() + reach)
        quantiles = bisect(self.cdf, share, low, high)
        return np.where(share >= 1, math.inf, np.where(share <= 0, -math.inf, quantiles))

    def rvs(self, rng: np.random.Generator, n: int) -> Floats:
        """Return *n* independent draws."""
        part = rng.choice(len(self.weights), size=n, p=floats(self.weights) / math.fsum(self.weights))
        return rng.normal(floats(self.means)[part], floats(self.sigmas)[part])

    def mean(self) -> float:
        """Return the expectation."""
        return float(floats(self.weights) @ floats(self.means))

    def values(self) -> dict[str, float]:
        """Return the parameters by name and number, such as ``weight1``."""
        parts = {"weight": self.weights, "mean": self.means, "sigma": self.sigmas}
        return {f"{name}{i}": x for name, part in parts.items() for i, x in enumerate(part, 1)}

    def free(self) -> int:
        """Return 3 k - 1: the weights add up to 1."""
        return 3 * len(self.weights) - 1

    def bic(self, sample: Sample) -> float:
        """Return the Bayesian information criterion (less is better) on *sample*."""
        return self.free() * math.log(sample.n) - 2 * self.loglik(sample)


@dataclass(frozen=True)
class ComponentSelection:
    """Mixtures of several sizes, their BIC on the binned sample, and the one of least BIC."""

    every: tuple[GaussianMixture, ...]
    bics: Vector
    best: GaussianMixture


def select(
    sample: Sample,
    components: Iterable[int] = range(1, 21),
    floor: float = _MINIMUM_VARIANCE,
    width: Width | None = None,
) -> ComponentSelection:
    """
    Return the mixture with the number of *components* that BIC prefers.

    Run times have atoms (0, 1, 2 seconds; a wall-time limit), and BIC would spend a component on each. So
    none is narrower than sqrt(*floor*) standard deviations of the whole, nor, where values are rounded to
    intervals of a *width*, than the uniform distribution over the interval at its mean (variance
    ``width**2 / 12``, Sheppard 1898): within one nothing is known. Numbers of components above the number of
    distinct values are left out. Raises `FitError` for fewer than two distinct values.
    """
    if sample.values.size < Distribution.needs:
        raise FitError("a Gaussian mixture needs two different values")
    centre, scale = sample.mean(), sample.std()
    if not scale > 0:
        raise FitError("a Gaussian mixture needs values that differ by more than rounding errors")
    rough = coarse(sample, _BINS).map(lambda x: (x - centre) / scale)

    def min_variance(means: Floats) -> Floats:
        rounded = width(centre + scale * means) / scale if width else np.zeros_like(means)
        return np.maximum(rounded**2 / 12, floor)

    sizes = [k for k in components if k <= rough.values.size]
    mixtures: dict[int, GaussianMixture] = {}
    for k in range(1, max(sizes) + 1):
        mixtures[k] = _best(rough, k, mixtures.get(k - 1), min_variance)
        # Two components of one place are as good as one, and BIC must see that they are.
        merged = _merged(mixtures[k])
        fewer = len(merged.weights)
        if fewer < k and merged.loglik(rough) > mixtures[fewer].loglik(rough):
            mixtures[fewer] = merged
    bics = tuple(mixtures[k].bic(rough) + 2 * sample.n * math.log(scale) for k in sizes)
    every = tuple(_restored(mixtures[k], centre, scale) for k in sizes)
    return ComponentSelection(every, bics, every[int(np.argmin(bics))])


def of_seconds(
    sample: Sample, components: Iterable[int] = range(1, 21), *, logarithm: bool = True
) -> ComponentSelection:
    """
    Return the mixture that BIC prefers for whole seconds, of ln(1 + x) if *logarithm*, else of x.

    A second is an interval of width exp(-y) at y = ln(1 + x): wide for short jobs, which are told apart
    by rounding only.
    """
    if logarithm:
        return select(sample.map(np.log1p), components, width=lambda y: np.exp(-np.maximum(y, 0.0)))
    return select(sample, components, width=np.ones_like)


def _merged(mixture: GaussianMixture) -> GaussianMixture:
    """Return the mixture with components that share a mean and a sigma, nearly, made one."""
    parts: list[tuple[float, float, float]] = []
    for weight, mean, sigma in zip(mixture.weights, mixture.means, mixture.sigmas, strict=True):
        before = parts[-1] if parts else (0.0, -math.inf, sigma)
        if mean - before[1] < _MERGE_TOLERANCE * sigma and abs(sigma - before[2]) < _MERGE_TOLERANCE * sigma:
            parts[-1] = (before[0] + weight, before[1], before[2])
        else:
            parts.append((weight, mean, sigma))
    weights, means, sigmas = zip(*parts, strict=True)
    return GaussianMixture(weights, means, sigmas)


def _restored(mixture: GaussianMixture, centre: float, scale: float) -> GaussianMixture:
    """Return a mixture of standardised data in the units of the data."""
    means = tuple(centre + scale * mean for mean in mixture.means)
    return GaussianMixture(mixture.weights, means, tuple(scale * sigma for sigma in mixture.sigmas))


def _best(sample: Sample, k: int, smaller: GaussianMixture | None, floor: Floor) -> GaussianMixture:
    """Return the best mixture of *k* components: several starts race, the leader runs to the end."""
    step = _step(sample, floor)
    edges = np.unique(np.searchsorted(sample.cumulative, sample.n * np.arange(1, k) / k) + 1)
    starts = [_grouped(sample, edges, floor), _grouped(sample, _lloyd(sample, edges), floor)]
    starts = [start for start in starts if start.size == 3 * k]
    starts += _splits(sample, smaller) if smaller else []
    races = [accelerate(step, start, tolerance=1e-4, rounds=15, gain=_GAIN) for start in starts]
    theta, _ = accelerate(step, max(races, key=lambda race: race[1])[0], rounds=300, gain=_GAIN)
    log_weights, means, log_sigmas = theta.reshape(3, -1)
    order = np.argsort(means, kind="stable")
    weights = np.exp(log_weights)[order]
    parts = (weights / weights.sum(), means[order], np.exp(log_sigmas)[order])
    return GaussianMixture(*(tuple(map(float, part)) for part in parts))


def _step(sample: Sample, floor: Floor) -> Step:
    """Return the EM step on log weights, means and log sigmas."""
    x, count = sample.values, floats(sample.counts)

    def step(theta: Floats) -> tuple[Floats, float]:
        log_weight, mean, log_sigma = theta.reshape(3, -1, 1)
        z = (x - mean) * np.exp(-log_sigma)
        joint = log_weight - log_total(log_weight) - log_sigma - _LOG_ROOT_2PI - z * z / 2
        density = log_total(joint)
        share = np.exp(joint - density) * count
        size = np.maximum(share.sum(axis=1), _TINY)
        means = (share * x).sum(axis=1) / size
        variances = (share * (x - means[:, np.newaxis]) ** 2).sum(axis=1) / size
        better = np.concatenate(
            (np.log(size / sample.n), means, 0.5 * np.log(np.maximum(variances, floor(means))))
        )
        return better, dot(count, density)

    return step


def _grouped(sample: Sample, edges: NDArray[np.intp], floor: Floor) -> Floats:
    """Return the parameters of a component for each run of values between *edges*."""
    starts = np.concatenate(([0], edges[edges < sample.values.size]))
    sizes = np.add.reduceat(sample.counts, starts)
    means = np.add.reduceat(sample.counts * sample.values, starts) / sizes
    squares = np.add.reduceat(sample.counts * sample.values**2, starts) / sizes
    variances = np.maximum(squares - means**2, floor(means))
    return np.concatenate((np.log(sizes / sample.n), means, 0.5 * np.log(variances)))


def _lloyd(sample: Sample, edges: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the edges of a k-means partition, started from *edges*."""
    for _ in range(100):
        starts = np.concatenate(([0], edges[edges < sample.values.size]))
        sizes = np.add.reduceat(sample.counts, starts)
        means = np.add.reduceat(sample.counts * sample.values, starts) / sizes
        better = np.unique(np.searchsorted(sample.values, (means[1:] + means[:-1]) / 2))
        if np.array_equal(better, edges):
            break
        edges = better
    return edges


def _splits(sample: Sample, mixture: GaussianMixture) -> list[Floats]:
    """Return starts with one more component: the two that fit worst, each cut at its mean."""
    joint = mixture.joint(sample.values)
    share = np.exp(joint - log_total(joint)) * sample.weights
    sigmas, means, weights = floats(mixture.sigmas), floats(mixture.means), floats(mixture.weights)
    expected = (
        scipy.special.ndtr((sample.values - means[:, np.newaxis]) / sigmas[:, np.newaxis])
        * weights[:, np.newaxis]
    )
    misfit = np.abs(np.cumsum(share, axis=1) - expected).max(axis=1)
    return [_split(weights, means, sigmas, int(part)) for part in np.argsort(-misfit, kind="stable")[:2]]


def _split(weights: Floats, means: Floats, sigmas: Floats, part: int) -> Floats:
    """Return the parameters with component *part* cut into two halves, 0.8 sigmas to either side."""
    heavier, moved, narrower = weights.copy(), means.copy(), sigmas.copy()
    heavier[part] /= 2
    moved[part] -= _SPLIT_SHIFT * sigmas[part]
    narrower[part] *= _SPLIT_SIGMA
    grown = (np.append(heavier, heavier[part]), np.append(moved, means[part] + _SPLIT_SHIFT * sigmas[part]))
    return np.concatenate((np.log(grown[0]), grown[1], np.log(np.append(narrower, narrower[part]))))
