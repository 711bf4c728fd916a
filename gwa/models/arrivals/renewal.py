"""Arrivals whose gaps are independent: exponential, or of any distribution."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Final, Self

import numpy as np

from gwa.errors import ModelError
from gwa.models.arrival_process import Arrivals, sample_gaps
from gwa.models.draws import Scaled, block_sizes
from gwa.models.parameters import positive, share
from gwa.statistics.fit import fit_all
from gwa.statistics.sample import Floats
from gwa.store.store import Store
from gwa.words.message import message

CANDIDATES: Final = ("exponential", "lognormal", "weibull", "gamma", "hyperexponential", "lognormalmixture")


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


@dataclass(frozen=True)
class Renewal(Arrivals):
    """
    A renewal process: gaps are independent and have one distribution, whatever the hour.

    Many jobs of a log arrive in the same second as the one before, which no distribution of positive
    gaps has; they are a *simultaneous* share of their own, and all others come at least a second later.
    """

    gap: Scaled
    simultaneous: Annotated[float, share("of arrivals in the same second as the one before")] = 0.0
    pace: Annotated[float, positive("what gaps are multiplied by")] = 1.0

    name = "renewal"
    title = "renewal process"

    def check(self) -> None:
        """Refuse a process in which time stands still."""
        if self.simultaneous == 1:
            raise ModelError("simultaneous is 1, expected a share below 1")

    @classmethod
    def fit(cls, store: Store, table: str = "jobs", column: str = "submit_time") -> Self:
        """Fit the distribution among `CANDIDATES` with the minimum BIC to the gaps above 0."""
        gaps = sample_gaps(store, table, column)
        positive_gaps = gaps.restrict(above=0.0)
        best = fit_all(positive_gaps, CANDIDATES).best_bic
        if best is None:
            raise ModelError(
                message("gap: the times between arrivals are all alike, expected different ones")
            )
        return cls(Scaled(best.distribution, base=1.0), 1 - positive_gaps.n / gaps.n)

    def mean_gap(self) -> float:
        """Return the expectation of gaps in seconds, but for their rounding."""
        return (1 - self.simultaneous) * self.pace * self.gap.mean()

    def times(self, rng: np.random.Generator) -> Iterator[Floats]:
        """Yield an endless stream of blocks of arrival times."""
        last = 0.0
        for size in block_sizes():
            gap = np.maximum(np.rint(self.pace * self.gap.rvs(rng, size)), 1.0)
            gap[rng.random(size) < self.simultaneous] = 0.0
            times = last + np.cumsum(gap)
            last = float(times[-1])
            yield times
