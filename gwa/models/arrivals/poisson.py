"""Independent arrivals at a constant rate."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Self

import numpy as np

from gwa.models.arrival_process import Arrivals, sample_gaps
from gwa.models.draws import block_sizes
from gwa.models.parameters import positive
from gwa.statistics.sample import Floats
from gwa.store.store import Store


@dataclass(frozen=True)
class Poisson(Arrivals):
    """The Poisson process: gaps are exponential and independent, whatever the hour."""

    gap: Annotated[float, positive("mean time between arrivals", "s")]

    name = "poisson"
    title = "Poisson process"

    @classmethod
    def fit(cls, store: Store, table: str = "jobs", column: str = "submit_time") -> Self:
        """Fit the mean gap."""
        return cls(sample_gaps(store, table, column).mean())

    def times(self, rng: np.random.Generator) -> Iterator[Floats]:
        """Yield an endless stream of blocks of arrival times."""
        last = 0.0
        for size in block_sizes():
            exact = last + np.cumsum(rng.exponential(self.gap, size))
            last = float(exact[-1])
            yield np.floor(exact)

    def scale_gaps(self, factor: float) -> Self:
        """Return the process with interarrival gaps multiplied by *factor*."""
        return replace(self, gap=self.gap * factor)
