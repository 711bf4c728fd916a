"""Rows of consecutive jobs with the same label: their lengths and their order."""

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Self

import numpy as np

from gwa.models.parameters import Parameters, Quantity
from gwa.statistics.sample import Floats, Ints, Sample
from gwa.statistics.search import root
from gwa.statistics.zipf import Zipf

MAXIMUM_EXPONENT = 50.0
"""The exponent at which Zipf's law gives nearly always 1."""


@dataclass(frozen=True)
class LabelRuns(Parameters):
    """The lengths of rows of equal jobs: Zipf's law, truncated at the longest row."""

    exponent: Annotated[float, Quantity("of Zipf's law", "", 0.0, MAXIMUM_EXPONENT)]
    longest: Annotated[int, Quantity("the longest row", "jobs", 1.0, 1e7)]

    @classmethod
    def fit(cls, lengths: Sample) -> Self:
        """Fit the law by maximum likelihood, on 1 to the longest row."""
        if lengths.values.size < Zipf.needs:
            return cls(MAXIMUM_EXPONENT if lengths.max() == 1 else 0.0, int(lengths.max()))
        law = Zipf.fit(lengths)
        return cls(float(np.clip(law.exponent, 0.0, MAXIMUM_EXPONENT)), int(law.ranks))

    @classmethod
    def of_mean(cls, mean: float, longest: int) -> Self:
        """Return the law with this *mean*, truncated at the *longest* row."""
        low, high = (Zipf(exponent, longest).mean() for exponent in (MAXIMUM_EXPONENT, 0.0))
        if not low < mean < high:
            return cls(MAXIMUM_EXPONENT if mean <= low else 0.0, longest)
        exponent = root(lambda exponent: Zipf(exponent, longest).mean() - mean, 0.0, MAXIMUM_EXPONENT)
        return cls(float(exponent), longest)

    @cached_property
    def cdf(self) -> Floats:
        """The probability of at most 1, 2, … jobs."""
        total = np.cumsum(np.arange(1.0, self.longest + 1) ** -self.exponent)
        shares: Floats = total / total[-1]
        return shares

    def rvs(self, rng: np.random.Generator, n: int) -> Ints:
        """Draw the lengths of *n* rows."""
        return self._invert(rng.random(n))

    def draw_below(self, rng: np.random.Generator, lengths: Ints) -> Ints:
        """Draw a length below each of *lengths*, all at least 2, as if larger draws were repeated."""
        return self._invert(self.cdf[np.minimum(lengths - 1, self.longest) - 1] * rng.random(lengths.size))

    def _invert(self, probability: Floats) -> Ints:
        return np.searchsorted(self.cdf, probability, side="right").astype(np.int64) + 1


def permute_clusters(labels: Ints, window: int) -> Ints:
    """
    Return the indices of *labels* in the order of the cluster permutation (2009, footnote 2).

    In each window of *window* labels equal ones come together, in the order of their first appearance.

    >>> labels = np.array([1, 2, 1, 3, 2, 2, 3, 2, 4, 1, 4])
    >>> labels[permute_clusters(labels, 4)].tolist()
    [1, 1, 2, 3, 2, 2, 2, 3, 4, 4, 1]
    """
    index = np.arange(labels.size)
    if window == 1:
        return index
    # One number for label and window; jobs are sorted by its first index.
    _, first, group = np.unique(index // window * (labels.max() + 1) + labels, True, True)  # noqa: FBT003
    return np.lexsort((index, first[group]))


def truncate_lengths(lengths: Ints, n: int) -> Ints:
    """Return the first of *lengths*, truncated so that they add up to *n*."""
    ends = np.cumsum(lengths)
    rows = int(np.searchsorted(ends, n)) + 1
    truncated = lengths[:rows].copy()
    truncated[-1] -= ends[rows - 1] - n
    return truncated


def positions_in_rows(lengths: Ints) -> Ints:
    """Return the position of each job in its row, from 0, for rows of *lengths*."""
    return np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
