"""
Read lines of cells whose columns go by names, all as text.

The names stand in a header row. It may come again, it may change in the middle of concatenated files,
and it need not be the first line; where there is none, the user or the format says the order. A column
of the table ``source`` is found under its own name, without regard to case and signs (``end_`` is
``End``); columns of the file that nobody asks for are passed over, those that it lacks are missing.
Options:

``header``
    a name that every header row has.
``order``
    the names where a file has no header; the user's option ``columns`` replaces them.
``loose``
    names of columns whose text may hold the delimiter, the likeliest first.
``checks``
    what the cells of some columns look like: by them a row that has too many cells, or that a line
    break within a cell has torn, is put together again.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Final

import duckdb
import numpy as np
from numpy.typing import NDArray

from gwa.ingest.batch import Records
from gwa.ingest.source.compressed import Source
from gwa.ingest.source.header_row import Columns, first_columns, header_in, plain
from gwa.ingest.source.lines import SHOWN, Layout, LineBlock, Reject, parts
from gwa.ingest.spec import TableSpec

TORN: Final = 10
"""A row that line breaks tore into more lines is not put together again."""


def batches(source: Source, shape: TableSpec) -> Iterator["NamedRows"]:
    """Yield the rows of *source*; those that cannot be fitted to the columns are rejects."""
    columns = first_columns(source, shape)
    for part in parts(source, Layout(shape.delimiter, shape.comment)):
        for rows in _stretches(part, shape, columns):
            columns = rows.columns
            yield rows


@dataclass
class NamedRows:
    """
    Lines that have the same *columns*.

    *data* holds those with as many cells as there are columns, *lines* their numbers; *mended* are
    rows that were put right one by one.
    """

    columns: Columns
    shape: TableSpec
    data: NDArray[np.uint8]
    lines: NDArray[np.int64]
    mended: Records
    remarks: int = 0
    rejects: list[Reject] = field(default_factory=list)

    @property
    def total(self) -> int:
        """How many rows were met."""
        return len(self.lines) + self.mended.total + self.remarks + len(self.rejects)

    def load(self, database: duckdb.DuckDBPyConnection, table: str, folder: Path) -> None:
        """Append the rows to *table*; DuckDB parses them with all cores."""
        self.mended.load(database, table, folder)
        if not len(self.data):
            return
        import pyarrow as pa

        path = folder / "part.txt"
        path.write_bytes(self.data.data)
        database.register("numbers", pa.table({"line": self.lines}))
        try:
            database.execute(
                f"insert into {table} select {', '.join(self._cells())} from {self._parsed()}"
                f" as parsed{' positional join numbers' if self.shape.numbered else ''}",
                {"path": str(path), "missing": list(self.shape.missing)},
            )
        finally:
            database.unregister("numbers")
            path.unlink()

    def _cells(self) -> list[str]:
        """Return the SQL of each column of the table."""
        found = {name: place for place, name in enumerate(self.columns.names) if name}
        cells = [
            f"try_cast(c{found[plain(name)]} as {sql})" if plain(name) in found else f"cast(null as {sql})"
            for name, sql in self.shape.columns.items()
        ]
        return [*cells, "getvariable('file_no')", "numbers.line"] if self.shape.numbered else cells

    def _parsed(self) -> str:
        cells = ", ".join(f"'c{place}': 'varchar'" for place in range(len(self.columns.names)))
        # A megabyte of Latin-1 may have become two of UTF-8.
        return (
            f"read_csv($path, delim='{self.shape.delimiter}', header=false, auto_detect=false, comment='',"
            f" quote='', escape='', new_line='\\n', max_line_size=4194304,"
            f" buffer_size=4194304, nullstr=$missing, columns={{{cells}}})"
        )


def _stretches(part: LineBlock, shape: TableSpec, columns: Columns) -> Iterator[NamedRows]:
    """Yield the lines of *part*, cut where a header changes the columns."""
    cells = np.frombuffer(part.data, np.uint8)
    ends = np.flatnonzero(cells == ord("\n")) + 1
    begins = np.concatenate((np.zeros(1, np.int64), ends[:-1]))
    numbers = part.line_numbers(np.arange(len(ends), dtype=np.int64))
    headers = _headers(part, begins, ends, shape)
    remarks, rejects = len(part.comments) + part.blank, part.rejects
    cuts = [0]
    for place, header in headers.items():
        if header.names != headers.get(cuts[-1], columns).names:
            cuts.append(place)
    for start, stop in pairwise([*cuts, len(ends)]):
        columns = headers.get(start, columns)
        lines = _Lines(part.data, begins[start:stop], ends[start:stop], numbers[start:stop])
        within = [place - start for place in headers if start <= place < stop]
        yield _rows(lines, columns, shape, within, (remarks, rejects))
        remarks, rejects = 0, []


def _headers(
    part: LineBlock, begins: NDArray[np.int64], ends: NDArray[np.int64], shape: TableSpec
) -> dict[int, Columns]:
    """Return which lines are headers, by their position."""
    found: dict[int, Columns] = {}
    mark = shape.options["header"].encode()
    hit = part.data.find(mark)
    while hit >= 0:
        place = int(np.searchsorted(begins, hit, side="right")) - 1
        end = int(ends[place])
        if header := header_in(part.data[int(begins[place]) : end].decode(), shape):
            found[place] = header
        hit = part.data.find(mark, end)
    return found


@dataclass(frozen=True)
class _Lines:
    """Where some lines begin and end in *data*, and their numbers."""

    data: bytearray
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]
    numbers: NDArray[np.int64]

    def text(self, place: int) -> str:
        return self.data[int(self.begins[place]) : int(self.ends[place]) - 1].decode()


def _rows(
    lines: _Lines,
    columns: Columns,
    shape: TableSpec,
    headers: Sequence[int],
    said: tuple[int, list[Reject]],
) -> NamedRows:
    """Return *lines* as rows of *columns*, without the *headers* among them."""
    first, last = (int(lines.begins[0]), int(lines.ends[-1])) if len(lines.ends) else (0, 0)
    data = np.frombuffer(lines.data, np.uint8)[first:last]
    bars = np.flatnonzero(data == ord(shape.delimiter)) + first
    good = np.diff(np.searchsorted(bars, lines.ends), prepend=0) + 1 == len(columns.names)
    good[list(headers)] = False
    if not good.all():
        data = data[np.repeat(good, lines.ends - lines.begins)]
    odd = np.setdiff1d(np.flatnonzero(~good), headers)
    records, rejects = _mend(
        [(int(lines.numbers[place]), lines.text(place)) for place in odd], columns, shape
    )
    remarks, refused = said
    return NamedRows(
        columns, shape, data, lines.numbers[good], records, remarks + len(headers), refused + rejects
    )


def _mend(odd: list[tuple[int, str]], columns: Columns, shape: TableSpec) -> tuple[Records, list[Reject]]:
    """Return the rows that can be made of lines with too many or too few cells, and the lines left over."""
    records, rejects = Records(shape), []
    place = 0
    while place < len(odd):
        row, used = _torn(odd[place : place + TORN], columns, shape)
        number, line = odd[place]
        if row is None:
            width = line.count(shape.delimiter) + 1
            hint = ": there is no header, the option 'columns' names them" if columns.assumed else ""
            reason = f"{width} columns, expected {len(columns.names)}{hint}"
            rejects.append(Reject(number, reason, line[:SHOWN].strip()))
        else:
            records.add(number, _record(row, columns, shape))
        place += used
    return records, rejects


def _torn(lines: list[tuple[int, str]], columns: Columns, shape: TableSpec) -> tuple[list[str] | None, int]:
    """Return the cells of the row that begins the *lines*, and how many of them it takes."""
    number, text = lines[0]
    if not columns.begin(text, shape.delimiter):
        return None, 1
    for used, (following, more) in enumerate(lines):
        if used:
            if following != number + used or columns.begin(more, shape.delimiter):
                break
            text = f"{text} {more}"
        if text.count(shape.delimiter) + 1 >= len(columns.names):
            row = columns.mended(text.split(shape.delimiter), shape.delimiter)
            return row, used + 1 if row else 1
    return None, 1


def _record(row: list[str], columns: Columns, shape: TableSpec) -> Mapping[str, str | None]:
    named = dict(zip(columns.names, row, strict=True))
    values = {name: named.get(plain(name)) for name in shape.columns}
    return {name: None if value in shape.missing else value for name, value in values.items()}
