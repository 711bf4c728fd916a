"""The engine under a store: DuckDB, and how much of the machine it may use."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import duckdb

MEMORY: Final = "1500MB"
"""DuckDB's memory limit where the user sets none; what does not fit is spilled to disk."""


@dataclass(frozen=True)
class Engine:
    """How much of the machine a store may use: DuckDB's *memory* limit, such as 2GB, and *threads*."""

    memory: str | None = None
    threads: int | None = None


def connect(
    path: Path, engine: Engine | None, scratch: str, *, read_only: bool = False
) -> duckdb.DuckDBPyConnection:
    """Open the database in *path*, which spills into *scratch*; nothing is ever fetched from elsewhere."""
    config: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": (engine and engine.memory) or MEMORY,
        "temp_directory": f"{scratch}/spill",
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    if engine and engine.threads:
        config["threads"] = engine.threads
    if not read_only:
        config["storage_compatibility_version"] = "v1.0.0"
        # These cost more time for short names than they save room.
        config["disabled_compression_methods"] = "fsst,dict_fsst,zstd"
    return duckdb.connect(str(path), read_only=read_only, config=config)


def literal(text: str) -> str:
    """
    Return *text* as SQL text: whatever stands in it, it is nothing else.

    >>> literal("O'Brien")
    "'O''Brien'"
    """
    return "'" + text.replace("'", "''") + "'"


@contextmanager
def passing(database: duckdb.DuckDBPyConnection, engine: Engine | None, megabytes: int) -> Iterator[None]:
    """
    Hold the memory limit of *database* down, unless the user has set one, while rows pass through.

    More than *megabytes* would be spent on blocks that nobody reads again. Each thread needs room
    for a block of text besides.
    """
    if engine and engine.memory:
        yield
        return
    threads = database.execute("select current_setting('threads')").fetchall()[0][0]
    database.execute(f"set memory_limit = '{megabytes + 64 * int(threads)}MB'")
    try:
        yield
    finally:
        database.execute(f"set memory_limit = '{MEMORY}'")
