"""
Mixtures of gamma phases, fitted by expectation-maximisation to convergence.

A phase of shape 1 is an exponential, one of whole shape an Erlang: the hyper-exponential, hyper-Erlang
and hyper-gamma distributions differ only in which shapes are free. Plain EM may take thousands of
steps where phases overlap; here each round extrapolates two of them (SQUAREM, Varadhan & Roland 2008,
scheme S3) and falls back to the plain step when the likelihood would drop.
"""

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import scipy  # imports scipy.special, which is slow, at its first use
from numpy.typing import ArrayLike

from gwa.statistics.distribution import Distribution, FitError
from gwa.statistics.gamma import gamma_shape
from gwa.statistics.numeric import at_least_zero, coarse, dot, floats, log, pieces
from gwa.statistics.sample import Floats, Sample

Step: TypeAlias = Callable[[Floats], tuple[Floats, float]]
"""One EM step: from parameters to better ones, and the log-likelihood of those it was given."""

Start: TypeAlias = Callable[[Sample, Sample], "Phases"]
"""Phases from which to start, made of the lower and the upper part of a sample."""

Result: TypeAlias = tuple[Floats, float]
"""Parameters as a vector, and their log-likelihood."""

BINS = 1500
_CUTS = (0.1, 0.3, 0.5, 0.7, 0.9, 0.97)
_MAXIMUM_IDLE_ROUNDS = 5
NEWTON_STEPS = 5
MAXIMUM_WORK = 20_000_000
"""Rounds of EM times distinct values, at most, about a second: phases that coincide converge slowly."""

_MINIMUM_ROUNDS = 5
_SHIFT = 1e-5
_MAXIMUM_MOVE = 0.1
"""No parameter of the binned sample is off by a tenth of itself."""

_GRID = 400
_EXTREME = 1e-4
_SAME = 0.02
"""A mixture is its largest phase if the tails of both, down to `_EXTREME`, differ by less than this share."""

_MAXIMUM_SHAPE = 1e4
"""The largest shape of a phase: without a bound one phase shrinks onto a single repeated value."""


@dataclass(frozen=True)
class Phases:
    """The phases of a mixture as columns: *weights* that add up to 1, *shapes* and *rates*."""

    weights: Floats
    shapes: Floats
    rates: Floats

    def joint(self, x: Floats, y: Floats | None = None) -> Floats:
        """
        Return the log of weight times density, a row per phase; a shape of 1 has a density at 0.

        *y* is ln x, or 0 at 0, where the caller has it.
        """
        constant = log(self.weights) + self.shapes * np.log(self.rates) - scipy.special.gammaln(self.shapes)
        rows = constant - self.rates * x
        if np.all(self.shapes == 1):
            return floats(rows)
        rows += (self.shapes - 1) * (_logarithm(x) if y is None else y)
        return floats(rows)

    def packed(self) -> Floats:
        """Return the parameters as one vector without bounds: three logarithms per phase."""
        return np.log(np.concatenate((self.weights, self.shapes, self.rates))).ravel()

    @classmethod
    def unpacked(cls, theta: Floats) -> "Phases":
        """Return the phases of a vector, weights normalised."""
        weights, shapes, rates = np.exp(theta).reshape(3, -1, 1)
        return cls(weights / weights.sum(), shapes, rates)


class PhaseMixture(Distribution):
    """A distribution that draws one of several gamma phases, then a value from it."""

    @abstractmethod
    def phases(self) -> Phases:
        """Return the phases as columns."""

    def cdf(self, x: ArrayLike) -> Floats:
        """Return P(X <= x)."""
        p = self.phases()
        z = p.rates * at_least_zero(x).ravel()
        return floats((p.weights * scipy.special.gammainc(p.shapes, z)).sum(axis=0).reshape(np.shape(x)))

    def sf(self, x: ArrayLike) -> Floats:
        """Return P(X > x)."""
        p = self.phases()
        z = p.rates * at_least_zero(x).ravel()
        return floats((p.weights * scipy.special.gammaincc(p.shapes, z)).sum(axis=0).reshape(np.shape(x)))

    def logpdf(self, x: ArrayLike) -> Floats:
        """Return the log of the density."""
        at = floats(x)
        density = log_total(self.phases().joint(at_least_zero(at).ravel())).reshape(at.shape)
        return np.where(self.support.inside(at), density, -np.inf)

    def rvs(self, rng: np.random.Generator, n: int) -> Floats:
        """Return *n* independent draws."""
        p = self.phases()
        phase = rng.choice(p.weights.size, size=n, p=p.weights.ravel())
        return rng.gamma(p.shapes.ravel()[phase], 1 / p.rates.ravel()[phase])

    def mean(self) -> float:
        """Return the expectation."""
        p = self.phases()
        return float((p.weights * p.shapes / p.rates).sum())

    def degenerate(self) -> str:
        """Say when the phases coincide, when one has all the weight, or when one is a single value."""
        p = self.phases()
        if p.shapes.max() >= _MAXIMUM_SHAPE * (1 - _SHIFT) and p.weights[np.argmax(p.shapes)] > 0:
            return "one phase is a single value"
        main = np.argmax(p.weights)
        means = (p.shapes / p.rates).ravel()
        x = np.geomspace(means.min() * _EXTREME, means.max() / _EXTREME, _GRID)
        for part, whole in ((scipy.special.gammainc, self.cdf(x)), (scipy.special.gammaincc, self.sf(x))):
            alone = part(p.shapes[main], p.rates[main] * x)
            seen = alone >= _EXTREME
            if np.any(np.abs(whole[seen] / alone[seen] - 1) > _SAME):
                return ""
        return "its phases are one"


def accelerate(
    step: Step, start: Floats, tolerance: float = 1e-9, rounds: int = 1000, gain: float = 1e-7
) -> Result:
    """
    Return the fixed point of *step* and its log-likelihood.

    Stops when a plain step moves no parameter by more than *tolerance* (parameters are logarithms, so
    this is relative), when five rounds in a row gain less than *gain*, or after *rounds* of them.
    """
    theta, previous, idle = start, -math.inf, 0
    for _ in range(rounds):
        once, likelihood = step(theta)
        move = once - theta
        idle = idle + 1 if likelihood - previous < gain else 0
        if idle == _MAXIMUM_IDLE_ROUNDS or not np.abs(move).max() > tolerance:
            return theta, likelihood
        previous = likelihood
        twice, reached = step(once)
        bend = twice - once - move
        stretch = max(1.0, math.sqrt(float(move @ move) / max(float(bend @ bend), 1e-300)))
        with np.errstate(all="ignore"):
            jumped, gained = step(theta + 2 * stretch * move + stretch**2 * bend)
        theta = jumped if gained >= reached and np.all(np.isfinite(jumped)) else twice
    return theta, step(theta)[1]


def polish(step: Step, rough: Step, start: Floats, rounds: int, tolerance: float = 1e-6) -> Result:
    """
    Return the fixed point of *step* and its log-likelihood, from *start*, the fixed point of *rough*.

    A *rough* step, of the same sample in few bins, shows how a step depends on its parameters. So each costly
    one can be extended to where all steps after it would lead (Newton's method with a derivative that is
    nearly right). Where that leads away, as it does where phases coincide, up to *rounds* of plain steps take
    over: they are better than the start, if not the best.
    """
    theta, previous = start, -math.inf
    slope = np.eye(start.size) - _derivative(rough, start)
    for _ in range(NEWTON_STEPS):
        once, likelihood = step(theta)
        move = np.linalg.lstsq(slope, once - theta)[0]
        if not likelihood >= previous or not np.abs(move).max() < _MAXIMUM_MOVE:
            break
        theta, previous = theta + move, likelihood
        if np.abs(move).max() <= tolerance:
            return theta, previous
    return accelerate(step, start, tolerance=1e-7, rounds=rounds)


def _derivative(step: Step, theta: Floats) -> Floats:
    """Return how each parameter after a step changes with those before it, by finite differences."""
    shifts = _SHIFT * np.eye(theta.size)
    columns = [(step(theta + shift)[0] - step(theta - shift)[0]) / (2 * _SHIFT) for shift in shifts]
    return np.stack(columns, axis=1)


def phase_step(sample: Sample, shapes: Floats | None) -> Step:
    """
    Return the EM step of a mixture of phases; *shapes* are fixed when given, else free.

    No phase has a mean below a hundredth of the least positive value: an observed 0 would draw one
    onto itself, and the likelihood would grow without end.
    """
    memoryless = shapes is not None and bool(np.all(shapes == 1))
    y = np.zeros_like(sample.values) if memoryless else _logarithm(sample.values)
    parts = list(pieces(sample.values, y, floats(sample.counts)))
    nearest = float(sample.values[sample.values > 0][0]) / 100

    def step(theta: Floats) -> tuple[Floats, float]:
        phases = Phases.unpacked(theta)
        expected = [_expected(phases, *part) for part in parts]
        sizes, totals, logs = np.sum([sums for sums, _ in expected], axis=0)
        sizes = np.maximum(sizes, 1e-300)
        means = np.maximum(totals / sizes, nearest)
        best = shapes if shapes is not None else _shapes(means, logs / sizes)
        better = Phases(sizes / sizes.sum(), best, best / means)
        return better.packed(), math.fsum(likelihood for _, likelihood in expected)

    return step


def _expected(phases: Phases, x: Floats, y: Floats, count: Floats) -> tuple[Floats, float]:
    """Return what each phase should have of *count*, of x and of *y* = ln x, and the log-likelihood."""
    joint = phases.joint(x, y)
    top = joint.max(axis=0)
    share = np.exp(joint - top)
    total = share.sum(axis=0)
    density = top + np.log(total)
    share *= count / total
    sums = [(share * weight).sum(axis=1, keepdims=True) for weight in (1.0, x, y)]
    return np.stack(sums), dot(count, density)


def _logarithm(x: Floats) -> Floats:
    """Return ln x, and 0 at 0, where only phases of shape 1 have a density."""
    return np.where(x > 0, log(x), 0.0)


def log_total(rows: Floats) -> Floats:
    """Return the log of the sum of exp over the rows, without overflow."""
    top = rows.max(axis=0)
    top = np.where(np.isfinite(top), top, 0.0)
    return top + log(np.exp(rows - top).sum(axis=0))


def _shapes(means: Floats, mean_logs: Floats) -> Floats:
    """Return the maximum-likelihood shapes, bounded."""
    shapes = gamma_shape(np.log(means) - mean_logs)
    return np.where(np.isnan(shapes), _MAXIMUM_SHAPE, np.minimum(shapes, _MAXIMUM_SHAPE))


def fit_phases(sample: Sample, shapes: Floats | None, start: Start, extra: Sequence[Phases] = ()) -> Phases:
    """
    Return the mixture with the maximum likelihood that EM finds from several starts.

    They are those that *start* makes of the sample cut in two, and *extra*. They race on the sample in at
    most 1500 bins; the winner runs to convergence there and then on the sample itself. Nothing is random.
    Raises `FitError` if no start leads anywhere.
    """
    rough = coarse(sample, BINS)
    step = phase_step(rough, shapes)
    starts = [*starts_of(rough, start), *extra]
    races = [accelerate(step, phases.packed(), tolerance=1e-4, rounds=30) for phases in starts]
    races = [race for race in races if math.isfinite(race[1])]
    if not races:
        raise FitError("no start of the expectation-maximisation leads to a mixture")
    best, _ = accelerate(step, max(races, key=lambda race: race[1])[0])
    if rough is not sample:
        rounds = max(_MINIMUM_ROUNDS, MAXIMUM_WORK // sample.values.size)
        best, _ = polish(phase_step(sample, shapes), step, best, rounds)
    return Phases.unpacked(best)


def starts_of(sample: Sample, start: Start) -> list[Phases]:
    """Return what *start* makes of a sample cut in two at several quantiles, where both are not all 0."""
    cuts = sorted({float(q) for q in sample.quantiles(_CUTS)})
    pairs = [(sample.restrict(high=cut), sample.restrict(above=cut)) for cut in cuts]
    return [start(low, high) for low, high in pairs if low.n and high.n and low.total() > 0]


def erlangs(order: float) -> Start:
    """Return the start that has for each part an Erlang phase of its mean."""

    def start(low: Sample, high: Sample) -> Phases:
        weights = column(float(low.n), float(high.n)) / (low.n + high.n)
        return Phases(weights, column(order, order), order / column(low.mean(), high.mean()))

    return start


def column(*numbers: float) -> Floats:
    """Return *numbers* as a column, the form in which phases hold their parameters."""
    return floats(numbers)[:, np.newaxis]
