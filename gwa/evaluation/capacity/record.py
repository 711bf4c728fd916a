"""
How well an estimator predicts the waits of months that were held out.

Blocks of contiguous windows are held out in turn, and the median month of each is predicted from the others:
how far that is off is in the interval of an answer, which is of a median month, too. Single months decide
whether an estimator may answer. The band of a held-out window is conformal: its ends are
quantiles of the residuals of an inner validation, in which each block that is left is held out, too
(Vovk et al. 2005). The score of a band is the interval score (Gneiting and Raftery 2007): its width, and ten
times how far it misses for a band of 80 %; lower is better.
"""

from dataclasses import dataclass
from math import floor, log
from typing import Final

import numpy as np

from gwa.evaluation.capacity.estimators import Estimator, no_change
from gwa.evaluation.capacity.windows import Windows, median_month
from gwa.evaluation.whatif.validation import OFFSET
from gwa.statistics.sample import Floats, Ints

LEVEL: Final = 0.8
"""The share of windows that a band is meant to hold."""

BLOCKS: Final = (4, 8)
"""The least and the most blocks of windows that are held out."""

BLOCK: Final = 3
"""Windows of a block, where there are not too many of them."""

MINIMUM_COVER: Final = 0.8
MAXIMUM_WIDTH: Final = 5.0
MAXIMUM_SCORE: Final = 0.75
"""What a record must have: the share held, the factor from end to end of a band, and the score."""

MAXIMUM_LOG: Final = 700.0
"""The largest logarithm of a width that is distinguished: beyond it there is no floating-point number."""


@dataclass(frozen=True)
class EstimatorRecord:
    """
    How an estimator did on held-out *windows*.

    *held* of them lay in their bands, whose median *width* is the factor between both ends. The *score* is
    relative to that of `no_change`; None where the waits of all windows are the same, so that no band can
    score better. *off* is the factor, 1 or more, within which the wait of the median window of each of the
    held-out *blocks* was predicted, a minute added to both.
    """

    windows: int
    held: int
    width: float
    score: float | None
    blocks: int
    off: float

    @property
    def cover(self) -> float:
        """The share of the windows that lay in their bands."""
        return self.held / self.windows

    @property
    def passes(self) -> bool:
        """Whether the estimator may answer."""
        has_score = self.score is not None and self.score <= MAXIMUM_SCORE
        return self.cover >= MINIMUM_COVER and self.width <= MAXIMUM_WIDTH and has_score


def blocks(windows: int) -> Ints:
    """
    Return the number of the block of each window.

    >>> blocks(9).tolist()
    [0, 0, 0, 1, 1, 2, 2, 3, 3]
    """
    least, most = BLOCKS
    count = min(most, max(least, windows // BLOCK))
    return np.arange(windows) * count // windows


def band(residuals: Floats) -> tuple[float, float]:
    """Return how far below and above a prediction the ends of a band lie, by residuals of the past."""
    ordered = np.sort(residuals)
    out = max(floor((ordered.size + 1) * (1 - LEVEL) / 2), 1)
    return float(ordered[out - 1]), float(ordered[-out])


def held_out(windows: Windows, estimator: Estimator) -> tuple[Floats, Floats]:
    """Return the low and the high end of the band of each window, predicted by all blocks but its own."""
    block = blocks(len(windows))
    low, high = np.empty(len(windows)), np.empty(len(windows))
    for held in np.unique(block):
        learnt = np.flatnonzero(block != held)
        predicted = estimator(windows, learnt)(windows)[block == held]
        below, above = band(_residuals(windows, estimator, block, int(held)))
        low[block == held], high[block == held] = predicted + below, predicted + above
    return low, high


def _residuals(windows: Windows, estimator: Estimator, block: Ints, held: int) -> Floats:
    """Return what all blocks but the *held* one err by, each predicted by those that are left."""
    parts = []
    for inner in np.unique(block[block != held]):
        predicted = estimator(windows, np.flatnonzero((block != held) & (block != inner)))(windows)
        parts.append((windows.wait - predicted)[block == inner])
    return np.concatenate(parts)


def record(windows: Windows, estimator: Estimator) -> EstimatorRecord:
    """Return how an *estimator* does on held-out blocks of at least four *windows*."""
    low, high = held_out(windows, estimator)
    held = (windows.wait >= low) & (windows.wait <= high)
    reference = _score(windows.wait, *held_out(windows, no_change))
    score = _score(windows.wait, low, high) / reference if reference > 0 else None
    width = float(np.exp(min(np.median(high - low), MAXIMUM_LOG)))
    errors = block_errors(windows, estimator)
    off = float(np.exp(min(np.abs(errors).max(), MAXIMUM_LOG)))
    return EstimatorRecord(len(windows), int(held.sum()), width, score, errors.size, off)


def block_errors(windows: Windows, estimator: Estimator) -> Floats:
    """Return by how much each block's median wait, as a logarithm, is predicted too long by all others."""
    block = blocks(len(windows))
    errors = []
    for held in np.unique(block):
        predicted = estimator(windows, np.flatnonzero(block != held))(windows)[block == held]
        medians = (median_month(one) + OFFSET for one in (predicted, windows.wait[block == held]))
        errors.append(log(next(medians)) - log(next(medians)))
    return np.array(errors)


def _score(wait: Floats, low: Floats, high: Floats) -> float:
    """Return the mean interval score of bands."""
    missed = np.maximum(low - wait, 0.0) + np.maximum(wait - high, 0.0)
    return float((high - low + 2 / (1 - LEVEL) * missed).mean())
