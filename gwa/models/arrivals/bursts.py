"""Arrivals in batches with heavy-tailed gaps between them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Final, Self

import numpy as np

from gwa.models.arrival_process import Arrivals, sample_gaps
from gwa.models.draws import Scaled, block_sizes
from gwa.models.parameters import Quantity, positive
from gwa.models.rounding import fit_rounded, truncate_above
from gwa.statistics.pareto import GeneralizedPareto
from gwa.statistics.sample import Floats, Ints
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
    A batch has one job where *batch* is not given.
    """

    gap: Annotated[float, positive("mean time between batches", "s")]
    tail: Annotated[float, Quantity("exponent of the tail of gaps", "", 1.0, open=True)] = 4.0
    batch: Scaled | None = None

    name = "bursts"
    title = "bursts with Pareto gaps"

    @classmethod
    def fit(cls, store: Store, table: str = "jobs", column: str = "submit_time") -> Self:
        """Fit the process; jobs submitted in the same second are one batch."""
        gaps = sample_gaps(store, table, column).restrict(above=0.0)
        shape = GeneralizedPareto.fit(gaps.map(lambda values: values - 0.5)).shape
        tail = min(max(1 / max(shape, 1 / MAXIMUM_TAIL), MINIMUM_TAIL), MAXIMUM_TAIL)
        batches = store.sample(
            "n",
            f"(select count(*) as n from {table} where {column} is not null group by {column}) as batches",
        )
        sizes_differ = batches.values.size > 1
        batch = truncate_above(fit_rounded(batches, "batch", np.e), batches.max()) if sizes_differ else None
        return cls(gaps.mean(), tail, batch)

    def times(self, rng: np.random.Generator) -> Iterator[Floats]:
        """Yield an endless stream of blocks of arrival times."""
        last = 0.0
        for size in block_sizes():
            for start in range(0, size, BATCHES_PER_BLOCK):
                starts = last + np.cumsum(
                    rng.pareto(self.tail, min(BATCHES_PER_BLOCK, size - start)) * (self.tail - 1) * self.gap
                )
                last = float(starts[-1])
                yield np.repeat(np.floor(starts), self._draw_batches(rng, starts.size))

    def _draw_batches(self, rng: np.random.Generator, n: int) -> Ints:
        """Draw the sizes of *n* batches."""
        drawn = np.ones(n) if self.batch is None else np.rint(self.batch.rvs(rng, n))
        return np.maximum(drawn, 1.0).astype(np.int64)

    def scale_gaps(self, factor: float) -> Self:
        """Return the process with interarrival gaps multiplied by *factor*."""
        return replace(self, gap=self.gap * factor)
