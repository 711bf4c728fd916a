"""Arrivals in a virtual time that passes faster in the busy hours of a day."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Final, Self, TypeAlias

import numpy as np

from gwa.errors import ModelError
from gwa.models.arrival_process import Arrivals, gaps
from gwa.models.draws import Scaled, improved, sizes
from gwa.models.parameters import Parameters, Quantity, positive
from gwa.statistics.distribution import Distribution
from gwa.statistics.fit import fit_all
from gwa.statistics.numeric import dot
from gwa.statistics.sample import Floats, Sample
from gwa.store.store import Store
from gwa.util.units import DAY, HOUR

SLOTS: Final = 48
SLOT: Final = DAY / SLOTS

KINDS: Final = ("normal", "weibull", "gamma")
"""Candidates for the logarithm of gaps, and for the slots of the day."""

Kinds: TypeAlias = Sequence[str | type[Distribution]]


@dataclass(frozen=True)
class Day(Parameters):
    """
    How fast time passes in each half hour of a day, as the distribution of slots says.

    Slot k of 48 begins *begins* + 1800 k seconds after midnight; arrivals in it are in proportion to
    F(*first* + k + 0.5) - F(*first* + k - 0.5). On average over a day time passes as fast as it does.
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
        """Return the seconds after a midnight at which the *virtual* ones since it have passed."""
        bounds = np.arange(SLOTS + 1) * SLOT
        late = DAY - self.begins
        days, rest = np.divmod(virtual + np.interp(late, bounds, self.ends), DAY)
        found: Floats = days * DAY + np.interp(rest, self.ends, bounds) - late
        return found

    def virtual(self, real: str) -> str:
        """Return the SQL for the virtual time at the *real* one, up to a constant."""
        since = f"({real} - {self.begins!r})"
        days = f"floor({since} / {float(DAY)!r})"
        slots = f"(({since} - {days} * {float(DAY)!r}) / {SLOT!r})"
        ends, widths = (f"[{', '.join(map(repr, x.tolist()))}]" for x in (self.ends, np.diff(self.ends)))
        # The last instant of a day may be rounded to the first of a 49th slot.
        slot = f"cast(least(greatest(floor({slots}), 0), {SLOTS - 1}) as integer)"
        return f"{days} * {float(DAY)!r} + {ends}[{slot} + 1] + ({slots} - {slot}) * {widths}[{slot} + 1]"

    @classmethod
    def fit(cls, times: Sample, begins: float, first: float, kinds: Kinds) -> Self:
        """
        Return the day of *times* since midnight, of the distribution with the greatest likelihood.

        The likelihood is that of the 48 shares: what a distribution has before and after its day counts not.
        """
        slots = Sample.weighted(first + np.floor((times.values - begins) / SLOT) % SLOTS, times.counts)
        starts = fit_all(slots, kinds, "thesis")
        if not len(starts):
            raise ModelError("day: arrivals are all in one half hour of the day, expected several")
        counts = np.zeros(SLOTS)
        counts[(slots.values - first).astype(np.int64)] = slots.counts

        def loss(distribution: Distribution) -> float:
            return -dot(counts, np.log(np.maximum(_shares(distribution, first), 1e-300)))

        found = (improved(fit.distribution, loss) for fit in starts)
        return cls(min(found, key=loss), begins, first)


def _shares(distribution: Distribution, first: float) -> Floats:
    """Return the share of each slot; where there is no mass at all, nothing."""
    mass = np.diff(distribution.cdf(first + np.arange(SLOTS + 1) - 0.5))
    total = mass.sum()
    shares: Floats = mass / total if total > 0 else mass
    return shares


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
    def fit(cls, store: Store, moments: str = "jobs", column: str = "submit_time") -> Self:
        """Return the process of a day that begins at six in the morning."""
        return cls.fit_day(store, moments, column, kinds=KINDS, begins=6.0 * HOUR)

    @classmethod
    def fit_day(
        cls, store: Store, moments: str, column: str, *, kinds: Kinds, begins: float, first: float = 0.0
    ) -> Self:
        """
        Return the process whose day begins *begins* seconds after midnight, with the argument *first*.

        Distributions are the nearest by KS of *kinds*. Gaps are fitted in virtual time, on the natural
        logarithm; those below a second count as one.
        """
        gaps(store, moments, column)
        midnight = f"floor({column} / {float(DAY)!r}) * {float(DAY)!r}"
        day = Day.fit(store.sample(f"{column} - {midnight}", moments), begins, first, kinds)
        passed = f"select {day.virtual(column)} as passed from {moments} where {column} is not null"
        found = store.sample(
            "greatest(round(gap), 1)",
            f"(select passed - lag(passed) over (order by passed) as gap from ({passed}) as moments) as gaps",
        )
        best = fit_all(found.map(np.log), kinds, "thesis").best_ks
        if best is None:
            raise ModelError("gap: the times between arrivals are all alike, expected different ones")
        return cls(Scaled(best.distribution), day)

    def times(self, rng: np.random.Generator) -> Iterator[Floats]:
        """Yield blocks of arrival times."""
        last = 0.0
        for size in sizes():
            virtual = last + np.cumsum(self.pace * self.gap.rvs(rng, size))
            last = float(virtual[-1])
            yield np.floor(self.day.real(virtual))

    def paced(self, factor: float) -> Self:
        """Return the process with gaps that are *factor* times as long."""
        return replace(self, pace=self.pace * factor)
