"""Arrivals in a virtual time that passes faster in the busy hours of the day."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Final, Self, TypeAlias

import numpy as np

from gwa.errors import ModelError
from gwa.models.arrival_process import Arrivals, sample_gaps
from gwa.models.draws import Scaled, block_sizes, minimize_loss
from gwa.models.parameters import Parameters, Quantity, positive
from gwa.statistics.distribution import Distribution
from gwa.statistics.fit import fit_all
from gwa.statistics.numeric import dot
from gwa.statistics.sample import Floats, Sample
from gwa.store.store import Store
from gwa.util.units import DAY, HOUR
from gwa.words.message import message

SLOTS: Final = 48
SLOT: Final = DAY / SLOTS

CANDIDATES: Final = ("normal", "weibull", "gamma")
"""Distributions of the logarithm of gaps, and of the slots of the day."""

Candidates: TypeAlias = Sequence[str | type[Distribution]]


@dataclass(frozen=True)
class Day(Parameters):
    """
    The speed of virtual time in each half hour of a day, given by the distribution of slots.

    Slot k of 48 begins *begins* + 1800 k seconds after midnight; arrivals in it are in proportion to
    F(*first* + k + 0.5) - F(*first* + k - 0.5). A day of virtual time takes a day of real time.
    """

    distribution: Distribution
    begins: Annotated[float, Quantity("when slot 0 begins, after midnight", "s", 0.0, DAY)] = 0.0
    first: Annotated[float, Quantity("the argument of slot 0", "half hours")] = 0.0

    def check(self) -> None:
        """Refuse a day in which nothing arrives."""
        if not self.shares.sum() > 0:
            raise ModelError(f"distribution is {self.distribution}, which has no mass in the day's 48 slots")

    @cached_property
    def shares(self) -> Floats:
        """The share of a day's arrivals in each slot, counted from *begins*."""
        return _shares(self.distribution, self.first)

    @cached_property
    def ends(self) -> Floats:
        """The virtual time in seconds at the 49 bounds of the slots, from *begins* on."""
        return np.concatenate(([0.0], np.cumsum(self.shares))) * DAY

    def real(self, virtual: Floats) -> Floats:
        """Convert seconds of *virtual* time since a midnight to seconds of real time."""
        bounds = np.arange(SLOTS + 1) * SLOT
        before = DAY - self.begins
        days, rest = np.divmod(virtual + np.interp(before, bounds, self.ends), DAY)
        seconds: Floats = days * DAY + np.interp(rest, self.ends, bounds) - before
        return seconds

    def virtual(self, real: str) -> str:
        """Return SQL for the virtual time, up to a constant, of the SQL expression *real*."""
        since = f"({real} - {self.begins!r})"
        days = f"floor({since} / {float(DAY)!r})"
        slots = f"(({since} - {days} * {float(DAY)!r}) / {SLOT!r})"
        ends, widths = (f"[{', '.join(map(repr, x.tolist()))}]" for x in (self.ends, np.diff(self.ends)))
        # Rounding may put the last instant of a day into a 49th slot.
        slot = f"cast(least(greatest(floor({slots}), 0), {SLOTS - 1}) as integer)"
        return f"{days} * {float(DAY)!r} + {ends}[{slot} + 1] + ({slots} - {slot}) * {widths}[{slot} + 1]"

    @classmethod
    def fit(cls, times: Sample, begins: float, first: float, candidates: Candidates) -> Self:
        """
        Fit the day to *times* since midnight by maximum likelihood.

        The likelihood is that of the 48 shares; the mass of a distribution outside of the slots is ignored.
        """
        slots = Sample.weighted(first + np.floor((times.values - begins) / SLOT) % SLOTS, times.counts)
        starts = fit_all(slots, candidates, "thesis")
        if not len(starts):
            raise ModelError(message("day: arrivals are all in one half hour of the day, expected several"))
        counts = np.zeros(SLOTS)
        counts[(slots.values - first).astype(np.int64)] = slots.counts

        def loss(distribution: Distribution) -> float:
            return -dot(counts, np.log(np.maximum(_shares(distribution, first), 1e-300)))

        improved = (minimize_loss(fit.distribution, loss) for fit in starts)
        return cls(min(improved, key=loss), begins, first)


def _shares(distribution: Distribution, first: float) -> Floats:
    """Return the share of each slot, all 0 if the slots have no mass."""
    mass = np.diff(distribution.cdf(first + np.arange(SLOTS + 1) - 0.5))
    total = mass.sum()
    return mass / total if total > 0 else mass


@dataclass(frozen=True)
class Slots(Arrivals):
    """
    Slot weights: a renewal process in virtual time, in which busy half hours pass slowly.

    Lublin and Feitelson (2003), section 5, and after them Anoep (thesis 2009, section 3.3.3). Gaps have
    one distribution of their logarithm; the clock of `Day` turns virtual seconds into real ones.
    """

    gap: Scaled
    day: Day
    pace: Annotated[float, positive("what gaps are multiplied by")] = 1.0

    name = "slots"
    title = "slot weights"

    @classmethod
    def fit(cls, store: Store, table: str = "jobs", column: str = "submit_time") -> Self:
        """Fit the process, with a day that begins at six in the morning."""
        return cls.fit_day(store, table, column, candidates=CANDIDATES, begins=6.0 * HOUR)

    @classmethod
    def fit_day(
        cls,
        store: Store,
        table: str,
        column: str,
        *,
        candidates: Candidates,
        begins: float,
        first: float = 0.0,
        high: float | None = None,
    ) -> Self:
        """
        Fit the process with a day that begins *begins* seconds after midnight, with the argument *first*.

        The distributions are those of *candidates* with the minimum KS distance. Gaps are fitted in virtual
        time, on the natural logarithm; those below one second count as one. Logarithms above *high* are drawn
        again, by default those above the longest gap: the expectation of gaps without an end is infinite for
        many fits, and dominated by the tail for others. The pace makes the mean gap that of the arrivals.
        """
        sample_gaps(store, table, column)
        midnight = f"floor({column} / {float(DAY)!r}) * {float(DAY)!r}"
        day = Day.fit(store.sample(f"{column} - {midnight}", table), begins, first, candidates)
        arrivals = f"select {day.virtual(column)} as virtual from {table} where {column} is not null"
        gaps = (
            f"(select virtual - lag(virtual) over (order by virtual) as gap from ({arrivals}) as a) as gaps"
        )
        virtual_gaps = store.sample("greatest(round(gap), 1)", gaps)
        best = fit_all(virtual_gaps.map(np.log), candidates, "thesis").best_ks
        if best is None:
            raise ModelError(
                message("gap: the times between arrivals are all alike, expected different ones")
            )
        gap = Scaled(best.distribution, high=math.log(virtual_gaps.max() + 0.5) if high is None else high)
        return cls(gap, day, store.row(f"select avg(gap) from {gaps}")[0] / gap.mean())

    def mean_gap(self) -> float:
        """Return the expectation of gaps in seconds, infinite where it does not exist."""
        return self.pace * self.gap.mean()

    def times(self, rng: np.random.Generator) -> Iterator[Floats]:
        """Yield an endless stream of blocks of arrival times."""
        last = 0.0
        for size in block_sizes():
            virtual = last + np.cumsum(self.pace * self.gap.rvs(rng, size))
            last = float(virtual[-1])
            yield np.floor(self.day.real(virtual))
