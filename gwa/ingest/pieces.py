"""
Where the rows of a table go while a file is read: each batch is a piece of its own.

A piece is a temporary table, or a Parquet file where rows are stored. Appending small batches to one table
takes DuckDB three times as long, and copying them from it to Parquet as long again.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import duckdb

from gwa.store.engines.duckdb import literal

if TYPE_CHECKING:
    from gwa.ingest.spec import TableSpec

GROUP_ROWS: Final = 122_880
"""The rows of a Parquet file that one thread reads, as many as in a group of the engine's own tables."""


class Pieces(ABC):
    """The rows of a table of the engine *database*, whose *columns* map names to SQL types."""

    def __init__(self, database: duckdb.DuckDBPyConnection, table_spec: "TableSpec") -> None:
        """Begin without rows."""
        self.database = database
        position = {"file_no": "integer", "line": "bigint"} if table_spec.numbered else {}
        self.columns = {**table_spec.columns, **position}

    def append(self, select: str, values: Mapping[str, Any] | None = None) -> int:
        """Append the rows of a SELECT, in the order of the columns, and return their number."""
        cells = ", ".join(f"cast({name} as {sql}) as {name}" for name, sql in self.columns.items())
        typed = f"select {cells} from ({select}) as piece({', '.join(self.columns)})"
        return self._append(typed, dict(values or {}))

    @abstractmethod
    def _append(self, select: str, values: dict[str, Any]) -> int:
        """Append a piece with the rows of a SELECT of all columns, and return their number."""

    @abstractmethod
    def undo(self) -> None:
        """Take the piece that was appended last back."""


class TablePieces(Pieces):
    """Temporary tables, all of whose rows are in the view *name*."""

    def __init__(self, database: duckdb.DuckDBPyConnection, table_spec: "TableSpec", name: str) -> None:
        """Define the view, without rows."""
        super().__init__(database, table_spec)
        self.name = name
        self.count = 0
        columns = ", ".join(f"{column} {sql}" for column, sql in self.columns.items())
        database.execute(f"create or replace temp table {name}_empty ({columns})")
        self._define_view()

    def clear(self) -> None:
        """Drop all rows."""
        pieces, self.count = self._tables(), 0
        self._define_view()
        for piece in pieces:
            self.database.execute(f"drop table {piece}")

    def undo(self) -> None:
        """Drop the table that was created last."""
        last = self._tables()[-1]
        self.count -= 1
        self._define_view()
        self.database.execute(f"drop table {last}")

    def _append(self, select: str, values: dict[str, Any]) -> int:
        table = f"{self.name}_{self.count}"
        ((rows,),) = self.database.execute(f"create temp table {table} as {select}", values).fetchall()
        self.count += 1
        self._define_view()
        return int(rows)

    def _tables(self) -> list[str]:
        return [f"{self.name}_{number}" for number in range(self.count)]

    def _define_view(self) -> None:
        rows = " union all ".join(f"from {table}" for table in self._tables() or [f"{self.name}_empty"])
        self.database.execute(f"create or replace temp view {self.name} as {rows}")


class ParquetPieces(Pieces):
    """Parquet files in *folder*, in the order of their names."""

    def __init__(self, database: duckdb.DuckDBPyConnection, table_spec: "TableSpec", folder: Path) -> None:
        """Begin without files."""
        super().__init__(database, table_spec)
        self.folder = folder
        self.paths: list[Path] = []

    def undo(self) -> None:
        """Remove the file that was written last."""
        self.paths.pop().unlink(missing_ok=True)

    def _append(self, select: str, values: dict[str, Any]) -> int:
        path = self.folder / f"{len(self.paths):06}.parquet"
        options = f"format parquet, compression lz4, row_group_size {GROUP_ROWS}"
        copy = f"copy ({select}) to {literal(str(path))} ({options})"
        ((rows,),) = self.database.execute(copy, values).fetchall()
        self.paths.append(path)
        return int(rows)
