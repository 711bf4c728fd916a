"""
Where the rows of a table go while a file is read: each batch is a piece of its own.

A piece is a temporary table, or a Parquet file where rows are stored. Appending small batches to one table
takes DuckDB three times as long, and copying them from it to Parquet as long again.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import duckdb

from gwa.errors import TraceError
from gwa.ingest.array_ranges import MAXIMUM_TASKS, is_range, number_of_tasks, with_tasks
from gwa.store.engines.duckdb import literal

if TYPE_CHECKING:
    from gwa.ingest.spec import TableSpec

GROUP_ROWS: Final = 122_880
"""The rows of a Parquet file that one thread reads, as many as in a group of the engine's own tables."""


class Pieces(ABC):
    """The rows of a table of the engine *database*, whose *columns* map names to SQL types."""

    ranges: str = ""
    """The column with ranges of array tasks, of which a row for each is made."""
    further_tasks: int = 0
    """How many rows there are beside those appended: the tasks behind the first of each range."""

    def __init__(self, database: duckdb.DuckDBPyConnection, table_spec: "TableSpec") -> None:
        """Begin without rows."""
        self.database = database
        position = {"file_no": "integer", "line": "bigint"} if table_spec.numbered else {}
        self.columns = {**table_spec.columns, **position}
        self.ranges = table_spec.ranges

    def append(self, select: str, values: Mapping[str, Any] | None = None) -> int:
        """Append the rows of a SELECT, in the order of the columns, and return their number."""
        cells = ", ".join(f"cast({name} as {sql}) as {name}" for name, sql in self.columns.items())
        typed = f"select {cells} from ({select}) as piece({', '.join(self.columns)})"
        rows = self._append(typed, dict(values or {}))
        if self.ranges:
            self._part_ranges()
        return rows

    def _part_ranges(self) -> None:
        """Make a row for each task of ranges in the last piece; raise `TraceError` if they are too many."""
        last, column = self._last(), self.ranges
        found = f"select count(*), sum({number_of_tasks(column)}) from {last} where {is_range(column)}"
        ((ranges, tasks),) = self.database.execute(found).fetchall()
        if not ranges:
            return
        if tasks > MAXIMUM_TASKS:
            raise TraceError(
                f"{ranges:,} ranges of array tasks stand for {tasks:,} tasks, expected at most"
                f" {MAXIMUM_TASKS:,}"
            )
        self.further_tasks += int(tasks - ranges)
        self._replace_last(with_tasks(last, column, numbered="line" in self.columns))

    @abstractmethod
    def _append(self, select: str, values: dict[str, Any]) -> int:
        """Append a piece with the rows of a SELECT of all columns, and return their number."""

    def _last(self) -> str:
        """Return the relation of the piece that was appended last."""
        raise NotImplementedError

    def _replace_last(self, select: str) -> None:
        """Put the rows of a SELECT in place of the piece that was appended last, of which it may be."""
        raise NotImplementedError

    @abstractmethod
    def undo(self) -> None:
        """Take the piece that was appended last back."""

    def settle(self) -> None:  # noqa: B027 - most have nothing to do
        """Put the pieces appended since behind all others, where several append to one table."""


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

    def _last(self) -> str:
        return self._tables()[-1]

    def _replace_last(self, select: str) -> None:
        self.database.execute(f"create or replace temp table {self._last()} as {select}")

    def _tables(self) -> list[str]:
        return [f"{self.name}_{number}" for number in range(self.count)]

    def _define_view(self) -> None:
        rows = " union all ".join(f"from {table}" for table in self._tables() or [f"{self.name}_empty"])
        self.database.execute(f"create or replace temp view {self.name} as {rows}")


class ParquetPieces(Pieces):
    """
    Parquet files in *folder*, in the order of their names, which they get when they are settled.

    Those of several workers have their *places* among all from the same numbers.
    """

    def __init__(
        self,
        database: duckdb.DuckDBPyConnection,
        table_spec: "TableSpec",
        folder: Path,
        places: Iterator[int],
        worker: int = 0,
    ) -> None:
        """Begin without files."""
        super().__init__(database, table_spec)
        self.folder, self.places, self.worker = folder, places, worker
        self.paths: list[Path] = []

    def settle(self) -> None:
        """Give the files written since their names."""
        for path in self.paths:
            path.rename(self.folder / f"{next(self.places):06}.parquet")
        self.paths.clear()

    def undo(self) -> None:
        """Remove the file that was written last."""
        self.paths.pop().unlink(missing_ok=True)

    def _append(self, select: str, values: dict[str, Any]) -> int:
        path = self.folder / f"worker{self.worker}-{len(self.paths)}.parquet"
        options = f"format parquet, compression lz4, row_group_size {GROUP_ROWS}"
        copy = f"copy ({select}) to {literal(str(path))} ({options})"
        ((rows,),) = self.database.execute(copy, values).fetchall()
        self.paths.append(path)
        return int(rows)

    def _last(self) -> str:
        return f"read_parquet({literal(escape(str(self.paths[-1])))})"

    def _replace_last(self, select: str) -> None:
        last = self._last()
        former = self.paths[-1].rename(self.paths[-1].with_suffix(".former"))
        self.paths.pop()
        self._append(select.replace(last, f"read_parquet({literal(escape(str(former)))})"), {})
        former.unlink()
