"""How the jobs of a trace ended or, of a period, those that ended in it."""

from gwa.store.store import Store

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


def _ended(store: Store, table: str) -> str:
    """Return the rows of *table*, ``jobs`` or ``ran``, that ended in the period of *store*."""
    if store.period is None:
        return table
    first, last = store.period
    return f"(select * from all_{table} as any_time where {END} >= {first!r} and {END} < {last!r}) as ended"
