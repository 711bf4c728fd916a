"""How long jobs of each class waited: by month, hour, project and requested time, or by month and queue."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Final
from zoneinfo import ZoneInfo

import numpy as np

from gwa.metrics.calendar import MAXIMUM_DAYS, Calendar
from gwa.metrics.quantiles import Spread, spreads
from gwa.metrics.sizes import processors
from gwa.metrics.steps import step
from gwa.metrics.timeline import exact_sum
from gwa.store.store import Store
from gwa.util.units import DAY, HOUR
from gwa.words.message import message

HELD: Final = "least(greatest(coalesce(eligible_time, submit_time) - submit_time, 0.0), wait_time)"
"""How long a job could not start, whatever the system did: it depended on others, or had asked for it."""

LIMITS: Final = (600.0, 3600.0, 6 * 3600.0, 24 * 3600.0, 72 * 3600.0)
"""The greatest requested time of each class but the last."""

LIMIT_NAMES: Final = (
    message("to 10 min"),
    message("to 1 h"),
    message("to 6 h"),
    message("to 24 h"),
    message("to 72 h"),
    message("more than 72 h"),
)

PLACED: Final = """
(select {place} as place, {queued} as value from {jobs} where wait_time >= 0 and {where})
"""

LARGEST: Final = """
select {field} as name from jobs where wait_time >= 0 and {field} is not null
group by {field} order by count(*) desc, {field} limit {top}
"""


@dataclass(frozen=True)
class Waits:
    """The waits of a class of jobs called *name*, in seconds."""

    name: str
    spread: Spread


def eligible(store: Store) -> str:
    """Return the SQL of when a job could have started: when it was submitted, where no more is known."""
    return f"submit_time + {HELD}" if store.has("eligible_time") else "submit_time"


def queued(store: Store) -> str:
    """Return the SQL of how long a job waited for the system: from when it could have started."""
    return f"(wait_time - {HELD})" if store.has("eligible_time") else "wait_time"


def held_share(store: Store) -> tuple[int, float | None]:
    """Return how many jobs could not start at once, whatever the system did, and their share of waiting."""
    jobs, held, waited = store.row(
        f"select count(*) filter (where {HELD} > 0) as jobs, {exact_sum(HELD)} as held,"
        f" {exact_sum('wait_time')} as waited from jobs where wait_time >= 0"
    )
    return jobs, held / waited if waited else None


def by_month(store: Store) -> list[Waits]:
    """Return the waits of jobs submitted in each month; none where dates are not known."""
    place, names = _months(store)
    return _named(_spreads(store, place, "submit_time is not null"), dict(enumerate(names))) if names else []


def _months(store: Store) -> tuple[str, tuple[str, ...]]:
    """Return the SQL of the number of a job's month, and the names of the months; none without dates."""
    span = store.row("select min(submit_time), max(submit_time) from jobs where wait_time >= 0")
    if store.system.relative or span[0] is None or span[1] - span[0] > MAXIMUM_DAYS * DAY:
        return "0", ()
    edges, names = Calendar.of(span[0], span[1], store.system.timezone, relative=False).months()
    return step("submit_time", edges[1:-1].tolist(), range(len(names))), tuple(names)


@dataclass(frozen=True)
class MonthlyWaits:
    """
    The waits of jobs by month and class, by the places of both; those of *everybody* by the place of a month.

    *heading* says what the classes are: queues, partitions or numbers of processors.
    """

    heading: str
    months: tuple[str, ...]
    names: tuple[str, ...]
    spreads: Mapping[tuple[int, int], Spread]
    everybody: Mapping[int, Spread]


def by_month_and_class(store: Store, top: int) -> MonthlyWaits | None:
    """
    Return the waits of jobs by month and by the *top* queues, else partitions, else sizes.

    Where fewer than two months are known, return None.
    """
    month, months = _months(store)
    if len(months) < 2:  # noqa: PLR2004 - nothing to compare
        return None
    sizes = processors(store)
    heading, field, names = message("Processors"), "", sizes.names
    for other, title in (("partition_id", message("Partition")), ("queue_id", message("Queue"))):
        largest = _largest(store, other, top) if store.has(other) else ()
        if len(largest) > 1:
            heading, field, names = title, other, largest
    place, jobs = (f"nullif({sizes.place}, -1)", "jobs") if not field else ("rank - 1", _ranked(field, top))
    by_place = _spreads(store, f"({month}) * {len(names)} + {place}", "submit_time is not null", jobs)
    everybody = _spreads(store, month, "submit_time is not null")
    by_both = {divmod(key, len(names)): spread for key, spread in by_place.items()} if names else {}
    return MonthlyWaits(heading, months, names, by_both, everybody)


def by_hour(store: Store) -> list[Waits]:
    """Return the waits of jobs submitted in each hour of the day, by the clock of the trace's time zone."""
    span = store.row("select min(submit_time), max(submit_time) from jobs where wait_time >= 0")
    if store.system.relative or span[0] is None or span[1] - span[0] > MAXIMUM_DAYS * DAY:
        return []
    local = f"submit_time + {_offset(span, store.system.timezone)}"
    place = f"cast(floor(({local}) / {float(HOUR)!r}) as bigint) % 24"
    return _named(
        _spreads(store, place, "submit_time is not null"), {hour: f"{hour:02}:00" for hour in range(24)}
    )


def _offset(span: tuple[float, float], zone: ZoneInfo) -> str:
    """Return the SQL of the offset of *zone* from UTC in seconds, at the time of a submission."""
    days = (np.arange(span[0] // DAY, span[1] // DAY + 2) * DAY).tolist()
    offsets = [datetime.fromtimestamp(day, zone).utcoffset() for day in days]
    seconds = [offset.total_seconds() if offset else 0.0 for offset in offsets]
    changed = [place for place, (before, after) in enumerate(pairwise(seconds)) if before != after]
    moments = [_moment(days[place], days[place + 1], zone) for place in changed]
    return step("submit_time", moments, [*(seconds[place] for place in changed), seconds[-1]])


def _moment(before: float, after: float, zone: ZoneInfo) -> float:
    """Return when the clock of *zone* is changed between two moments, to the second."""
    first = datetime.fromtimestamp(before, zone).utcoffset()
    while after - before > 1:
        middle = (before + after) // 2
        if datetime.fromtimestamp(middle, zone).utcoffset() == first:
            before = middle
        else:
            after = middle
    return after


def by_limit(store: Store) -> list[Waits]:
    """Return the waits of jobs by their requested time."""
    cases = " ".join(f"when req_time <= {limit!r} then {place}" for place, limit in enumerate(LIMITS))
    place = f"case {cases} else {len(LIMITS)} end"
    return _named(_spreads(store, place, "req_time > 0"), dict(enumerate(LIMIT_NAMES)))


def by_largest(store: Store, field: str, top: int) -> list[Waits]:
    """Return the waits of the *top* values of *field* with most jobs."""
    found = _spreads(store, "rank - 1", jobs=_ranked(field, top))
    waits = _named(found, dict(enumerate(_largest(store, field, top))))
    return sorted(waits, key=lambda one: (-one.spread.n, one.name))


def _largest(store: Store, field: str, top: int) -> tuple[str, ...]:
    """Return the *top* values of *field* with most jobs, by name."""
    table = f"({LARGEST.format(field=field, top=top)})"
    return tuple(name for (name,) in store.rows(f"select name from {table} as largest order by name"))


def _ranked(field: str, top: int) -> str:
    """Return the jobs of the *top* values of *field* as a table, with the ``rank`` of the value by name."""
    table = f"({LARGEST.format(field=field, top=top)})"
    ranked = f"(select name, row_number() over (order by name) as rank from {table} as largest)"
    return (
        f"(select jobs.*, ranked.rank from jobs inner join {ranked} as ranked"
        f" on jobs.{field} = ranked.name) as jobs"
    )


def _spreads(store: Store, place: str, where: str = "true", jobs: str = "jobs") -> Mapping[int, Spread]:
    """Return the waits of the *jobs* at each *place*, from 0, of those for which *where* is true."""
    placed = PLACED.format(place=place, queued=queued(store), jobs=jobs, where=where)
    return store.once(("waits", placed), lambda: spreads(store, placed))


def _named(spreads: Mapping[int, Spread], names: Mapping[int, str]) -> list[Waits]:
    return [Waits(names[place], spread) for place, spread in spreads.items()]


def kinds(store: Store) -> Iterator[tuple[str, str, list[Waits]]]:
    """Yield each kind of class: the name in the ids of facts, its heading, and the waits."""
    yield "month", message("Month"), by_month(store)
    yield "hour", message("Hour of submission"), by_hour(store)
    if store.has("req_time"):
        yield "request", message("Requested time"), by_limit(store)
    if store.has("project_id"):
        yield "project", message("Project"), by_largest(store, "project_id", store.top)
