"""Rows of jobs that are alike: how long they are, and how they follow each other."""

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Self

import numpy as np
from scipy.optimize import brentq

from gwa.models.parameters import Parameters, Quantity
from gwa.statistics.sample import Floats, Ints, Sample
from gwa.statistics.zipf import Zipf

STEEPEST = 50.0
"""The exponent of Zipf's law that has next to nothing but ones."""


@dataclass(frozen=True)
class LabelRuns(Parameters):
    """How many jobs in a row are alike: Zipf's law, up to the longest row."""

    exponent: Annotated[float, Quantity("of Zipf's law", "", 0.0, STEEPEST)]
    longest: Annotated[int, Quantity("the longest row", "jobs", 1.0, 1e7)]

    @classmethod
    def fit(cls, lengths: Sample) -> Self:
        """Return the law of greatest likelihood, on 1 to the longest row."""
        if lengths.values.size < Zipf.needs:
            return cls(STEEPEST if lengths.max() == 1 else 0.0, int(lengths.max()))
        law = Zipf.fit(lengths)
        return cls(float(np.clip(law.exponent, 0.0, STEEPEST)), int(law.ranks))

    @classmethod
    def of_mean(cls, mean: float, longest: int) -> Self:
        """Return the law of a *mean* up to a *longest* row."""
        low, high = (Zipf(exponent, longest).mean() for exponent in (STEEPEST, 0.0))
        if not low < mean < high:
            return cls(STEEPEST if mean <= low else 0.0, longest)
        return cls(
            float(brentq(lambda exponent: Zipf(exponent, longest).mean() - mean, 0.0, STEEPEST)), longest
        )

    @cached_property
    def shares(self) -> Floats:
        """The probability of at most 1, 2, … jobs."""
        steps = np.cumsum(np.arange(1.0, self.longest + 1) ** -self.exponent)
        found: Floats = steps / steps[-1]
        return found

    def rvs(self, rng: np.random.Generator, n: int) -> Ints:
        """Return the lengths of *n* rows."""
        place: Ints = np.searchsorted(self.shares, rng.random(n), side="right").astype(np.int64)
        return place + 1

    def below(self, rng: np.random.Generator, lengths: Ints) -> Ints:
        """Return draws that are less than *lengths*, all at least 2, as if larger ones were drawn again."""
        draw = self.shares[np.minimum(lengths - 1, self.longest) - 1] * rng.random(lengths.size)
        place: Ints = np.searchsorted(self.shares, draw, side="right").astype(np.int64)
        return place + 1


def gathered(labels: Ints, window: int) -> Ints:
    """
    Return the places of *labels* in the order of the cluster permutation (2009, footnote 2).

    In each window of so many, equal labels come together, in the order in which they first appear.

    >>> labels = np.array([1, 2, 1, 3, 2, 2, 3, 2, 4, 1, 4])
    >>> labels[gathered(labels, 4)].tolist()
    [1, 1, 2, 3, 2, 2, 2, 3, 4, 4, 1]
    """
    place = np.arange(labels.size)
    if window == 1:
        return place
    # Label and window in one number; the first of its places stands for all of them.
    _, first, group = np.unique(place // window * (labels.max() + 1) + labels, True, True)  # noqa: FBT003
    return np.lexsort((place, first[group]))


def cut(lengths: Ints, n: int) -> Ints:
    """Return the first of *lengths* that add up to *n*, the last one shortened."""
    ends = np.cumsum(lengths)
    rows = int(np.searchsorted(ends, n)) + 1
    found = lengths[:rows].copy()
    found[-1] -= ends[rows - 1] - n
    return found


def within(lengths: Ints) -> Ints:
    """Return for each job of rows its place in its row, from 0."""
    return np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
