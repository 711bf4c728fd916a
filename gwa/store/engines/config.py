"""The choice of engine, and the memory and threads that it may use."""

import re
from dataclasses import dataclass
from typing import Final

from gwa.errors import EngineError

DEFAULT_MEMORY_LIMIT: Final = "1500MB"
"""DuckDB's memory limit where the user sets none; what does not fit is spilled to disk."""

MEMORY_OUTSIDE_ENGINE: Final = 330_000_000
"""Bytes of a process that DuckDB does not count: libraries, fits, compiled functions, figures."""

MEMORY_OF_READING: Final = 170_000_000
"""The same while a log is read: before there are jobs nothing is fitted or drawn."""

MINIMUM_MEMORY: Final = 350_000_000
"""Bytes of a limited process: with less, events that are grouped as a whole exceed the limit."""

MEMORY_OF_THREAD: Final = 140_000_000
"""Bytes for each thread of a limited engine, which needs blocks of its own that cannot be spilled."""

SMALL_BLOCK: Final = 1 << 23
LARGE_BLOCK: Final = 1 << 25
"""Bytes of a log in a block, where memory is limited and where it is not."""

ALLOCATOR_SHARE: Final = 0.1
"""The share of memory that DuckDB freed but the allocator retains: up to 7 % of 4 GB were observed."""

MINIMUM_ENGINE_SHARE: Final = 0.25
"""The minimum share of the memory that is left to DuckDB."""

SIZE_PATTERN: Final = re.compile(r"(\d+(?:\.\d+)?) *([KMGT])(i?)B", re.IGNORECASE)
"""A size in bytes."""

NAME_PATTERN: Final = re.compile(r"duckdb|spark|spark://[^\s/:]+:\d{1,5}")
"""The name of an engine."""

UNIT_POWERS: Final = {"K": 1, "M": 2, "G": 3, "T": 4}


@dataclass(frozen=True)
class Engine:
    """
    The engine that answers queries, and its limits: *memory* of the whole process, and *threads*.

    Its *name* is ``duckdb``, ``spark`` for Spark on this machine, or the ``spark://host:port`` of a cluster.
    """

    memory: str | None = None
    threads: int | None = None
    name: str = "duckdb"

    def __post_init__(self) -> None:
        """Refuse unknown engines."""
        if not NAME_PATTERN.fullmatch(self.name):
            raise EngineError(f"'{self.name}' is not an engine, expected duckdb, spark or spark://HOST:PORT")

    @property
    def is_spark(self) -> bool:
        """Whether Spark answers."""
        return self.name.startswith("spark")

    @property
    def limit(self) -> str:
        """DuckDB's memory limit, such as 1350000000B; data beyond it is spilled to disk."""
        return self.limit_beside(MEMORY_OUTSIDE_ENGINE)

    def limit_beside(self, other: int) -> str:
        """Return DuckDB's memory limit where the process needs *other* bytes for itself."""
        return f"{self._bytes_beside(other)}B" if self.memory else DEFAULT_MEMORY_LIMIT

    @property
    def limit_bytes(self) -> int:
        """The same in bytes."""
        return (
            parse_size(DEFAULT_MEMORY_LIMIT) if not self.memory else self._bytes_beside(MEMORY_OUTSIDE_ENGINE)
        )

    @property
    def affordable_threads(self) -> int | None:
        """The most threads for which there is enough memory; None where that is not limited."""
        return max(1, self._bytes_beside(MEMORY_OF_READING) // MEMORY_OF_THREAD) if self.memory else None

    def lacks(self, megabytes: int) -> bool:
        """Whether the memory of the process is limited to less than this number of *megabytes*."""
        return self.memory is not None and parse_size(self.memory) < megabytes * 1_000_000

    @property
    def block_size(self) -> int:
        """The bytes of a log that are read at once: large blocks take less time, small ones less memory."""
        return SMALL_BLOCK if self.memory else LARGE_BLOCK

    def _bytes_beside(self, other: int) -> int:
        whole = parse_size(self.memory or DEFAULT_MEMORY_LIMIT)
        return max(int(whole * (1 - ALLOCATOR_SHARE)) - other, int(whole * MINIMUM_ENGINE_SHARE))


def parse_size(text: str) -> int:
    """
    Convert a size to bytes.

    >>> parse_size("2GB"), parse_size("1.5 GiB")
    (2000000000, 1610612736)
    """
    match = SIZE_PATTERN.fullmatch(text.strip())
    if not match:
        raise ValueError(f"'{text}' is not a size, expected one such as 2GB")
    number, power, binary = match.groups()
    return int(float(number) * (1024 if binary else 1000) ** UNIT_POWERS[power.upper()])
