"""Arrivals of the multifractal wavelet model: bursts within bursts, at every time scale."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Self

import numpy as np

from gwa.models.arrival_process import Arrivals, sample_gaps
from gwa.models.cascade import fit_shapes, halve, regroup, scatter
from gwa.models.parameters import Quantity, positive
from gwa.statistics.sample import Floats, Ints
from gwa.store.store import Store

COARSE_LEVELS = 10
"""Halvings of a whole span; its parts are then halved one after the other, which bounds memory."""


@dataclass(frozen=True)
class Wavelet(Arrivals):
    """
    The multifractal wavelet model (R. H. Riedi, M. S. Crouse, V. J. Ribeiro and R. G. Baraniuk 1999).

    On the Haar basis, the arrivals of each interval go to its halves by a symmetrical beta multiplier, whose
    *shapes* stand from the whole span to the second. Long-range dependence and multifractal bursts come out,
    cycles do not. Where the paper has real numbers, arrivals are whole here: the multiplier is that of a
    binomial, *jobs* of every *span* are exact, and the estimate of shapes takes the binomial's part away. The
    first shapes, of which a trace has a handful of coefficients, are estimated together.
    """

    jobs: Annotated[int, Quantity("arrivals in a span", "", 1.0, 1e9)]
    span: Annotated[float, positive("the period after which all repeats", "s")]
    shapes: Annotated[tuple[float, ...], positive("of the beta multipliers, halving by halving")]

    name = "wavelet"
    title = "multifractal wavelet model"

    @classmethod
    def fit(cls, store: Store, table: str = "jobs", column: str = "submit_time") -> Self:
        """Fit the process to the times from the first arrival to the last."""
        jobs = sample_gaps(store, table, column).n + 1
        first, last = store.row(f"select min({column}), max({column}) from {table}")
        span = (last - first) * (1 + 1 / jobs)
        levels = max(math.ceil(math.log2(span)), 1)
        return cls(jobs, span, fit_shapes(store, table, column, span, levels, first))

    def times(self, rng: np.random.Generator) -> Iterator[Floats]:
        """Yield an endless stream of blocks of arrival times."""
        return regroup(self._times(rng))

    def _times(self, rng: np.random.Generator) -> Iterator[Floats]:
        start = 0.0
        while True:
            counts, fine = self._draw_parts(rng)
            for block in scatter(rng, counts, fine, self.span / counts.size):
                yield np.floor(start + block)
            start += self.span

    def _draw_parts(self, rng: np.random.Generator) -> tuple[Ints, tuple[float, ...]]:
        """Draw the number of arrivals in equal parts of a span; return them and the remaining shapes."""
        interval, count = np.array([0]), np.array([self.jobs])
        coarse, fine = self.shapes[:COARSE_LEVELS], self.shapes[COARSE_LEVELS:]
        for shape in coarse:
            interval, count = halve(rng, interval, count, shape)
        counts = np.zeros(1 << len(coarse), np.int64)
        counts[interval] = count
        return counts, fine

    def scale_gaps(self, factor: float) -> Self:
        """Return the process with interarrival gaps multiplied by *factor*."""
        return replace(self, span=self.span * factor)
