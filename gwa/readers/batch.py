"""What a reader yields: a part of a source, ready to be appended to a table of the engine."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, Final, Protocol

import duckdb

from gwa.errors import DefinitionError
from gwa.readers.lines import SHOWN, Reject
from gwa.readers.rows import MISSING as MISSING_CELL
from gwa.readers.rows import TOO_LONG, load, row

if TYPE_CHECKING:
    from gwa.readers.compressed import Source

MISSING: Final = ("-1", "-1.0", "-1.00", "-1.000000")
"""How text formats write a missing value."""


@dataclass(frozen=True)
class Shape:
    """
    How a reader is to read a source.

    *columns* are names and SQL types; *delimiter*, *comment* and *missing* are for text in columns,
    *options* are for the reader alone. With *numbered* two columns more, ``file_no`` and ``line``,
    say where a row stands.
    """

    columns: Mapping[str, str]
    delimiter: str = " "
    comment: str = ""
    missing: tuple[str, ...] = MISSING
    options: Mapping[str, Any] = field(default_factory=dict)
    numbered: bool = False


class Batch(Protocol):
    """
    Some rows of a source.

    *total* counts all rows met, *remarks* those of them that are comments or blank. What `load` does
    not append to the table is in *rejects*, which is complete after it.
    """

    total: int
    remarks: int
    rejects: list[Reject]

    def load(self, database: duckdb.DuckDBPyConnection, table: str, folder: Path) -> None:
        """Append the rows to *table*; *folder* is for files that are needed meanwhile."""


class Reader(Protocol):
    """Reads a source in batches."""

    def __call__(self, source: "Source", shape: Shape) -> Iterator[Batch]:
        """Yield the rows of *source*."""


def reader(name: str) -> Reader:
    """Return the reader of a module of this package: its function ``batches``."""
    module = import_module(f"gwa.readers.{name}") if name.isidentifier() else None
    found = getattr(module, "batches", None)
    if found is None:
        known = [info.name for info in iter_modules(import_module("gwa.readers").__path__)]
        message = f"there is no reader '{name}', expected one of {', '.join(known)}"
        raise DefinitionError(message)
    read: Reader = found
    return read


@dataclass
class Records:
    """Records that a reader made in Python, each a *row* of text; an empty text is no missing one."""

    shape: Shape
    rows: list[str] = field(default_factory=list)
    total: int = 0
    remarks: int = 0
    rejects: list[Reject] = field(default_factory=list)

    def add(self, line: int, values: Mapping[str, str | None]) -> None:
        """Append a record that begins in *line*, given by the names of its columns."""
        self.append(
            line,
            [MISSING_CELL if (cell := values.get(name)) is None else cell for name in self.shape.columns],
        )

    def append(self, line: int, cells: Sequence[str]) -> None:
        """Append a record that begins in *line*, given in the order of the columns."""
        text = row(cells, line)
        if text is None:
            self.reject(line, TOO_LONG, "".join(cells)[:SHOWN])
            return
        self.total += 1
        self.rows.append(text)

    def reject(self, line: int, reason: str, text: str) -> None:
        """Count a record that cannot be read."""
        self.total += 1
        self.rejects.append(Reject(line, reason, text))

    def load(self, database: duckdb.DuckDBPyConnection, table: str, folder: Path) -> None:
        """Append the records to *table*; text that is no value of a column's type becomes missing."""
        if self.rows:
            load(database, table, self.shape, ("".join(self.rows).encode(),), folder)


def create(database: duckdb.DuckDBPyConnection, table: str, shape: Shape) -> None:
    """Make the *table* that batches of *shape* are appended to; without a schema it is a temporary one."""
    columns = [f"{name} {sql}" for name, sql in shape.columns.items()]
    place = ["file_no integer", "line bigint"] if shape.numbered else []
    kind = "table" if "." in table else "temp table"
    database.execute(f"create {kind} {table} ({', '.join([*columns, *place])})")
