"""The engine under a store: DuckDB, and how much of the machine it may use."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import duckdb

from gwa.errors import EngineError

MEMORY: Final = "1500MB"
"""DuckDB's memory limit where the user sets none; what does not fit is spilled to disk."""

BESIDE: Final = 450_000_000
"""Bytes that a process takes beside what DuckDB counts: libraries, fits, figures, parts of DuckDB."""

KEPT: Final = 0.1
"""The share of the memory that the allocator keeps of what DuckDB has given back: 7 % of 4 GB were seen."""

LEAST: Final = 0.5
"""The share of a small memory that is left to DuckDB whatever stands beside it."""

SIZE: Final = re.compile(r"(\d+(?:\.\d+)?) *([KMGT])(i?)B", re.IGNORECASE)
"""How a size is written."""

NAMES: Final = re.compile(r"duckdb|spark|spark://[^\s/:]+:\d{1,5}")
"""How an engine is named."""

POWERS: Final = {"K": 1, "M": 2, "G": 3, "T": 4}


@dataclass(frozen=True)
class Engine:
    """
    What answers queries, and how much of the machine may be used: *memory* of all processes, *threads*.

    Its *name* is ``duckdb``, ``spark`` for Spark on this machine, or the ``spark://host:port`` of a cluster.
    """

    memory: str | None = None
    threads: int | None = None
    name: str = "duckdb"

    def __post_init__(self) -> None:
        """Refuse what is no engine."""
        if not NAMES.fullmatch(self.name):
            raise EngineError(f"'{self.name}' is no engine, expected duckdb, spark or spark://HOST:PORT")

    @property
    def is_spark(self) -> bool:
        """Whether Spark answers."""
        return self.name.startswith("spark")

    @property
    def limit(self) -> str:
        """What DuckDB may count of the memory, such as 1350000000B; what does not fit is spilled to disk."""
        if not self.memory:
            return MEMORY
        whole = size_of(self.memory)
        return f"{max(int(whole * (1 - KEPT)) - BESIDE, int(whole * LEAST))}B"


def size_of(text: str) -> int:
    """
    Return a size in bytes.

    >>> size_of("2GB"), size_of("1.5 GiB")
    (2000000000, 1610612736)
    """
    found = SIZE.fullmatch(text.strip())
    if not found:
        raise ValueError(f"'{text}' is no size, expected one such as 2GB")
    number, power, binary = found.groups()
    return int(float(number) * (1024 if binary else 1000) ** POWERS[power.upper()])


def connect(
    path: Path, engine: Engine | None, scratch: str, *, read_only: bool = False
) -> duckdb.DuckDBPyConnection:
    """Open the database in *path*, which spills into *scratch*; nothing is ever fetched from elsewhere."""
    config: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": (engine or Engine()).limit,
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
