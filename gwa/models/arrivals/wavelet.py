"""Arrivals of the multifractal wavelet model: bursts within bursts, at every scale of time."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Self

import numpy as np

from gwa.models.arrival_process import Arrivals, gaps
from gwa.models.arrivals._cascade import batched, fitted_shapes, halved, scattered
from gwa.models.parameters import Quantity, positive
from gwa.statistics.sample import Floats, Ints
from gwa.store.store import Store

COARSE = 10
"""How often a whole is halved before its parts are worked out one after the other, to keep memory flat."""


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
    span: Annotated[float, positive("how long until all begins anew", "s")]
    shapes: Annotated[tuple[float, ...], positive("of the beta multipliers, halving by halving")]

    name = "wavelet"
    title = "multifractal wavelet model"

    @classmethod
    def fit(cls, store: Store, moments: str = "jobs", column: str = "submit_time") -> Self:
        """Return the process of the times from the first to the last."""
        jobs = gaps(store, moments, column).n + 1
        first, last = store.row(f"select min({column}), max({column}) from {moments}")
        span = (last - first) * (1 + 1 / jobs)
        levels = max(math.ceil(math.log2(span)), 1)
        return cls(jobs, span, fitted_shapes(store, moments, column, span, levels, first))

    def times(self, rng: np.random.Generator) -> Iterator[Floats]:
        """Yield blocks of arrival times."""
        return batched(self._times(rng))

    def _times(self, rng: np.random.Generator) -> Iterator[Floats]:
        before = 0.0
        while True:
            counts, rest = self._parts(rng)
            for block in scattered(rng, counts, rest, self.span / counts.size):
                yield np.floor(before + block)
            before += self.span

    def _parts(self, rng: np.random.Generator) -> tuple[Ints, tuple[float, ...]]:
        """Return the arrivals in equal parts of a span, and the shapes that remain to be used."""
        place, count = np.array([0]), np.array([self.jobs])
        coarse = self.shapes[:COARSE]
        for shape in coarse:
            place, count = halved(rng, place, count, shape)
        counts = np.zeros(1 << len(coarse), np.int64)
        counts[place] = count
        return counts, self.shapes[COARSE:]

    def paced(self, factor: float) -> Self:
        """Return the process with gaps that are *factor* times as long."""
        return replace(self, span=self.span * factor)
