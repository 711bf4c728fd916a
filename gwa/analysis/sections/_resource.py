"""What a section says of a resource that jobs hold: how much, by whom, in which sizes, after which waits."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gwa.analysis.sections._size import size_line
from gwa.breakdown.dimensions import by_name
from gwa.breakdown.records import Records
from gwa.metrics.presence import counted, has_boxes
from gwa.metrics.quantiles import spreads
from gwa.metrics.sizes import size_classes
from gwa.metrics.timeline import Level, exact_sum
from gwa.metrics.usage import Usage, holding, known_mean, seconds, usage, used_levels
from gwa.metrics.waits import queued
from gwa.metrics.window import window
from gwa.report.columns import column
from gwa.report.document import Block, Column, Fact, Facts, Note, note_of
from gwa.report.facts import facts_of, number
from gwa.report.figures.series import Line, series
from gwa.store.resources import GPU, Resource
from gwa.store.store import Store
from gwa.util.units import DAY, HOUR
from gwa.words.formatting import decimal
from gwa.words.formatting import number as show
from gwa.words.message import capitalized, message

Floats = NDArray[np.float64]

MAXIMUM_HOURS: Final = 15 * 24
"""A log of more hours is drawn by day."""

NEARLY_ALL: Final = 0.95
"""The share of what is held from which on all of it is measured, as far as can be seen."""

OWNERS: Final = ("users", "projects", "queues")
"""The dimensions of those who hold a resource."""

BY_OWNER: Final = """
select {field} as name, {jobs} as jobs, {amount} as seconds from {table}
where {field} is not null group by {field} order by seconds desc, name limit {top}
"""

BY_SIZE: Final = """
select place, {jobs} as jobs, {amount} as seconds, {completed} as completed, {known} as known
from (select *, {place} as place from {table}) as sized group by place order by place
"""

WAITS: Final = "(select {place} as place, {wait} as value from {table} where wait_time >= 0)"

WAITS_OF_RUNS: Final = """
(select place, value from (
    select distinct job_id, {place} as place, {wait} as value from {table} where wait_time >= 0
) as waited)
"""
"""A job of several runs waits once, and is in each class whose size it had."""


def resource_blocks(store: Store, resource: Resource) -> Iterator[Block]:
    """Yield the facts, tables and figure of a *resource* that jobs hold, and use where that is recorded."""
    used = usage(store, resource)
    if not used.jobs:
        yield Note(message("No job held {title}.", title=resource.title))
        return
    yield Facts(tuple(_facts(used, resource)))
    yield Facts(tuple(_known_facts(store, used, resource)), listed=False)
    inferred = message("{title} inferred", title=capitalized(resource.title))
    yield Facts((Fact(f"{resource.family}.total_inferred", used.inferred, inferred),), listed=False)
    if used.inferred:
        yield note_of(
            "Nothing states how many {title} the system has: {total} is the most that were "
            "held at once, so that the share of them that was held is unknown.",
            title=resource.title,
            total=show(used.total or 0.0),
        )
    for name in OWNERS:
        if classes := by_name(name).of(store):
            yield from _owners(store, resource, used, (name, classes.key, by_name(name).heading))
    yield from _sizes(store, resource, used)
    if used.levels:
        yield _figure(store, resource, used)


def _facts(used: Usage, resource: Resource) -> Iterator[Fact]:
    family, title = resource.family, resource.title
    yield Fact(f"{family}.jobs", used.jobs, message("Jobs that held {title}", title=title), "count")
    yield from facts_of(
        family,
        ("unfinished", used.unfinished, "Of them, jobs that had not ended when the log did", "count"),
        ("hours", number(used.hours), message("Hours of {title} held", title=title), "hours"),
        ("total", number(used.total), capitalized(title), "count"),
    )
    text = "" if used.utilization is not None else "unknown"
    busy = used.levels.mean() if used.levels else None
    yield Fact(f"{family}.busy", busy, message("Busy {title}, mean", title=title), "count", text=text)
    label = message("Share of {title} held", title=title)
    yield Fact(f"{family}.utilization", used.utilization, label, "fraction", text=text)


def _known_facts(store: Store, used: Usage, resource: Resource) -> Iterator[Fact]:
    """Yield the means outside what the log does not account for."""
    mean, title = known_mean(store, resource), resource.title
    share = mean / used.total if mean is not None and used.total and not used.inferred else None
    busy = message("Busy {title}, mean outside missing rows and stillness of a day or more", title=title)
    held = message("Share of {title} held, outside missing rows and stillness of a day or more", title=title)
    yield from facts_of(
        resource.family,
        ("known_busy", mean, busy, "count"),
        ("known_utilization", share, held, "fraction"),
        unknown="unknown",
    )


def _owners(store: Store, resource: Resource, used: Usage, owner: tuple[str, str, str]) -> Iterator[Block]:
    """Yield those who used most of a resource."""
    name, field, heading = owner
    query = BY_OWNER.format(
        field=field,
        jobs=counted(store),
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
    columns = (
        Column("id", heading), column("jobs"),
        column("held_hours", "hours"),
        column("held_share", "share"),
    )  # fmt: skip
    yield Records(f"{resource.family}.{name}.by_hours", title, columns, rows).fact


def _sizes(store: Store, resource: Resource, used: Usage) -> Iterator[Block]:
    """Yield jobs, hours, waits and outcomes by how much of a resource jobs hold."""
    sizes = size_classes(store, str(resource.held), "all_jobs")
    held_place = replace(sizes, size="held").place
    table = holding(store, resource)
    query = BY_SIZE.format(
        jobs=counted(store),
        completed=counted(store, "status = 1"),
        known=counted(store, "status is not null"),
        amount=exact_sum(f"{seconds(store)} * held"),
        place=held_place,
        table=table,
    )
    waited = WAITS_OF_RUNS if has_boxes(store) else WAITS
    waits = spreads(store, waited.format(place=held_place, wait=queued(store), table=table))
    rows = []
    for index, jobs, held, completed, known in store.rows(query):
        wait = waits.get(index)
        rows.append(
            {
                "size": sizes.names[index], "jobs": jobs, "hours": number(held / HOUR),
                "share": held / HOUR / used.hours if used.hours else None,
                "wait_median": number(wait.median) if wait else None,
                "wait_p95": number(wait.p95) if wait else None,
                "completed": completed / known if known else None,
            }
        )  # fmt: skip
    title = message("Jobs by how many {title} they held", title=resource.title)
    columns = (
        Column("size", capitalized(resource.title)), column("jobs"),
        column("held_hours", "hours"),
        column("held_share", "share"),
        column("wait_median"),
        column("wait_p95"),
        column("completed_share", "completed"),
    )  # fmt: skip
    yield from Records(f"{resource.family}.sizes", title, columns, rows).blocks(f"{resource.family}-sizes")


def _figure(store: Store, resource: Resource, used: Usage) -> Block:
    assert used.levels is not None  # noqa: S101 - what the caller asks first
    times, *band = used.levels.points()
    lines: dict[str, Line] = {message("held"): (band[0], band[1], band[2])}
    note: str = message(
        "The line is the mean; the band goes from the smallest to the largest ten-minute average."
    )
    words = {
        "title": resource.title,
        "total": show(used.total or 0.0),
        "mean": decimal(used.levels.mean(), ".1f"),
    }
    alt = (
        message("{title} held by jobs: {mean} on average, {total} at most.", **words)
        if used.inferred
        else message("{title} held by jobs, of {total}: {mean} on average.", **words)
    )
    measured = used_levels(store, resource) if resource is GPU and store.has("gpu_utilization") else None
    if measured:
        times, lines, note = _lines_of_use(used.levels, *measured)
    return series(
        resource.family,
        message("Busy {title}", title=resource.title),
        times,
        lines,
        capitalized(resource.title),
        alt,
        unit="count",
        zone=None if store.system.relative else store.system.timezone.key,
        reference=size_line(used.total, resource.title, is_inferred=used.inferred) if used.total else None,
        note=note,
        window=window(store).known,
    )


def _lines_of_use(held: Level, used: Level, known: Level) -> tuple[Floats, dict[str, Line], str]:
    """
    Return times, what was *held* and *used* in each day or, of a short log, hour, and what that is of.

    Where nothing of what is held is measured, what was used has a gap; what is *known* is a line of its own
    unless it is nearly all.
    """
    is_long = held.end - held.origin > MAXIMUM_HOURS * HOUR
    width = DAY if is_long else HOUR
    edges = np.append(np.arange(held.origin, held.end, width), held.end).astype(np.float64)
    of_all, of_used, of_known = (level.between(edges) for level in (held, used, known))
    lines: dict[str, Line] = {
        message("held"): of_all,
        message("used, where that is measured"): np.where((of_known <= 0) & (of_all > 0), np.nan, of_used),
    }
    if known.mean() < NEARLY_ALL * held.mean():
        lines[message("held, and its use measured")] = of_known
    note = message("Means of each day.") if is_long else message("Means of each hour.")
    return edges[:-1], lines, note
