"""
Read lines of cells whose columns are named, all as text.

The names stand in a header row. It may be repeated, it may change where files were concatenated,
and it need not be the first line; if there is none, the user or the format states the order. What parts
the cells, and whether they are quoted, is found by `gwa.ingest.source.cell_borders`. A column
of the table ``source`` is found under its own name, whatever its case and punctuation (``end_`` is
``End``); other columns of the file are ignored, and columns that it lacks are missing.
Options:

``header``
    a name that every header row has, or a list of which it has one.
``order``
    the names if a file has no header; the user's option ``columns`` replaces them.
``older``
    orders of older files without a header, by the name of what wrote them: that of their width is taken.
``names``
    further names of such headers: a table whose cells are parted by something other than the delimiter is
    recognised where it names nothing else.
``common``
    those of the names that tables of other programs have, too.
``least``
    how many of the names of columns a header has at least; 3 if the format does not say.
``mark``
    a pattern that is found in such tables only.
``substitutes``
    by column, another name under which it is found where a table lacks its own.
``spare``
    by column, names of others: it is read only where a table has none of these.
``loose``
    names of columns whose text may contain the delimiter, the likeliest first.
``checks``
    patterns of the cells of some columns, by which a row with too many cells, or one that line breaks
    within a cell have split, is put together again. Without any, each line is a row, or refused.
"""

from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from glob import escape
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gwa.errors import TraceError
from gwa.ingest.array_ranges import MAXIMUM_TASKS, tasks_of, with_tasks
from gwa.ingest.batch import EncodedRecords
from gwa.ingest.pieces import Pieces
from gwa.ingest.source.cell_borders import MAXIMUM_ROW_LINES, Borders, Delimited
from gwa.ingest.source.compressed import Source
from gwa.ingest.source.delimited import DELIMITERS, cells_of
from gwa.ingest.source.header_row import (
    Columns,
    borders,
    initial_columns,
    keys_as_spelled,
    normalized,
    parse_header,
)
from gwa.ingest.source.lines import (
    REJECT_TEXT_LENGTH,
    LineBlock,
    LineLayout,
    Reject,
    are_plain,
    line_blocks,
    raw_lines,
)
from gwa.ingest.spec import TableSpec
from gwa.store.engines.duckdb import literal


def batches(source: Source, table_spec: TableSpec) -> Iterator["NamedRows"]:
    """
    Yield the rows of *source*; those that cannot be fitted to the columns are rejects.

    Raise `TraceError` where a header names a column twice that is read: which one is meant is not known.
    """
    cells = borders(source, table_spec)
    table_spec = replace(table_spec, delimiter=cells.delimiter)
    columns = initial_columns(source, table_spec, cells)
    keys = keys_as_spelled(source, table_spec, cells)
    for block in line_blocks(source, LineLayout(cells.delimiter, table_spec.comment)):
        cells.rows(block)
        lines = _lines_of(block)
        headers = _find_headers(lines, table_spec, keys)
        for rows in _split_at_headers(block, lines, headers, columns, table_spec, cells.text):
            columns = rows.columns
            if repeated := _repeated(columns, table_spec):
                message = f"{source.path}: the header has {repeated} twice: give one of the two another name"
                raise TraceError(message)
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
    repaired: EncodedRecords
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
                f"select {', '.join(self._column_expressions())}"
                f" from {_csv(path, self.columns, self.table_spec, BLOCK_OPTIONS)}"
                f" as parsed{' positional join numbers' if self.table_spec.numbered else ''}",
            )
        finally:
            rows.database.unregister("numbers")
            path.unlink()

    def _column_expressions(self) -> list[str]:
        """Return the SQL of each column of the table, and of the place of a row."""
        cells = list(_cells(self.columns, self.table_spec).values())
        return [*cells, "getvariable('file_no')", "numbers.line"] if self.table_spec.numbered else cells


OPENS_RANGE: Final = b"_["
"""How a range of array tasks goes on behind the number of the array."""

# A megabyte of Latin-1 may have become two of UTF-8.
BLOCK_OPTIONS: Final = "auto_detect=false, max_line_size=4194304, buffer_size=4194304"

# Nothing is left to detect, but of a text that it looked at the engine knows the size, and joins accordingly.
TEXT_OPTIONS: Final = "auto_detect=true, sample_size=1"


@dataclass(frozen=True)
class PlainText:
    """
    A file of *size* bytes that the engine reads as it stands: each of its *lines* is a row of *columns*.

    Before these *comments* is 1 where there is a header, else 0. Among the rows are those of the *tasks* of
    arrays that a number of *ranges* stand for.
    """

    path: Path
    size: int
    columns: Columns
    table_spec: TableSpec
    comments: int
    lines: int
    ranges: int
    tasks: int

    def select(self, file_no: int) -> str:
        """Return the SELECT of the rows of the table, as those of a file of that number."""
        cells = (f"{cell} as {name}" for name, cell in _cells(self.columns, self.table_spec).items())
        options = f"skip={self.comments}, {TEXT_OPTIONS}"
        csv = _csv(Path(escape(str(self.path))), self.columns, self.table_spec, options)
        # What was written behind these lines since they were counted is not read.
        rows = (
            f"select {', '.join(cells)}, {file_no}::integer as file_no,"
            f" {self.comments} + row_number() over () as line from {csv}"
            f" limit {self.lines + self.ranges - self.tasks}"
        )
        return with_tasks(f"({rows})", self.table_spec.ranges, numbered=True) if self.ranges else rows


def plain_text(source: Source, table_spec: TableSpec) -> PlainText | None:
    """Return *source*, which is read to its end, as a text that needs no repair; None where it is not."""
    cells = borders(source, table_spec)
    if source.is_compressed or table_spec.comment or not _is_cut_by_character(cells):
        return None
    table_spec = replace(table_spec, delimiter=cells.delimiter)
    columns = initial_columns(source, table_spec, cells)
    keys = [key.encode() for key in keys_as_spelled(source, table_spec, cells)]
    header, lines, tasks, place = None, 0, list[int](), None
    for position, chunk in enumerate(raw_lines(source)):
        body = chunk
        if not position:
            first, _, rest = chunk.partition(b"\n")
            header = parse_header(first.decode(errors="replace"), table_spec)
            columns, body = (header, rest) if header else (columns, chunk)
            if chunk.startswith(BOM_UTF8) or len(columns.names) == 1 or _repeated(columns, table_spec):
                return None
            place = _positions(columns, table_spec).get(table_spec.ranges)
        layout = LineLayout(table_spec.delimiter, width=len(columns.names))
        if any(key in body for key in keys) or not are_plain(chunk, layout):
            return None
        if place is not None:
            tasks.extend(_tasks_in(body, place, table_spec.delimiter))
        lines += chunk.count(b"\n")
    comments = int(bool(header))
    if lines == comments or sum(tasks) > MAXIMUM_TASKS:
        return None
    rows = lines - comments + sum(tasks) - len(tasks)
    return PlainText(source.path, source.size, columns, table_spec, comments, rows, len(tasks), sum(tasks))


def _tasks_in(lines: bytes, place: int, delimiter: str) -> Iterator[int]:
    """Yield how many tasks each range of array tasks, at a *place* among the cells of *lines*, stands for."""
    at = lines.find(OPENS_RANGE)
    while at >= 0:
        begins, ends = lines.rfind(b"\n", 0, at) + 1, lines.find(b"\n", at)
        if tasks := tasks_of(lines[begins:ends].decode().split(delimiter)[place]):
            yield tasks
        at = lines.find(OPENS_RANGE, ends)


def _is_cut_by_character(cells: Borders) -> bool:
    """Whether the usual character stands between cells, and nothing beside it."""
    return isinstance(cells, Delimited) and cells.text == cells.usual and cells.text != "\t"


def _cells(columns: Columns, table_spec: TableSpec) -> dict[str, str]:
    """Return by column of the table the SQL of its cell."""
    positions = _positions(columns, table_spec)
    return {
        name: f"cast(null as {sql})" if positions[name] is None else f"try_cast(c{positions[name]} as {sql})"
        for name, sql in table_spec.columns.items()
    }


def _csv(path: Path, columns: Columns, table_spec: TableSpec, options: str) -> str:
    """Return the SQL that reads the lines of *path* as cells ``c0``, ``c1``…."""
    cells = ", ".join(f"'c{position}': 'varchar'" for position in range(len(columns.names)))
    missing = ", ".join(map(literal, table_spec.missing))
    return (
        f"read_csv({literal(str(path))}, delim={literal(table_spec.delimiter)}, header=false, comment='',"
        f" quote='', escape='', new_line='\\n', nullstr=[{missing}], columns={{{cells}}}, {options})"
    )


def _positions(columns: Columns, table_spec: TableSpec) -> dict[str, int | None]:
    """Return by column of the table the position of its cell in a row, None where a file lacks it."""
    places = {name: position for position, name in enumerate(columns.names) if name}
    substitutes: Mapping[str, str] = table_spec.options.get("substitutes", {})
    spare: Mapping[str, Sequence[str]] = table_spec.options.get("spare", {})
    found: dict[str, int | None] = {}
    for name in table_spec.columns:
        is_needed = places.keys().isdisjoint(map(normalized, spare.get(name, ())))
        other = normalized(substitutes.get(name, name))
        found[name] = places.get(normalized(name), places.get(other)) if is_needed else None
    return found


def _repeated(columns: Columns, table_spec: TableSpec) -> str:
    """Return the name of a column that is read and occurs twice, or "" if there is none."""
    read = {position for position in _positions(columns, table_spec).values() if position is not None}
    return next((columns.names[place] for place in read if columns.names.count(columns.names[place]) > 1), "")


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


def _lines_of(block: LineBlock) -> _Lines:
    ends = block.ends
    begins = np.concatenate((np.zeros(1, np.int64), ends[:-1]))
    return _Lines(block.data, begins, ends, block.line_numbers(np.arange(len(ends), dtype=np.int64)))


def _split_at_headers(
    block: LineBlock,
    lines: _Lines,
    headers: Mapping[int, Columns],
    columns: Columns,
    table_spec: TableSpec,
    between: str,
) -> Iterator[NamedRows]:
    """Yield the *lines* of *block*, split where a header changes the columns; *between* parted cells."""
    comments, rejects = block.comments, block.rejects
    cuts = [0]
    for position, header in headers.items():
        if header.names != headers.get(cuts[-1], columns).names:
            cuts.append(position)
    for start, stop in pairwise([*cuts, len(lines.ends)]):
        columns = headers.get(start, columns)
        within = [position - start for position in headers if start <= position < stop]
        rows = _fit_lines(lines.slice(start, stop), columns, table_spec, within, between)
        rows.comments += comments
        rows.rejects = rejects + rows.rejects
        yield rows
        comments, rejects = 0, []


def _find_headers(lines: _Lines, table_spec: TableSpec, keys: Sequence[str]) -> dict[int, Columns]:
    """Return the headers by their position in *lines*; each has one of the *keys*."""
    headers: dict[int, Columns] = {}
    for key in map(str.encode, keys):
        offset = lines.data.find(key)
        while offset >= 0:
            position = int(np.searchsorted(lines.begins, offset, side="right")) - 1
            end = int(lines.ends[position])
            if header := parse_header(lines.data[int(lines.begins[position]) : end].decode(), table_spec):
                headers[position] = header
            offset = lines.data.find(key, end)
    return dict(sorted(headers.items()))


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


def _repair(lines: list[tuple[int, str]], columns: Columns, table_spec: TableSpec) -> EncodedRecords:
    """Put rows together from numbered lines with too many or too few cells; reject lines that remain."""
    records = EncodedRecords(table_spec)
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
            if number != first + used or not columns.may_continue(line, delimiter):
                break
            text = f"{text} {line}"
        if text.count(delimiter) + 1 >= len(columns.names):
            cells = columns.fit(text.split(delimiter), delimiter) or _unquoted(text, columns, delimiter)
            return cells, used + 1 if cells else 1
    return None, 1


def _unquoted(text: str, columns: Columns, delimiter: str) -> list[str] | None:
    """Return the cells of a row whose cells are quoted where those of the others are not, else None."""
    cells = cells_of(text, delimiter) if '"' in text and delimiter in DELIMITERS else None
    return columns.fit(cells, delimiter) if cells and len(cells) == len(columns.names) else None


def _values(cells: list[str], columns: Columns, table_spec: TableSpec) -> Mapping[str, str | None]:
    """Return the cells by the columns of the table."""
    positions = _positions(columns, table_spec)
    values = {name: None if place is None else cells[place] for name, place in positions.items()}
    return {name: None if value in table_spec.missing else value for name, value in values.items()}
