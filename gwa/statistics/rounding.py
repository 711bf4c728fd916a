"""
Rounded data: run times are whole seconds, and that is not a detail where jobs last seconds.

A `RoundingGrid` says how data were rounded. `fit_rounded` fits a distribution to what a rounded value really
means, that the true one lies in an interval (grouped-data maximum likelihood), where the ordinary fit
of rounded-up seconds takes each interval's end for the value.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Literal, TypeAlias

import numpy as np

from gwa.statistics.distribution import Batched, Distribution, FitError, Slopes, Support
from gwa.statistics.numeric import dot, log
from gwa.statistics.sample import Floats, Sample

Direction: TypeAlias = Literal["nearest", "up", "down"]

DIRECTIONS: tuple[Direction, ...] = ("nearest", "up", "down")

_MAXIMUM_LOWEST = 10
_SHIFT = 1e-3
_STEPS = 15
_TOLERANCE = 1e-4
"""A Newton step this small leaves an error of its square."""
_MINIMUM_LOG = -1e6
_MINIMUM = 1e-300
"""Of a less likely interval the likelihood is as good as flat."""

Derivatives: TypeAlias = tuple[Floats, Floats]
"""The gradient of a function in each row, and its matrix of second derivatives."""


@dataclass(frozen=True)
class RoundingGrid:
    """
    How data were rounded: to multiples of *resolution*, before a logarithm to *base* if there was one.

    The logarithm of 0 is minus infinity, outside every support.
    """

    resolution: float = 1.0
    base: float | None = None
    rounding: Direction = "nearest"

    @classmethod
    def of(cls, sample: Sample) -> "RoundingGrid | None":
        """Return the grid of whole numbers if all values are whole, else none."""
        return cls() if np.array_equal(sample.values, np.rint(sample.values)) else None

    def snap(self, x: Floats) -> Floats:
        """Return *x* rounded as the data are."""
        steps = {"nearest": np.rint, "up": np.ceil, "down": np.floor}[self.rounding]
        rounded: Floats = steps(self._raw(x) / self.resolution) * self.resolution
        return self._scaled(rounded)

    def cells(self, x: Floats) -> tuple[Floats, Floats]:
        """Return the ends of the interval that is rounded to each *x*."""
        below = {"nearest": 0.5, "up": 1.0, "down": 0.0}[self.rounding] * self.resolution
        raw = self._raw(x)
        return self._scaled(raw - below), self._scaled(raw - below + self.resolution)

    def middles(self, x: Floats) -> Floats:
        """Return the middle of the interval that is rounded to each *x*, at least a quarter of its width."""
        shift = {"nearest": 0.0, "up": -0.5, "down": 0.5}[self.rounding] * self.resolution
        raw = self._raw(x)
        return self._scaled(np.where(raw >= 0, np.maximum(raw + shift, self.resolution / 4), raw + shift))

    def lowest(self, supports: tuple[Support, ...]) -> float:
        """Return the lowest end of an interval whose rounded value is in all of the *supports*."""
        if self.base is None and all(math.isinf(support.low) for support in supports):
            return -math.inf
        grid = self._scaled(np.arange(0, _MAXIMUM_LOWEST + 1 / self.resolution) * self.resolution)
        inside = np.logical_and.reduce([support.inside(grid) for support in supports])
        return float(self.cells(grid[inside][:1])[0][0])

    def _raw(self, x: Floats) -> Floats:
        return x if self.base is None else self.base**x

    def _scaled(self, raw: Floats) -> Floats:
        return raw if self.base is None else log(raw) / math.log(self.base)


@dataclass(frozen=True)
class Rounded:
    """A distribution as rounded data show it: what the intervals of a *grid* hold, given the *supports*."""

    distribution: Distribution
    grid: RoundingGrid
    supports: tuple[Support, ...]

    def tails(self, x: Floats) -> tuple[Floats, Floats]:
        """Return P(rounded >= x) and P(rounded > x), given that the value counts."""
        low, high = self.grid.cells(x)
        mass = self.distribution.sf(np.array([self.grid.lowest(self.supports)]))
        return self.distribution.sf(low) / mass, self.distribution.sf(high) / mass

    def logpmf(self, x: Floats) -> Floats:
        """Return the log of the probability of each interval, exact in both tails."""
        low, high = self.grid.cells(x)
        mass = self.distribution.sf(np.array([self.grid.lowest(self.supports)]))
        return log(self.distribution.between(low, high)) - np.log(mass)

    def mean_log(self, x: Floats, shares: Floats) -> Floats:
        """Return the mean of `logpmf` over each row of *x*, of which the values have *shares*."""
        mean: Floats = np.vecdot(np.maximum(self.logpmf(x), _MINIMUM_LOG), shares)
        return mean

    def derivatives(self, x: Floats, shares: Floats) -> Derivatives | None:
        """Return the derivatives of `mean_log`, as `Slopes` says; None where there is no formula."""
        low, high = self.grid.cells(x)
        # The values that count are one more interval: they stand in a last column.
        lowest = np.full((len(x), 1), self.grid.lowest(self.supports))
        found = self.distribution.between_slopes(
            np.hstack((low, lowest)), np.hstack((high, np.full_like(lowest, math.inf)))
        )
        if found is None:
            return None
        value, derivatives = found
        cells, counted = slice(None, -1), slice(-1, None)
        slope, bend = _of_log(value[:, cells], _columns(derivatives, cells), shares)
        mass_slope, mass_bend = _of_log(value[:, counted], _columns(derivatives, counted), np.ones((1, 1)))
        return slope - mass_slope, bend - mass_bend


def _columns(derivatives: Slopes, chosen: slice) -> Slopes:
    """Return the *chosen* columns of all derivatives."""
    first, second = ([each[:, chosen] for each in order] for order in derivatives)
    return first, second


def _of_log(value: Floats, derivatives: Slopes, shares: Floats) -> Derivatives:
    """Return the derivatives of the mean of ln *value* over each row from those of *value*."""
    slopes, bends = derivatives
    size = len(slopes)
    scale = np.where(value > _MINIMUM, 1 / value, 0.0)
    relative = [slope * scale for slope in slopes]
    slope = np.stack([np.vecdot(each, shares) for each in relative], axis=1)
    bend = np.empty((len(slope), size, size))
    for (i, j), each in zip(itertools.combinations_with_replacement(range(size), 2), bends, strict=True):
        bend[:, i, j] = bend[:, j, i] = np.vecdot(each * scale - relative[i] * relative[j], shares)
    return slope, bend


def fit_rounded(
    kind: type[Distribution], sample: Sample, grid: RoundingGrid, supports: tuple[Support, ...]
) -> Distribution:
    """
    Return the distribution for which the intervals of rounded data are most likely.

    *supports* are those within which the data were cut; the likelihood is given that. Kinds that are not
    `Batched` are fitted to the middles of the intervals instead. Raises `FitError` if neither works.
    """
    start = kind.fit(sample.map(grid.middles))
    if not isinstance(start, Batched):
        return start
    fitted = fit_rounded_rows(start, sample.values[np.newaxis], grid, supports, sample.weights[np.newaxis])
    values = [float(getattr(fitted, field.name).item()) for field in fields(fitted)]  # type: ignore[arg-type]
    if not all(map(math.isfinite, values)):
        raise FitError("no {title} distribution makes the intervals most likely", title=kind.title)
    return kind(*values)


def likeliest_rounding(
    kind: type[Distribution],
    sample: Sample,
    grid: RoundingGrid,
    supports: tuple[Support, ...],
    directions: tuple[Direction, ...] = DIRECTIONS,
) -> RoundingGrid:
    """
    Return *grid* with that of the *directions* under which the best fit of *kind* is most likely.

    It makes the test of a fit fair where it is not known how a log was rounded. It says nothing of the log:
    under a wrong kind the likeliest direction is wrong, too. Raises `FitError` if no direction has a fit.
    """
    likelihoods: dict[RoundingGrid, float] = {}
    for direction in directions:
        rounded = replace(grid, rounding=direction)
        try:
            fitted = fit_rounded(kind, sample, rounded, supports)
        except FitError:
            continue
        with np.errstate(all="ignore"):
            logs = np.maximum(Rounded(fitted, rounded, supports).logpmf(sample.values), _MINIMUM_LOG)
        likelihoods[rounded] = dot(np.nan_to_num(logs, nan=_MINIMUM_LOG), sample.weights)
    if not likelihoods:
        raise FitError("no {title} distribution makes the intervals most likely", title=kind.title)
    return max(likelihoods, key=lambda rounded: likelihoods[rounded])


def fit_rounded_rows(
    start: Batched, x: Floats, grid: RoundingGrid, supports: tuple[Support, ...], shares: Floats | None = None
) -> Batched:
    """
    Return one distribution that stands for a rounded fit per row of *x*, searched from *start*.

    *shares* are the weights of the values in each row, equal ones by default.
    """
    x, shares = _tabulated(x) if shares is None else (x, shares)
    kind, names = type(start), [field.name for field in fields(start)]  # type: ignore[arg-type]
    signed = np.array([name in kind.signed for name in names])
    initial = np.array([getattr(start, name) for name in names])

    def make(theta: Floats) -> Batched:
        values = np.where(signed, initial + theta, initial * np.exp(theta))
        return kind(*(values[:, i, np.newaxis] for i in range(len(names))))  # columns stand for rows

    def likelihood(theta: Floats) -> Floats:
        return Rounded(make(theta), grid, supports).mean_log(x, shares)

    def derivatives(theta: Floats) -> Derivatives:
        exact = Rounded(make(theta), grid, supports).derivatives(x, shares)
        return exact or _differences(likelihood, theta)

    # One start for all rows: its likelihood is that of a single row of distinct values.
    with np.errstate(all="ignore"):
        return make(_climb(derivatives, np.zeros((1, len(names)))))


def _tabulated(x: Floats) -> tuple[Floats, Floats]:
    """Return the distinct values as a single row and their shares in each row, if that is less to compute."""
    values, place = np.unique(x, return_inverse=True)
    rows, n = x.shape
    if values.size > n:
        return x, np.full((1, n), 1 / n).repeat(rows, axis=0)
    cells = np.arange(rows)[:, np.newaxis] * values.size + place.reshape(x.shape)
    counts = np.bincount(cells.ravel(), minlength=rows * values.size)
    return values[np.newaxis], counts.reshape(rows, -1) / n


def _climb(derivatives: Callable[[Floats], Derivatives], theta: Floats) -> Floats:
    """
    Return where a function of each row of *theta* is greatest, by Newton's method from nearby.

    A *theta* of one row is the start of as many searches as the function has values.
    """
    for _ in range(_STEPS):
        step = _newton(*derivatives(theta))
        theta = theta + step
        if not np.abs(step).max() > _TOLERANCE:
            break
    return theta


def _differences(function: Callable[[Floats], Floats], theta: Floats) -> Derivatives:
    """Return the derivatives of *function* at each row of *theta* by differences."""
    size = theta.shape[1]
    unit = np.eye(size) * _SHIFT
    value = function(theta)
    up, down = ([function(theta + sign * unit[i]) for i in range(size)] for sign in (1, -1))
    slope = np.stack([(a - b) / (2 * _SHIFT) for a, b in zip(up, down, strict=True)], axis=1)
    bend = np.zeros((len(slope), size, size))
    for i in range(size):
        bend[:, i, i] = (up[i] - 2 * value + down[i]) / _SHIFT**2
    for i, j in itertools.combinations(range(size), 2):
        both = function(theta + unit[i] + unit[j])
        bend[:, i, j] = bend[:, j, i] = (both - up[i] - up[j] + value) / _SHIFT**2
    return slope, bend


def _newton(slope: Floats, bend: Floats) -> Floats:
    """Return uphill steps of at most a half: Newton's where the function curves down, else the gradient's."""
    values, vectors = np.linalg.eigh(np.nan_to_num(bend))
    along = np.einsum("rij,ri->rj", vectors, np.nan_to_num(slope))
    step = np.einsum("rij,rj->ri", vectors, along / np.maximum(np.abs(values), _SHIFT))
    length = np.abs(step).max(axis=1, keepdims=True)
    shortened: Floats = step * np.minimum(1, 0.5 / np.maximum(length, _SHIFT))
    return shortened
