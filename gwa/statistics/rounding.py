"""
Rounded data: run times are whole seconds, and that is not a detail where jobs last seconds.

A `Grid` says how data were rounded. `fit_rounded` fits a distribution to what a rounded value really
says, that the true one lies in an interval (grouped-data maximum likelihood), where the ordinary fit
of rounded-up seconds takes each interval's end for the value.
"""

import math
from dataclasses import dataclass, fields
from typing import Literal

import numpy as np
from scipy.optimize import minimize

from gwa.statistics.distribution import Distribution, FitError, Support
from gwa.statistics.numeric import log
from gwa.statistics.sample import Floats, Sample

_FAR = 1e12
_LOWEST = 10


@dataclass(frozen=True)
class Grid:
    """
    How data were rounded: to multiples of *resolution*, before a logarithm to *base* if there was one.

    The logarithm of 0 is minus infinity, outside every support.
    """

    resolution: float = 1.0
    base: float | None = None
    rounding: Literal["nearest", "up", "down"] = "nearest"

    @classmethod
    def of(cls, sample: Sample) -> "Grid | None":
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
        return self._scaled(np.maximum(self._raw(x) + shift, self.resolution / 4))

    def least(self, supports: tuple[Support, ...]) -> float:
        """Return the lowest end of an interval whose rounded value is in all of the *supports*."""
        grid = self._scaled(np.arange(0, _LOWEST + 1 / self.resolution) * self.resolution)
        inside = np.logical_and.reduce([support.inside(grid) for support in supports])
        return float(self.cells(grid[inside][:1])[0][0])

    def _raw(self, x: Floats) -> Floats:
        return x if self.base is None else self.base**x

    def _scaled(self, raw: Floats) -> Floats:
        return raw if self.base is None else log(raw) / math.log(self.base)


def fit_rounded(
    kind: type[Distribution], sample: Sample, grid: Grid, supports: tuple[Support, ...] = ()
) -> Distribution:
    """
    Return the distribution for which the intervals of rounded data are most likely.

    *supports* are those within which the data were cut, and the likelihood is given that. Kinds whose
    parameters are not all real numbers (mixtures, hyper-Erlang) are fitted to the middles of the
    intervals instead. Raises `FitError` if the middles cannot be fitted.
    """
    start = kind.fit(kind.support.within(sample.map(grid.middles)) if supports else sample.map(grid.middles))
    initial = [getattr(start, field.name) for field in fields(start)]  # type: ignore[arg-type]
    if not all(isinstance(value, float) for value in initial):
        return start
    low, high = grid.cells(sample.values)
    cut = np.array([grid.least(supports)]) if supports else None
    scale = np.maximum(np.abs(initial), 1e-3)

    def loss(theta: Floats) -> float:
        try:
            candidate = kind(*(initial + theta * scale))
        except ValueError:
            return _FAR
        # Differences of the smaller of the two tails keep their digits.
        cell = np.where(
            candidate.cdf(low) < 1 / 2,
            candidate.cdf(high) - candidate.cdf(low),
            candidate.sf(low) - candidate.sf(high),
        )
        whole = 0.0 if cut is None else float(log(candidate.sf(cut))[0])
        likelihood = float(sample.weights @ log(cell)) - whole
        return -likelihood if math.isfinite(likelihood) else _FAR

    steps = np.vstack((np.zeros(len(initial)), np.eye(len(initial)) * 0.05))
    found = minimize(
        loss,
        np.zeros(len(initial)),
        method="Nelder-Mead",
        options={"initial_simplex": steps, "xatol": 1e-5, "fatol": 1e-9, "maxiter": 600},
    )
    if not found.fun < _FAR:
        raise FitError(f"no {kind.title} distribution gives every interval a probability")
    return kind(*map(float, initial + found.x * scale))
