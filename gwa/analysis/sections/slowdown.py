"""How long jobs wait compared to how long they run."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gwa.analysis.base import Chapter, analysis
from gwa.analysis.sections._rounding import ExactSummary, exact_summary, three_digits, without_last_bits
from gwa.metrics.served import Comparison, adjusted, compare
from gwa.metrics.waits import SIZE_CLASS, SIZE_NAMES
from gwa.report.document import Block, Column, Fact, Facts, Note, Table, Value
from gwa.report.facts import number, summary_of
from gwa.report.figures.cdf import cdf
from gwa.report.formatting import number as show
from gwa.report.message import message, within_sentence
from gwa.statistics.sample import Sample
from gwa.store.store import Store

FINEST: Final = 0.01
"""The resolution of waits in seconds, and of slowdowns, below 10."""

BOUND: Final = 10.0
"""Shorter jobs count as this long, in seconds: the bound of the bounded slowdown."""

MAXIMUM_ROWS: Final = 10

VALUES: Final = {
    "wait": ("wait_time", "jobs"),
    "slowdown": (f"greatest((wait_time + run_time) / greatest(run_time, {BOUND!r}), 1.0)", "ran"),
}
"""What is measured, and of which jobs: those that never ran waited, too, but have no slowdown."""

ALL: Final = "all"

LARGEST_GROUPS: Final = """
select {field} as name, row_number() over (order by count(*) desc, {field}) as place
from jobs where wait_time >= 0 and {field} is not null group by {field} order by place limit {top}
"""

RANKS: Final = "select name, place from {table} order by place"

SIZE_PLACED: Final = f"(select *, {SIZE_CLASS} as place from ran)"  # noqa: S608 - a constant
"""The jobs that ran with the number of their class of size."""

PLACED: Final = (
    "(select ran.*, coalesce(named.place, 0) as place from ran"
    " left join ({largest}) as named on ran.{field} = named.name)"
)
"""The jobs that ran with the rank of their queue or user; rank 0 is all others."""

VALUE_COUNTS: Final = """
with of_queue as ({queues}), of_user as ({users}), measured as (
    select {value} as value, {size} as size, of_queue.place as queue, of_user.place as who
    from {jobs} as j left join of_queue on j.queue_id = of_queue.name
    left join of_user on j.user_id = of_user.name
    where wait_time >= 0
)
select value, size, queue, who, count(*) as n from (
    select {rounded} as value, size, coalesce(queue, 0) as queue, coalesce(who, 0) as who from measured
) as t group by value, size, queue, who
"""
"""Value counts by class of size and by rank among the largest queues and users; rank 0 is all others."""

COLUMNS: Final = (
    Column("jobs", "Jobs", "count"),
    Column("wait_mean", "Mean wait", "seconds", minor=True),
    Column("wait_median", "Median wait", "seconds"),
    Column("wait_p95", "95 % wait", "seconds"),
    Column("slowdown_mean", "Mean slowdown"),
    Column("slowdown_median", "Median slowdown"),
    Column("slowdown_p95", "95 % slowdown"),
)

NOTE: Final = message(
    "Of jobs whose wait is known; slowdowns of those that ran. Values are within 0.5 %, or 0.005."
)
MINIMUM_CLASS_JOBS: Final = 100
MINIMUM_CLASS_SHARE: Final = 0.02
MAXIMUM_CLASS_SHARE: Final = 0.9
MAXIMUM_P_VALUE: Final = 0.01
"""A class may be served worst if it has as many jobs, and if chance is as improbable."""

UNNOTICED: Final = 600.0
"""Seconds of waiting that are added to both sides before waits are divided: a minute against a second is
nothing."""

Samples = Mapping[str, Sample]


@analysis(
    "Slowdown", Chapter.WAITS, facts=("slowdown", "wait"), needs=("wait_time", "run_time", "n_procs"), order=2
)
def slowdown(store: Store) -> Iterator[Block]:
    """
    Waits and bounded slowdowns: of all jobs, by processors, by queue, and of the users with most jobs.

    The bounded slowdown of a job is (wait + run time) / max(run time, 10 s), and at least 1: how many
    times longer it took than it would have on an empty system; the bound keeps very short jobs from
    ruling the mean (Feitelson et al. 1997). Waits are of all jobs whose wait is known, as in the section on
    them; slowdowns are of those that ran. The numbers of all jobs are exact; by processors, queue and user,
    values are counted to three significant digits, so that means and quantiles are within half a percent.
    """
    largest = {name: _largest(store, field) for name, field in (("queues", "queue_id"), ("users", "user_id"))}
    counted = {name: _value_counts(store, *value, largest) for name, value in VALUES.items()}
    overall = {name: _sample(columns, None, 0) for name, columns in counted.items()}
    if not overall["slowdown"].n:
        yield Note("No job that ran has a known wait.")
        return
    exact = {
        name: exact_summary(store, value, f"(from {jobs} where wait_time >= 0)", overall[name], FINEST)
        for name, (value, jobs) in VALUES.items()
    }
    yield Facts(summary_of("slowdown.bounded", exact["slowdown"], "", message("bounded slowdown")))
    sizes = {
        label: {name: _sample(columns, "size", place) for name, columns in counted.items()}
        for place, label in enumerate(SIZE_NAMES)
    }
    sizes = {label: parts for label, parts in sizes.items() if parts["wait"].n}
    total = (ALL, overall["wait"].n, *(number(x) for values in exact.values() for x in values[1:4]))
    yield _table("slowdown-sizes", message("Processors"), sizes, (total,))
    yield Facts(_class_facts(store, counted["wait"], largest), listed=False)
    for key, name, title in (("queue", "queues", message("Queue")), ("who", "users", message("User"))):
        groups = {
            label: {part: _sample(values, key, place) for part, values in counted.items()}
            for label, place in store.rows(largest[name])
        }
        if groups:
            yield _table(f"slowdown-{name}", title, groups)
    yield _figure(overall, sizes, exact["slowdown"])


def _largest(store: Store, field: str) -> str:
    """Return the query for the values of *field* with most jobs, which are sought once."""
    table = store.keep(f"largest_by_{field}", LARGEST_GROUPS.format(field=field, top=MAXIMUM_ROWS))
    return RANKS.format(table=table)


def _class_facts(
    store: Store, waits: Mapping[str, NDArray[Any]], largest: Mapping[str, str]
) -> tuple[Fact, ...]:
    """Return the waits of each class of jobs, and the class that waits longest."""
    facts: list[Fact] = []
    compared: list[dict[str, Any]] = []
    for kind, key, names, placed in _classes(store, largest):
        comparisons = compare(store, placed) if names else {}
        rows = [
            _class_row(kind, name, waits, (key, place), comparisons.get(place, Comparison(0, 0)))
            for name, place in names
        ]
        rows = [row for row in rows if row["jobs"]]
        compared += rows
        listed = [{name: row[name] for name in ("id", "jobs", "median", "p95")} for row in rows]
        facts.append(Fact(f"wait.by_{kind}", listed, message("Wait time by {kind}", kind=kind)))
    return (*facts, Fact("wait.worst", _worst(compared), "Class of jobs that waits longest"))


def _classes(
    store: Store, largest: Mapping[str, str]
) -> Iterator[tuple[str, str, list[tuple[str, int]], str]]:
    """Yield each kind of class: its name, its column of the value counts, its names by place, its jobs."""
    sizes = [(label, place) for place, label in enumerate(SIZE_NAMES)]
    yield "size", "size", sizes, SIZE_PLACED
    for kind, key, field in (("queue", "queue", "queue_id"), ("user", "who", "user_id")):
        groups = largest[f"{kind}s"]
        yield kind, key, store.rows(groups), PLACED.format(field=field, largest=groups)


def _class_row(
    kind: str,
    name: str,
    waits: Mapping[str, NDArray[Any]],
    place: tuple[str, int],
    comparison: Comparison,
) -> dict[str, Any]:
    """Return the waits of a class and of all other jobs, and how they compare."""
    jobs, others = _sample(waits, *place), _sample(waits, *place, others=True)
    return {
        "kind": kind,
        "id": name,
        "jobs": jobs.n,
        "share": jobs.n / max(jobs.n + others.n, 1),
        "median": number(jobs.median()),
        "p95": number(jobs.quantile(0.95)),
        "others_median": number(others.median()),
        "others_p95": number(others.quantile(0.95)),
        "intervals": comparison.intervals,
        "longer": comparison.longer,
        "p_value": comparison.p_value,
    }


def _worst(rows: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the class whose wait exceeds that of all others most, of those whose wait surely does."""
    for row, p_value in zip(rows, adjusted(row["p_value"] for row in rows), strict=True):
        row["p_value"] = p_value
    large = [
        row
        for row in rows
        if row["jobs"] >= MINIMUM_CLASS_JOBS and MINIMUM_CLASS_SHARE <= row["share"] <= MAXIMUM_CLASS_SHARE
    ]
    return min(large, key=lambda row: (row["p_value"] > MAXIMUM_P_VALUE, -_excess(row)), default=None)


def _excess(row: Mapping[str, Any]) -> float:
    """Return how many times longer a class waits than the others, by its median or 95th percentile."""
    pairs = ((row["median"], row["others_median"]), (row["p95"], row["others_p95"]))
    return max(float((wait + UNNOTICED) / (other + UNNOTICED)) for wait, other in pairs)


def _value_counts(store: Store, value: str, jobs: str, largest: Mapping[str, str]) -> dict[str, NDArray[Any]]:
    rounded = three_digits("value", FINEST)
    query = VALUE_COUNTS.format(value=value, jobs=jobs, rounded=rounded, size=SIZE_CLASS, **largest)
    columns = store.arrays(query)
    counted = {name: np.asarray(column) for name, column in columns.items()}
    distinct, place = np.unique(counted["value"], return_inverse=True)
    counted["distinct"], merged = np.unique(without_last_bits(distinct), return_inverse=True)
    counted["place"] = merged[place]
    return counted


def _sample(
    columns: Mapping[str, NDArray[Any]], key: str | None, place: int, *, others: bool = False
) -> Sample:
    """Return the sample of the values where *key* is *place*, or of the *others*, or of all values."""
    selected = slice(None) if key is None else (columns[key] != place if others else columns[key] == place)
    values = columns["distinct"]
    counts = np.bincount(columns["place"][selected], columns["n"][selected], len(values))
    return Sample.weighted(values, counts.astype(np.int64))


def _table(
    name: str, title: str, groups: Mapping[str, Samples], totals: tuple[tuple[Value, ...], ...] = ()
) -> Table:
    shown = (
        message(" The {maximum_rows} with most jobs.", maximum_rows=MAXIMUM_ROWS)
        if len(groups) == MAXIMUM_ROWS
        else ""
    )
    return Table(
        name,
        message("Wait and bounded slowdown by {lower}", lower=within_sentence(title)),
        (Column("name", title), *COLUMNS),
        (*(_row(label, parts) for label, parts in groups.items()), *totals),
        note=NOTE + (" The last row is exact." if totals else "") + shown,
    )


def _row(label: str, parts: Samples) -> tuple[Value, ...]:
    numbers = [
        number(value)
        for sample in (parts["wait"], parts["slowdown"])
        for value in (sample.mean(), sample.median(), sample.quantile(0.95))
    ]
    return (label, parts["wait"].n, *numbers)


def _figure(overall: Samples, sizes: Mapping[str, Samples], exact: ExactSummary) -> Block:
    curves = {label: parts["slowdown"].ecdf() for label, parts in sizes.items() if parts["slowdown"].n}
    return cdf(
        "slowdown",
        "Bounded slowdown by processors",
        curves if len(curves) > 1 else {"jobs": overall["slowdown"].ecdf()},
        "Bounded slowdown",
        message(
            "Cumulative fraction of jobs by bounded slowdown: the median is {median}, the "
            "95th percentile {p95}.",
            median=show(exact.median),
            p95=show(exact.p95),
        ),
    )
