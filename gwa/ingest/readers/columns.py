"""Read lines of cells as typed columns, with DuckDB's reader and its account of bad lines."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
from numpy.typing import NDArray

from gwa.ingest.source.compressed import Source
from gwa.ingest.source.lines import SHOWN, Layout, LineBlock, Reject, parts
from gwa.ingest.spec import TableSpec

_VALUE = re.compile(r"Could not convert string \"(.*)\" to", re.DOTALL)


def batches(source: Source, shape: TableSpec) -> Iterator["ColumnLines"]:
    """
    Yield the lines of *source*; those that do not have as many cells as columns are rejects.

    The option ``cells`` names all cells of a line where only some of them are columns, ``refuse`` gives
    reasons to refuse a line by the pattern found in it.
    """
    width = 0 if shape.options.get("any_width") else len(_cells(shape))
    for part in parts(source, Layout(shape.delimiter, shape.comment, width)):
        for pattern, reason in shape.options.get("refuse", {}).items():
            _refuse(part, pattern, reason)
        yield ColumnLines(part, shape)


def _refuse(part: LineBlock, pattern: str, reason: str) -> None:
    """Take the lines in which *pattern* is found out of *part*."""
    places = [found.start() for found in re.finditer(pattern.encode(), part.data)]
    if not places:
        return
    ends = _ends(part)
    rows = np.unique(np.searchsorted(ends, places, side="right"))
    for row, number in zip(rows, part.line_numbers(rows), strict=True):
        begin = ends[row - 1] if row else 0
        text = part.data[begin : ends[row]][:SHOWN].decode("utf-8", errors="replace").strip()
        part.rejects.append(Reject(int(number), reason, text))
    _take_out(part, rows)


def _take_out(part: LineBlock, rows: NDArray[np.int64]) -> None:
    """Take the kept lines at the places *rows* out of *part*."""
    ends = _ends(part)
    keep = np.ones(len(ends), np.bool_)
    keep[rows] = False
    numbers = part.line_numbers(rows)
    cells = np.frombuffer(bytes(part.data), np.uint8)
    part.data = bytearray(cells[np.repeat(keep, np.diff(ends, prepend=0))].tobytes())
    part.skipped.append(numbers)


def _ends(part: LineBlock) -> NDArray[np.int64]:
    """Return where each kept line ends."""
    ends: NDArray[np.int64] = np.flatnonzero(np.frombuffer(bytes(part.data), np.uint8) == ord("\n")) + 1
    return ends


@dataclass
class ColumnLines:
    """A part of a text, to be parsed by the engine."""

    part: LineBlock
    shape: TableSpec

    def __post_init__(self) -> None:
        """Take the account of the part."""
        self.total = self.part.total
        self.remarks = len(self.part.comments) + self.part.blank
        self.rejects = self.part.rejects

    def load(self, database: duckdb.DuckDBPyConnection, table: str, folder: Path) -> None:
        """
        Append the lines to *table*, and to the rejects what cannot be parsed.

        DuckDB parses a file with all cores. Every column is read, since only columns that a query
        reads are checked.
        """
        if not self.part.data:
            return
        path = folder / "part.txt"
        try:
            if not self.shape.numbered:
                path.write_bytes(self.part.data)
                self.rejects += self._parse(database, _insert(table, self.shape), path)
                return
            while self.part.data and self._numbered(database, table, path):
                pass
        finally:
            path.unlink(missing_ok=True)

    def _numbered(self, database: duckdb.DuckDBPyConnection, table: str, path: Path) -> bool:
        """
        Append the lines with their numbers; return whether some were refused, and all are to come again.

        Those that DuckDB refuses shift the numbers of the others, so they are taken out first. All goes
        straight to *table*: DuckDB 2.0 mixes up rows that come from a table dropped in the same transaction.
        """
        import pyarrow as pa

        path.write_bytes(self.part.data)
        lines = self.part.line_numbers(np.arange(self.part.kept, dtype=np.int64))
        database.register("numbers", pa.table({"number": lines}))
        bad = self._parse(database, self._insert_numbered(table), path)
        if bad:
            database.execute(
                f"delete from {table} where file_no = getvariable('file_no')"
                " and line in (select number from numbers)"
            )
            _take_out(self.part, np.searchsorted(lines, [reject.line for reject in bad]))
            self.rejects += bad
        database.unregister("numbers")
        return bool(bad)

    def _insert_numbered(self, table: str) -> str:
        """Return the statement that appends the lines with their numbers."""
        if not self.part.skipped:
            number = f"getvariable('file_no'), {self.part.first - 1} + row_number() over ()"
            return _insert(table, self.shape, number)
        insert = _insert(table, self.shape, "getvariable('file_no'), number")
        return f"{insert} positional join numbers"

    def _parse(self, database: duckdb.DuckDBPyConnection, insert: str, path: Path) -> list[Reject]:
        """Let DuckDB *insert* what is in the file in *path* and return what it refused."""
        values = {"path": str(path), "missing": list(self.shape.missing)}
        database.execute(insert, values).fetchall()
        bad = database.execute(
            "select line, arg_min(column_name, column_idx), arg_min(error_type::varchar, column_idx),"
            f" arg_min(error_message, column_idx), any_value(csv_line[:{SHOWN}])"
            " from reject_errors group by line order by line"
        ).fetchall()
        # DuckDB appends to these tables at each read; what was reported is not wanted again.
        database.execute("delete from reject_errors")
        database.execute("delete from reject_scans")
        lines = self.part.line_numbers(np.array([row[0] - 1 for row in bad], np.int64))
        return [
            Reject(int(line), _reason(name, kind, message), str(text).strip())
            for line, (_, name, kind, message, text) in zip(lines, bad, strict=True)
        ]


def _cells(shape: TableSpec) -> Sequence[str]:
    """Return the names of the cells of a line."""
    cells: Sequence[str] = shape.options.get("cells", tuple(shape.columns))
    return cells


def _insert(table: str, shape: TableSpec, number: str = "") -> str:
    """Return the statement; names and types come from a converter's definition, never from data."""
    cells = _cells(shape)
    columns = ", ".join(f"'{name}': '{shape.columns.get(name, 'varchar')}'" for name in cells)
    wanted = ", ".join(name if name in cells else "null" for name in shape.columns)
    quote = shape.options.get("quote", "")
    selected = f"{wanted}, {number}" if number else wanted
    return (
        f"insert into {table} select {selected} from read_csv($path, delim='{shape.delimiter}',"
        f" header=false, auto_detect=false, comment='', quote='{quote}', escape='{quote}', new_line='\\n',"
        # A buffer as large as a part would keep all cores but one waiting, and its memory.
        " max_line_size=2097152, buffer_size=4194304, nullstr=$missing, store_rejects=true,"
        f" columns={{{columns}}})"
    )


def _reason(name: str | None, kind: str, message: str) -> str:
    """Say in a few words what DuckDB says of a bad line."""
    if kind == "CAST":
        value = _VALUE.search(message)
        shown = value.group(1)[:40] if value else "?"
        return f"{name} is '{shown}', expected a number"
    return kind.lower()
