"""
The cells of all traces of an archive in one file of DuckDB, which the page Explore asks by ranges.

Its tables are ``traces``, a row for each, and those of `gwa.breakdown.cube`, with a column ``trace`` before
the others, with days as dates, and with all columns that any trace may have.
"""

import shutil
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final

import duckdb

from gwa.archive.overview import of_archive
from gwa.archive.publish import CUBE
from gwa.archive.published import PublishedTrace
from gwa.breakdown.held import AMOUNTS
from gwa.store.engines.config import Engine
from gwa.store.engines.duckdb import connect, literal

FILE: Final = "explore.duckdb"
MARK: Final = "explore.key"
"""The file beside it that says of which traces it is."""

NAMES: Final = (
    "users", "groups", "projects", "queues", "partitions", "qos", "sites", "gpu_types", "sizes", "requests",
)  # fmt: skip
"""The dimensions that the tables have, null where a trace does not record one."""

TABLES: Final = {
    "jobs": {
        "day": "date", **dict.fromkeys(NAMES, "varchar"), "outcome": "varchar", "wait": "bigint",
        "hour": "bigint", "jobs": "bigint", **dict.fromkeys(AMOUNTS, "double"),
    },
    "usage": {
        "day": "date", **dict.fromkeys(NAMES, "varchar"), "outcome": "varchar", "known": "boolean",
        "accounted": "boolean", **dict.fromkeys(AMOUNTS, "double"),
    },
    "days": {
        "day": "date", "seconds": "double", "known_seconds": "double", "accounted_seconds": "double",
    },
}  # fmt: skip
"""The columns of each table, with their types, after that of the trace."""

TRACES: Final = {
    "trace": "varchar", "title": "varchar", "synthetic": "boolean", "dated": "boolean", "jobs": "bigint",
    "processors": "bigint", "core_hours": "double", "busy": "double", "days_a_cell": "bigint",
}  # fmt: skip

MEANINGS: Final = {
    "trace": "id of the trace",
    "title": "name of the trace",
    "synthetic": "whether a model made it",
    "dated": "whether its days are dates; they count from 1970-01-01 otherwise",
    "jobs": "number of jobs",
    "processors": "of the system",
    "core_hours": "held by all jobs",
    "busy": "mean share of busy processors",
    "days_a_cell": "days that a cell is of: 1, or more where the trace is large",
    "day": "of submission in jobs, in which they were held in usage",
    "users": "name, * for all but the largest",
    "outcome": "completed, limit, failed, cancelled, running or unknown",
    "sizes": "processors of a job, in classes",
    "requests": "requested time, in classes",
    "wait": "half octave: at least 2 to the power of half of it, in seconds; -1 is below 1 s",
    "hour": "of submission",
    "known": "whether the log knows the load of that time",
    "accounted": "whether that time lies outside of gaps of the log",
    "cpu_seconds": "processors × seconds held",
    "gpu_seconds": "GPUs × seconds held",
    "node_seconds": "nodes × seconds held",
    "gpu_used_seconds": "GPUs × seconds held × mean use, where that is known",
    "gpu_known_seconds": "GPUs × seconds held of which the use is known",
    "gpu_idle_seconds": "idle GPUs × seconds held, where that is known",
    "gpu_idle_known_seconds": "GPUs × seconds held of which idle ones are known",
    "seconds": "length of the day",
    "known_seconds": "of which the log knows the load",
    "accounted_seconds": "of which the log knows the load, outside of its gaps",
}
"""What the columns mean, for who writes a query."""

DATED: Final = " and dated"
"""What stands in a question that only traces with dates can answer."""

QUESTIONS: Final = (
    (
        "95 % wait by machine size",
        """with cells as (
  select trace, wait, sum(jobs) as jobs from jobs where wait is not null group by all
), ranked as (
  select trace, wait, sum(jobs) over (partition by trace order by wait) as below,
    sum(jobs) over (partition by trace) as all_jobs
  from cells
)
select title || ', ' || processors as trace_and_processors,
  round(if(min(wait) < 0, 1, pow(2, (min(wait) + 1) / 2)) / 3600, 4) as p95_wait_hours_at_most
from ranked join traces using (trace)
where below >= 0.95 * all_jobs
group by title, processors
order by processors, title""",
    ),
    (
        "Busyness by day of the week",
        """with held as (
  select trace, day, sum(cpu_seconds) as cpu_seconds from usage where known and accounted group by all
)
select title, dayname(day) as weekday,
  round(sum(coalesce(cpu_seconds, 0)) / sum(accounted_seconds * processors), 3) as busy
from days left join held using (trace, day) join traces using (trace)
where processors > 0 and accounted_seconds > 0 and days_a_cell = 1 and dated
group by title, weekday, isodow(day)
order by title, isodow(day)""",
    ),
    (
        "Submissions by hour of the day",
        """select title, hour,
  round(sum(j.jobs) / sum(sum(j.jobs)) over (partition by title), 4) as share_of_jobs
from jobs as j join traces using (trace)
where hour is not null
group by title, hour
order by title, hour""",
    ),
    (
        "Core-hours by outcome",
        """select title, outcome, round(sum(cpu_seconds) / sum(sum(cpu_seconds)) over (partition by title), 4)
  as share_of_core_hours
from usage join traces using (trace)
where cpu_seconds > 0
group by title, outcome
order by title, share_of_core_hours desc""",
    ),
    (
        "What the largest user takes",
        """with taken as (
  select trace, users, sum(cpu_seconds) as cpu_seconds from jobs where users is not null group by all
)
select title, round(max(cpu_seconds) filter (users <> '*') / sum(cpu_seconds), 3) as share_of_core_hours
from taken join traces using (trace)
group by title
order by share_of_core_hours desc""",
    ),
    (
        "Busyness from day to day",
        """with held as (
  select trace, day, sum(cpu_seconds) as cpu_seconds from usage where known and accounted group by all
)
select title, row_number() over (partition by title order by day) as day_of_the_trace,
  round(coalesce(cpu_seconds, 0) / (accounted_seconds * processors), 3) as busy
from days left join held using (trace, day) join traces using (trace)
where processors > 0 and accounted_seconds > 0
qualify day_of_the_trace <= 60
order by title, day_of_the_trace""",
    ),
)
"""Questions that Explore asks at a click: title and SQL, whose last column is drawn by those before it."""


def tables() -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the tables that a query can use: columns of each, and what they mean."""
    named = {"traces": TRACES} | {name: {"trace": "", **columns} for name, columns in TABLES.items()}
    return [(name, [(one, MEANINGS.get(one, "name")) for one in columns]) for name, columns in named.items()]


def write_cells(traces: Sequence[PublishedTrace], site: Path, old: Path | None = None) -> int:
    """
    Write the file of the archive in *site*, whose traces have their cells there; return its bytes.

    That of the *old* site is taken over where it is of the same traces.
    """
    shown = [trace for trace in traces if trace.about.get("cube")]
    if not shown:
        return 0
    key = sha256("".join(trace.about["key"] for trace in shown).encode()).hexdigest()
    (site / MARK).write_text(key, encoding="utf-8")
    if old and (old / FILE).is_file() and (old / MARK).is_file() and (old / MARK).read_text() == key:
        shutil.copyfile(old / FILE, site / FILE)
    else:
        _write(shown, site)
    return (site / FILE).stat().st_size


def _write(shown: Sequence[PublishedTrace], site: Path) -> None:
    # The bytes of a file depend on which of several threads is first; browsers read an older version.
    with connect(site / FILE, Engine(threads=1), str(site)) as engine:
        _create(engine, "traces", TRACES)
        engine.executemany(f"insert into traces values ({', '.join('?' * len(TRACES))})", list(_rows(shown)))
        for name, columns in TABLES.items():
            _create(engine, name, {"trace": "varchar", **columns})
            for trace in shown:
                path = site / "traces" / trace.entry.id / CUBE / f"{name}.parquet"
                engine.execute(_insert(engine, name, columns, trace.entry.id, path))


def _create(engine: duckdb.DuckDBPyConnection, name: str, columns: dict[str, str]) -> None:
    engine.execute(f"create table {name} ({', '.join(f'{one} {kind}' for one, kind in columns.items())})")


def _rows(traces: Sequence[PublishedTrace]) -> Iterator[tuple[object, ...]]:
    for trace in traces:
        line = of_archive(trace)
        yield (
            line.id, line.title, trace.entry.synthetic, line.begin is not None, line.jobs, line.cpus,
            line.core_hours, line.busy, trace.about["cube"]["days"],
        )  # fmt: skip


def _insert(
    engine: duckdb.DuckDBPyConnection, name: str, columns: dict[str, str], trace: str, path: Path
) -> str:
    """Return the command that adds the cells in the file *path*; columns that it lacks are null."""
    file = f"read_parquet({literal(str(path))})"
    there = {row[0] for row in engine.execute(f"describe select * from {file}").fetchall()}
    values = [
        literal(trace),
        *(_value(one, kind) if one in there else "null" for one, kind in columns.items()),
    ]
    return f"insert into {name} select {', '.join(values)} from {file}"


def _value(name: str, kind: str) -> str:
    return f"date '1970-01-01' + cast({name} as integer)" if kind == "date" else f"cast({name} as {kind})"
