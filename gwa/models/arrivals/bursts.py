"""Arrivals in bursts, a batch at a time, with heavy-tailed gaps between them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Final, Self

import numpy as np

from gwa.models.arrival_process import Arrivals, gaps
from gwa.models.draws import Scaled, sizes
from gwa.models.parameters import Quantity, positive
from gwa.models.rounding import at_most, rounded
from gwa.statistics.pareto import GeneralizedPareto
from gwa.statistics.sample import Floats, Ints
from gwa.store.store import Store

LEAST, GREATEST = 1.1, 100.0
"""Bounds of fitted tails: below there is next to no mean, above all are exponential."""

PIECE: Final = 1 << 13
"""Batches that are drawn at a time."""


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
    def fit(cls, store: Store, moments: str = "jobs", column: str = "submit_time") -> Self:
        """Return the process; jobs of the same second are one batch."""
        found = gaps(store, moments, column).restrict(above=0.0)
        shape = GeneralizedPareto.fit(found.map(lambda values: values - 0.5)).shape
        tail = min(max(1 / max(shape, 1 / GREATEST), LEAST), GREATEST)
        batches = store.sample(
            "n",
            f"(select count(*) as n from {moments} where {column} is not null group by {column}) as batches",
        )
        several = batches.values.size > 1
        batch = at_most(rounded(batches, "batch", np.e), batches.max()) if several else None
        return cls(found.mean(), tail, batch)

    def times(self, rng: np.random.Generator) -> Iterator[Floats]:
        """Yield blocks of arrival times."""
        last = 0.0
        for size in sizes():
            for start in range(0, size, PIECE):
                moments = last + np.cumsum(
                    rng.pareto(self.tail, min(PIECE, size - start)) * (self.tail - 1) * self.gap
                )
                last = float(moments[-1])
                yield np.repeat(np.floor(moments), self._batches(rng, moments.size))

    def _batches(self, rng: np.random.Generator, n: int) -> Ints:
        """Return the sizes of *n* batches."""
        drawn = np.ones(n) if self.batch is None else np.rint(self.batch.rvs(rng, n))
        return np.maximum(drawn, 1.0).astype(np.int64)

    def paced(self, factor: float) -> Self:
        """Return the process with gaps that are *factor* times as long."""
        return replace(self, gap=self.gap * factor)
