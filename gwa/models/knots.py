"""Distributions as curves of a few knots: what a log has, without its rows."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Final, Self

import numpy as np
from numpy.typing import NDArray

from gwa.errors import ModelError
from gwa.models.parameters import Parameters, Quantity, share
from gwa.statistics.sample import Floats, Sample

NEAR: Final = 0.005
"""How near a curve comes to the data, as a part of the width and the height of the whole."""

MOST: Final = 24
"""Knots of a curve at most, those of the tail among them."""

TAIL: Final = (0.9, 0.97, 0.99, 0.997, 0.999, 0.9997, 0.9999)
"""Shares at which there is a knot, for a few great values are much of the whole."""

FEWEST: Final = 3
"""Values that are above the last knot but one, at least."""


@dataclass(frozen=True)
class Knots(Parameters):
    """
    A distribution function that is straight between knots, over ln(1 + x); where it is upright is an atom.

    Each of *values* has that of *shares* below or at it. Draws are rounded to whole numbers.
    """

    values: Annotated[tuple[float, ...], Quantity("values at the knots", "of the quantity", 0.0)]
    shares: Annotated[tuple[float, ...], share("of draws up to each value, from 0 to 1")]

    def check(self) -> None:
        """Refuse a curve that falls, or that does not go from 0 to 1."""
        if len(self.values) != len(self.shares) or not self.values:
            raise ModelError(f"values are {len(self.values)}, expected one for each of the shares")
        rising = all(np.all(np.diff(one) >= 0) for one in (self.values, self.shares))
        if not rising or (self.shares[0], self.shares[-1]) != (0.0, 1.0):
            raise ModelError("shares: expected them to rise from 0 to 1, and values to rise with them")

    @classmethod
    def fit(cls, sample: Sample) -> Self:
        """Return the curve through the knots that *sample* needs, of at most `MOST`."""
        x = np.repeat(np.log1p(sample.values), 2)
        y = np.concatenate(([0.0], np.repeat(sample.cumulative / sample.n, 2)[:-1]))
        width = float(np.ptp(x)) or 1.0
        ends = [0, *np.searchsorted(y, [one for one in TAIL if one < 1 - FEWEST / sample.n]), y.size - 1]
        near, kept = NEAR, _thinned(x / width, y, ends, NEAR)
        while kept.size > MOST:
            near *= 1.3
            kept = _thinned(x / width, y, ends, near)
        values = np.rint(np.repeat(sample.values, 2)[kept])
        return cls(tuple(values.tolist()), tuple(y[kept].round(6).tolist()))

    def quantiles(self, q: Floats) -> Floats:
        """Return the whole numbers below which such shares *q* of draws are."""
        found: Floats = np.rint(np.expm1(np.interp(q, self.shares, np.log1p(self.values))))
        return found


def _thinned(x: Floats, y: Floats, ends: list[int], near: float) -> NDArray[np.int64]:
    """Return *ends* and the points without which the line were not *near* (Douglas and Peucker 1973)."""
    kept = set(ends)
    todo = list(pairwise(sorted(kept)))
    while todo:
        first, last = todo.pop()
        if last - first < 2:
            continue
        along = np.array([x[last] - x[first], y[last] - y[first]])
        length = float(np.hypot(*along))
        inside = slice(first + 1, last)
        far = np.abs((x[inside] - x[first]) * along[1] - (y[inside] - y[first]) * along[0]) / max(
            length, 1e-12
        )
        worst = int(np.argmax(far))
        if far[worst] > near:
            middle = first + 1 + worst
            kept.add(middle)
            todo += [(first, middle), (middle, last)]
    return np.array(sorted(kept))
