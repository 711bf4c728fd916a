"""
What each node was given: its hours, which add up to those of all nodes, and the jobs that took part.

A job on several nodes is on each of them, so numbers of jobs do not add up. Its hours are shared out by the
slots that it held of each node, and do. They are those of ``usage``: what jobs held in the window of
observation, or the period. On which nodes a job held what before its last run is not known.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gwa.breakdown.held import AMOUNTS, held_jobs, recorded_amounts, within_window
from gwa.metrics.timeline import exact_sum
from gwa.store.engines.duckdb import literal
from gwa.store.hosts import on_nodes
from gwa.store.store import Store

GIVEN: Final = """
select host, count(distinct job_id) as jobs,
    count(distinct case when outcome = 'failed' then job_id end) as failed,
    count(distinct case when outcome = 'failed' and share > 0.999999 then job_id end) as failed_alone,
    max(end_time) as last_end, {sums}
from {placed} as placed where {where} group by host order by host
"""

BY_WEEK: Final = """
select host, week, sum(cpu_seconds) as held, sum(failed) as failed from (
    select host, week, ({amount}) * share as cpu_seconds,
        case when outcome = 'failed' and end_time >= low and end_time < high then 1 else 0 end as failed
    from {placed} as placed
    inner join (values {weeks}) as calendar(week, low, high) on start_time < high and end_time >= low
    where host in ({hosts})
) as parts group by host, week
"""


@dataclass(frozen=True)
class Host:
    """
    What a node was given: the jobs that took part, on it alone or on several, and the seconds that they held.

    Of those that *failed*, *failed_alone* held no other node. The last of its jobs ended at *last_end*.
    """

    name: str
    jobs: int
    failed: int
    failed_alone: int
    last_end: float
    seconds: Mapping[str, float]


def placed_jobs(store: Store) -> str:
    """Return the relation of what jobs held in their last run, and of the nodes that they held it on."""
    return on_nodes(store, f"{held_jobs(store)} as held where is_last_run")


def hosts(store: Store) -> list[Host]:
    """Return what each node that the log names was given in the window or the period, by name."""
    inside, where = within_window(store)
    amounts = {name: sql.format(seconds=inside) for name, sql in recorded_amounts(store).items()}
    sums = ", ".join(f"coalesce(sum(({sql}) * share), 0.0) as {name}" for name, sql in amounts.items())
    rows = store.rows(GIVEN.format(sums=sums or "0.0 as nothing", placed=placed_jobs(store), where=where))
    return [
        Host(name, jobs, failed, alone, last_end, dict(zip(amounts, seconds, strict=False)))
        for name, jobs, failed, alone, last_end, *seconds in rows
    ]


def held_anywhere(store: Store) -> Mapping[str, float]:
    """Return the seconds that all jobs held in the same time, on nodes that the log names and on others."""
    inside, where = within_window(store)
    amounts = {name: sql.format(seconds=inside) for name, sql in recorded_amounts(store).items()}
    sums = ", ".join(f"coalesce({exact_sum(sql)}, 0.0) as {name}" for name, sql in amounts.items())
    row = store.row(f"select {sums} from {held_jobs(store)} as held where {where}") if sums else ()
    return dict(zip(amounts, row, strict=True))


def by_week(
    store: Store, names: Sequence[str], edges: Sequence[float]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """
    Return the CPU seconds that each of the nodes *names* was held between *edges*, and the jobs that failed.

    Rows are nodes, columns the times between one edge and the next.
    """
    shape = (len(names), len(edges) - 1)
    held, failed = np.zeros(shape), np.zeros(shape)
    weeks = ", ".join(f"({week}, {low!r}, {high!r})" for week, (low, high) in enumerate(pairwise(edges)))
    inside = "greatest(least(end_time, high) - greatest(start_time, low), 0.0)"
    rows = store.rows(
        BY_WEEK.format(
            amount=AMOUNTS["cpu_seconds"].format(seconds=inside),
            placed=placed_jobs(store),
            weeks=weeks,
            hosts=", ".join(map(literal, names)),
        )
    )
    places = {name: place for place, name in enumerate(names)}
    for name, week, seconds, failures in rows:
        held[places[name], week], failed[places[name], week] = seconds, failures
    return held, failed
