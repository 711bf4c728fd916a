"""How much of a resource jobs held: hours, how many units there are, and how busy they were."""

from dataclasses import dataclass
from typing import Final

from gwa.metrics.timeline import Level, exact_sum, level
from gwa.metrics.window import RUNNING, window
from gwa.store.peaks import peak_query
from gwa.store.resources import Resource
from gwa.store.store import Store
from gwa.util.units import HOUR

BIN: Final = 600.0
"""Ten minutes: the archive's interval for utilization."""

HOLDING: Final = """
(select *, submit_time + coalesce(wait_time, 0) as start_time,
    submit_time + coalesce(wait_time, 0) + run_time as end_time, {held} as held
from {jobs} where run_time >= 0 and {held} > 0)
"""
"""Jobs that held a resource, whether or not it is known how many processors they had."""

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
    lies in it. *total* is the number of units that there are, *inferred* whether it is the most ever held
    at once. *levels* are the units held over time, None where the log does not know the load.
    """

    jobs: int
    hours: float
    total: float | None
    inferred: bool
    levels: Level | None

    @property
    def utilization(self) -> float | None:
        """The mean share of all units that was held, over the time in which the log knows the load."""
        return self.levels.mean() / self.total if self.levels and self.total else None


def usage(store: Store, resource: Resource) -> Usage:
    """Return what jobs held of a *resource* that is held."""
    amount = exact_sum(f"{seconds(store)} * held")
    jobs, total = store.row(f"select count(*) as jobs, {amount} as seconds from {holding(store, resource)}")
    stated = getattr(store.system, resource.units)
    units = stated or _peak(store, resource)
    return Usage(jobs, (total or 0.0) / HOUR, units, not stated, _levels(store, resource))


def _peak(store: Store, resource: Resource) -> float | None:
    """Return the most units held at once, at any time of the log."""
    edges = EDGES.format(holding=HOLDING.format(held=resource.held, jobs="all_jobs"))
    peak: float | None = store.row(peak_query(edges))[0]
    return peak


def holding(store: Store, resource: Resource) -> str:
    """
    Return the table of jobs that held a *resource*, each with what it *held*.

    Of a period, they are those that held it then, whenever they were submitted.
    """
    if store.period is None:
        return f"{HOLDING.format(held=resource.held, jobs='jobs')} as holding"
    first, last = store.period
    table = HOLDING.format(held=resource.held, jobs="all_jobs")
    return f"(select * from {table} as held where start_time < {last!r} and end_time > {first!r}) as holding"


def seconds(store: Store) -> str:
    """Return the SQL of how many seconds a job ran or, of a period, ran in it."""
    if store.period is None:
        return "run_time"
    first, last = store.period
    return f"(least(end_time, {last!r}) - greatest(start_time, {first!r}))"


def _levels(store: Store, resource: Resource) -> Level | None:
    """Return the units held over time, over the window of observation; None where there is none."""
    period = window(store).period
    if period is None:
        return None
    table = HOLDING.format(held=resource.held, jobs="all_jobs")
    return level(store, "held", RUNNING, table, width=BIN, period=period)
