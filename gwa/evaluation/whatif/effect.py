"""
What a change does to a measure: the ratio of two simulations, over an ensemble of replays, with its interval.

The machine as it was is simulated, too: a simulated wait is never compared with a recorded one. How a machine
really decides is not known, so the ratio is the geometric mean over several replays. The interval is
exp(log ratio ± 1.96 √(b² + e² + v²)): b is the error of sampling weeks, by a moving-block bootstrap of four
weeks (Künsch 1989), e the standard deviation over the ensemble, and v the error of replays
(`gwa.evaluation.whatif.validation`), by far the largest. Such an interval holds about four times in five.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp, log, sqrt
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from gwa.evaluation.whatif.validation import OFFSET
from gwa.evaluation.whatif.world import NEW, World
from gwa.simulation.metrics import TAU
from gwa.statistics.sample import Floats, Ints
from gwa.util.units import WEEK
from gwa.words.quantities import quantity

Rows = NDArray[np.bool_]

Z: Final = 1.96
REPLICATES: Final = 200
BLOCK: Final = 4
"""Weeks of a block of the bootstrap."""


@dataclass(frozen=True, eq=False)
class Simulated:
    """A *world*, and when each of its jobs starts, in seconds."""

    world: World
    start: Floats

    @classmethod
    def of(cls, world: World) -> "Simulated":
        """Simulate a world."""
        return cls(world, world.starts())

    @cached_property
    def wait(self) -> Floats:
        """The wait of each job in seconds."""
        return self.start - self.world.submit

    @property
    def slowdown(self) -> Floats:
        """The bounded slowdown of each job (Feitelson 2001)."""
        run = self.world.run
        return np.maximum((self.wait + run) / np.maximum(run, TAU), 1.0)

    @property
    def waiting(self) -> float:
        """How many jobs wait on average, from the first submission to the last."""
        return float(self.wait.sum()) / self.world.span if self.world.span else 0.0

    @property
    def backlog(self) -> float:
        """How long the whole machine would need for the work that waits on average, in seconds."""
        world = self.world
        if not world.span:
            return 0.0
        return float((self.wait * world.run) @ world.size) / (world.capacity * world.span)

    @property
    def utilization(self) -> float:
        """The share of the machine in use, from the first submission to the last."""
        world = self.world
        if not world.span:
            return 0.0
        first, last = world.submit[0], world.submit[-1]
        busy = np.clip(self.start + world.run, first, last) - np.clip(self.start, first, last)
        return float(busy @ world.size) / (world.capacity * world.span)


@dataclass(frozen=True, eq=False)
class Pair:
    """The machine as it was and as it would be, both simulated by one replay of the ensemble."""

    old: Simulated
    new: Simulated

    @cached_property
    def kept(self) -> Rows:
        """Which jobs of the old world are in the new one as well: only they are compared."""
        own = self.new.world.job
        return np.isin(self.old.world.job, own[own != NEW])

    @property
    def is_unchanged(self) -> bool:
        """Whether every job that is still submitted starts when it did, and no other one does."""
        before = self.old.start[self.kept]
        return len(before) == len(self.new.start) and bool((before == self.new.start).all())


@dataclass(frozen=True)
class JobMeasure:
    """
    A number for each job, and how those of all are summarized: their mean, or a *quantile*.

    The *offset* is added before ratios are taken, so that waits of seconds do not decide them.
    """

    name: str
    values: Callable[[Simulated], Floats]
    offset: float = 0.0
    quantile: float | None = None

    def summary(self, simulated: Simulated, rows: Rows) -> "Summary":
        """Return the summary of *rows*, the offset included."""
        values = self.values(simulated)[rows] + self.offset
        world = simulated.world
        week = np.floor((world.submit[rows] - world.submit[:1]) / WEEK).astype(np.int64)
        return _Mean(values, week) if self.quantile is None else _Quantile(values, week, self.quantile)


WAIT: Final = JobMeasure(quantity("wait_mean").heading.lower(), lambda simulated: simulated.wait, OFFSET)
TAIL: Final = JobMeasure(quantity("wait_p95").heading.lower(), lambda simulated: simulated.wait, OFFSET, 0.95)
SLOWDOWN: Final = JobMeasure(quantity("slowdown_mean").heading.lower(), lambda simulated: simulated.slowdown)


class Summary(Protocol):
    """A number that sums up jobs, of which each week may count several times."""

    def of(self, times: Floats) -> float:
        """Return the number if week i counts ``times[i]`` times; nan if no job is left."""


class _Mean:
    def __init__(self, values: Floats, week: Ints) -> None:
        self._sums, self._counts = np.bincount(week, values), np.bincount(week)

    def of(self, times: Floats) -> float:
        weeks = min(self._counts.size, times.size)
        count = float(times[:weeks] @ self._counts[:weeks])
        return float(times[:weeks] @ self._sums[:weeks]) / count if count else float("nan")


class _Quantile:
    def __init__(self, values: Floats, week: Ints, quantile: float) -> None:
        order = np.argsort(values, kind="stable")
        self._values, self._week, self._quantile = values[order], week[order], quantile

    def of(self, times: Floats) -> float:
        weights = np.cumsum(times[np.minimum(self._week, times.size - 1)])
        if not weights.size or not weights[-1]:
            return float("nan")
        return float(self._values[np.searchsorted(weights, self._quantile * weights[-1])])


@dataclass(frozen=True)
class Effect:
    """
    What a change does to a measure of a class of *jobs*.

    *old* and *new* are both simulated: geometric means over the ensemble, the offset of the measure added.
    *ratio* is new over old, the offset added to both, and *low* and *high* are its interval.
    """

    name: str
    jobs: int
    old: float
    new: float
    ratio: float
    low: float
    high: float

    @property
    def is_slowdown(self) -> bool:
        """Whether it is of slowdowns, which have no unit, and not of waits in seconds."""
        return self.name == SLOWDOWN.name

    @property
    def is_sure(self) -> bool:
        """Whether the interval excludes that nothing changes."""
        return self.low > 1 or self.high < 1


def effect(
    measure: JobMeasure,
    pairs: Sequence[Pair],
    error: float,
    within: Callable[[World], Rows] | None = None,
    name: str = "",
) -> Effect | None:
    """
    Return what a change does to a *measure*, None where a world has no job that is meant.

    The numbers before and after, and so their ratio, are of all *pairs*, the replays of the ensemble; *error*
    is that of replays, of the logarithm of a ratio. The error of sampling is of the first. *within* returns
    the jobs of a world that are meant, by default all, and *name* is what that class is called, by default
    what the measure is.
    """
    summaries = [_summaries(measure, pair, within) for pair in pairs]
    weeks = weeks_of(pairs[0].old.world)
    once = np.ones(weeks)
    before = np.array([old.of(once) for old, _, _ in summaries])
    after = np.array([new.of(once) for _, new, _ in summaries])
    if not (np.isfinite([before, after]).all() and before.min() > 0 and after.min() > 0):
        return None
    old, new, jobs = summaries[0]
    logs = np.log(after / before)
    spread = float(np.std(logs, ddof=1)) if len(logs) > 1 else 0.0
    half = Z * sqrt(_sampling(old, new, weeks) ** 2 + spread**2 + error**2)
    middle = float(logs.mean())
    return Effect(
        name or measure.name,
        jobs,
        _middle(before) - measure.offset,
        _middle(after) - measure.offset,
        exp(middle),
        exp(middle - half),
        exp(middle + half),
    )


def weeks_of(world: World) -> int:
    """Return how many weeks, counted from the first submission, have jobs at most."""
    return 1 + int(world.span / WEEK)


def _middle(values: Floats) -> float:
    """Return the geometric mean of *values* above 0, exactly their value where all are the same."""
    return float(values[0] * np.exp(np.log(values / values[0]).mean()))


def _summaries(
    measure: JobMeasure, pair: Pair, within: Callable[[World], Rows] | None
) -> tuple[Summary, Summary, int]:
    """Return the summaries of the old and the new world, and how many jobs the old one's is of."""
    old = pair.kept if within is None else pair.kept & within(pair.old.world)
    new = np.ones(len(pair.new.world), bool) if within is None else within(pair.new.world)
    return measure.summary(pair.old, old), measure.summary(pair.new, new), int(old.sum())


def _sampling(old: Summary, new: Summary, weeks: int) -> float:
    """Return the standard deviation of the log of the ratio, by a moving-block bootstrap of weeks."""
    if weeks <= BLOCK:
        return 0.0
    rng = np.random.default_rng(1)
    first = rng.integers(weeks - BLOCK + 1, size=(REPLICATES, -(-weeks // BLOCK)))
    logs = []
    for blocks in first:
        drawn = (blocks[:, None] + np.arange(BLOCK)).ravel()[:weeks]
        times = np.bincount(drawn, minlength=weeks).astype(np.float64)
        before, after = old.of(times), new.of(times)
        if before > 0 and after > 0:
            logs.append(log(after / before))
    return float(np.std(logs)) if logs else 0.0
