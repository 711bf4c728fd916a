"""What a reader yields: a part of a source, ready to be appended to a table of the engine."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import duckdb

from gwa.errors import DefinitionError
from gwa.ingest.bulk_insert import MISSING as MISSING_CELL
from gwa.ingest.bulk_insert import TOO_LONG, load, row
from gwa.ingest.source.lines import SHOWN, Reject
from gwa.ingest.spec import TableSpec
from gwa.util import plugins

if TYPE_CHECKING:
    from gwa.ingest.source.compressed import Source


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

    def __call__(self, source: "Source", shape: TableSpec) -> Iterator[Batch]:
        """Yield the rows of *source*."""


def reader(name: str) -> Reader:
    """Return the reader called *name*: the function ``batches`` of that module of `gwa.ingest.readers`."""
    known = plugins.names("gwa.ingest.readers")
    if name not in known:
        raise DefinitionError(f"there is no reader '{name}', expected one of {', '.join(known)}")
    found: Reader = import_module(f"gwa.ingest.readers.{name}").batches
    return found


@dataclass
class Records:
    """Records that a reader made in Python, each a *row* of text; an empty text is no missing one."""

    shape: TableSpec
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


def create(database: duckdb.DuckDBPyConnection, table: str, shape: TableSpec) -> None:
    """Make the *table* that batches of *shape* are appended to; without a schema it is a temporary one."""
    columns = [f"{name} {sql}" for name, sql in shape.columns.items()]
    place = ["file_no integer", "line bigint"] if shape.numbered else []
    kind = "table" if "." in table else "temp table"
    database.execute(f"create {kind} {table} ({', '.join([*columns, *place])})")
