"""The engine under a store: DuckDB, and how much of the machine it may use."""

from dataclasses import dataclass
from pathlib import Path

import duckdb


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
        "temp_directory": f"{scratch}/spill",
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    if engine and engine.memory:
        config["memory_limit"] = engine.memory
    if engine and engine.threads:
        config["threads"] = engine.threads
    if not read_only:
        config["storage_compatibility_version"] = "v1.0.0"
        # These cost more time for short names than they save room.
        config["disabled_compression_methods"] = "fsst,dict_fsst,zstd"
    return duckdb.connect(str(path), read_only=read_only, config=config)
