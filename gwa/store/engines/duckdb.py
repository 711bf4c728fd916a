"""DuckDB: the engine inside the process, in whose dialect all queries are written."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import duckdb

from gwa.errors import TraceError
from gwa.store.engines.base import Parameters, QueryResult
from gwa.store.engines.config import DEFAULT_MEMORY_LIMIT, MEMORY_OUTSIDE_ENGINE, Engine, parse_size
from gwa.util import interrupts
from gwa.util.cores import usable_cores
from gwa.util.filenames import kind_of

if TYPE_CHECKING:
    import pyarrow as pa

FLUSH_THRESHOLDS: Final = ("allocator_flush_threshold", "allocator_bulk_deallocation_flush_threshold")

DAMAGED: Final = "Corrupt database file"
"""How DuckDB says that a block of a file does not fit its checksum, when it reads the block."""

ADVICE: Final = "copy it again, or convert its log again"

REPAID_BY_MANY_ROWS: Final = (
    "common_subplan", "column_lifetime", "cte_inlining", "duplicate_groups", "expression_rewriter",
    "in_clause", "projection_placement", "projection_pullup",
)  # fmt: skip
"""
What DuckDB does with a plan that takes longer than it saves, unless there are many rows.

Not the sharing of common expressions: without it DuckDB 2.0 fails to bind functions of a column that has no
value. Older versions know fewer of these.
"""

NEVER_REPAID: Final = ("partial_aggregate_pushdown",)
"""
What DuckDB 2.0 does with a plan that costs more than it saves here.

Sums that it moves below a join repeat the expressions that they are of, again for each level of subqueries:
the sums of alerts took twenty times as long.
"""


class Duck:
    """The database behind a connection of DuckDB."""

    name = "duckdb"
    keeps_order = True

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Wrap an open *connection*, which its owner closes, and which Ctrl-C interrupts."""
        self._connection = connection
        interrupts.register(self)

    def interrupt(self) -> None:
        """End the query that is being answered; nothing if there is none."""
        with suppress(duckdb.Error):
            self._connection.interrupt()

    def ask(self, sql: str, parameters: Parameters = None) -> QueryResult:
        """Return the result of a query; raise `TraceError` where a block of the file is damaged."""
        try:
            return self._connection.execute(sql, parameters)  # type: ignore[return-value]
        except duckdb.Error as error:
            if DAMAGED in str(error):
                raise TraceError(f"the store is damaged, {ADVICE} ({str(error).splitlines()[0]})") from error
            raise

    def set_zone(self, name: str) -> None:
        """Let dates that queries make of moments be those of a time zone, not of the machine's."""
        self._connection.execute(f"set timezone = {literal(name)}")

    def arrow(self, sql: str) -> "pa.Table":
        """Return the result of a query as an Arrow table."""
        return self._connection.sql(sql).to_arrow_table()

    def view(self, name: str, select: str) -> None:
        """Define or replace a view."""
        self._connection.execute(f"create or replace temp view {name} as {select}")

    def keep(self, name: str, select: str) -> None:
        """Store the result of *select* as the table *name*."""
        self._connection.execute(f"create temp table {name} as {select}")

    def share(self, name: str) -> None:
        """Do nothing: what stands in this database can be read."""

    def drop(self, name: str) -> None:
        """Drop a table."""
        self._connection.execute(f"drop table {name}")


def connect(
    path: Path, engine: Engine | None, scratch: str, *, read_only: bool = False
) -> duckdb.DuckDBPyConnection:
    """
    Open the database in *path*, which spills into *scratch*; extensions are never downloaded.

    Raise `TraceError` for a pipe or a device, which DuckDB would wait for without an end.
    """
    if kind := kind_of(path):
        raise TraceError(f"{path}: is {kind}, expected a store, which is a file")
    config: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": (engine or Engine()).limit,
        "temp_directory": f"{scratch}/spill",
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        # A name of a table is never that of a variable of Python.
        "python_enable_replacements": False,
    }
    if engine and engine.memory:
        # What is freed is given back at once, not when there are 128 or 512 MB of it.
        config |= dict.fromkeys(FLUSH_THRESHOLDS, "1MB")
    if not read_only:
        config["storage_compatibility_version"] = "v1.0.0"
        # For short names these cost more time than they save space.
        config["disabled_compression_methods"] = "fsst,dict_fsst,zstd"
        # A checkpoint would write most rows a second time to close gaps: a fifth of all for nothing.
        config["max_vacuum_tasks"] = 0
    database = duckdb.connect(str(path), read_only=read_only, config=config)
    _spare(database, NEVER_REPAID)
    limit_threads(database, engine or Engine())
    return database


def limit_threads(database: duckdb.DuckDBPyConnection, engine: Engine) -> None:
    """Use as many threads as *engine* says; else as many as there are cores, and memory for."""
    threads = engine.threads or min(usable_cores(), engine.affordable_threads or sys.maxsize)
    database.execute(f"set threads = {threads}")


def _threads(database: duckdb.DuckDBPyConnection) -> int:
    return int(database.execute("select current_setting('threads')").fetchall()[0][0])


def literal(text: str) -> str:
    """
    Quote *text* as a string literal of SQL.

    >>> literal("O'Brien")
    "'O''Brien'"
    """
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """
    Quote *name* as the name of a column in SQL.

    >>> identifier('5" disks')
    '"5"" disks"'
    """
    return '"' + name.replace('"', '""') + '"'


def columns_of(database: duckdb.DuckDBPyConnection, relation: str) -> dict[str, str]:
    """Return the columns of a *relation*, a name or a query, each with its SQL type."""
    described = database.execute(f"describe {relation}").fetchall()
    return {name: str(kind) for name, kind, *_ in described}


@contextmanager
def few_rows(database: duckdb.DuckDBPyConnection, engine: Engine | None) -> Iterator[None]:
    """
    Let queries of few rows be answered by one thread in the meantime, and planned with less care.

    To plan them takes longer than to answer them. Threads that *engine* states stay as they are.
    """
    threads = _threads(database)
    if not (engine and engine.threads):
        database.execute("set threads = 1")
    _spare(database, (*REPAID_BY_MANY_ROWS, *NEVER_REPAID))
    try:
        yield
    finally:
        _spare(database, NEVER_REPAID)
        database.execute(f"set threads = {threads}")


def _spare(database: duckdb.DuckDBPyConnection, names: Iterable[str]) -> None:
    """Let queries be planned without the optimizers of these *names*, as far as this DuckDB knows them."""
    known = {name for (name,) in database.execute("select name from duckdb_optimizers()").fetchall()}
    spared = ",".join(name for name in names if name in known)
    database.execute(f"set disabled_optimizers = {literal(spared)}")


@contextmanager
def limited_memory(
    database: duckdb.DuckDBPyConnection,
    engine: Engine | None,
    megabytes: int,
    beside: int = MEMORY_OUTSIDE_ENGINE,
) -> Iterator[None]:
    """
    Set the memory limit of *database* while rows are streamed through it or grouped.

    More than *megabytes* would be used for blocks that are not read again. Each thread needs memory
    for a block of text in addition; the default limit is not exceeded. Where the user has set a limit for
    the process, the database gets what is left *beside* a number of bytes.
    """
    engine = engine or Engine()
    streaming = min((megabytes + 64 * _threads(database)) * 10**6, parse_size(DEFAULT_MEMORY_LIMIT))
    limit = engine.limit_beside(beside) if engine.memory else f"{streaming}B"
    database.execute(f"set memory_limit = '{limit}'")
    try:
        yield
    finally:
        database.execute(f"set memory_limit = '{engine.limit}'")
