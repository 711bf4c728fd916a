"""Read lines of cells as typed columns, with DuckDB's CSV reader and its table of bad lines."""

import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from glob import escape
from itertools import takewhile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gwa.ingest.batch import Deferred
from gwa.ingest.pieces import Pieces
from gwa.ingest.source.compressed import Source
from gwa.ingest.source.lines import (
    REJECT_TEXT_LENGTH,
    LineBlock,
    LineLayout,
    RawBlock,
    Reject,
    are_plain,
    block_of,
    raw_blocks,
    raw_lines,
    select_lines,
)
from gwa.ingest.spec import TableSpec
from gwa.store.engines.duckdb import literal

_VALUE = re.compile(r"Could not convert string \"(.*)\" to", re.DOTALL)


def batches(source: Source, table_spec: TableSpec) -> Iterator[Deferred]:
    """
    Yield the lines of *source*; those whose number of cells differs from that of the columns are rejects.

    The option ``cells`` names all cells of a line if only some of them are columns; ``refuse`` maps patterns
    to the reasons for which lines that contain them are refused.
    """
    width = 0 if table_spec.options.get("any_width") else len(_cell_names(table_spec))
    layout = LineLayout(table_spec.delimiter, table_spec.comment, width)
    for raw in raw_blocks(source, layout):
        yield Deferred(partial(_lines_of, raw, layout, table_spec))


def _lines_of(raw: RawBlock, layout: LineLayout, table_spec: TableSpec) -> "ColumnLines":
    """Return the lines of a block, but for those that are refused."""
    block = block_of(raw, layout)
    for pattern, reason in table_spec.options.get("refuse", {}).items():
        _refuse_matching(block, pattern, reason)
    return ColumnLines(block, table_spec)


def _refuse_matching(block: LineBlock, pattern: str, reason: str) -> None:
    """Remove from *block* the lines in which *pattern* is found, and record them as rejects."""
    positions = [match.start() for match in re.finditer(pattern.encode(), block.data)]
    if not positions:
        return
    ends = block.ends
    rows = np.unique(np.searchsorted(ends, positions, side="right"))
    for row, number in zip(rows, block.line_numbers(rows), strict=True):
        begin = ends[row - 1] if row else 0
        text = block.data[begin : ends[row]][:REJECT_TEXT_LENGTH].decode("utf-8", errors="replace").strip()
        block.rejects.append(Reject(int(number), reason, text))
    _remove_rows(block, rows)


def _remove_rows(block: LineBlock, rows: NDArray[np.int64]) -> None:
    """Remove from the data of *block* the lines at the positions *rows*."""
    is_kept = np.ones(block.data_lines, np.bool_)
    is_kept[rows] = False
    numbers = block.line_numbers(rows)
    block.data = bytearray(select_lines(block.data, is_kept))
    block.skipped.append(numbers)


@dataclass
class ColumnLines:
    """A block of lines of cells."""

    block: LineBlock
    table_spec: TableSpec

    def __post_init__(self) -> None:
        """Take over the counts of the block."""
        self.total = self.block.total
        self.comments = self.block.comments
        self.rejects = self.block.rejects

    def load(self, rows: Pieces, folder: Path) -> None:
        """
        Append the lines to *rows*; lines that cannot be parsed are appended to the rejects.

        DuckDB parses a file with all cores. Every column is read, since only columns that a query
        reads are checked.
        """
        if not self.block.data:
            return
        path = folder / "part.txt"
        try:
            if not self.table_spec.numbered:
                path.write_bytes(self.block.data)
                self.rejects += self._parse(rows, _select(self.table_spec), path)
                return
            while self.block.data and self._load_numbered(rows, path):
                pass
        finally:
            path.unlink(missing_ok=True)

    def _load_numbered(self, rows: Pieces, path: Path) -> bool:
        """
        Append the lines with their numbers; return whether some were refused and all must be loaded again.

        Lines that DuckDB refuses shift the numbers of the others, so they are removed first.
        """
        path.write_bytes(self.block.data)
        lines = self.block.line_numbers(np.arange(self.block.data_lines, dtype=np.int64))
        rows.database.register("numbers", {"number": lines})
        rejected = self._parse(rows, self._numbered(), path)
        if rejected:
            rows.undo()
            _remove_rows(self.block, np.searchsorted(lines, [reject.line for reject in rejected]))
            self.rejects += rejected
        rows.database.unregister("numbers")
        return bool(rejected)

    def _numbered(self) -> str:
        """Return the SELECT of the lines with their numbers."""
        if not self.block.skipped:
            number = f"getvariable('file_no'), {self.block.first - 1} + row_number() over ()"
            return _select(self.table_spec, number)
        select = _select(self.table_spec, "getvariable('file_no'), number")
        return f"{select} positional join numbers"

    def _parse(self, rows: Pieces, select: str, path: Path) -> list[Reject]:
        """Append the rows that *select* yields of the file *path*, and return the lines refused."""
        values = {"path": str(path), "missing": list(self.table_spec.missing)}
        rows.append(select, values)
        database = rows.database
        rejected = database.execute(
            "select line, arg_min(column_name, column_idx), arg_min(error_type::varchar, column_idx),"
            f" arg_min(error_message, column_idx), any_value(csv_line[:{REJECT_TEXT_LENGTH}])"
            " from reject_errors group by line order by line"
        ).fetchall()
        # DuckDB appends to these tables at each read.
        database.execute("delete from reject_errors")
        database.execute("delete from reject_scans")
        lines = self.block.line_numbers(np.array([row[0] - 1 for row in rejected], np.int64))
        return [
            Reject(int(line), _reason(name, kind, message), str(text).strip())
            for line, (_, name, kind, message, text) in zip(lines, rejected, strict=True)
        ]


@dataclass(frozen=True)
class PlainText:
    """A file of *size* bytes whose *lines*, behind *comments*, the engine reads as cells as they stand."""

    path: Path
    size: int
    table_spec: TableSpec
    comments: int
    lines: int

    def select(self, file_no: int) -> str:
        """Return the SELECT of the rows, of which the engine refuses all where one is no row of the table."""
        del file_no
        path, missing = literal(escape(str(self.path))), ", ".join(map(literal, self.table_spec.missing))
        lines = _csv(self.table_spec, path, f"[{missing}]", f"skip={self.comments}")
        # The engine does not look at the values of columns that are not asked for.
        typed = ", ".join(name for name, kind in self.table_spec.columns.items() if kind != "varchar")
        looked_at = f" where hash({typed}) is not null" if typed else ""
        return f"select * from (from {lines} limit {self.lines}){looked_at}"


def plain_text(source: Source, table_spec: TableSpec) -> PlainText | None:
    """
    Return *source*, which is read to its end, as a text of lines that are rows as they stand, else None.

    Comments stand at its beginning only. Whether the cells are of the types of their columns is not known.
    """
    layout = LineLayout(table_spec.delimiter, table_spec.comment, len(_cell_names(table_spec)))
    cells, mark = {"any_width", "refuse", "cells", "quote"}, table_spec.comment.encode()
    if source.is_compressed or layout.squeezes or table_spec.numbered or cells & table_spec.options.keys():
        return None
    comments = rows = 0
    for position, chunk in enumerate(raw_lines(source)):
        body = chunk
        if not position:
            lines = chunk.splitlines(keepends=True)
            before = [*takewhile(lambda line: line == b"\n" or line[:1] == mark, lines)]
            comments = len(before)
            body = chunk[sum(map(len, before)) :]
        if chunk.startswith(BOM_UTF8) or not _are_rows(body, layout):
            return None
        rows += body.count(b"\n")
    return PlainText(source.path, source.size, table_spec, comments, rows) if rows else None


def _are_rows(lines: bytes, layout: LineLayout) -> bool:
    """Whether all *lines* are plain, and none of them is a comment or has cells that are padded."""
    mark = layout.comment.encode()
    # One byte is found much faster than two.
    if mark and mark in lines and (lines.startswith(mark) or b"\n" + mark in lines):
        return False
    if layout.delimiter == "\t" and b" " in lines and (b" \t" in lines or b"\t " in lines):
        return False
    return are_plain(lines, layout)


def _cell_names(table_spec: TableSpec) -> Sequence[str]:
    """Return the names of all cells of a line."""
    cells: Sequence[str] = table_spec.options.get("cells", tuple(table_spec.columns))
    return cells


def _select(table_spec: TableSpec, number: str = "") -> str:
    """Return the SELECT of the lines; names and types come from a converter's definition, never from data."""
    cells = _cell_names(table_spec)
    selected_cells = ", ".join(name if name in cells else "null" for name in table_spec.columns)
    selected = f"{selected_cells}, {number}" if number else selected_cells
    # A buffer as large as a block would occupy a single core, and more memory.
    options = "buffer_size=4194304, store_rejects=true"
    return f"select {selected} from {_csv(table_spec, '$path', '$missing', options)}"


def _csv(table_spec: TableSpec, path: str, missing: str, options: str) -> str:
    """Return the SQL that reads the lines of *path* as typed cells; *path* and *missing* are SQL, too."""
    cells = _cell_names(table_spec)
    columns = ", ".join(f"'{name}': '{table_spec.columns.get(name, 'varchar')}'" for name in cells)
    quote = table_spec.options.get("quote", "")
    return (
        f"read_csv({path}, delim='{table_spec.delimiter}', header=false, auto_detect=false, comment='',"
        f" quote='{quote}', escape='{quote}', new_line='\\n', max_line_size=2097152, nullstr={missing},"
        f" columns={{{columns}}}, {options})"
    )


def _reason(name: str | None, kind: str, message: str) -> str:
    """Summarise DuckDB's description of a bad line."""
    if kind == "CAST":
        value = _VALUE.search(message)
        shown = value.group(1)[:40] if value else "?"
        return f"{name} is '{shown}', expected a number"
    return kind.lower()
