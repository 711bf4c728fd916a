"""What a change does to waits, slowdowns, the queue and the machine, and if the log bears that out."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gwa.errors import ArgumentError, TraceError
from gwa.evaluation.capacity import rule
from gwa.evaluation.capacity import words as plan_words
from gwa.evaluation.touched import TouchedWaiting, touched, user_ceilings
from gwa.evaluation.whatif.change import Change, ChangeSubject, changed
from gwa.evaluation.whatif.effect import SLOWDOWN, TAIL, WAIT, Effect, Pair, Rows, Simulated, effect
from gwa.evaluation.whatif.validation import (
    SIZE_NAMES,
    Validation,
    as_plain,
    error_of,
    half_years,
    size_class,
    validate,
)
from gwa.evaluation.whatif.world import GPUS, PROCESSORS, World, recorded
from gwa.metrics.waiting import waiting
from gwa.store.store import Store
from gwa.util.progress import SILENT, Progress
from gwa.util.units import DAY

SLOW_QUEUE: Final = 1000.0
"""With more jobs waiting on average, conservative backfilling takes too long: its cost is of their square."""

BEHIND: Final = 2.0 * DAY
"""A machine falls behind if the work that waits on average would keep all of it busy so long, in s."""

TIMES_BEHIND: Final = 5.0
"""It does so by a change only if the work that waits becomes as many times as much."""

MINIMUM_OF_CLASS: Final = 30
MAXIMUM_QUEUES: Final = 10


@dataclass(frozen=True)
class Member:
    """A replay of the ensemble, called *name*, which *alters* a world in an *aspect* that is not known."""

    name: str
    aspect: ChangeSubject | None
    alter: Callable[[World], World]


OTHER_BACKFILLING: Final = {"easy": "conservative", "conservative": "easy"}

MEMBERS: Final = (
    Member("as stated", None, lambda world: world),
    Member(
        "2 % of the machine out of order",
        None,
        lambda world: replace(world, capacity=max(int(0.98 * world.capacity), 1)),
    ),
    Member(
        "the other kind of backfilling",
        ChangeSubject.POLICY,
        lambda world: replace(world, policy=OTHER_BACKFILLING[world.policy]),
    ),
    Member(
        "run times known to the scheduler",
        ChangeSubject.REQUESTS,
        lambda world: replace(world, requested=world.run),
    ),
)


@dataclass(frozen=True, eq=False)
class WhatIfAnswer:
    """
    What the *changes*, in their order, do to a machine, and whether the log bears that out.

    *old* and *new* are the machine and its jobs as they were, and as they would be, simulated; *validation*
    is the replay of the machine as it was, against the log. *effects* are on the mean wait, the 95 % quantile
    of waits and the mean bounded slowdown. The quantile is not there where a *plan* predicts it or refuses
    to; medians cannot be predicted. *sizes* and *queues* are effects on the mean wait of classes of jobs.

    *members* are the ratios of mean waits that the replays of the ensemble give, by name; *left_out* are
    replays that would have taken too long. Jobs of the log that are *too_large* for the stated machine are
    not replayed, *not_submitted* are those that are not submitted after the change, or no longer fit. It
    *is_unchanged* if in all replays every job that is still submitted starts when it did. The *plan* is what
    the log predicts for more processors, see `gwa.evaluation.capacity.rule`. It is None for
    any other change: no log shows whether a replay of that is right. *touched* is how much of the waiting of
    the log the changes touch, None where that was not asked.
    """

    changes: tuple[Change, ...]
    old: Simulated
    new: Simulated
    validation: Validation
    effects: tuple[Effect, ...]
    sizes: tuple[Effect, ...]
    queues: tuple[Effect, ...]
    members: tuple[tuple[str, float], ...]
    left_out: tuple[str, ...]
    too_large: int
    not_submitted: int
    is_unchanged: bool
    plan: rule.CapacityPlan | None = None
    touched: TouchedWaiting | None = None

    @property
    def forecasts(self) -> tuple[rule.Forecast, ...]:
        """What the log itself tells of the change, which may be nothing."""
        outcomes = self.plan.outcomes if self.plan else ()
        return tuple(one for one in outcomes if isinstance(one, rule.Forecast))

    @property
    def is_at_once(self) -> bool:
        """Whether all jobs are submitted at one instant: then there is no time to take means over."""
        return not (self.old.world.span and self.new.world.span)

    @property
    def falls_behind(self) -> bool:
        """
        Whether the changed machine does not keep up with the jobs: its queue grows for long parts of the log.

        How many times longer jobs wait then depends on how long the log is.
        """
        return self.new.backlog >= max(BEHIND, TIMES_BEHIND * self.old.backlog)

    def _over_time(self, old: float, new: float) -> Mapping[str, float | None]:
        """Return a mean over time as JSON holds it, None where there is no time."""
        return dict.fromkeys(("old", "new")) if self.is_at_once else {"old": old, "new": new}

    def plain(self) -> Mapping[str, object]:
        """Return the answer as JSON holds it: times in seconds, None for what is unknown."""
        old, new = self.old.world, self.new.world
        return {
            "changes": [f"{one.kind.id} {one.text}" for one in self.changes],
            "trust": {"is_validated": bool(self.forecasts), **as_plain(self.validation)},
            "plan": plan_words.plain(self.plan) if self.plan else None,
            "waiting": self.touched.plain() if self.touched else None,
            "ceilings": dict(old.ceilings),
            "policy": {"old": old.policy, "new": new.policy},
            old.unit.lower(): {"old": old.capacity, "new": new.capacity},
            "jobs": {
                "old": len(old), "new": len(new), "too_large": self.too_large,
                "not_submitted": self.not_submitted,
            },
            "effects": [asdict(one) for one in self.effects],
            "sizes": [asdict(one) for one in self.sizes],
            "queues": [asdict(one) for one in self.queues],
            "utilization": self._over_time(self.old.utilization, self.new.utilization),
            "falls_behind": self.falls_behind,
            "backlog": self._over_time(self.old.backlog, self.new.backlog),
            "waiting_jobs": self._over_time(self.old.waiting, self.new.waiting),
            "replays": [{"name": name, "ratio": ratio} for name, ratio in self.members],
            "replays_left_out": list(self.left_out),
        }  # fmt: skip


def asked(
    store: Store, changes: Sequence[Change], was: str = "easy", progress: Progress = SILENT
) -> WhatIfAnswer:
    """
    Return what *changes* do to the machine of a log, which is replayed with the policy *was*.

    Where ceilings of users are changed, the machine as it was has those that the log shows. Raise
    `TraceError` where rules that no replay knows kept so much waiting that another size of the machine cannot
    be answered, and as `recorded` and `answer` do.
    """
    unit = GPUS if any(one.kind.id == "gpus" for one in changes) else PROCESSORS
    world, found = recorded(store, was, unit), waiting(store)
    has_ceilings = any(one.kind.aspect is ChangeSubject.CEILING for one in changes)
    ceilings = user_ceilings(found)
    if has_ceilings and unit == PROCESSORS:
        world = replace(world, ceilings=ceilings)
    conditions = tuple(dict.fromkeys(name for one in changes for name in one.kind.touches))
    of_changes = touched(found, conditions, with_ceilings=not has_ceilings)
    is_size = unit == PROCESSORS and any(one.kind.aspect is ChangeSubject.CAPACITY for one in changes)
    if is_size and of_changes.is_by_rules:
        raise TraceError(_refused(of_changes, {} if has_ceilings else ceilings))
    stated = store.system.gpus if unit == GPUS else store.system.size
    told = answer(world, changes, capacity_is_stated=bool(stated), progress=progress)
    return replace(told, touched=of_changes)


def _refused(of_changes: TouchedWaiting, ceilings: Mapping[str, int]) -> str:
    """Return why another size cannot be answered, and what can be where users have *ceilings*."""
    why = f"what another size does to waits cannot be told: {of_changes.reason()}"
    if not ceilings:
        return why
    return f"{why}. With --limit user={max(ceilings.values())} the ceilings of users are replayed, too"


def answer(
    world: World,
    changes: Sequence[Change],
    *,
    capacity_is_stated: bool = True,
    progress: Progress = SILENT,
) -> WhatIfAnswer:
    """
    Return what *changes*, one after the other, do to a *world*: a machine and its jobs as they were.

    *capacity_is_stated* says whether the log, or a description of the system, states the size of the machine;
    *progress* is told how many replays are done. Raise `ArgumentError` for a change that says something
    impossible, or leaves no job to be compared.
    """
    fitting = world.only(world.size <= world.capacity)
    pairs, left_out = _ensemble(fitting, changes, progress)
    first = next(iter(pairs.values()))
    old, new = first.old, first.new
    trust = validate(fitting, old.start, capacity_is_stated=capacity_is_stated)
    every = list(pairs.values())
    told = _plan(world, changes, new.world.capacity, capacity_is_stated=capacity_is_stated)
    measures = (WAIT, SLOWDOWN) if told else (WAIT, TAIL, SLOWDOWN)
    is_unchanged = all(pair.is_unchanged for pair in every)
    of_tail = error_of(half_years(fitting, old.start, np.isfinite(fitting.wait), TAIL.quantile))
    errors = {WAIT: trust.error, SLOWDOWN: trust.error, TAIL: of_tail}
    effects = [effect(measure, every, 0.0 if is_unchanged else errors[measure]) for measure in measures]
    if any(one is None for one in effects):
        raise ArgumentError("the change leaves no job of the log that could be compared")
    return WhatIfAnswer(
        tuple(changes),
        old,
        new,
        trust,
        tuple(one for one in effects if one is not None),
        tuple(_classes(every, _sizes(fitting))),
        tuple(_classes(every, _queues(fitting))),
        tuple(
            (name, one.ratio)
            for name, pair in pairs.items()
            if (one := effect(WAIT, [pair], 0.0)) is not None
        ),
        left_out,
        len(world) - len(fitting),
        int((~first.kept).sum()),
        is_unchanged,
        told,
    )


def _plan(
    world: World, changes: Sequence[Change], asked: int, *, capacity_is_stated: bool
) -> rule.CapacityPlan | None:
    """Return what the log tells of more processors, where nothing else changes."""
    is_size = [one.kind.aspect for one in changes] == [ChangeSubject.CAPACITY] and world.unit == PROCESSORS
    if not is_size or asked <= world.capacity:
        return None
    return rule.plan(world, asked, capacity_is_stated=capacity_is_stated, has_curve=False)


def _ensemble(
    world: World, changes: Sequence[Change], progress: Progress
) -> tuple[dict[str, Pair], tuple[str, ...]]:
    """Return the pairs by the name of their replay, and the replays that would take too long."""
    pairs: dict[str, Pair] = {}
    left_out = []
    members = _members(world, changes)
    with progress.step("replaying", 2 * len(members)) as step:
        for seed, member in enumerate(members):
            if member.aspect is ChangeSubject.POLICY and _is_slow(pairs):
                left_out.append(member.name)
                step.advance(2)
                continue
            old = Simulated.of(member.alter(world))
            step.advance()
            pairs[member.name] = Pair(old, Simulated.of(member.alter(changed(world, changes, seed))))
            step.advance()
    return pairs, tuple(left_out)


def _members(world: World, changes: Sequence[Change]) -> list[Member]:
    """Return the replays of the ensemble: what a change settles, or makes no difference, is not varied."""
    subjects = {one.kind.aspect for one in changes}
    settled = subjects & {ChangeSubject.POLICY, ChangeSubject.REQUESTS}
    if world.policy not in OTHER_BACKFILLING or world.ceilings or ChangeSubject.CEILING in subjects:
        settled.add(ChangeSubject.POLICY)
    if world.policy == "fcfs":
        settled.add(ChangeSubject.REQUESTS)
    return [member for member in MEMBERS if member.aspect not in settled]


def _is_slow(pairs: Mapping[str, Pair]) -> bool:
    """Whether queues are so long that conservative backfilling would take too long."""
    return any(max(pair.old.waiting, pair.new.waiting) > SLOW_QUEUE for pair in pairs.values())


def _classes(
    pairs: Sequence[Pair], classes: Iterable[tuple[str, Callable[[World], Rows]]]
) -> Iterator[Effect]:
    """Yield what happens to the mean wait of each class that has enough jobs."""
    old = pairs[0].old
    for name, within in classes:
        rows = within(old.world)
        if rows.sum() >= MINIMUM_OF_CLASS:
            is_unchanged = all(pair.is_unchanged for pair in pairs)
            error = 0.0 if is_unchanged else error_of(half_years(old.world, old.start, rows))
            found = effect(WAIT, pairs, error, within, name)
            if found is not None:
                yield found


def _sizes(world: World) -> Iterator[tuple[str, Callable[[World], Rows]]]:
    """Yield the classes of size: shares of the machine as it was."""
    for number, name in enumerate(SIZE_NAMES):
        yield name, _where(lambda of: size_class(of.size, world.capacity), number)


def _queues(world: World) -> Iterator[tuple[str, Callable[[World], Rows]]]:
    """Yield the queues with most jobs, if there are several."""
    names, counts = np.unique(world.queue, return_counts=True)
    if names.size > 1:
        for name in names[np.argsort(-counts, kind="stable")[:MAXIMUM_QUEUES]].tolist():
            yield name or "not recorded", _where(lambda of: of.queue, name)


def _where(column: Callable[[World], NDArray[Any]], value: object) -> Callable[[World], Rows]:
    """Return what tells the jobs of a world whose *column* has a value."""
    return lambda world: column(world) == value
