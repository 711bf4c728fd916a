"""Make arrays small without changing what their drawing looks like."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gwa.words.unit import Value

Array = NDArray[np.float64]
"""What the makers compute with."""

MAXIMUM_POINTS = 440
"""How many points a curve keeps: more than a figure of this width can show."""

MAXIMUM_COLUMNS = 450
"""How many columns a time series keeps, each with its least and its greatest value."""

MAXIMUM_WHOLE = 1e15
"""Whole numbers from here on are written with an exponent."""

KEPT_JUMPS = 10
"""How many of the greatest steps of a curve keep both their ends."""


def array(values: Sequence[float] | NDArray[Any]) -> Array:
    """Return *values* as floating point numbers, missing ones as NaN."""
    return np.asarray(values, dtype=np.float64)


def rounded(values: Array, digits: int = 6) -> list[Value]:
    """
    Return *values* with as many significant *digits* as a drawing needs, missing ones as None.

    >>> rounded(np.array([1.0, 0.123456789, np.nan]))
    [1, 0.123457, None]
    """
    short = (float(f"{value:.{digits}g}") if isfinite(value) else None for value in values.tolist())
    return [
        int(value) if value is not None and value.is_integer() and abs(value) < MAXIMUM_WHOLE else value
        for value in short
    ]


def monotone(x: Array, y: Array, points: int = MAXIMUM_POINTS) -> NDArray[np.intp]:
    """
    Return which points of a rising curve to keep, so that it looks the same.

    The points are spaced evenly along the way that a pen goes, sideways and up. The greatest
    steps keep the points on both of their sides.
    """
    if len(x) <= points:
        return np.arange(len(x))
    sideways, up = np.diff(x, prepend=x[0]), np.diff(y, prepend=y[0])
    way = np.cumsum(sideways / ((x[-1] - x[0]) or 1.0) + up / ((y[-1] - y[0]) or 1.0))
    even = np.searchsorted(way, np.linspace(0.0, way[-1], points - 2 * KEPT_JUMPS))
    steep = largest(up, KEPT_JUMPS)
    keep = np.concatenate([[0, len(x) - 1], np.minimum(even, len(x) - 1), steep, np.maximum(steep - 1, 0)])
    return np.unique(keep)


def largest(values: Array, count: int) -> NDArray[np.intp]:
    """Return where the *count* greatest of more *values* stand, of equal ones the first."""
    threshold = np.partition(values, -count)[-count]
    above = np.flatnonzero(values > threshold)
    return np.concatenate([above, np.flatnonzero(values == threshold)[: count - len(above)]])


def columns(x: Array, count: int = MAXIMUM_COLUMNS) -> NDArray[np.intp]:
    """Return where each of *count* equally wide columns of rising *x* begins; empty ones are left out."""
    edges = np.linspace(x[0], x[-1], count, endpoint=False)
    return np.unique(np.searchsorted(x, edges))


def envelope(x: Array, y: Array, *, log: bool = False) -> tuple[Array, Array]:
    """
    Return the least and the greatest point of each column, in the order in which they came.

    With *log* columns are equally wide on a logarithmic axis, where all x are positive.
    """
    if len(x) <= 2 * MAXIMUM_COLUMNS:
        return x, y
    keep: list[int] = []
    starts = columns(np.log(x) if log else x)
    for start, end in zip(starts, [*starts[1:], len(x)], strict=True):
        part = y[start:end]
        known = np.flatnonzero(np.isfinite(part))
        if not len(known):
            keep.append(int(start))
            continue
        ends = {int(known[np.argmin(part[known])]), int(known[np.argmax(part[known])])}
        keep.extend(int(start) + place for place in sorted(ends))
    return x[keep], y[keep]


def band(x: Array, mean: Array, low: Array, high: Array) -> tuple[Array, Array, Array, Array]:
    """Return a band by columns: mean of the means, least low and greatest high."""
    if len(x) <= 2 * MAXIMUM_COLUMNS:
        return x, mean, low, high
    starts = columns(x)
    known = np.isfinite(mean)
    count = np.add.reduceat(known.astype(np.float64), starts)
    total = np.add.reduceat(np.where(known, mean, 0.0), starts)
    middle = np.full(len(starts), np.nan)
    np.divide(total, count, out=middle, where=count > 0)
    return x[starts], middle, np.fmin.reduceat(low, starts), np.fmax.reduceat(high, starts)
