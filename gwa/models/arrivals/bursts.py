"""Arrivals in batches with heavy-tailed gaps between them."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Final, Self

import numpy as np

from gwa.models.arrival_process import Arrivals, sample_gaps
from gwa.models.draws import MIDPOINTS, Scaled, block_sizes
from gwa.models.parameters import Quantity, positive
from gwa.models.rounding import fit_rounded, truncate_above
from gwa.statistics.pareto import GeneralizedPareto
from gwa.statistics.sample import Floats, Ints
from gwa.statistics.search import root
from gwa.store.store import Store

MINIMUM_TAIL, MAXIMUM_TAIL = 1.1, 100.0
"""Bounds of fitted tails: near 1 the mean is infinite, above the maximum gaps are exponential."""

BATCHES_PER_BLOCK: Final = 1 << 13
"""Batches drawn at a time."""


@dataclass(frozen=True)
class Bursts(Arrivals):
    """
    Batches of jobs, one after another by gaps of a Pareto distribution that begins at 0 (Lomax).

    P(gap > x) = (1 + x / ((tail - 1) *gap*))**-tail, whose mean is *gap*. Da Costa et al. (2018) draw the
    gaps of single tasks so, with a tail of 4; in their trace most tasks come at one moment with others.
    A batch has one job where *batch* is not given. Gaps above *longest* are drawn again: with a fitted tail
    below 2, a workload without an end to its gaps has its mean gap only after millions of jobs.
    """

    gap: Annotated[float, positive("mean time between batches", "s")]
    tail: Annotated[float, Quantity("exponent of the tail of gaps", "", 1.0, open=True)] = 4.0
    batch: Scaled | None = None
    longest: Annotated[float | None, positive("greatest gap, if there is one", "s")] = None

    name = "bursts"
    title = "bursts with Pareto gaps"

    @classmethod
    def fit(cls, store: Store, table: str = "jobs", column: str = "submit_time") -> Self:
        """
        Fit the process; jobs submitted in the same second are one batch.

        Gaps end at the longest of the trace, and their mean gives as many jobs a day as the trace has.
        """
        gaps = sample_gaps(store, table, column).restrict(above=0.0)
        shape = GeneralizedPareto.fit(gaps.map(lambda values: values - 0.5)).shape
        tail = min(max(1 / max(shape, 1 / MAXIMUM_TAIL), MINIMUM_TAIL), MAXIMUM_TAIL)
        batches = store.sample(
            "n",
            f"(select count(*) as n from {table} where {column} is not null group by {column}) as batches",
        )
        sizes_differ = batches.values.size > 1
        batch = truncate_above(fit_rounded(batches, "batch", np.e), batches.max()) if sizes_differ else None
        fitted = cls(gaps.mean(), tail, batch)
        return fitted.limit_gaps(sample_gaps(store, table, column).mean() * fitted.mean_batch(), gaps.max())

    def limit_gaps(self, mean: float, longest: float) -> Self:
        """Return the process with gaps up to the *longest*, of this *mean* if that is below a third of it."""
        if not mean < longest / 3:
            return replace(self, gap=mean)

        def excess(logarithm: float) -> float:
            return replace(self, gap=math.exp(logarithm), longest=longest).mean_between() - mean

        logarithm = root(excess, math.log(mean / 1e3), math.log(mean * 1e9))
        return replace(self, gap=math.exp(logarithm), longest=longest)

    def mean_between(self) -> float:
        """
        Return the mean gap between batches in seconds, up to the longest.

        It is that of s ((1 - u F)**(-1/tail) - 1) over uniform u, F the probability of gaps up to that.
        """
        if self.longest is None:
            return self.gap
        beyond, power = self._log_beyond(), 1 - 1 / self.tail
        inside = -math.expm1(beyond)
        return float(self._scale() * (-math.expm1(power * beyond) / (power * inside) - 1))

    def mean_batch(self) -> float:
        """Return the mean number of jobs in a batch."""
        if self.batch is None:
            return 1.0
        sizes = self.batch.quantiles((np.arange(MIDPOINTS) + 0.5) / MIDPOINTS)
        return float(np.maximum(np.rint(sizes), 1.0).mean())

    def mean_gap(self) -> float:
        """Return the mean time between jobs in seconds."""
        return self.mean_between() / self.mean_batch()

    def _scale(self) -> float:
        return (self.tail - 1) * self.gap

    def _log_beyond(self) -> float:
        """Return the logarithm of the probability of longer gaps, which may be too small for itself."""
        return -self.tail * math.log1p((self.longest or math.inf) / self._scale())

    def times(self, rng: np.random.Generator) -> Iterator[Floats]:
        """Yield an endless stream of blocks of arrival times."""
        last = 0.0
        for size in block_sizes():
            for start in range(0, size, BATCHES_PER_BLOCK):
                starts = last + np.cumsum(self._draw_gaps(rng, min(BATCHES_PER_BLOCK, size - start)))
                last = float(starts[-1])
                yield np.repeat(np.floor(starts), self._draw_batches(rng, starts.size))

    def _draw_gaps(self, rng: np.random.Generator, n: int) -> Floats:
        """Draw *n* gaps between batches."""
        if self.longest is None:
            return rng.pareto(self.tail, n) * self._scale()
        return np.expm1(-np.log1p(math.expm1(self._log_beyond()) * rng.random(n)) / self.tail) * self._scale()

    def _draw_batches(self, rng: np.random.Generator, n: int) -> Ints:
        """Draw the sizes of *n* batches."""
        drawn = np.ones(n) if self.batch is None else np.rint(self.batch.rvs(rng, n))
        return np.maximum(drawn, 1.0).astype(np.int64)

    def scale_gaps(self, factor: float) -> Self:
        """Return the process with interarrival gaps multiplied by *factor*."""
        longest = None if self.longest is None else self.longest * factor
        return replace(self, gap=self.gap * factor, longest=longest)
