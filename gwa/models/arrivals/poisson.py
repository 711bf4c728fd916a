"""Arrivals that know nothing of each other."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Self

import numpy as np

from gwa.models.arrival_process import Arrivals, gaps
from gwa.models.draws import sizes
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
    def fit(cls, store: Store, moments: str = "jobs", column: str = "submit_time") -> Self:
        """Return the process of the same mean gap."""
        return cls(gaps(store, moments, column).mean())

    def times(self, rng: np.random.Generator) -> Iterator[Floats]:
        """Yield blocks of arrival times."""
        last = 0.0
        for size in sizes():
            exact = last + np.cumsum(rng.exponential(self.gap, size))
            last = float(exact[-1])
            yield np.floor(exact)

    def paced(self, factor: float) -> Self:
        """Return the process with gaps that are *factor* times as long."""
        return replace(self, gap=self.gap * factor)
