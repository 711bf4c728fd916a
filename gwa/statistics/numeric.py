"""Small numeric steps that several statistics share."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import ArrayLike

from gwa.statistics.sample import Floats, Ints, Sample

_HALVINGS = 200
_ROOT_TOLERANCE = 1e-14
_PIECE = 1 << 14


def floats(x: ArrayLike) -> Floats:
    """Return *x* as an array of doubles."""
    return np.asarray(x, dtype=np.float64)


def average(x: Floats, weight: Floats) -> Floats:
    """Return the weighted mean of each row of *x* as a column, so that it broadcasts against the row."""
    mean: Floats = (x * weight).sum(axis=-1, keepdims=True) / weight.sum(axis=-1, keepdims=True)
    return mean


def dot(a: Floats | Ints, b: Floats | Ints) -> float:
    """
    Return the sum of products, by numpy's pairwise summation.

    Accurate, the same on every machine, and without the threads of a BLAS ``a @ b``: its last digits change
    with their number, and they cost more than they save where many small sums share two cores.
    """
    return float((a * b).sum())


def log(x: ArrayLike) -> Floats:
    """Return ln x, and -inf for what is not above 0."""
    at = floats(x)
    return np.log(at, out=np.full(at.shape, -np.inf), where=at > 0)


def at_least_zero(x: ArrayLike) -> Floats:
    """Return *x* with negative numbers replaced by 0."""
    return np.maximum(floats(x), 0.0)


def bisect(cdf: Callable[[Floats], Floats], share: Floats, low: Floats, high: Floats) -> Floats:
    """Return the least x with cdf(x) >= *share*, between *low* and *high*, to the last bits."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        over = cdf(middle) >= share
        low, high = np.where(over, low, middle), np.where(over, middle, high)
    return high


def rising_root(
    function: Callable[[Floats], tuple[Floats, Floats]], start: Floats, low: Floats, high: Floats
) -> Floats:
    """
    Return where a rising *function* is 0, for each of *start*, between *low* and *high*; nan stays nan.

    Newton's method within a bracket: *function* returns its values and slopes, and a step that leaves the
    bracket, which its values narrow, is replaced by the middle. It ends after at most 200 steps.
    """
    at = start
    for _ in range(_HALVINGS):
        value, slope = function(at)
        low, high = np.where(value < 0, at, low), np.where(value > 0, at, high)
        newton = at - value / slope
        better = np.where((newton >= low) & (newton <= high), newton, (low + high) / 2)
        better = np.where(value == 0, at, np.where(np.isnan(at), at, better))
        done = ~(np.abs(better - at) > _ROOT_TOLERANCE * np.maximum(np.abs(at), 1.0))
        at = better
        if done.all():
            break
    return at


def pieces(*columns: Floats) -> Iterator[tuple[Floats, ...]]:
    """Yield *columns* of equal length piece by piece, so short that sums over a million stay in the cache."""
    for first in range(0, columns[0].size, _PIECE):
        yield tuple(column[first : first + _PIECE] for column in columns)


def coarse(sample: Sample, bins: int) -> Sample:
    """
    Return *sample* in at most *bins* bins, each at the mean of its observations.

    Without negative values the bins are equally wide in ln x (and 0 has its own), else in x; the total
    is kept up to rounding. A sample with no more distinct values than *bins* is returned as it is.
    """
    if sample.values.size <= bins:
        return sample
    scale = log(sample.values) if sample.min() >= 0 else sample.values
    low = scale[np.isfinite(scale)][0]
    place = 1 + np.maximum(scale - low, -1) * ((bins - 2) / (scale[-1] - low))
    place = np.where(np.isfinite(scale), place, 0).astype(np.int64)
    counts = np.bincount(place, weights=sample.counts)
    totals = np.bincount(place, weights=sample.counts * sample.values)
    return Sample.weighted(totals[counts > 0] / counts[counts > 0], counts[counts > 0])
