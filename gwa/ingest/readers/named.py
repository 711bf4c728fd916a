"""
Read lines of cells whose columns are named, all as text.

The names stand in a header row. It may be repeated, it may change where files were concatenated,
and it need not be the first line; if there is none, the user or the format states the order. What parts
the cells is found by `gwa.ingest.source.cell_borders`. A column
of the table ``source`` is found under its own name, whatever its case and punctuation (``end_`` is
``End``); other columns of the file are ignored, and columns that it lacks are missing.
Options:

``header``
    a name that every header row has.
``order``
    the names if a file has no header; the user's option ``columns`` replaces them.
``names``
    further names of such headers: a table whose cells are parted by something other than the delimiter is
    recognised where it names nothing else.
``loose``
    names of columns whose text may contain the delimiter, the likeliest first.
``checks``
    patterns of the cells of some columns, by which a row with too many cells, or one that line breaks
    within a cell have split, is put together again.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gwa.ingest.batch import Records
from gwa.ingest.pieces import Pieces
from gwa.ingest.source.compressed import Source
from gwa.ingest.source.header_row import Columns, borders, initial_columns, normalized, parse_header
from gwa.ingest.source.lines import REJECT_TEXT_LENGTH, Layout, LineBlock, Reject, line_blocks
from gwa.ingest.spec import TableSpec

MAXIMUM_ROW_LINES: Final = 10
"""A row that line breaks split into more lines is not put together again."""


def batches(source: Source, table_spec: TableSpec) -> Iterator["NamedRows"]:
    """Yield the rows of *source*; those that cannot be fitted to the columns are rejects."""
    cells = borders(source, table_spec)
    table_spec = replace(table_spec, delimiter=cells.delimiter)
    columns = initial_columns(source, table_spec, cells)
    for block in line_blocks(source, Layout(cells.delimiter, table_spec.comment)):
        cells.rows(block)
        for rows in _split_at_headers(block, table_spec, columns, cells.text):
            columns = rows.columns
            yield rows


@dataclass
class NamedRows:
    """
    Lines that have the same *columns*.

    *data* holds the lines with as many cells as columns, *lines* their numbers; *repaired* are
    rows that were put together one by one.
    """

    columns: Columns
    table_spec: TableSpec
    data: NDArray[np.uint8]
    lines: NDArray[np.int64]
    repaired: Records
    comments: int
    rejects: list[Reject]

    @property
    def total(self) -> int:
        """The number of rows met."""
        return len(self.lines) + len(self.repaired.rows) + self.comments + len(self.rejects)

    def load(self, rows: Pieces, folder: Path) -> None:
        """Append the lines to *rows*; DuckDB parses them with all cores."""
        self.repaired.load(rows, folder)
        if not len(self.data):
            return
        path = folder / "part.txt"
        path.write_bytes(self.data.data)
        rows.database.register("numbers", {"line": self.lines})
        try:
            rows.append(
                f"select {', '.join(self._column_expressions())} from {self._csv()}"
                f" as parsed{' positional join numbers' if self.table_spec.numbered else ''}",
                {"path": str(path), "missing": list(self.table_spec.missing)},
            )
        finally:
            rows.database.unregister("numbers")
            path.unlink()

    def _column_expressions(self) -> list[str]:
        """Return the SQL of each column of the table."""
        positions = {name: position for position, name in enumerate(self.columns.names) if name}
        cells = [
            f"try_cast(c{positions[normalized(name)]} as {sql})"
            if normalized(name) in positions
            else f"cast(null as {sql})"
            for name, sql in self.table_spec.columns.items()
        ]
        return [*cells, "getvariable('file_no')", "numbers.line"] if self.table_spec.numbered else cells

    def _csv(self) -> str:
        """Return the SQL that reads the lines as cells ``c0``, ``c1``…."""
        cells = ", ".join(f"'c{position}': 'varchar'" for position in range(len(self.columns.names)))
        # A megabyte of Latin-1 may have become two of UTF-8.
        return (
            f"read_csv($path, delim='{self.table_spec.delimiter}', header=false, auto_detect=false,"
            f" comment='', quote='', escape='', new_line='\\n', max_line_size=4194304,"
            f" buffer_size=4194304, nullstr=$missing, columns={{{cells}}})"
        )


@dataclass(frozen=True)
class _Lines:
    """Some lines of *data*: where they begin and end, and their numbers."""

    data: bytearray
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]
    numbers: NDArray[np.int64]

    def text(self, position: int) -> str:
        return self.data[int(self.begins[position]) : int(self.ends[position]) - 1].decode()

    def slice(self, start: int, stop: int) -> "_Lines":
        return _Lines(self.data, self.begins[start:stop], self.ends[start:stop], self.numbers[start:stop])


def _split_at_headers(
    block: LineBlock, table_spec: TableSpec, columns: Columns, between: str
) -> Iterator[NamedRows]:
    """Yield the lines of *block*, split where a header changes the columns; *between* parted their cells."""
    ends = block.ends
    begins = np.concatenate((np.zeros(1, np.int64), ends[:-1]))
    numbers = block.line_numbers(np.arange(len(ends), dtype=np.int64))
    lines = _Lines(block.data, begins, ends, numbers)
    headers = _find_headers(lines, table_spec)
    comments, rejects = block.comments, block.rejects
    cuts = [0]
    for position, header in headers.items():
        if header.names != headers.get(cuts[-1], columns).names:
            cuts.append(position)
    for start, stop in pairwise([*cuts, len(ends)]):
        columns = headers.get(start, columns)
        within = [position - start for position in headers if start <= position < stop]
        rows = _fit_lines(lines.slice(start, stop), columns, table_spec, within, between)
        rows.comments += comments
        rows.rejects = rejects + rows.rejects
        yield rows
        comments, rejects = 0, []


def _find_headers(lines: _Lines, table_spec: TableSpec) -> dict[int, Columns]:
    """Return the headers by their position in *lines*."""
    headers: dict[int, Columns] = {}
    name = table_spec.options["header"].encode()
    offset = lines.data.find(name)
    while offset >= 0:
        position = int(np.searchsorted(lines.begins, offset, side="right")) - 1
        end = int(lines.ends[position])
        if header := parse_header(lines.data[int(lines.begins[position]) : end].decode(), table_spec):
            headers[position] = header
        offset = lines.data.find(name, end)
    return headers


def _fit_lines(
    lines: _Lines, columns: Columns, table_spec: TableSpec, headers: Sequence[int], between: str
) -> NamedRows:
    """Return *lines* as rows of *columns*, without the *headers* among them."""
    first, last = (int(lines.begins[0]), int(lines.ends[-1])) if len(lines.ends) else (0, 0)
    data = np.frombuffer(lines.data, np.uint8)[first:last]
    delimiters = np.flatnonzero(data == ord(table_spec.delimiter)) + first
    fits = np.diff(np.searchsorted(delimiters, lines.ends), prepend=0) + 1 == len(columns.names)
    fits[list(headers)] = False
    if not fits.all():
        data = data[np.repeat(fits, lines.ends - lines.begins)]
    misfits = np.setdiff1d(np.flatnonzero(~fits), headers)
    texts = (lines.text(position).replace(table_spec.delimiter, between) for position in misfits)
    odd = list(zip(lines.numbers[misfits].tolist(), texts, strict=True))
    repaired = _repair(odd, columns, replace(table_spec, delimiter=between))
    numbers = lines.numbers[fits]
    return NamedRows(columns, table_spec, data, numbers, repaired, len(headers), repaired.rejects)


def _repair(lines: list[tuple[int, str]], columns: Columns, table_spec: TableSpec) -> Records:
    """Put rows together from numbered lines with too many or too few cells; reject lines that remain."""
    records = Records(table_spec)
    position = 0
    while position < len(lines):
        cells, used = _join_row(lines[position : position + MAXIMUM_ROW_LINES], columns, table_spec)
        number, line = lines[position]
        if cells is None:
            width = line.count(table_spec.delimiter) + 1
            hint = ": no header names them, but -O columns=JobID,… may" if columns.assumed else ""
            reason = f"{width} columns, expected {len(columns.names)}{hint}"
            records.reject(number, reason, line[:REJECT_TEXT_LENGTH].strip())
        else:
            records.add(number, _values(cells, columns, table_spec))
        position += used
    return records


def _join_row(
    lines: list[tuple[int, str]], columns: Columns, table_spec: TableSpec
) -> tuple[list[str] | None, int]:
    """Return the cells of the row that begins *lines*, None if there is none, and the lines that it takes."""
    delimiter = table_spec.delimiter
    first, text = lines[0]
    if not columns.may_begin(text, delimiter):
        return None, 1
    for used, (number, line) in enumerate(lines):
        if used:
            if number != first + used or columns.may_begin(line, delimiter):
                break
            text = f"{text} {line}"
        if text.count(delimiter) + 1 >= len(columns.names):
            cells = columns.fit(text.split(delimiter), delimiter)
            return cells, used + 1 if cells else 1
    return None, 1


def _values(cells: list[str], columns: Columns, table_spec: TableSpec) -> Mapping[str, str | None]:
    """Return the cells by the columns of the table."""
    named = dict(zip(columns.names, cells, strict=True))
    values = {name: named.get(normalized(name)) for name in table_spec.columns}
    return {name: None if value in table_spec.missing else value for name, value in values.items()}
