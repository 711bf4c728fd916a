"""
Read tables whose columns are named, all cells as text: cells parted by a character, JSON, or Parquet.

A table in text begins with a row of names; cells may be quoted, and then hold delimiters and line breaks.
JSON is one object per row, in a list or one after the other; the name of a nested value is its path, as in
``resources.cpus``. A row is known by the number of its line, in Parquet by its own. Options:

``names``
    the name in the file of each column of the table; for others it is the name of the column. A file that
    lacks one has no values of it.
``skip``
    values by column, as texts: rows with one of these values count as comments.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import duckdb
import numpy as np
from numpy.typing import NDArray

from gwa.ingest.batch import Batch, EncodedRecords
from gwa.ingest.bulk_insert import MISSING_CELL
from gwa.ingest.pieces import Pieces
from gwa.ingest.source.compressed import Source
from gwa.ingest.source.delimited import Header, cells_of, header_of, is_open
from gwa.ingest.source.head import FileHead
from gwa.ingest.source.json_records import NO_OBJECT, records
from gwa.ingest.source.lines import (
    MAXIMUM_LINE_LENGTH,
    REJECT_TEXT_LENGTH,
    LineBlock,
    LineLayout,
    Reject,
    line_blocks,
    select_lines,
)
from gwa.ingest.source.parquet_text import duration_text, durations
from gwa.ingest.spec import TableSpec
from gwa.store.engines.duckdb import columns_of, identifier, literal

BLOCK_SIZE = 1 << 24
"""Bytes of lines that are parsed at a time."""

ROWS_OF_BATCH: Final = 1 << 16
PARQUET: Final = b"PAR1"
QUOTE: Final = ord('"')
NEWLINE: Final = ord("\n")

MAXIMUM_DEPTH: Final = 5
"""Values of JSON that are nested more deeply are not read."""

MAXIMUM_RECORD_LINES: Final = 100
"""A row whose cells have more line breaks is not put together."""


def batches(source: Source, table_spec: TableSpec) -> Iterator[Batch]:
    """Yield the rows of *source*."""
    if skip := table_spec.options.get("skip"):
        for batch in _batches(source, table_spec):
            yield _Skimmed(batch, skip)
    else:
        yield from _batches(source, table_spec)


def _batches(source: Source, table_spec: TableSpec) -> Iterator[Batch]:
    head = FileHead.of(source.path)
    if head.data.startswith(PARQUET):
        yield from _parquet(source.path, table_spec)
    elif is_json(head):
        yield from _json(source, table_spec)
    elif header := header_of(head):
        yield from _delimited(source, table_spec, header)


def is_json(head: FileHead) -> bool:
    """Whether a file is JSON by its first sign."""
    return head.text.lstrip()[:1] in {"{", "["}


def _names(table_spec: TableSpec) -> Sequence[str]:
    """Return the names in a file of all columns of the table, in order."""
    names: Mapping[str, str] = table_spec.options.get("names", {})
    return [names.get(column, column) for column in table_spec.columns]


@dataclass
class _Skimmed:
    """The rows of *batch*, of which those with a value of those to *skip* are comments."""

    batch: Batch
    skip: Mapping[str, Sequence[str]]
    skipped: int = 0

    @property
    def total(self) -> int:
        """The number of rows met."""
        return self.batch.total

    @property
    def comments(self) -> int:
        """The number of rows that count as comments."""
        return self.batch.comments + self.skipped

    @property
    def rejects(self) -> list[Reject]:
        """The lines that are not rows."""
        return self.batch.rejects

    def load(self, rows: Pieces, folder: Path) -> None:
        """Append the rows to *rows*, but for those that are comments."""
        wanted = _Wanted(rows, self.skip)
        self.batch.load(wanted, folder)
        self.skipped += self.total - self.comments - len(self.rejects) - wanted.count


class _Wanted(Pieces):
    """Of the rows of *pieces*, those without a value to *skip*; *count* is their number."""

    def __init__(self, pieces: Pieces, skip: Mapping[str, Sequence[str]]) -> None:
        """Begin to count."""
        self.database, self.columns, self.pieces, self.count = pieces.database, pieces.columns, pieces, 0
        conditions = [f"{column} in ({', '.join(map(literal, texts))})" for column, texts in skip.items()]
        self.is_comment = " or ".join(conditions)

    def undo(self) -> None:
        """Take the piece that was appended last back."""
        self.pieces.undo()

    def _append(self, select: str, values: dict[str, Any]) -> int:
        count = self.pieces.append(f"from ({select}) where ({self.is_comment}) is not true", values)
        self.count += count
        return count


# --- Parquet ---


def _parquet(path: Path, table_spec: TableSpec) -> Iterator["ArrowRows"]:
    with duckdb.connect() as database:
        database.execute("set TimeZone = 'UTC'")
        place = str(path).replace("[", "[[]")
        file = f"read_parquet({literal(place)})"
        texts = {
            name: f"cast({identifier(name)} as varchar)" for name in columns_of(database, f"from {file}")
        }
        texts |= {
            name: duration_text(identifier(name), unit) for name, unit in durations(database, place).items()
        }
        cells = [texts.get(name, "cast(null as varchar)") for name in _names(table_spec)]
        named = ", ".join(
            f"{cell} as {column}" for cell, column in zip(cells, table_spec.columns, strict=True)
        )
        reader = database.sql(f"select {named} from {file}").to_arrow_reader(ROWS_OF_BATCH)
        first = 1
        for batch in reader:
            yield ArrowRows(batch, table_spec, first)
            first += batch.num_rows


@dataclass
class ArrowRows:
    """Rows of an Arrow table, the first of which has the number *first*."""

    rows: Any
    table_spec: TableSpec
    first: int
    comments: int = 0
    rejects: list[Reject] = field(default_factory=list)

    @property
    def total(self) -> int:
        """The number of rows."""
        return int(self.rows.num_rows)

    def load(self, rows: Pieces, folder: Path) -> None:
        """Append them to *rows*."""
        del folder
        import pyarrow as pa

        rows.database.register("arrow_rows", pa.Table.from_batches([self.rows]))
        missing = f"[{', '.join(map(literal, self.table_spec.missing))}]"
        cells = ", ".join(
            f"case when not list_contains({missing}, trim({column})) then trim({column}) end"
            for column in self.table_spec.columns
        )
        number = f", getvariable('file_no'), {self.first - 1} + row_number() over ()"
        rows.append(f"select {cells}{number if self.table_spec.numbered else ''} from arrow_rows")
        rows.database.unregister("arrow_rows")


# --- JSON ---


def _json(source: Source, table_spec: TableSpec) -> Iterator[EncodedRecords]:
    """Yield the objects of a list, or those that follow one another."""
    batch, missing, names = EncodedRecords(table_spec), frozenset(table_spec.missing), _names(table_spec)
    for found in json_objects(source):
        if isinstance(found, Reject):
            batch.reject(found.line, found.reason, found.text)
        else:
            number, value = found
            values = flat(value)
            batch.append(number, [_cell(values.get(name), missing) for name in names])
        if batch.total >= ROWS_OF_BATCH:
            yield batch
            batch = EncodedRecords(table_spec)
    yield batch


def _cell(value: str | None, missing: frozenset[str]) -> str:
    text = "" if value is None else value.strip()
    return MISSING_CELL if text in missing else text


def flat(value: Mapping[str, Any], path: str = "", depth: int = MAXIMUM_DEPTH) -> dict[str, str | None]:
    """
    Return the values of an object as text, nested ones by their paths; what is nested deeper is left out.

    Of lists those of whole numbers are kept.

    >>> flat({"id": "7", "used": {"cpus": "2"}, "ok": True, "blocks": ["3", "4"], "hosts": ["a"]})
    {'id': '7', 'used.cpus': '2', 'ok': 'true', 'blocks': '[3, 4]'}
    """
    cells: dict[str, str | None] = {}
    for key, item in value.items():
        if isinstance(item, dict):
            cells |= flat(item, f"{path}{key}.", depth - 1) if depth else {}
        elif item is None or isinstance(item, str):
            cells[f"{path}{key}"] = item
        elif isinstance(item, bool):
            cells[f"{path}{key}"] = str(item).lower()
        elif isinstance(item, list) and item and all(map(_is_whole, item)):
            cells[f"{path}{key}"] = f"[{', '.join(item)}]"
    return cells


def _is_whole(item: object) -> bool:
    """Whether an element of a list, whose numbers are texts, is a whole number."""
    return isinstance(item, str) and item.isdecimal()


def json_objects(source: Source) -> Iterator[tuple[int, Mapping[str, Any]] | Reject]:
    """Yield the objects in a list, or that follow one another, with their lines; their numbers are texts."""
    for found in records(source):
        if isinstance(found, Reject):
            yield found
            continue
        try:
            value = json.loads(found.text, parse_float=str, parse_int=str, parse_constant=lambda _: None)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict):
            yield found.number, value
        else:
            yield Reject(found.number, NO_OBJECT, found.text[:REJECT_TEXT_LENGTH])


# --- Cells parted by a character ---


def _delimited(source: Source, table_spec: TableSpec, header: Header) -> Iterator["DelimitedRows"]:
    joiner = _Joiner(table_spec, header)
    for block in line_blocks(source, LineLayout(header.delimiter, cells=len(header.names)), BLOCK_SIZE):
        yield joiner.rows_of(block)
    rest = EncodedRecords(table_spec)
    joiner.give_up(rest)
    yield DelimitedRows(header, table_spec, b"", np.empty(0, np.int64), rest, 0)


class _Joiner:
    """Parts the lines of blocks into those that DuckDB reads as they are, and those put together here."""

    def __init__(self, table_spec: TableSpec, header: Header) -> None:
        self.table_spec, self.header = table_spec, header
        self.missing = frozenset(table_spec.missing)
        self.pending: list[tuple[int, str]] = []
        """The numbered lines of a row whose last cell is not complete."""
        names = {name: place for place, name in reversed(list(enumerate(header.names)))}
        self.places = [names.get(name) for name in _names(table_spec)]

    def rows_of(self, block: LineBlock) -> "DelimitedRows":
        numbers = block.line_numbers(np.arange(block.data_lines, dtype=np.int64))
        is_header = _are_headers(block.data, self.header.text) | (numbers <= self.header.lines)
        is_plain = _are_plain(block.data, self.header) & ~is_header
        records = EncodedRecords(self.table_spec, rejects=block.rejects, total=len(block.rejects))
        ends = block.ends
        begins = np.concatenate((np.zeros(1, np.int64), ends[:-1]))
        for place in np.flatnonzero(~is_plain & ~is_header):
            line = bytes(block.data[begins[place] : ends[place] - 1]).decode()
            self._end_before(int(numbers[place]), numbers[is_plain], records)
            self.take(int(numbers[place]), line, records)
        self._end_before(block.first + block.total, numbers[is_plain], records)
        comments = block.comments + int(is_header.sum())
        data = bytes(block.data) if is_plain.all() else select_lines(block.data, is_plain)
        return DelimitedRows(self.header, self.table_spec, data, numbers[is_plain], records, comments)

    def _end_before(self, number: int, plain: NDArray[np.int64], records: EncodedRecords) -> None:
        """Give up the row that is not complete if a whole row, of those *plain*, stands before a line."""
        if self.pending:
            after, before = np.searchsorted(plain, [self.pending[-1][0], number])
            if after < before:
                self.give_up(records)

    def take(self, number: int, line: str, records: EncodedRecords) -> None:
        """Add the row that ends with a line to *records*; keep the line if its last cell goes on."""
        first = self.pending[0][0] if self.pending else number
        text = "\n".join([*(earlier for _, earlier in self.pending), line])
        if is_open(text, self.header.delimiter):
            self.pending.append((number, line))
            if len(self.pending) > MAXIMUM_RECORD_LINES or len(text) > MAXIMUM_LINE_LENGTH:
                self.give_up(records)
            return
        self.pending = []
        cells = cells_of(text, self.header.delimiter)
        width = len(self.header.names)
        if cells is None or len(cells) != width:
            found = f"{len(cells)} columns" if cells else "no row of cells"
            records.reject(first, f"{found}, expected {width} columns", text[:REJECT_TEXT_LENGTH])
            return
        values = [None if place is None else cells[place] for place in self.places]
        records.append(first, [_cell(value, self.missing) for value in values])

    def give_up(self, records: EncodedRecords) -> None:
        """Refuse the lines of a row that does not end."""
        for number, line in self.pending:
            records.reject(number, "a quote is not closed", line[:REJECT_TEXT_LENGTH])
        self.pending = []


def _are_headers(data: bytearray, header: str) -> NDArray[np.bool_]:
    """Return which lines of *data* are the header, which stands again where files were joined."""
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == NEWLINE)
    found = np.zeros(len(ends), np.bool_)
    line = header.encode() + b"\n"
    place = 0 if data.startswith(line) else data.find(b"\n" + line) + 1
    while place or (not found[:1].any() and data.startswith(line)):
        found[np.searchsorted(ends, place)] = True
        place = data.find(b"\n" + line, place) + 1
    return found


def _are_plain(data: bytearray, header: Header) -> NDArray[np.bool_]:
    """Return which lines of *data* have as many cells as the header, and whole quoted cells if any."""
    array = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(array == NEWLINE)
    if not len(ends):
        return np.zeros(0, np.bool_)
    begins = np.concatenate((np.zeros(1, np.int64), ends[:-1] + 1))
    is_delimiter = array == ord(header.delimiter)
    is_sound = np.ones(len(ends), np.bool_)
    quotes = np.flatnonzero(array == QUOTE)
    if len(quotes):
        is_sound = _are_sound(array, quotes, begins, ends, ord(header.delimiter))
        is_inside = np.logical_xor.accumulate(array == QUOTE)
        outside = is_inside[begins - 1]
        outside[0] = False
        is_delimiter &= is_inside == np.repeat(outside, ends + 1 - begins)
    counts = np.diff(np.searchsorted(np.flatnonzero(is_delimiter), ends), prepend=0)
    plain: NDArray[np.bool_] = is_sound & (counts + 1 == len(header.names))
    return plain


def _are_sound(
    array: NDArray[np.uint8],
    quotes: NDArray[np.int64],
    begins: NDArray[np.int64],
    ends: NDArray[np.int64],
    delimiter: int,
) -> NDArray[np.bool_]:
    """Return which lines have quotes only around whole cells, or doubled within them."""
    first = np.searchsorted(quotes, begins)
    counts = np.searchsorted(quotes, ends) - first
    opens = (np.arange(len(quotes)) - np.repeat(first, counts)) % 2 == 0
    borders = np.array([delimiter, NEWLINE, QUOTE], np.uint8)
    before = np.isin(array[quotes - 1], borders) | (quotes == 0)
    after = np.isin(array[np.minimum(quotes + 1, len(array) - 1)], borders)
    is_odd = ~np.where(opens, before, after)
    faults = np.zeros(len(ends), np.bool_)
    faults[np.searchsorted(ends, quotes[is_odd])] = True
    sound: NDArray[np.bool_] = ~faults & (counts % 2 == 0)
    return sound


@dataclass
class DelimitedRows:
    """Lines of as many cells as the *header*, with their *numbers*, and *records* put together one by one."""

    header: Header
    table_spec: TableSpec
    data: bytes
    numbers: NDArray[np.int64]
    records: EncodedRecords
    comments: int

    @property
    def rejects(self) -> list[Reject]:
        """The lines that are not rows."""
        return self.records.rejects

    @property
    def total(self) -> int:
        """The number of rows met."""
        return len(self.numbers) + self.records.total + self.comments

    def load(self, rows: Pieces, folder: Path) -> None:
        """Append the lines to *rows*; DuckDB parses them with all cores."""
        self.records.load(rows, folder)
        if not len(self.numbers):
            return
        path = folder / "part.txt"
        path.write_bytes(self.data)
        rows.database.register("numbers", {"line": self.numbers})
        names = {name: place for place, name in reversed(list(enumerate(self.header.names)))}
        places = [names.get(name) for name in _names(self.table_spec)]
        missing = f"[{', '.join(map(literal, self.table_spec.missing))}]"
        cells = [
            "null"
            if place is None
            else f"case when not list_contains({missing}, trim(c{place})) then trim(c{place}) end"
            for place in places
        ]
        number = ["getvariable('file_no')", "numbers.line"] if self.table_spec.numbered else []
        try:
            rows.append(
                f"select {', '.join([*cells, *number])} from {self._csv()} as parsed positional join numbers",
                {"path": str(path)},
            )
        finally:
            rows.database.unregister("numbers")
            path.unlink()

    def _csv(self) -> str:
        """Return the SQL that reads the lines as cells ``c0``, ``c1``…."""
        cells = ", ".join(f"'c{place}': 'varchar'" for place in range(len(self.header.names)))
        return (
            f"read_csv($path, delim={literal(self.header.delimiter)}, header=false, auto_detect=false,"
            f" comment='', quote='\"', escape='\"', new_line='\\n', max_line_size=4194304,"
            f" strict_mode=false, buffer_size=4194304, nullstr=[''], columns={{{cells}}})"
        )
