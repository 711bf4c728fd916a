"""How long jobs wait compared to how long they run."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gwa.analysis.base import Chapter, analysis
from gwa.analysis.sections._rounding import three_digits, tidy
from gwa.report.document import Block, Column, Facts, Note, Table, Value
from gwa.report.facts import number, summary
from gwa.report.figures.cdf import cdf
from gwa.statistics.sample import Sample
from gwa.store.store import Store

FINEST: Final = 0.01
"""Waits of seconds, and slowdowns, below 10 are told apart by this."""

BOUND: Final = 10.0
"""Shorter jobs are taken to be so long, in seconds."""

TOP: Final = 10

CLASSES: Final = ("1", "2 to 4", "5 to 16", "17 to 64", "65 and more")

SIZE: Final = (
    "case when n_procs = 1 then 0 when n_procs <= 4 then 1 when n_procs <= 16 then 2"
    " when n_procs <= 64 then 3 else 4 end"
)

VALUES: Final = {
    "wait": "wait_time",
    "slowdown": f"greatest((wait_time + run_time) / greatest(run_time, {BOUND!r}), 1.0)",
}

LARGEST: Final = """
select {field} as name, row_number() over (order by count(*) desc, {field}) as place
from ran where wait_time >= 0 and {field} is not null group by {field} order by place limit {top}
"""

COUNTED: Final = """
with of_queue as ({queues}), of_user as ({users}), measured as (
    select {value} as value, {size} as size, of_queue.place as queue, of_user.place as who
    from ran left join of_queue on ran.queue_id = of_queue.name
    left join of_user on ran.user_id = of_user.name
    where wait_time >= 0
)
select value, size, queue, who, count(*) as n from (
    select {rounded} as value, size, coalesce(queue, 0) as queue, coalesce(who, 0) as who from measured
) as t group by value, size, queue, who
"""
"""Value counts by class of size and by place among the largest queues and users; 0 is all others."""

COLUMNS: Final = (
    Column("jobs", "Jobs", "count"),
    Column("wait_mean", "Mean wait", "seconds"),
    Column("wait_median", "Median wait", "seconds"),
    Column("wait_p95", "95 % wait", "seconds"),
    Column("slowdown_mean", "Mean slowdown"),
    Column("slowdown_median", "Median slowdown"),
    Column("slowdown_p95", "95 % slowdown"),
)

Samples = Mapping[str, Sample]


@analysis("Slowdown", Chapter.JOBS, facts=("slowdown",), needs=("wait_time", "run_time", "n_procs"), order=5)
def slowdown(store: Store) -> Iterator[Block]:
    """
    Waits and bounded slowdowns: of all jobs, by processors, by queue, and of the users with most jobs.

    The bounded slowdown of a job is (wait + run time) / max(run time, 10 s), and at least 1: how many
    times longer it took than it would have on an empty system; the bound keeps very short jobs from
    ruling the mean (Feitelson et al. 1997). Of jobs that ran and whose wait is known. Waits and slowdowns
    are counted to three significant digits, means and quantiles are of those.
    """
    largest = {
        name: LARGEST.format(field=field, top=TOP)
        for name, field in (("queues", "queue_id"), ("users", "user_id"))
    }
    counted = {name: _counted(store, value, largest) for name, value in VALUES.items()}
    overall = {name: _part(found, None, 0) for name, found in counted.items()}
    if not overall["wait"].n:
        yield Note("No job that ran has a known wait.")
        return
    yield Facts(summary("slowdown.bounded", overall["slowdown"], "", "bounded slowdown"))
    sizes = {
        label: {name: _part(found, "size", place) for name, found in counted.items()}
        for place, label in enumerate(CLASSES)
    }
    sizes = {label: parts for label, parts in sizes.items() if parts["wait"].n}
    yield _table("slowdown-sizes", "Processors", {**sizes, "all": overall})
    for key, name, one in (("queue", "queues", "Queue"), ("who", "users", "User")):
        found = {
            label: {part: _part(values, key, place) for part, values in counted.items()}
            for label, place in store.rows(largest[name])
        }
        if found:
            yield _table(f"slowdown-{name}", one, found)
    yield _figure(overall, sizes)


def _counted(store: Store, value: str, largest: Mapping[str, str]) -> dict[str, NDArray[Any]]:
    found = store.arrays(
        COUNTED.format(value=value, rounded=three_digits("value", FINEST), size=SIZE, **largest)
    )
    counted = {name: np.asarray(column) for name, column in found.items()}
    counted["distinct"], counted["place"] = np.unique(counted["value"], return_inverse=True)
    return counted


def _part(found: Mapping[str, NDArray[Any]], key: str | None, place: int) -> Sample:
    """Return the value counts where *key* is *place*, or all of them."""
    keep = slice(None) if key is None else found[key] == place
    values = found["distinct"]
    counts = np.bincount(found["place"][keep], found["n"][keep], len(values))
    return tidy(values, counts.astype(np.int64))


def _table(name: str, one: str, groups: Mapping[str, Samples]) -> Table:
    return Table(
        name,
        f"Wait and bounded slowdown by {one.lower()}",
        (Column("name", one), *COLUMNS),
        tuple(_row(label, parts) for label, parts in groups.items()),
        note="Exact to three significant digits."
        + (f" The {TOP} with most jobs." if len(groups) == TOP else ""),
    )


def _row(label: str, parts: Samples) -> tuple[Value, ...]:
    numbers = [
        number(value)
        for one in (parts["wait"], parts["slowdown"])
        for value in (one.mean(), one.median(), one.quantile(0.95))
    ]
    return (label, parts["wait"].n, *numbers)


def _figure(overall: Samples, sizes: Mapping[str, Samples]) -> Block:
    curves = {label: parts["slowdown"].ecdf() for label, parts in sizes.items()}
    all_jobs = overall["slowdown"]
    return cdf(
        "slowdown",
        "Bounded slowdown by processors",
        curves if len(curves) > 1 else {"jobs": all_jobs.ecdf()},
        "Bounded slowdown",
        f"Cumulative fraction of jobs by bounded slowdown: the median is {all_jobs.median():.3g},"
        f" 5 % of the jobs have more than {all_jobs.quantile(0.95):.3g}.",
    )
