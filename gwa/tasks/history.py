"""
What was known before a moment, of jobs of one kind: how many, the last two values, and their mean.

"Before" is strict: what happens in the second of a submission is not known at it. Sums are of whole numbers,
so that no digit of a sum depends on what came later.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from gwa.statistics.sample import Floats, Ints

REMEMBERED: Final = 50
"""The maximum number of values that a mean is of: the last ones."""

STEPS: Final = float(1 << 20)
"""Logarithms are added up in steps of 1 / STEPS."""


@dataclass(frozen=True, eq=False)
class Recent:
    """Of each job: the *last* value known at its submission, the *second* last, their *mean* and *count*."""

    last: Floats
    second: Floats
    mean: Floats
    count: Floats

    @property
    def two(self) -> Floats:
        """The mean of the last two values, the last one where there is no other."""
        return np.where(np.isnan(self.second), self.last, (self.last + self.second) / 2)


def sum_before(moments: Floats, amounts: Ints, limits: Floats) -> Ints:
    """
    Return the sum of the whole *amounts* whose *moments* are before each of *limits*.

    >>> sum_before(np.array([3.0, 1.0]), np.array([10, 1]), np.array([1.0, 3.0, 3.5])).tolist()
    [0, 1, 11]
    """
    order = np.argsort(moments, kind="stable")
    sums: Ints = np.append(0, np.cumsum(amounts[order]))
    return sums[np.searchsorted(moments[order], limits)]


class Ledger:
    """Facts of jobs of several kinds, *keys*, each known from a moment on; keys below 0 are left out."""

    def __init__(self, keys: Ints, known: Floats, asked: Floats) -> None:
        """Enter each job by its key when it is *known*; all jobs ask at the moments *asked*."""
        self._keys = keys
        moments = np.unique(asked)
        self._width = moments.size + 1
        # Of a fact, how many moments of asking are not after it: those see nothing of it.
        self._hidden = np.searchsorted(moments, known, side="right")
        self._asks = keys * self._width + np.searchsorted(moments, asked)
        self._known = known

    def count(self) -> Floats:
        """Return how many jobs of the same key are known; nan where a job has no key."""
        rows = np.flatnonzero(self._keys >= 0)
        _, first, place = self._places(rows)
        return np.where(self._keys < 0, np.nan, place - first)

    def recent(self, values: Floats, *, logarithmic: bool) -> Recent:
        """Return the last of *values*, and their mean; if *logarithmic*, the geometric one of 1 + value."""
        rows = np.flatnonzero((self._keys >= 0) & ~np.isnan(values))
        order, first, place = self._places(rows)
        count = np.where(self._keys < 0, 0, place - first)
        told = np.append(values[order], [np.nan, np.nan])
        steps = np.rint((np.log1p(told[:-2]) if logarithmic else told[:-2]) * STEPS).astype(np.int64)
        sums = np.append(0, np.cumsum(steps))
        number = np.minimum(count, REMEMBERED)
        with np.errstate(invalid="ignore"):
            mean = (sums[place] - sums[place - number]) / number / STEPS
        if logarithmic:
            mean = np.round(np.expm1(mean), 3)
        return Recent(
            np.where(count > 0, told[place - 1], np.nan),
            np.where(count > 1, told[place - 2], np.nan),
            np.where(count > 0, mean, np.nan),
            np.where(self._keys < 0, np.nan, count).astype(np.float64),
        )

    def _places(self, rows: Ints) -> tuple[Ints, Ints, Ints]:
        """Return *rows* in the order of the ledger, and where the known ones of each job begin and end."""
        order = rows[np.lexsort((rows, self._known[rows], self._keys[rows]))]
        facts = self._keys[order] * self._width + self._hidden[order]
        place = np.searchsorted(facts, self._asks, side="right")
        first = np.searchsorted(self._keys[order], self._keys)
        return order, first, np.maximum(place, first)
