"""Made worlds of years of months, on machines that a replay knows or not, with the waits of larger ones."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from gwa.evaluation.capacity.rule import CapacityPlan, Forecast
from gwa.evaluation.capacity.windows import MINIMUM_JOBS, WINDOW, ProcessorRange
from gwa.evaluation.whatif.world import World
from gwa.util.units import DAY, HOUR, WEEK

MONTHS = 32
"""Of which the first and the last are left out: thirty are learnt from."""


def submitted(seed: int, jobs: int = 500) -> World:
    """
    Return years of jobs of several users, about so many a month, on a machine of 64 to 512 processors.

    Months differ in their load, hours in their jobs, users in sizes and run times.
    """
    rng = np.random.default_rng(seed)
    capacity = int(2 ** rng.integers(6, 10))
    users = int(rng.integers(15, 40))
    load = rng.uniform(0.7, 0.85) * np.exp(_wandering(rng, MONTHS, rng.uniform(0.1, 0.25)))
    month = rng.permutation(np.repeat(np.arange(MONTHS), jobs))
    owner = rng.choice(users, month.size, p=rng.dirichlet(np.full(users, 0.7)))
    largest = np.log2(capacity) - 2
    size = 2 ** np.clip(rng.normal(rng.uniform(0, largest, users)[owner], 1.0).round(), 0, largest)
    run = np.clip(rng.lognormal(rng.uniform(6.5, 9.5, users)[owner], 1.2), 10, 3 * DAY)
    work = np.bincount(month, run * size)
    run = np.clip(run * (load * capacity * WINDOW / work)[month], 1, 4 * DAY).round()
    hour = (12 + 4 * rng.normal(size=month.size)) % 24
    submit = np.round(month * WINDOW + rng.integers(0, 28, month.size) * DAY + hour * HOUR)
    order = np.argsort(submit, kind="stable")
    requested = np.round(run * rng.uniform(1, 5, month.size)) + 60
    made = World(
        submit, np.full(month.size, np.nan), run, requested, size.astype(np.int64), np.arange(month.size),
        np.full(month.size, ""), np.array([f"U{number}" for number in owner]), capacity, "easy",
    )  # fmt: skip
    return replace(made.taking(order), job=np.arange(month.size))


def drawn(log: World, seed: int, jobs: int = 500) -> World:
    """
    Return years of weeks of a *log*, drawn with replacement, with about so many *jobs* a month.

    Months differ in how many jobs of their weeks are kept; the machine is 65 to 85 % busy.
    """
    rng = np.random.default_rng(seed)
    week = ((log.submit - log.submit[0]) // WEEK).astype(int)
    count = np.bincount(week)
    usual = np.flatnonzero(count[:-1] >= 0.3 * np.median(count))
    kept = np.exp(_wandering(rng, MONTHS, rng.uniform(0.1, 0.3))) * jobs / 4 / count[usual].mean()
    rows, submit = [], []
    for place, number in enumerate(rng.choice(usual, 4 * MONTHS)):
        own = np.flatnonzero(week == number)
        own = own[rng.random(own.size) < kept[place // 4]]
        rows.append(own)
        submit.append(log.submit[own] + (place - number) * WEEK)
    made = log.taking(np.concatenate(rows), np.concatenate(submit))
    busy = float((made.run * made.size).sum()) / (MONTHS * WINDOW)
    capacity = max(int(busy / rng.uniform(0.65, 0.85)), int(np.quantile(made.size, 0.995)))
    sizes = np.minimum(made.size, capacity)
    return replace(made, size=sizes, job=np.arange(len(made)), capacity=capacity)


def _wandering(rng: np.random.Generator, months: int, deviation: float) -> np.ndarray:
    """Return months that are like the month before."""
    found = np.empty(months)
    last = rng.normal()
    for place in range(months):
        last = 0.7 * last + np.sqrt(1 - 0.7**2) * rng.normal()
        found[place] = deviation * last
    return found


def _pools(world: World, first: np.ndarray, part: int) -> np.ndarray:
    """Return the waits where the *first* jobs have a *part* of the machine, and the others the rest."""
    wait = np.empty(len(world))
    for rows, capacity in ((first, part), (~first, world.capacity - part)):
        pool = replace(world.only(rows), capacity=capacity)
        wait[rows] = pool.starts() - pool.submit
    return wait


def nine_tenths(world: World) -> np.ndarray:
    """A tenth of the machine is never in order."""
    smaller = replace(world, capacity=int(0.9 * world.capacity))
    return smaller.starts() - smaller.submit


def shortest_first(world: World) -> np.ndarray:
    """The scheduler takes the shortest request, whatever the users believe."""
    return replace(world, policy="sjf").starts() - world.submit


def two_pools(world: World) -> np.ndarray:
    """Users with about six tenths of the work have as much of the machine, the others the rest."""
    names, owner = np.unique(world.user, return_inverse=True)
    work = np.bincount(owner, world.run * world.size)
    first = names[np.cumsum(work) <= 0.6 * work.sum()]
    return _pools(world, np.isin(world.user, first), int(0.6 * world.capacity))


def short_kept(world: World) -> np.ndarray:
    """A tenth of the machine is reserved for small and short jobs."""
    short = (world.requested <= HOUR) & (world.size <= world.capacity // 20)
    return _pools(world, short, world.capacity // 10)


def first_come(world: World) -> np.ndarray:
    """The scheduler does not backfill."""
    return replace(world, policy="fcfs").starts() - world.submit


def as_replayed(world: World) -> np.ndarray:
    """The machine is what a replay takes it for."""
    return world.starts() - world.submit


MACHINES: dict[str, Callable[[World], np.ndarray]] = {
    one.__name__: one for one in (nine_tenths, shortest_first, two_pools, short_kept, first_come, as_replayed)
}
"""All but the last are hidden from a replay."""


@dataclass(frozen=True, eq=False)
class Made:
    """A world with the waits that a hidden machine gave, and those of one with more processors."""

    world: World
    asked: int
    then: np.ndarray

    @classmethod
    def of(cls, seed: int, machine: str, share: float = 1.2, jobs: int = 500) -> "Made":
        """Return the world of a *seed* on a *machine*, and on one of a *share* of its size."""
        return cls.on(submitted(seed, jobs), machine, share)

    @classmethod
    def on(cls, plain: World, machine: str, share: float) -> "Made":
        """Return a *plain* world on a *machine*, and on one of a *share* of its size."""
        waits = MACHINES[machine]
        asked = round(share * plain.capacity)
        world = replace(plain, wait=waits(plain))
        return cls(world, asked, waits(replace(plain, capacity=asked)))

    def truth(self, among: ProcessorRange) -> tuple[float, float]:
        """Return the 95 % quantile of waits in the median month, in s, now and with more processors."""
        rows = among.rows(self.world)
        month = ((self.world.submit - self.world.submit[0]) // WINDOW)[rows]
        jobs = pd.DataFrame({"month": month, "now": self.world.wait[rows], "then": self.then[rows]})
        inner = jobs[jobs["month"].between(1, (self.world.span // WINDOW) - 1)]
        months = inner.groupby("month").filter(lambda one: len(one) >= MINIMUM_JOBS).groupby("month")
        now, then = months.quantile(0.95).median()
        return float(now), float(then)

    def held(self, found: CapacityPlan) -> list[bool]:
        """Return of each class that is answered whether the interval that is said holds the true wait."""
        told = [one for one in found.outcomes if isinstance(one, Forecast)]
        return [one.after[0] <= self.truth(one.among)[1] <= one.after[2] for one in told]
