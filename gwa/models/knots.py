"""Distribution functions as piecewise linear curves with a few knots."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Final, Self

import numpy as np
from numpy.typing import NDArray

from gwa.errors import ModelError
from gwa.models.parameters import Parameters, Quantity, share
from gwa.statistics.sample import Floats, Sample

TOLERANCE: Final = 0.005
"""Maximum distance of a curve from the data, relative to their width and height."""

MAXIMUM_KNOTS: Final = 32
"""Maximum number of knots of a curve, those of the tail and of atoms included."""

ATOMS: Final = 8
"""Maximum number of values that always have the two knots of an atom: round ones, such as an hour."""

MINIMUM_ATOM: Final = 0.02
"""Minimum share of a value that is such an atom; a knot beside it would move all of it."""

TAIL_SHARES: Final = (0.9, 0.97, 0.99, 0.997, 0.999, 0.9997, 0.9999)
"""Shares that always have a knot, for a few large values can be much of the total."""

MINIMUM_TAIL_VALUES: Final = 3
"""Minimum number of values above the last knot but one."""


@dataclass(frozen=True)
class Knots(Parameters):
    """
    A distribution function that is linear in ln(1 + x) between knots; a vertical segment is an atom.

    The share of draws up to each of *values* is given by *shares*. Draws are rounded to whole numbers.
    """

    values: Annotated[tuple[float, ...], Quantity("values at the knots", "of the quantity", 0.0)]
    shares: Annotated[tuple[float, ...], share("of draws up to each value, from 0 to 1")]

    def check(self) -> None:
        """Refuse a curve that decreases, or that does not go from 0 to 1."""
        if len(self.values) != len(self.shares) or not self.values:
            raise ModelError(f"values are {len(self.values)}, expected one for each of the shares")
        rising = all(np.all(np.diff(column) >= 0) for column in (self.values, self.shares))
        if not rising or (self.shares[0], self.shares[-1]) != (0.0, 1.0):
            raise ModelError("shares: expected them to rise from 0 to 1, and values to rise with them")

    @classmethod
    def fit(cls, sample: Sample) -> Self:
        """Fit a curve through at most `MAXIMUM_KNOTS` knots to *sample*."""
        x = np.repeat(np.log1p(sample.values), 2)
        y = np.concatenate(([0.0], np.repeat(sample.cumulative / sample.n, 2)[:-1]))
        width = float(np.ptp(x)) or 1.0
        tail = [q for q in TAIL_SHARES if q < 1 - MINIMUM_TAIL_VALUES / sample.n]
        often = np.argsort(-sample.counts, kind="stable")[:ATOMS]
        atoms = often[sample.counts[often] >= MINIMUM_ATOM * sample.n]
        fixed = [0, *np.searchsorted(y, tail), *(2 * atoms), *(2 * atoms + 1), y.size - 1]
        tolerance, knots = TOLERANCE, _simplify(x / width, y, fixed, TOLERANCE)
        while knots.size > MAXIMUM_KNOTS:
            tolerance *= 1.3
            knots = _simplify(x / width, y, fixed, tolerance)
        values = np.rint(np.repeat(sample.values, 2)[knots])
        return cls(tuple(values.tolist()), tuple(y[knots].round(6).tolist()))

    def quantiles(self, q: Floats) -> Floats:
        """Return the quantiles of the shares *q*, rounded to whole numbers."""
        return np.rint(np.expm1(np.interp(q, self.shares, np.log1p(self.values))))

    def shares_of(self, values: Floats) -> Floats:
        """Return the share of draws up to each of *values*; of an atom, half of it counts."""
        x, first = np.unique(self.values, return_index=True)
        last = np.append(first[1:], len(self.values)) - 1
        shares, at = np.array(self.shares), np.log1p(values)
        below, up_to = (np.interp(at, np.log1p(x), shares[ends]) for ends in (first, last))
        middle: Floats = (below + up_to) / 2
        return middle


def _simplify(x: Floats, y: Floats, fixed: list[int], tolerance: float) -> NDArray[np.int64]:
    """Simplify a line to *fixed* points and those farther than *tolerance* (Douglas and Peucker 1973)."""
    knots = set(fixed)
    segments = list(pairwise(sorted(knots)))
    while segments:
        first, last = segments.pop()
        if last - first < 2:
            continue
        direction = np.array([x[last] - x[first], y[last] - y[first]])
        length = float(np.hypot(*direction))
        inside = slice(first + 1, last)
        distances = np.abs(
            (x[inside] - x[first]) * direction[1] - (y[inside] - y[first]) * direction[0]
        ) / max(length, 1e-12)
        farthest = int(np.argmax(distances))
        if distances[farthest] > tolerance:
            middle = first + 1 + farthest
            knots.add(middle)
            segments += [(first, middle), (middle, last)]
    return np.array(sorted(knots))
