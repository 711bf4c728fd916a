"""What a section says of a resource that jobs hold: how much, by whom, in which sizes, after which waits."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

from gwa.metrics.timeline import exact_sum
from gwa.metrics.usage import Usage, holding, seconds, usage
from gwa.metrics.window import window
from gwa.report.document import Block, Column, Fact, Facts, Note, Table
from gwa.report.facts import number
from gwa.report.figures.series import series
from gwa.report.formatting import decimal
from gwa.report.message import capitalized, message
from gwa.statistics.sample import Sample
from gwa.store.resources import Resource
from gwa.store.store import Store
from gwa.util.units import HOUR

OWNERS: Final = {
    "users": ("user_id", message("User")),
    "projects": ("project_id", message("Project")),
    "queues": ("queue_id", message("Queue")),
}
"""Who holds a resource: name of the facts, field, and heading of the table."""

BY_OWNER: Final = """
select {field} as name, count(*) as jobs, {amount} as seconds from {table}
where {field} is not null group by {field} order by seconds desc, name limit {top}
"""

SIZES: Final = (1.0, 2.0, 4.0, 8.0, 16.0, 64.0)
"""The greatest size of each class but the last."""

BY_SIZE: Final = """
select place, count(*) as jobs, {amount} as seconds, count(*) filter (where status = 1) as completed,
    count(status) as known
from (select *, {place} as place from {table}) as sized group by place order by place
"""

WAITS: Final = """
select place, cast(wait_time as double) as value, count(*) as n
from (select *, {place} as place from {table}) as sized
where wait_time >= 0 group by place, wait_time order by place, value
"""


def resource_blocks(store: Store, resource: Resource) -> Iterator[Block]:
    """Yield the facts, tables and figure of a *resource* that jobs hold."""
    used = usage(store, resource)
    if not used.jobs:
        yield Note(message("No job held {title}.", title=resource.title))
        return
    yield Facts(tuple(_facts(used, resource)))
    inferred = message("{title} inferred", title=capitalized(resource.title))
    yield Facts((Fact(f"{resource.family}.total_inferred", used.inferred, inferred),), listed=False)
    if used.inferred:
        yield Note(
            message(
                "Nothing states how many {title} the system has: {total} is the most that were "
                "held at once, so that there may be more, and fewer were busy on average than "
                "is said.",
                title=resource.title,
                total=number(used.total),
            )
        )
    for name, (field, heading) in OWNERS.items():
        if store.has(field):
            yield from _owners(store, resource, used, (name, field, heading))
    yield from _sizes(store, resource, used)
    if used.levels:
        yield _figure(store, resource, used)


def _facts(used: Usage, resource: Resource) -> Iterator[Fact]:
    family, title = resource.family, resource.title
    yield Fact(f"{family}.jobs", used.jobs, message("Jobs that held {title}", title=title), "count")
    yield Fact(f"{family}.hours", number(used.hours), message("Hours of {title} used", title=title), "hours")
    yield Fact(f"{family}.total", number(used.total), capitalized(title), "count")
    text = "" if used.utilization is not None else "unknown"
    busy = used.levels.mean() if used.levels else None
    yield Fact(f"{family}.busy", busy, message("Busy {title}, mean", title=title), "count", text=text)
    yield Fact(
        f"{family}.utilization",
        used.utilization,
        message("Share of {title} held", title=title),
        "fraction",
        text=text,
    )


def _owners(store: Store, resource: Resource, used: Usage, owner: tuple[str, str, str]) -> Iterator[Block]:
    """Yield those who used most of a resource."""
    name, field, heading = owner
    query = BY_OWNER.format(
        field=field,
        amount=exact_sum(f"{seconds(store)} * held"),
        table=holding(store, resource),
        top=store.top,
    )
    rows = [
        {
            "id": who,
            "jobs": jobs,
            "hours": number(held / HOUR),
            "share": held / HOUR / used.hours if used.hours else None,
        }
        for who, jobs, held in store.rows(query)
    ]
    if not rows:
        return
    title = message("{capitalize} by hours of {title}", capitalize=capitalized(name), title=resource.title)
    yield Facts((Fact(f"{resource.family}.{name}.by_hours", rows, title),), listed=False)
    columns = (
        Column("id", heading), Column("jobs", "Jobs", "count"), Column("hours", "Hours", "hours"),
        Column("share", "Share of hours", "fraction"),
    )  # fmt: skip
    yield Table(f"{resource.family}-{name}", title, columns, tuple(tuple(row.values()) for row in rows))


def _sizes(store: Store, resource: Resource, used: Usage) -> Iterator[Block]:
    """Yield jobs, hours, waits and outcomes by how much of a resource jobs hold."""
    place = _place()
    table = holding(store, resource)
    query = BY_SIZE.format(amount=exact_sum(f"{seconds(store)} * held"), place=place, table=table)
    waits = _waits(store, WAITS.format(place=place, table=table))
    rows = []
    for index, jobs, held, completed, known in store.rows(query):
        wait = waits.get(index)
        rows.append(
            {
                "size": size_name(index), "jobs": jobs, "hours": number(held / HOUR),
                "share": held / HOUR / used.hours if used.hours else None,
                "wait_median": number(wait.median()) if wait else None,
                "wait_p95": number(wait.quantile(0.95)) if wait else None,
                "completed": completed / known if known else None,
            }
        )  # fmt: skip
    title = message("Jobs by how many {title} they held", title=resource.title)
    yield Facts((Fact(f"{resource.family}.sizes", rows, title),), listed=False)
    columns = (
        Column("size", capitalized(resource.title)), Column("jobs", "Jobs", "count"),
        Column("hours", "Hours", "hours"), Column("share", "Share of hours", "fraction"),
        Column("wait_median", "Median wait", "seconds"), Column("wait_p95", "95 % wait", "seconds"),
        Column("completed", "Completed", "fraction"),
    )  # fmt: skip
    kept = [column for column in columns if any(row[column.key] is not None for row in rows)]
    yield Table(
        f"{resource.family}-sizes",
        title,
        tuple(kept),
        tuple(tuple(row[column.key] for column in kept) for row in rows),
    )


def _place() -> str:
    """Return the SQL of the class of a size."""
    rungs = " ".join(f"when held <= {size!r} then {index + 1}" for index, size in enumerate(SIZES))
    return f"case when held < 1.0 then 0 {rungs} else {len(SIZES) + 1} end"


def size_name(index: int) -> str:
    """
    Return the name of a class of sizes.

    >>> [size_name(index) for index in (0, 1, 3, 7)]
    ['less than 1', '1', '3 to 4', '65 and more']
    """
    if index == 0:
        return message("less than 1")
    if index > len(SIZES):
        return message("{sizes} and more", sizes=decimal(SIZES[-1] + 1, ".0f"))
    low, high = (SIZES[index - 2] + 1 if index > 1 else 1), SIZES[index - 1]
    return (
        f"{high:.0f}"
        if low == high
        else message("{low} to {high}", low=decimal(low, ".0f"), high=decimal(high, ".0f"))
    )


def _waits(store: Store, query: str) -> Mapping[int, Sample]:
    """Return the waits of each class; quantiles come from value counts, not from the engine."""
    columns: Mapping[str, Any] = store.arrays(query)
    places, values, counts = (np.asarray(columns[name]) for name in ("place", "value", "n"))
    return {
        int(place): Sample(
            values[places == place].astype(np.float64), counts[places == place].astype(np.int64)
        )
        for place in np.unique(places)
    }


def _figure(store: Store, resource: Resource, used: Usage) -> Block:
    assert used.levels is not None  # noqa: S101 - what the caller asks first
    times, mean, low, high = used.levels.points()
    return series(
        resource.family,
        message("Busy {title}", title=resource.title),
        times,
        {"held": (mean, low, high)},
        capitalized(resource.title),
        message(
            "{title} held by jobs, of {total}: {mean} on average.",
            title=resource.title,
            total=number(used.total),
            mean=decimal(used.levels.mean(), ".1f"),
        ),
        unit="count",
        zone=None if store.system.relative else store.system.timezone.key,
        reference=(used.total, message("all {title}", title=resource.title)) if used.total else None,
        note="The line is the mean, the band goes from the least to the greatest ten-minute average.",
        window=window(store).known,
    )
