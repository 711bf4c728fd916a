"""DuckDB: the engine inside the process, in whose dialect all queries are written."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from gwa.store.engines.base import Answer, Parameters
from gwa.store.engines.config import DEFAULT_MEMORY_LIMIT, Engine
from gwa.util import interrupts

if TYPE_CHECKING:
    import pyarrow as pa


class Duck:
    """The database behind a connection of DuckDB."""

    name = "duckdb"

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Wrap an open *connection*, which its owner closes, and which Ctrl-C interrupts."""
        self._connection = connection
        interrupts.register(self)

    def interrupt(self) -> None:
        """End the query that is being answered; nothing if there is none."""
        with suppress(duckdb.Error):
            self._connection.interrupt()

    def ask(self, sql: str, parameters: Parameters = None) -> Answer:
        """Return the result of a query."""
        return self._connection.execute(sql, parameters)  # type: ignore[return-value]

    def arrow(self, sql: str) -> "pa.Table":
        """Return the result of a query as an Arrow table."""
        return self._connection.sql(sql).to_arrow_table()

    def view(self, name: str, select: str) -> None:
        """Define or replace a view."""
        self._connection.execute(f"create or replace temp view {name} as {select}")

    def keep(self, name: str, select: str) -> None:
        """Store the result of *select* as the table *name*."""
        self._connection.execute(f"create temp table {name} as {select}")

    def drop(self, name: str) -> None:
        """Drop a table."""
        self._connection.execute(f"drop table {name}")


def connect(
    path: Path, engine: Engine | None, scratch: str, *, read_only: bool = False
) -> duckdb.DuckDBPyConnection:
    """Open the database in *path*, which spills into *scratch*; extensions are never downloaded."""
    config: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": (engine or Engine()).limit,
        "temp_directory": f"{scratch}/spill",
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        # A name of a table is never that of a variable of Python.
        "python_enable_replacements": False,
    }
    if engine and engine.threads:
        config["threads"] = engine.threads
    if not read_only:
        config["storage_compatibility_version"] = "v1.0.0"
        # For short names these cost more time than they save space.
        config["disabled_compression_methods"] = "fsst,dict_fsst,zstd"
    return duckdb.connect(str(path), read_only=read_only, config=config)


def literal(text: str) -> str:
    """
    Quote *text* as a string literal of SQL.

    >>> literal("O'Brien")
    "'O''Brien'"
    """
    return "'" + text.replace("'", "''") + "'"


@contextmanager
def limited_memory(
    database: duckdb.DuckDBPyConnection, engine: Engine | None, megabytes: int
) -> Iterator[None]:
    """
    Lower the memory limit of *database* while rows are streamed through it, unless the user has set one.

    More than *megabytes* would be used for blocks that are not read again. Each thread needs memory
    for a block of text in addition.
    """
    if engine and engine.memory:
        yield
        return
    threads = database.execute("select current_setting('threads')").fetchall()[0][0]
    database.execute(f"set memory_limit = '{megabytes + 64 * int(threads)}MB'")
    try:
        yield
    finally:
        database.execute(f"set memory_limit = '{DEFAULT_MEMORY_LIMIT}'")
