"""
The rule by which a log predicts waits with more processors, or is refused.

All must hold: the change is at most a fifth more processors; the log states the size of its machine; it has
`MINIMUM_WINDOWS` windows or more of enough jobs; rules that no replay knows kept little of the waiting
(`gwa.evaluation.touched`); on windows that were held out an estimator passes
(`gwa.evaluation.capacity.record`); most windows would be as loaded as windows that were seen: beyond these a
replay is no safer than a regression. The estimator of the lower score answers; where both may, but are far
apart, the log cannot tell.

What is predicted is the p95 wait in the median month: the months of the log, each with its recorded wait
changed as the estimator predicts, and of these waits the median. A mean ratio times the recorded median is
another number, since months of long queues gain more than others.

The interval joins two errors: how far the median months of held-out blocks were off, and what machines that
no replay knows add to a change. In made worlds with hidden machines it holds at least 4 in 5 answers. Users
who submit more when queues are short are in no estimator, and no real purchase lies within the rule's range.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import exp, hypot, log
from typing import Final, TypeAlias

import numpy as np

from gwa.evaluation.capacity.estimators import ESTIMATORS
from gwa.evaluation.capacity.reasons import Reason, of_record
from gwa.evaluation.capacity.record import EstimatorRecord, record
from gwa.evaluation.capacity.windows import (
    EVERY,
    WINDOW,
    ProcessorRange,
    Windows,
    large,
    median_month,
    places,
    whole,
)
from gwa.evaluation.touched import MAXIMUM_BY_RULES, REPLAYED, TouchedWaiting, touched
from gwa.evaluation.whatif.change import resized
from gwa.evaluation.whatif.validation import OFFSET
from gwa.evaluation.whatif.world import World, recorded
from gwa.metrics.waiting import waiting
from gwa.statistics.sample import Floats, Ints
from gwa.store.store import Store
from gwa.util.progress import SILENT, Progress
from gwa.words.formatting import fraction, number, seconds, significant
from gwa.words.message import Message, message, plural

MAXIMUM_CHANGE: Final = "+20%"
"""The largest change that made worlds bear out; with half as many again, no interval held."""

MINIMUM_WINDOWS: Final = 24
"""The minimum number of windows of a log: with fewer, bands are too wide to be of use."""

MINIMUM_SEEN: Final = 0.6
"""The share of windows that must be as loaded, after the change, as some window that was seen."""

MAXIMUM_APART: Final = 1.5
"""The factor between both estimators from which the log cannot tell."""

HIDDEN: Final = 0.35
"""What hidden machines add to the error of the logarithm of a wait, in made worlds of up to a fifth more."""

STEPS: Final = 10
"""Sizes of a curve."""


@dataclass(frozen=True)
class Refusal:
    """That a log does not predict the waits of a class on a machine with *processors*, and why."""

    among: ProcessorRange
    processors: int
    reasons: tuple[Reason, ...]


@dataclass(frozen=True)
class Forecast:
    """
    What the 95 % quantile of the waits of a class would be on a machine with a number of *processors*.

    The class is *among*. *before* is the quantile in the median window, in seconds, as recorded: of the
    *record*'s windows, out of the *whole* ones of the log, by the jobs submitted in each. *middle* is what it
    would be in the median of the same windows. *estimator* is the one of `ESTIMATORS` that predicts it,
    *record* how that did on held-out windows, *seen* the share of windows that would be as loaded as windows
    that were seen.
    """

    among: ProcessorRange
    processors: int
    before: float
    middle: float
    whole: int
    estimator: str
    record: EstimatorRecord
    seen: float

    @property
    def half_width(self) -> float:
        """Half of the interval of the logarithm of the wait, a minute added, which holds at least 4 in 5."""
        return hypot(HIDDEN, log(self.record.off))

    @property
    def after(self) -> tuple[float, float, float]:
        """The low end, the middle and the high end of the quantile in the median window, in seconds."""
        factor = exp(self.half_width)
        low, high = ((self.middle + OFFSET) * end - OFFSET for end in (1 / factor, factor))
        return max(low, 0.0), self.middle, high

    @property
    def ratios(self) -> tuple[float, float, float]:
        """The same relative to now, a minute added to every wait."""
        low, middle, high = ((wait + OFFSET) / (self.before + OFFSET) for wait in self.after)
        return low, middle, high


@dataclass(frozen=True)
class Recorded:
    """A *value* that needs no forecast, None where the log does not record it, and what it means in words."""

    id: str
    value: float | None
    text: Message


Outcome: TypeAlias = Forecast | Refusal


@dataclass(frozen=True)
class CapacityPlan:
    """
    What a log predicts for a machine of *asked* processors, which now has *processors*.

    *outcomes* are the forecast for each class, or why there is none, and *curves* the same of sizes between
    both machines. *jobs* were replayed, or would be; those that are *too_large* for the machine are left out.
    The work of jobs *without_wait* counts, their waits do not. *touched* is how much of the waiting more
    processors touch, None where that was not asked.
    """

    processors: int
    asked: int
    outcomes: tuple[Outcome, ...]
    curves: tuple[tuple[Outcome, ...], ...]
    jobs: int
    too_large: int
    without_wait: int
    touched: TouchedWaiting | None = None


def planned(
    store: Store, cpus: str, classes: Sequence[ProcessorRange] = (), progress: Progress = SILENT
) -> CapacityPlan:
    """
    Return what the log of a *store* predicts of waits with other *cpus*, such as ``+20%``.

    Raise `TraceError` where no job can be replayed, `ArgumentError` where *cpus* is no size.
    """
    world, system = recorded(store, "easy"), store.system
    return plan(
        world,
        resized(world.capacity, cpus, "--cpus"),
        capacity_is_stated=bool(system.size),
        classes=classes,
        progress=progress,
        of_waiting=touched(waiting(store), REPLAYED),
    )


def plan(
    world: World,
    asked: int,
    *,
    capacity_is_stated: bool,
    classes: Sequence[ProcessorRange] = (),
    has_curve: bool = True,
    progress: Progress = SILENT,
    of_waiting: TouchedWaiting | None = None,
) -> CapacityPlan:
    """
    Return what a log predicts of waits on a machine of *asked* processors.

    The *world* is the machine with its jobs as they are recorded; it is replayed with EASY backfilling.
    *capacity_is_stated* says whether the log, or a description of the system, states the size of the machine.
    The jobs asked about are those of *classes*, by default all, and the large ones. With *has_curve*, sizes
    between both machines are answered, too. Where rules that no replay knows kept much of *of_waiting*, the
    waiting that is touched, nothing is.
    """
    fitting = replace(world.only(world.size <= world.capacity), policy="easy")
    wanted = tuple(classes) or _classes(fitting)
    sizes = _sizes(world.capacity, asked) if has_curve else []
    with progress.step("learning from months", len(wanted) * (1 + len(sizes))) as step:
        replays = _Replays(fitting)
        outcomes, curves = [], []
        for among in wanted:
            lesson = _Lesson(fitting, among, replays, capacity_is_stated, of_waiting)
            outcomes.append(lesson.outcome(asked))
            step.advance()
            curve = []
            for size in sizes:
                curve.append(outcomes[-1] if size == asked else lesson.outcome(size))
                step.advance()
            curves.append(tuple(curve))
    return CapacityPlan(
        world.capacity, asked, tuple(outcomes), tuple(curves), len(fitting), len(world) - len(fitting),
        int((~np.isfinite(fitting.wait)).sum()), of_waiting,
    )  # fmt: skip


def _classes(world: World) -> tuple[ProcessorRange, ...]:
    """Return all jobs, and the large ones if these are others."""
    of_large = large(world)
    rows = of_large.rows(world)
    return (EVERY, of_large) if rows.any() and not rows.all() else (EVERY,)


def _sizes(capacity: int, asked: int) -> list[int]:
    """Return the sizes of a curve from a machine, which is left out, to the one that is *asked* for."""
    steps = np.linspace(capacity, asked, STEPS + 1)[1:]
    return sorted({round(step) for step in steps} - {capacity})


class _Replays:
    """Replays of a world on machines of several sizes, each done once."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._starts: dict[int, Floats] = {}

    def windows(self, capacity: int, jobs: Sequence[tuple[Ints, Ints]]) -> Windows:
        """Return the windows of a machine of that *capacity*."""
        world = replace(self._world, capacity=capacity)
        if capacity not in self._starts:
            self._starts[capacity] = world.starts()
        return Windows.of(world, self._starts[capacity], jobs)


@dataclass(frozen=True, eq=False)
class _Lesson:
    """What the windows of a class predict for any size of the machine."""

    world: World
    among: ProcessorRange
    replays: _Replays
    capacity_is_stated: bool
    of_waiting: TouchedWaiting | None

    @cached_property
    def jobs(self) -> list[tuple[Ints, Ints]]:
        """The jobs of each window."""
        return places(self.world, self.among)

    @cached_property
    def was(self) -> Windows:
        """The windows of the machine as it is."""
        return self.replays.windows(self.world.capacity, self.jobs)

    @cached_property
    def before(self) -> float:
        """The 95 % quantile of the waits in the median window, in seconds, as recorded."""
        return median_month(self.was.wait)

    @cached_property
    def records(self) -> Mapping[str, EstimatorRecord]:
        """How each estimator does on held-out windows."""
        return {name: record(self.was, estimator) for name, estimator in ESTIMATORS.items()}

    @cached_property
    def lacking(self) -> tuple[Reason, ...]:
        """Why the log predicts nothing for the class."""
        return tuple(self._lacking())

    def _lacking(self) -> Iterator[Reason]:
        known = int((self.among.rows(self.world) & np.isfinite(self.world.wait)).sum())
        if not self.capacity_is_stated:
            busy = self.world.capacity
            yield Reason(
                "size", busy, None,
                message(
                    "the log does not state how many processors the machine has, of which {busy} were busy"
                    " at most; expected 'cpus' in a file for --system",
                    busy=number(busy),
                ),
            )  # fmt: skip
        if self.of_waiting and self.of_waiting.is_by_rules:
            found = self.of_waiting.by_rules
            yield Reason("rules", found, MAXIMUM_BY_RULES, self.of_waiting.reason())
        if not known:
            of = int(self.among.rows(self.world).sum())
            yield Reason("waits", known, 1, _no_wait(of))
        elif len(self.jobs) < MINIMUM_WINDOWS:
            yield Reason(
                "months", len(self.jobs), MINIMUM_WINDOWS,
                plural(
                    "{n} month of four weeks has enough such jobs with a known wait, expected at least"
                    " {least}",
                    "{n} months of four weeks have enough such jobs with a known wait, expected at least"
                    " {least}",
                    len(self.jobs), least=number(MINIMUM_WINDOWS),
                ),
            )  # fmt: skip
        elif self.before >= WINDOW:
            yield Reason(
                "outlasting", self.before, WINDOW,
                message(
                    "the p95 wait of the median month is {wait}, expected less than a month: months that"
                    " wait for each other cannot be held out",
                    wait=seconds(self.before),
                ),
            )  # fmt: skip

    def outcome(self, asked: int) -> Outcome:
        """Return the forecast for a machine of *asked* processors, or a refusal."""
        reasons = [*_beyond(self.world.capacity, asked), *self.lacking]
        if reasons:
            return Refusal(self.among, asked, tuple(reasons))
        passing = [name for name, found in self.records.items() if found.passes]
        if not passing:
            failing = [reason for name, found in self.records.items() for reason in of_record(name, found)]
            return Refusal(self.among, asked, tuple(failing))
        then = self.replays.windows(asked, self.jobs)
        seen = float(np.mean((then.load >= self.was.load.min()) & (then.load <= self.was.load.max())))
        if seen < MINIMUM_SEEN:
            return Refusal(self.among, asked, (_unseen(seen),))
        return self._forecast(asked, then, seen, passing)

    def _forecast(self, asked: int, then: Windows, seen: float, passing: Sequence[str]) -> Outcome:
        """Return the forecast of the best of the estimators that are *passing*, unless they are far apart."""
        changes = {name: self._change(name, then) for name in passing}
        apart = self._apart(list(changes.values()))
        if apart > MAXIMUM_APART:
            return Refusal(self.among, asked, (_apart(apart),))
        best = min(changes, key=lambda name: self.records[name].score or 0.0)
        middle = median_month(self.was.wait + changes[best])
        return Forecast(
            self.among, asked, self.before, middle, whole(self.world), best, self.records[best], seen
        )

    def _change(self, name: str, then: Windows) -> Floats:
        """Return the change of the logarithm of the wait of each window that an estimator predicts."""
        predict = ESTIMATORS[name](self.was, np.arange(len(self.was)))
        return predict(then) - predict(self.was)

    def _apart(self, changes: Sequence[Floats]) -> float:
        """Return the largest factor between two predictions, of the mean change and of the median month."""
        means = [float(one.mean()) for one in changes]
        medians = [log(median_month(self.was.wait + one) + OFFSET) for one in changes]
        return exp(max(max(logs) - min(logs) for logs in (means, medians)))


def _beyond(capacity: int, asked: int) -> Iterator[Reason]:
    """Yield that no log answers such a change."""
    most = max(resized(capacity, MAXIMUM_CHANGE, "--cpus"), capacity)
    if capacity < asked <= most:
        return
    text = (
        message("only up to 20 % more processors can be planned for")
        if asked <= capacity or most == capacity
        else message("at most {most} processors, 20 % more, can be planned for", most=number(most))
    )
    yield Reason("change", asked / capacity - 1, most / capacity - 1, text)


def _no_wait(jobs: int) -> Message:
    if not jobs:
        return message("no job that can be replayed is such a job, expected some")
    return plural(
        "the wait of the only such job is not recorded, expected some",
        "none of {n} such jobs records its wait, expected some",
        jobs,
    )


def _unseen(seen: float) -> Reason:
    return Reason(
        "seen", seen, MINIMUM_SEEN,
        message(
            "{seen} of the months would be as loaded as months seen, expected at least {least}",
            seen=fraction(seen), least=fraction(MINIMUM_SEEN),
        ),
    )  # fmt: skip


def _apart(apart: float) -> Reason:
    return Reason(
        "apart", apart, MAXIMUM_APART,
        message(
            "both predictions are a factor of {apart} apart, expected at most {most}",
            apart=significant(apart, 2), most=significant(MAXIMUM_APART, 2),
        ),
    )  # fmt: skip
