"""
Who got their share: what users, projects and queues held of what they asked for, hour by hour.

What a class *asks* for at a moment are the processors that its jobs hold, and those for which its jobs wait
that could start. Its *split* is what it would hold of what all held, if that were divided equally among those
who ask (`gwa.statistics.fair_split`), in each partition by itself. Levels are always those of the whole log.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import Final

import numpy as np

from gwa.breakdown.dimensions import by_name
from gwa.breakdown.held import held_jobs, within
from gwa.metrics.calendar import Calendar
from gwa.metrics.timeline import Floats, Ints, exact_sum
from gwa.metrics.waiting import PARTITION, waiters
from gwa.metrics.window import window
from gwa.statistics.fair_split import at_least, equal_split, holm
from gwa.store.store import Period, Store
from gwa.util.units import DAY, HOUR

DIMENSIONS: Final = {"users": "user_id", "projects": "project_id", "queues": "queue_id"}
"""The dimensions whose classes share a machine, and their fields."""

MAXIMUM_HOURS: Final = 20_000
"""Longer logs are looked at in longer steps than hours, as many as this."""

WEEK: Final = 7.0 * DAY

MINIMUM_RATIO: Final = 1.25
"""What is held is said to be above the split from this multiple on."""

ALPHA: Final = 0.05

ASKED: Final = f"""
with asked as (
    select user_id, project_id, queue_id, {PARTITION} as part, cast(n_procs as double) as procs,
        start_time, end_time, 1 as is_held
    from {{held}} as held where n_procs >= 1 and {{where}}
    union all
    select user_id, project_id, queue_id, {PARTITION} as part, asked as procs, start_time, end_time,
        0 as is_held
    from (select *, eligible as start_time, started as end_time from ({{waiters}}) as waiter) as waits
    where asked > 0 and {{where}}
), spanned as (
    select *, greatest(start_time, {{first}}) - {{first}} as low,
        least(end_time, {{last}}) - {{first}} as high
    from asked
), placed as (
    select *, unnest(generate_series(
        cast(floor(low / {{width}}) as bigint), cast(ceil(high / {{width}}) as bigint) - 1
    )) as hour from spanned where high > low
), parts as (
    select *, procs * (least(high, (hour + 1) * {{width}}) - greatest(low, hour * {{width}})) as amount
    from placed
)
select hour, part, user_id, project_id, queue_id,
    {exact_sum("case when is_held = 1 then amount else 0 end")} as held,
    {exact_sum("case when is_held = 0 then amount else 0 end")} as waited
from parts group by hour, part, user_id, project_id, queue_id
"""
"""Processor-seconds held, and waited for, in each step of the period."""

OF_CLASSES: Final = f"""
select hour, place, name, {exact_sum("held")} as held, {exact_sum("waited")} as waited from (
    select hour, held, waited, dense_rank() over (order by hour, part) - 1 as place,
        dense_rank() over (order by {{field}}) - 1 as name
    from {{table}} as asked where {{field}} is not null
) as numbered group by hour, place, name order by hour, place, name
"""


@dataclass(frozen=True)
class Share:
    """
    What a class called *name* *held*, *waited* for, and would have held by an equal *split*, in CPU seconds.

    The *ratio* is of what it held to its split while others waited, None where none did; *least* is the
    least that it may be with 95 % confidence, by weeks, and *chance* how likely as much is by chance, among
    all classes; None of too few weeks. *waited_below* is what it waited for in hours in which it held less
    than its split.
    """

    name: str
    held: float
    waited: float
    split: float
    ratio: float | None
    least: float | None
    chance: float | None
    waited_below: float

    @property
    def lacked(self) -> float:
        """How much less than its split it held in all; below 0, how much more."""
        return self.split - self.held

    @property
    def is_above(self) -> bool:
        """Whether it held more than its split by more than chance, and by enough to matter."""
        return (
            self.chance is not None
            and self.chance <= ALPHA
            and (self.ratio or 0.0) >= MINIMUM_RATIO
            and (self.least or 0.0) > 1
        )


@dataclass(frozen=True, eq=False)
class Asked:
    """
    What classes held and waited for: arrays of equal length, an entry for each of *hours*, part and class.

    *places* number the parts of the hours, *classes* the *names*. Amounts are CPU seconds in steps of *width*
    seconds from *first* on.
    """

    names: tuple[str, ...]
    hours: Ints
    places: Ints
    classes: Ints
    held: Floats
    waited: Floats
    first: float
    width: float
    weights: Floats | None = None

    @cached_property
    def split(self) -> Floats:
        """The equal split of what was held, or that in proportion to the weights of the names."""
        weights = None if self.weights is None else self.weights[self.classes]
        return equal_split(self.places, self.held + self.waited, self.held, weights)

    @property
    def moved(self) -> float | None:
        """The share of all that was held which an equal split would have given to others."""
        held = float(self.held.sum())
        return float(np.maximum(self.held - self.split, 0.0).sum()) / held if held else None

    @cached_property
    def others_wait(self) -> Floats:
        """1 where jobs of others wait for the same part, 0 else."""
        waits = np.bincount(self.places, self.waited)[self.places] if len(self.places) else self.waited
        return (waits - self.waited > 0).astype(np.float64)

    def sums(self, amounts: Floats) -> Floats:
        """Return the sum of *amounts* of each class."""
        return np.bincount(self.classes, amounts, len(self.names)).astype(np.float64)

    def by_week(self, amounts: Floats) -> Floats:
        """Return the sum of *amounts* of each class, by row, in each week."""
        weeks = (self.hours * self.width // WEEK).astype(np.int64)
        count = int(weeks.max(initial=0)) + 1
        sums = np.bincount(self.classes * count + weeks, amounts, len(self.names) * count)
        return sums.astype(np.float64).reshape(len(self.names), count)

    def shares(self) -> list[Share]:
        """Return the share of each class, those that held most first."""
        below = self.split > self.held
        held, split = (self.by_week(each * self.others_wait) for each in (self.held, self.split))
        tests = [at_least(*pair) for pair in zip(held, split, strict=True)]
        chances = iter(holm([test[1] for test in tests if test]))
        columns = zip(
            self.names,
            *(self.sums(each).tolist() for each in (self.held, self.waited, self.split)),
            held.sum(axis=1).tolist(),
            split.sum(axis=1).tolist(),
            tests,
            self.sums(np.where(below, self.waited, 0.0)).tolist(),
            strict=True,
        )
        found = [
            Share(
                name,
                of_held,
                waited,
                of_split,
                had / due if due else None,
                test[0] if test else None,
                next(chances) if test else None,
                waited_below,
            )
            for name, of_held, waited, of_split, had, due, test, waited_below in columns
        ]
        return sorted(found, key=lambda one: (-one.held, one.name))


def asked(store: Store, dimension: str, limits: Mapping[str, float] | None = None) -> Asked | None:
    """
    Return what the classes of a *dimension* held and waited for, in the window or the period of *store*.

    With *limits*, only those that these name take part, and the split is in proportion to them. None where
    the log does not record the classes, or not when it knows the load.
    """
    period, field = window(store).period, DIMENSIONS[dimension]
    if period is None or not by_name(dimension).of(store.whole):
        return None
    width = float(HOUR * max(1, ceil((period[1] - period[0]) / HOUR / MAXIMUM_HOURS)))
    table = store.whole.keep_once("asked", _query(store.whole, period, width))
    rows = store.whole.arrays(OF_CLASSES.format(field=field, table=table))
    names = tuple(
        str(name)
        for (name,) in store.whole.rows(
            f"select distinct {field} as name from {table} as asked where {field} is not null order by name"
        )
    )
    whole = ("hour", "place", "name")
    hours, places, classes = (np.ma.filled(np.ma.asarray(rows[name]), 0).astype(np.int64) for name in whole)
    held, waited = (np.ma.filled(np.ma.asarray(rows[name], np.float64), 0.0) for name in ("held", "waited"))
    if not limits:
        return Asked(names, hours, places, classes, held, waited, period[0], width)
    weights = np.array([limits.get(name, 0.0) for name in names])
    kept = weights[classes] > 0
    weights = np.where(weights > 0, weights, 1.0)
    _, places = np.unique(places[kept], return_inverse=True)
    return Asked(
        names, hours[kept], places, classes[kept], held[kept], waited[kept], period[0], width, weights
    )


def chosen(store: Store, dimension: str, shares: Sequence[Share]) -> list[Share]:
    """Return the *shares* of the classes of a *dimension* of which *store* has jobs."""
    if not store.is_selection:
        return list(shares)
    field = DIMENSIONS[dimension]
    rows = store.rows(f"select distinct {field} as name from jobs where {field} is not null")
    names = {str(name) for (name,) in rows}
    return [one for one in shares if one.name in names]


def by_month(store: Store, asked: Asked) -> list[tuple[str, float, float, float, float]]:
    """
    Return the name of each month with what was held, waited for, moved, and waited for below the split.

    Steps are of the month in which they begin. What an equal split would have moved is a share of what was
    held.
    """
    if not len(asked.hours):
        return []
    last = asked.first + float(asked.hours.max()) * asked.width
    calendar = Calendar.of(asked.first, last, store.system.timezone, relative=store.system.relative)
    edges, names = calendar.months()
    months = np.searchsorted(edges, asked.first + asked.hours * asked.width, side="right") - 1
    moved = np.maximum(asked.held - asked.split, 0.0)
    below = np.where(asked.split > asked.held, asked.waited, 0.0)
    sums = (np.bincount(months, each, len(names)) for each in (asked.held, asked.waited, moved, below))
    rows = zip(names, *(each.tolist() for each in sums), strict=True)
    return [(name, held, waited, at / held, late) for name, held, waited, at, late in rows if held]


def _query(whole: Store, period: Period, width: float) -> str:
    first, last = period
    return ASKED.format(
        held=held_jobs(whole),
        waiters=waiters(whole),
        where=within(period)[1],
        first=repr(float(first)),
        last=repr(float(last)),
        width=repr(width),
    )
