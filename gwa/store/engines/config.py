"""Which engine answers queries, and how much of the machine it may use."""

import re
from dataclasses import dataclass
from typing import Final

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
