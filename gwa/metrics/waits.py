"""How long jobs waited for the system, and by month and queue, partition or size."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from gwa.metrics.local_time import months, submissions
from gwa.metrics.quantiles import Spread, spreads
from gwa.metrics.sizes import processors
from gwa.metrics.timeline import exact_sum
from gwa.simulation.metrics import TAU
from gwa.store.store import Store
from gwa.words.message import message

HELD: Final = "least(greatest(coalesce(eligible_time, submit_time) - submit_time, 0.0), wait_time)"
"""How long a job could not start, whatever the system did: it depended on others, or had asked for it."""

QUEUED: Final = f"(wait_time - {HELD})"
"""How long a job waited for the system, also where the log does not record when jobs could start."""

BOUNDED_SLOWDOWN: Final = f"greatest((wait_time + run_time) / greatest(run_time, {TAU!r}), 1.0)"
"""The bounded slowdown of a job that ran: shorter ones count as ten seconds long (Feitelson et al. 1997)."""

PLACED: Final = """
(select {place} as place, {queued} as value from {jobs} where wait_time >= 0 and {where})
"""

LARGEST: Final = """
select {field} as name, row_number() over (order by count(*) desc, {field}) as place
from jobs where wait_time >= 0 and {field} is not null group by {field} order by place limit {top}
"""


def eligible(store: Store) -> str:
    """Return the SQL of when a job could have started: when it was submitted, where no more is known."""
    return f"submit_time + {HELD}" if store.has("eligible_time") else "submit_time"


def queued(store: Store) -> str:
    """Return the SQL of how long a job waited for the system: from when it could have started."""
    return QUEUED if store.has("eligible_time") else "wait_time"


def held_share(store: Store) -> tuple[int, float | None]:
    """Return how many jobs could not start at once, whatever the system did, and their share of waiting."""
    jobs, held, waited = store.row(
        f"select count(*) filter (where {HELD} > 0) as jobs, {exact_sum(HELD)} as held,"
        f" {exact_sum('wait_time')} as waited from jobs where wait_time >= 0"
    )
    return jobs, held / waited if waited else None


@dataclass(frozen=True)
class MonthlyWaits:
    """
    The waits of jobs by month and class, by the places of both; those of *everybody* by the place of a month.

    *heading* says what the classes are: queues, partitions or numbers of processors; *is_ranked* is true of
    names, which have no order of their own.
    """

    heading: str
    months: tuple[str, ...]
    names: tuple[str, ...]
    spreads: Mapping[tuple[int, int], Spread]
    everybody: Mapping[int, Spread]
    is_ranked: bool


def by_month_and_class(store: Store, top: int) -> MonthlyWaits | None:
    """
    Return the waits of jobs by month and by the *top* queues, else partitions, else sizes.

    Where fewer than two months are known, return None.
    """
    span = submissions(store, "wait_time >= 0")
    month, names_of_months = months(store, "submit_time", span) if span else ("0", ())
    if len(names_of_months) < 2:  # noqa: PLR2004 - nothing to compare
        return None
    sizes = processors(store)
    heading, is_ranked, names = message("Processors"), False, sizes.names
    place, jobs = f"nullif({sizes.place}, -1)", "jobs"
    for field, title in (("partition_id", message("Partition")), ("queue_id", message("Queue"))):
        if not store.has(field):
            continue
        table = largest(store, field, top)
        found = tuple(name for (name,) in store.rows(f"select name from {table} order by name"))
        if len(found) > 1:
            heading, is_ranked, names = title, True, found
            place, jobs = "rank - 1", _ranked(field, table)
    by_place = _spreads(store, f"({month}) * {len(names)} + {place}", "submit_time is not null", jobs)
    everybody = _spreads(store, month, "submit_time is not null")
    by_both = {divmod(key, len(names)): spread for key, spread in by_place.items()} if names else {}
    return MonthlyWaits(heading, names_of_months, names, by_both, everybody, is_ranked)


def largest(store: Store, field: str, top: int) -> str:
    """Return the table of the *top* values of *field* with most jobs of a known wait, ``place`` 1 first."""
    return store.keep(f"largest_by_{field}_{top}", LARGEST.format(field=field, top=top))


def _ranked(field: str, table: str) -> str:
    """Return the jobs with a value of *field* in the *table*, and the ``rank`` of the value by name."""
    ranked = f"(select name, row_number() over (order by name) as rank from {table})"
    return (
        f"(select jobs.*, ranked.rank from jobs inner join {ranked} as ranked"
        f" on jobs.{field} = ranked.name) as jobs"
    )


def _spreads(store: Store, place: str, where: str = "true", jobs: str = "jobs") -> Mapping[int, Spread]:
    """Return the waits of the *jobs* at each *place*, from 0, of those for which *where* is true."""
    placed = PLACED.format(place=place, queued=queued(store), jobs=jobs, where=where)
    return store.once(("waits", placed), lambda: spreads(store, placed))
