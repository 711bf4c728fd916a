"""How the jobs of a trace ended or, of a period, those that ended in it."""

from dataclasses import dataclass
from typing import Final

from gwa.metrics.calendar import MAXIMUM_DAYS, Calendar
from gwa.metrics.steps import step
from gwa.metrics.timeline import exact_sum
from gwa.store.store import Store
from gwa.util.units import DAY

KNOWN: Final = "status in (0, 1, 5)"
"""The jobs whose outcome is known: failed, completed or cancelled."""

COUNTS: Final = f"""
count(*) as jobs, count(*) filter (where status = 0) as failed,
    count(*) filter (where status = 5) as cancelled,
    coalesce({exact_sum("case when status <> 1 and run_time >= 0 then run_time * n_procs end")}, 0.0) as lost
"""
"""Counts of jobs, and the CPU seconds of those that did not complete."""

END = "submit_time + coalesce(wait_time, 0) + coalesce(run_time, 0)"
"""A job that never ran ended when it stopped waiting."""

Outcomes = dict[int | None, float]
"""An amount for each status; None is unknown."""


def jobs_by_status(store: Store) -> Outcomes:
    """Return how many jobs ended with each status."""
    return dict(store.rows(f"select status, count(*) as jobs from {_ended(store, 'jobs')} group by status"))


def cpu_seconds_by_status(store: Store) -> Outcomes:
    """Return the CPU seconds of the jobs that ended with each status."""
    seconds = "cast(sum(cpu_seconds) as double) as seconds"
    return dict(store.rows(f"select status, {seconds} from {_ended(store, 'ran')} group by status"))


@dataclass(frozen=True)
class Ended:
    """
    Jobs of a class called *name* that ended with a known outcome.

    *lost* are the CPU seconds of those that failed or were cancelled.
    """

    name: str
    jobs: int
    failed: int
    cancelled: int
    lost: float

    @property
    def share(self) -> float:
        """The share of the jobs that failed or were cancelled."""
        return (self.failed + self.cancelled) / self.jobs


def by_month(store: Store) -> list[Ended]:
    """Return how the jobs that ended in each month did so; none where dates are not known."""
    jobs = f"(select *, {END} as ended_at from {_ended(store, 'jobs')} where {KNOWN}) as ended"
    first, last = store.row(f"select min(ended_at), max(ended_at) from {jobs}")
    if store.system.relative or first is None or last - first > MAXIMUM_DAYS * DAY:
        return []
    edges, names = Calendar.of(first, last, store.system.timezone, relative=False).months()
    place = step("ended_at", edges[1:-1].tolist(), range(len(names)))
    rows = store.rows(
        f"select place, {COUNTS} from (select *, {place} as place from {jobs}"
        " where ended_at is not null) as placed group by place order by place"
    )
    return [Ended(names[place], *counts) for place, *counts in rows]


def by_user(store: Store, top: int) -> list[Ended]:
    """Return how the jobs of the *top* users ended whose jobs failed or were cancelled most often."""
    rows = store.rows(
        f"select * from (select user_id as name, {COUNTS} from {_ended(store, 'jobs')}"
        f" where {KNOWN} and user_id is not null group by user_id) as ended"
        f" where failed + cancelled > 0 order by failed + cancelled desc, name limit {top}"
    )
    return [Ended(*row) for row in rows]


def _ended(store: Store, table: str) -> str:
    """Return the rows of *table*, ``jobs`` or ``ran``, that ended in the period of *store*."""
    if store.period is None:
        return table
    first, last = store.period
    return f"(select * from all_{table} as any_time where {END} >= {first!r} and {END} < {last!r}) as ended"
