"""Top lists of users or groups by jobs and by CPU time."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

from gwa.metrics.totals import Totals, totals
from gwa.report.document import Block, Column, Fact, Facts, Table
from gwa.report.facts import number
from gwa.statistics.sample import Sample
from gwa.store.store import Store
from gwa.util.units import DAY
from gwa.words.formatting import number as number_text
from gwa.words.message import message, within_sentence

COLUMNS: Final = (
    Column("id", "Name"),
    Column("jobs", "Jobs", "count"),
    Column("jobs_share", "Share of jobs", "fraction"),
    Column("cpu_seconds", "CPU time", "cpu seconds"),
    Column("cpu_share", "Share of CPU time", "fraction"),
    Column("utilization", "Utilization by it", "fraction", minor=True),
    Column("procs_mean", "Mean processors", "count"),
    Column("runtime_mean", "Mean run time", "seconds", minor=True),
    Column("runtime_median", "Median run time", "seconds"),
    Column("arrivals_per_day", "Jobs a day", "count", minor=True),
)

TOTALS: Final = """
select submitted.id as id, jobs, cpu_seconds, procs_mean, runtime_mean, first, last from (
    select {field} as id, count(*) as jobs, min(submit_time) as first, max(submit_time) as last
    from jobs where {field} is not null group by {field}
) as submitted left join (
    select {field} as id, cast(sum(cpu_seconds) as double) as cpu_seconds,
    cast(sum(n_procs) as double) / count(*) as procs_mean,
    cast(sum(cast(run_time as decimal(38, 6))) as double) / count(*) as runtime_mean
    from ran where {field} is not null group by {field}
) as consumed on submitted.id = consumed.id
"""

RANKED: Final = """
select id, jobs, coalesce(cpu_seconds, 0) as cpu_seconds, procs_mean, runtime_mean, first, last
from {totals} order by {order} desc, id limit {top}
"""

MEDIANS: Final = """
with by_jobs as (select id from {totals} order by jobs desc, id limit {top}),
by_cpu as (select id from {totals} order by coalesce(cpu_seconds, 0) desc, id limit {top}),
listed as (select id from by_jobs union select id from by_cpu)
select ran.{field} as id, run_time as value, count(*) as n
from ran inner join listed on ran.{field} = listed.id
group by ran.{field}, run_time order by id, value
"""


def totals_table(store: Store, field: str) -> str:
    """
    Return the name of a table with a row for each user, group, …: jobs, CPU seconds, means, first and last.

    It is made once for all sections that need it. CPU seconds are null where no job ran.
    """
    return store.keep(f"totals_by_{field}", TOTALS.format(field=field))


def top_lists(store: Store, field: str, family: str, singular: str) -> Iterator[Block]:
    """Yield the top of *field* by jobs and by CPU time, with facts ``<family>.by_jobs`` and ``.by_cpu``."""
    table = totals_table(store, field)
    yield Facts((_unknown_share(store, table, family, singular),), listed=False)
    medians = _medians(store, MEDIANS.format(totals=table, field=field, top=store.top))
    for name, order, title in (
        ("by_cpu", "coalesce(cpu_seconds, 0)", message("CPU time")),
        ("by_jobs", "jobs", message("number of jobs")),
    ):
        top = store.rows(RANKED.format(totals=table, order=order, top=store.top))
        rows = [_top_row(row, medians, totals(store), store.system.cpus) for row in top]
        columns = [
            column for column in COLUMNS if any(row[column.key] is not None for row in rows) or not rows
        ]
        yield Facts(
            (Fact(f"{family}.{name}", rows, message("Top {family} by {title}", family=family, title=title)),),
            listed=False,
        )
        yield Table(
            f"{family}-{name.replace('_', '-')}",
            message("Top {rows} {family} by {title}", rows=number_text(len(rows)), family=family, title=title)
            if len(rows) != 1
            else message("The only {lower}, by {title}", lower=within_sentence(singular), title=title),
            (Column("id", singular), *columns[1:]),
            tuple(tuple(row[column.key] for column in columns) for row in rows),
        )


def _unknown_share(store: Store, table: str, family: str, singular: str) -> Fact:
    """Return which share of the CPU time is of jobs that name no one."""
    everything = totals(store).cpu_seconds
    share = 1 - store.sample("cpu_seconds", table).total() / everything if everything else None
    label = message("CPU time of jobs without a recorded {lower}, share", lower=within_sentence(singular))
    # A sum of doubles may differ from the exact one in its last bits.
    return Fact(
        f"{family}.unknown_cpu", number(max(share, 0.0)) if share is not None else None, label, "fraction"
    )


def _medians(store: Store, query: str) -> Mapping[str, float]:
    """Return the median run time by name; quantiles come from value counts, not from the engine."""
    columns = store.arrays(query)
    names = columns["id"]
    if not len(names):
        return {}
    edges = np.flatnonzero(names[1:] != names[:-1]) + 1
    groups = (np.split(np.asarray(columns[column]), edges) for column in ("id", "value", "n"))
    return {
        str(name[0]): Sample(values, counts).median() for name, values, counts in zip(*groups, strict=True)
    }


def _top_row(
    row: tuple[Any, ...], medians: Mapping[str, float], whole: Totals, cpus: int | None
) -> dict[str, Any]:
    name, jobs, cpu_seconds, procs, run_time, first, last = row
    span = whole.last - whole.first if whole.first is not None and whole.last is not None else 0
    active = last - first if first is not None else 0
    return {
        "id": name,
        "jobs": jobs,
        "jobs_share": jobs / whole.jobs,
        "cpu_seconds": number(cpu_seconds),
        "cpu_share": cpu_seconds / whole.cpu_seconds if whole.cpu_seconds else None,
        "utilization": cpu_seconds / (cpus * span) if cpus and span > 0 else None,
        "procs_mean": procs,
        "runtime_mean": run_time,
        "runtime_median": number(medians[name]) if name in medians else None,
        "arrivals_per_day": jobs / (active / DAY) if active >= DAY else None,
    }


def gini(store: Store, field: str, family: str) -> Facts:
    """Return the Gini coefficients of jobs and CPU time over *field*: 0 is even, 1 is all by one."""
    jobs, seconds = (store.sample(column, totals_table(store, field)) for column in ("jobs", "cpu_seconds"))
    return Facts(
        (
            Fact(
                f"{family}.gini_jobs",
                _gini(jobs),
                message("Gini coefficient of jobs over {family}", family=family),
            ),
            Fact(
                f"{family}.gini_cpu",
                _gini(seconds),
                message("Gini coefficient of CPU time over {family}", family=family),
            ),
        )
    )


def _gini(sample: Sample) -> float | None:
    return sample.gini() if sample.n and sample.max() > 0 else None
