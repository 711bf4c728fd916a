"""
The cells of all traces of an archive in one file of DuckDB, which the page Explore asks by ranges.

Its tables are ``traces``, a row for each, and those of `gwa.breakdown.cube`, with a column ``trace`` before
the others, with days as dates, and with all columns that any trace may have.
"""

import shutil
import tomllib
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

QUERIES: Final = tomllib.loads(Path(__file__).with_name("queries.toml").read_text(encoding="utf-8"))
"""SQL that pages offer, and what the columns of these tables mean."""

DATED: Final = " and dated"
"""What stands in a question that only traces with dates can answer."""

QUESTIONS: Final = tuple(QUERIES["explore"].items())
"""Questions that Explore asks at a click: title and SQL, whose last column is drawn by those before it."""


def tables() -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the tables that a query can use: columns of each, and what they mean."""
    named = {"traces": TRACES} | {name: {"trace": "", **columns} for name, columns in TABLES.items()}
    return [
        (name, [(one, QUERIES["meanings"].get(one, "name")) for one in columns])
        for name, columns in named.items()
    ]


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
