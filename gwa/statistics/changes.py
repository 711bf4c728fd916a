"""
Whether a short series, such as one value for each week, ends at another level than it began.

A series that remembers wanders, and tests that take its values for independent find changes in every one; an
estimate of that memory from the same few values is too sure of itself. So no estimate is plugged in: the
noise is a slow part, an autoregressive series of coefficient φ, and an independent part, whose share of the
variance is w, and what a t test says is averaged over a grid of (φ, w), each weighted by its restricted
likelihood (a flat prior). Such noise is a state space, so a Kalman filter gives the likelihoods in a time
that is proportional to the length of the series (Harvey 1989, section 3.4).

Two shapes of change are asked for: a line, by generalised least squares, whose p-value is the evidence that
anything changed; and one step at an unknown place, by a Bayes factor with a g-prior (Zellner 1986; Liang et
al. 2008) of one observation's information, g = n.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from gwa.errors import ArgumentError
from gwa.statistics.sample import Floats

MINIMUM_LENGTH: Final = 26
"""No test holds its rate of false alarms on a shorter series and still finds anything."""

FALSE_DISCOVERIES: Final = 0.05
"""The rate of changes that are none among those of several series that are said."""

SLOW: Final = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98)
WHITE: Final = (0.0, 0.3, 0.6, 0.8)
"""The coefficients of the slow part, and the shares of the independent part: the grid of noise models."""

LENGTHS: Final = (MINIMUM_LENGTH, 52)
SURE: Final = (6.0, 5.0)
"""A step is said on its own above these logarithms of its Bayes factor, of series of these lengths."""

EDGE: Final = 4
EDGE_SHARE: Final = 0.08
"""A step is sought this far from both ends: in values, and as a share of the length."""

_MINIMUM_SQUARE: Final = 1e-12
"""The least sum of squares of a series of unit variance that is not rounding."""


@dataclass(frozen=True)
class Evidence:
    """
    What a series says for a change of its level.

    *p_value* is that of a line, *rise* how much the line rises from the first value to the last, and
    *visible* the rise that would be found half of the time. *line* and *step* are the natural logarithms of
    the Bayes factors of a line and of one step against a flat level. *place* is the first value after the
    likeliest step, *height* how high that is. Of a constant series the p-value is 1 and *visible* is 0.
    """

    size: int
    p_value: float
    rise: float
    visible: float
    line: float
    step: float
    place: int
    height: float

    @property
    def is_sure_step(self) -> bool:
        """Whether one step is so much more likely than a flat level that it is said on its own."""
        return self.step > float(np.interp(self.size, LENGTHS, SURE))

    @property
    def is_step(self) -> bool:
        """Whether one step describes the series better than a line."""
        return self.step > self.line


def evidence(series: ArrayLike, cycle: float | None = None) -> list[Evidence]:
    """
    Return what each row of *series* says for a change of its level.

    A series has `MINIMUM_LENGTH` or more finite values at equal distances. After *cycle* values a season
    repeats itself, which is not a change; None where the series is too short to know one (less than two
    cycles). Raise `ArgumentError` for series that are too short or not finite.
    """
    from scipy.special import logsumexp

    x = np.atleast_2d(np.asarray(series, np.float64))
    size = x.shape[1]
    if size < MINIMUM_LENGTH or not np.isfinite(x).all():
        raise ArgumentError(f"the series have {size} values, expected {MINIMUM_LENGTH} finite ones at least")
    scales = x.std(axis=1)
    is_constant = scales <= 1e-9 * np.abs(x).max(axis=1)
    scales[is_constant] = 1.0
    standard = np.where(is_constant[:, None], 0.0, (x - x.mean(axis=1, keepdims=True)) / scales[:, None])
    fits = _Fits.of(standard, cycle)
    p_values, rises, visible = fits.line_test(FALSE_DISCOVERIES / len(x))
    visible[is_constant] = 0.0
    line, steps, heights = fits.bayes_factors()
    likeliest = steps.argmax(axis=0)
    step = logsumexp(steps, axis=0) - math.log(len(steps))
    first = edge(size)
    return [
        Evidence(
            size,
            float(p_values[row]),
            float(rises[row] * scale),
            float(visible[row] * scale),
            float(line[row]),
            float(step[row]),
            first + int(likeliest[row]),
            float(heights[likeliest[row], row] * scale),
        )
        for row, scale in enumerate(scales)
    ]


def edge(size: int) -> int:
    """Return how many values of a series of *size* before and after a step must be there at least."""
    return max(EDGE, round(EDGE_SHARE * size))


def discoveries(p_values: Sequence[float], rate: float = FALSE_DISCOVERIES) -> list[bool]:
    """
    Return which of several hypotheses are refuted (Benjamini and Hochberg 1995).

    Of those that are, a share of *rate* at most is true on average.

    >>> discoveries([0.04, 0.001, 0.2, 0.02])
    [False, True, False, True]
    """
    p = np.asarray(p_values, np.float64)
    reached = np.sort(p) <= rate * np.arange(1, p.size + 1) / max(p.size, 1)
    limit = np.sort(p)[np.flatnonzero(reached)[-1]] if reached.any() else -1.0
    return [bool(each) for each in p <= limit]


def whitened(columns: Floats, slow: Floats, white: Floats) -> tuple[Floats, Floats]:
    """
    Return *columns* as they are without the memory of each noise model, and what it takes of the likelihood.

    A model has the correlation (1 - w) φ**k at a lag of k > 0, with φ in *slow* and w in *white*. The result
    is L⁻¹ times the columns, where LLᵀ is the matrix of correlations, and ln |LLᵀ|: the innovations of a
    Kalman filter, each over its standard deviation. Of (values, columns) it makes (models, values, columns),
    and (models,).
    """
    size = len(columns)
    result = np.empty((slow.size, *columns.shape))
    log_determinants = np.zeros(slow.size)
    expected = np.zeros((slow.size, columns.shape[1]))
    variance = 1 - white
    for t in range(size):
        spread = variance + white
        innovation = columns[t] - expected
        np.multiply(innovation, (1 / np.sqrt(spread))[:, None], out=result[:, t])
        log_determinants += np.log(spread)
        gain = variance / spread
        expected = slow[:, None] * (expected + gain[:, None] * innovation)
        variance = slow**2 * variance * (1 - gain) + (1 - white) * (1 - slow**2)
    return result, log_determinants


def noise_models() -> tuple[Floats, Floats]:
    """Return φ and w of each noise model; without a slow part, one w is like another."""
    models = [(phi, w) for phi in SLOW for w in WHITE if phi or not w]
    slow, white = np.array(models).T
    return slow, white


@dataclass(frozen=True)
class _Fits:
    """
    Each shape of change fitted to each series under each noise model, beside a level and a season.

    *flat* (models, series) is the restricted log-likelihood without a change, *squares* (models, series) its
    residual sum of squares. Of a shape, *weight* (models, shapes) is its sum of squares, *products*
    (models, shapes, series) that with the residuals of the series. The first shape is the line, the others
    are the steps. *freedom* counts values less the columns beside the shape.
    """

    flat: Floats
    squares: Floats
    weight: Floats
    products: Floats
    freedom: int
    size: int

    @classmethod
    def of(cls, x: Floats, cycle: float | None) -> "_Fits":
        rows, size = x.shape
        level, shapes = _level_and_season(size, cycle), _shapes(size)
        columns = np.concatenate((x.T, level, shapes), axis=1)
        white, log_determinants = whitened(columns, *noise_models())
        beside, triangle = np.linalg.qr(white[:, :, rows : rows + level.shape[1]])
        white -= beside @ (beside.transpose(0, 2, 1) @ white)
        series, shaped = white[:, :, :rows], white[:, :, rows + level.shape[1] :]
        squares = np.maximum((series**2).sum(axis=1), _MINIMUM_SQUARE)
        freedom = size - level.shape[1]
        diagonal = np.abs(np.diagonal(triangle, axis1=1, axis2=2))
        constant = -0.5 * log_determinants - np.log(diagonal).sum(axis=1)
        return cls(
            constant[:, None] - freedom / 2 * np.log(squares),
            squares,
            (shaped**2).sum(axis=1),
            shaped.transpose(0, 2, 1) @ series,
            freedom,
            size,
        )

    def line_test(self, level: float) -> tuple[Floats, Floats, Floats]:
        """
        Return of each series the p-value of a line, its rise, and the rise whose p-value would be *level*.

        The residuals around a line do not depend on how much it rises, and so neither do the weights of the
        models: the last is of the same series, had it risen more or less.
        """
        from scipy.special import logsumexp, stdtr

        weight, freedom = self.weight[:, 0, None], self.freedom - 1
        rise = self.products[:, 0] / weight
        left = np.maximum(self.squares - rise**2 * weight, _MINIMUM_SQUARE)
        error = np.sqrt(left / freedom / weight)
        likelihood = (
            self.flat
            + (freedom + 1) / 2 * np.log(self.squares)
            - (np.log(weight) + freedom * np.log(left)) / 2
        )
        share = np.exp(likelihood - logsumexp(likelihood, axis=0))

        def chance(rises: Floats) -> Floats:
            return np.asarray((share * 2 * stdtr(freedom, -np.abs(rises) / error)).sum(axis=0))

        low, high = np.zeros(rise.shape[1]), error.max(axis=0) * 2.0**20
        for _ in range(60):
            middle = (low + high) / 2
            is_seen = chance(middle) <= level
            low, high = np.where(is_seen, low, middle), np.where(is_seen, middle, high)
        return np.minimum(chance(rise), 1.0), (share * rise).sum(axis=0), high

    def bayes_factors(self) -> tuple[Floats, Floats, Floats]:
        """
        Return ln of the Bayes factors of the line, and those of each step (steps, series) with its height.

        That of a shape is the mean over models of its likelihood, over that of a flat level.
        """
        from scipy.special import logsumexp

        g = float(self.size)
        explained = self.products**2 / (self.weight[:, :, None] * self.squares[:, None])
        explained = np.minimum(explained, 1 - _MINIMUM_SQUARE) * g / (1 + g)
        shaped = self.flat[:, None] - 0.5 * math.log1p(g) - self.freedom / 2 * np.log1p(-explained)
        factors = logsumexp(shaped, axis=0) - logsumexp(self.flat, axis=0)
        share = np.exp(shaped[:, 1:] - logsumexp(shaped[:, 1:], axis=0))
        heights = (share * self.products[:, 1:] / self.weight[:, 1:, None]).sum(axis=0)
        return factors[0], factors[1:], heights


def _level_and_season(size: int, cycle: float | None) -> Floats:
    """Return the columns that are no change: a level, and one sine wave of any phase with *cycle*."""
    if cycle is None:
        return np.ones((size, 1))
    angle = 2 * math.pi * (np.arange(size) - (size - 1) / 2) / cycle
    return np.column_stack((np.ones(size), np.sin(angle), np.cos(angle)))


def _shapes(size: int) -> Floats:
    """Return the columns of changes: a line that rises by 1, and a step of 1 at each place that is sought."""
    place = np.arange(size)
    first = edge(size)
    steps = place[:, None] >= np.arange(first, size - first + 1)
    return np.column_stack(((place - (size - 1) / 2) / (size - 1), steps.astype(np.float64)))
