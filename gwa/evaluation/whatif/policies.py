"""
Policies side by side on a log: how long jobs wait under each, and relative to the first of them.

Both sides of a ratio are replays of the same jobs on the same machine. Its interval, at 95 %, is that of the
weeks of the log, by a moving-block bootstrap of four weeks (Künsch 1989), in which both replays have the same
weeks drawn: it says how far a ratio rests on single weeks. It does not know how far a replay is from the
machine, what users would submit under another policy, nor other times of the same machine: of two parts of a
log, 6 to 51 weeks each and one after the other, the interval of one held the ratio of the other in 69 of 132
cases (seven public logs; FCFS, SJF, conservative and a policy of 12 lines, each relative to EASY).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Self

from gwa.errors import SimulationError
from gwa.evaluation.whatif.effect import BLOCK, SLOWDOWN, WAIT, JobMeasure, Pair, Simulated, effect, weeks_of
from gwa.evaluation.whatif.validation import gaps
from gwa.evaluation.whatif.world import World, recorded
from gwa.store.store import Store
from gwa.words.formatting import fraction, number

ABOUT: Final = (
    "× is relative to {base}, of waits with a minute added to each. In brackets: its 95 % interval over the"
    " weeks of the log, drawn again in blocks of four; a log of four weeks or less has none. It is of these"
    " weeks only: that of one half-year of a public log holds the ratio of the next in about half of the"
    " cases. Replays are of an ideal machine, to which users submit the same jobs under any policy."
)
"""What ratios and intervals are, with a place for the first policy."""


@dataclass(frozen=True)
class PolicyOutcome:
    """
    What a *policy* does to the *jobs* of a *log*.

    *wait* is their mean wait in seconds, and *slowdown* their mean bounded slowdown (Feitelson 2001). The
    *ratio* of each is relative to the first policy, with *low* and *high* ends of its interval: None for that
    policy itself, and where the log is too short.
    """

    log: str
    policy: str
    jobs: int
    wait: float
    wait_ratio: float
    wait_low: float | None
    wait_high: float | None
    slowdown: float
    slowdown_ratio: float
    slowdown_low: float | None
    slowdown_high: float | None


@dataclass(frozen=True, eq=False)
class ReplayedLog:
    """
    A *log* that is replayed: its *world*, whose jobs all fit.

    *too_large* are those left out since they need more processors than there are; *gaps* are sentences on
    what the log does not say.
    """

    log: str
    world: World
    too_large: int
    gaps: tuple[str, ...]

    @classmethod
    def of(cls, log: str, store: Store, load: float | None) -> Self:
        """
        Return the jobs of *store*, at a *load* if one is given.

        Raise `TraceError` or `SimulationError` where none can be replayed, or brought to that load.
        """
        everything = recorded(store, "")
        world = everything.only(everything.size <= everything.capacity)
        if not len(world):
            raise SimulationError(f"{log}: no job fits into {world.capacity} processors")
        requested = float((world.requested > 0).mean())
        said = gaps(len(world), requested, capacity_is_stated=bool(store.system.size))
        left = len(everything) - len(world)
        return cls(log, world if load is None else world.at_load(load), left, said)

    def outcomes(self, policies: Sequence[str]) -> Iterator[PolicyOutcome]:
        """
        Yield what each of *policies* does to the jobs, in their order.

        Raise `SimulationError`, which names the log, for what a policy does wrong.
        """
        first = None
        for policy in policies:
            try:
                replayed = Simulated.of(replace(self.world, policy=policy))
            except SimulationError as error:
                raise SimulationError(f"{self.log}: {error}") from error
            first = first or replayed
            pair = Pair(first, replayed)
            relative = (*_relative(WAIT, pair), *_relative(SLOWDOWN, pair))
            yield PolicyOutcome(self.log, policy, len(self.world), *relative)

    def plain(self) -> dict[str, Any]:
        """Return what the log is, as JSON holds it."""
        return {
            "log": self.log,
            "jobs": len(self.world),
            "too_large": self.too_large,
            "processors": self.world.capacity,
            "weeks": weeks_of(self.world),
            "load": self.world.load,
            "gaps": list(self.gaps),
        }

    def __str__(self) -> str:
        """Return what the log is, in words."""
        world = self.world
        told = (
            f"{self.log}: {number(len(world))} jobs on {number(world.capacity)} processors, load"
            f" {fraction(world.load)}."
        )
        left = f"{number(self.too_large)} jobs larger than the machine were not replayed."
        return " ".join([told, *([left] if self.too_large else []), *self.gaps])


def _relative(measure: JobMeasure, pair: Pair) -> tuple[float, float, float | None, float | None]:
    """Return the mean of the second replay, its ratio to that of the first, and the interval of that."""
    found = effect(measure, [pair], 0.0)
    if found is None:
        raise SimulationError(f"the {measure.name} of no job is known")
    is_known = pair.old is not pair.new and weeks_of(pair.old.world) > BLOCK
    return found.new, found.ratio, *((found.low, found.high) if is_known else (None, None))
