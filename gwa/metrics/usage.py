"""How much of a resource jobs held: hours, how many units there are, and how busy they were."""

from dataclasses import dataclass
from functools import partial
from typing import Final

from gwa.metrics.presence import counted, run_time, running, unlisted, with_boxes
from gwa.metrics.stillness import known_area_of, stillness
from gwa.metrics.timeline import Level, exact_sum, level, levels
from gwa.metrics.window import RUNNING, window
from gwa.store.peaks import peak_query
from gwa.store.resources import Resource
from gwa.store.runs import FIRST_START
from gwa.store.schema import NAMES, NOT_ENDED
from gwa.store.store import Store
from gwa.util.units import HOUR

BIN: Final = 600.0
"""Ten minutes: the archive's interval for utilization."""

HOLDING: Final = f"""
select *, start_time + run_time as end_time from (
    select {{fields}}, {FIRST_START} as start_time, {{run_time}} as run_time,
        {{held}} as held, {{unfinished}} as unfinished
    from {{jobs}} where {{once}}{{held}} > 0
) as begun where run_time >= 0
"""

HOLDING_BOXES: Final = """
select {fields}, start_time, seconds as run_time, {held} as held, is_open as unfinished, end_time
from {boxes} as listed where {held} > 0
"""
"""Jobs that held a resource, whether or not it is known how many processors they had."""

FIELDS: Final = ", ".join(name for name in NAMES if name != "run_time")

EDGES: Final = """
select start_time as t, cast(held as double) as d from {holding} as begun where submit_time is not null
union all
select end_time as t, -cast(held as double) as d from {holding} as ended where submit_time is not null
"""


@dataclass(frozen=True)
class Usage:
    """
    What jobs held of a resource.

    *jobs* held some of it, for *hours* in total: units times hours of run time; of a period, the part that
    lies in it. *unfinished* of them had not ended when the log did, and count until then. *total* is the
    number of units that there are, *inferred* whether it is the most ever held at once. *levels* are the
    units held over time, None where the log does not know the load.
    """

    jobs: int
    unfinished: int
    hours: float
    total: float | None
    inferred: bool
    levels: Level | None

    @property
    def utilization(self) -> float | None:
        """
        The mean share of all units that was held, over the time in which the log knows the load.

        None where their number is not recorded: the most ever held at once is a lower bound of it.
        """
        if self.inferred or not self.levels or not self.total:
            return None
        return self.levels.mean() / self.total


def usage(store: Store, resource: Resource) -> Usage:
    """Return what jobs held of a *resource* that is held."""
    amount = exact_sum(f"{seconds(store)} * held")
    jobs, running, total = store.row(
        f"select {counted(store)} as jobs, {counted(store, 'unfinished')} as running, {amount} as seconds"
        f" from {holding(store, resource)}"
    )
    stated = getattr(store.system, resource.units)
    units = stated or _peak(store, resource)
    return Usage(jobs, running, (total or 0.0) / HOUR, units, not stated, _levels(store, resource))


def _peak(store: Store, resource: Resource) -> float | None:
    """Return the most units held at once, at any time of the log."""
    edges = EDGES.format(holding=_held(store, resource, "all_jobs"))
    peak: float | None = store.row(peak_query(edges))[0]
    return peak


def holding(store: Store, resource: Resource) -> str:
    """
    Return the table of jobs that held a *resource*, each with what it *held*.

    Of a period, they are those that held it then, whenever they were submitted. Those that had not ended
    when the log did (``unfinished``) are taken to run until then, as `gwa.metrics.presence.present` does.
    """
    if store.period is None:
        return f"{_held(store, resource, 'jobs')} as holding"
    first, last = store.period
    table = _held(store, resource, "all_jobs")
    return f"(select * from {table} as held where start_time < {last!r} and end_time > {first!r}) as holding"


def _held(store: Store, resource: Resource, jobs: str) -> str:
    """Return the table of what those of *jobs* held of a *resource*: boxes from start_time to end_time."""
    unfinished = running(store, NOT_ENDED) if store.whole.has("status") else "false"
    jobs_held = HOLDING.format(
        fields=FIELDS,
        run_time=run_time(store, unfinished),
        held=resource.held,
        unfinished=unfinished,
        jobs=jobs,
        once=unlisted(store),
    )
    of_boxes = partial(HOLDING_BOXES.format, fields=FIELDS, held=resource.held)
    return f"({with_boxes(store, jobs_held, lambda table: of_boxes(boxes=table))})"


def seconds(store: Store) -> str:
    """Return the SQL of how many seconds a job ran or, of a period, ran in it."""
    if store.period is None:
        return "run_time"
    first, last = store.period
    return f"(least(end_time, {last!r}) - greatest(start_time, {first!r}))"


def known_mean(store: Store, resource: Resource) -> float | None:
    """
    Return the units held on average outside missing rows and stillness of a day or more.

    None where the log does not know the load, or not in which silences rows are missing.
    """
    period = window(store).period
    if period is None or not stillness(store).knows_rows:
        return None
    held, length = known_area_of(store, period, _held(store, resource, "all_jobs"), "held")
    return held / length if length > 0 else None


def used_levels(store: Store, resource: Resource) -> tuple[Level, Level] | None:
    """
    Return the units over time that were used, and those held of which that is known.

    None where the log does not know the load.
    """
    period = window(store).period
    if period is None:
        return None
    table = _held(store, resource, "all_jobs")
    used = f"coalesce({resource.used}, 0)"
    known = f"case when {resource.used} is not null then held else 0 end"
    used_level, known_level = levels(store, (used, known), RUNNING, table, width=BIN, period=period)
    return used_level, known_level


def _levels(store: Store, resource: Resource) -> Level | None:
    """Return the units held over time, over the window of observation; None where there is none."""
    period = window(store).period
    if period is None:
        return None
    table = _held(store, resource, "all_jobs")
    return level(store, "held", RUNNING, table, width=BIN, period=period)
