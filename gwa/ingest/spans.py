"""
Rows whose cells are spans of a text: where each begins and how long it is, found by NumPy for many at once.

The engine reads the cells where they are, as views of Arrow: no cell becomes an object of Python, and no
row is written and read again.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gwa.ingest.batch import EncodedRecords
from gwa.ingest.bulk_insert import CELL_SEPARATOR, MISSING_CELL
from gwa.ingest.text_columns import TextColumns

if TYPE_CHECKING:
    import pyarrow as pa

WORD: Final = 8
"""Bytes of a word."""

PADDING: Final = bytes(2 * WORD)
"""Follows a text of spans, so that a word can be read anywhere in it."""

MISSING: Final = -1
"""The length of a missing cell."""

INLINE: Final = 12
"""The length in bytes up to which a view holds its text, rather than its first bytes and where it is."""

MAXIMUM_KEY_LENGTH: Final = 256
MAXIMUM_KEYS: Final = 1000
"""Keys that are longer than this, or met when this many are known, are not looked up."""

UNKNOWN: Final = -2
"""The column of a key that was not looked up."""

NOT_LOOKED_UP: Final = np.uint64(2**64 - 1)
"""The hash of a key that is not looked up."""

MIX: Final = np.uint64(0x9E3779B97F4A7C15)
"""An odd number without a pattern in its bits, by which hashes are multiplied."""

Text = NDArray[np.uint8]
Numbers = NDArray[np.integer[Any]]
Hashes = NDArray[np.uint64]
Lines = NDArray[np.int64]


def padded(*parts: bytes | bytearray) -> Text:
    """Return the bytes of *parts*, with room for words behind them."""
    return np.frombuffer(b"".join((*parts, PADDING)), np.uint8)


def _words(text: Text) -> NDArray[np.uint64]:
    """Return the eight bytes from each place of a padded *text* on as a number, the first the lowest."""
    return np.lib.stride_tricks.as_strided(text[:WORD].view("<u8"), (len(text) - WORD + 1,), (1,))


def _masks(lengths: int, skipped: int = 0) -> NDArray[np.uint64]:
    """Return which bits of a word belong to texts of 0, 1… *lengths* bytes, *skipped* of them before it."""
    bits = (max(0, min(WORD, length - skipped)) * 8 for length in range(lengths + 1))
    return np.array([(1 << count) - 1 for count in bits], np.uint64)


_OF_WORD, _OF_VIEW, _OF_REST = _masks(WORD), _masks(INLINE), _masks(INLINE, skipped=4)


def _views(text: Text, begins: Numbers, lengths: Numbers) -> NDArray[np.uint64]:
    """
    Return spans of a padded *text* as Arrow's views of the first buffer, two words each.

    These are the length and four bytes, then eight more bytes or, of a long text, its place.
    Source: Arrow's columnar format, "Variable-size Binary View Layout".
    """
    word, shown = _words(text), np.minimum(lengths, INLINE)
    views = np.empty((len(begins), 2), np.uint64)
    views[:, 0] = ((word[begins] & _OF_VIEW[shown]) << np.uint64(32)) | lengths.astype(np.uint64)
    views[:, 1] = word[begins + 4] & _OF_REST[shown]
    is_long = np.flatnonzero(lengths > INLINE)
    views[is_long, 1] = begins[is_long].astype(np.uint64) << np.uint64(32)
    return views


class Spans(NamedTuple):
    """Where the cells of some *columns* and *rows* begin in a text, and their lengths."""

    columns: Numbers
    rows: Numbers
    begins: Numbers
    lengths: Numbers


class Cells:
    """The cells ``[column, row]`` of rows, which are spans of a padded *text*; at first all are missing."""

    def __init__(self, text: Text, columns: int, rows: int) -> None:
        self.text = text
        self.views = np.zeros((columns, rows, 2), np.uint64)
        self.is_present = np.zeros((columns, rows), np.bool_)

    def put(self, spans: Spans, places: Lines) -> None:
        """Set cells, of equal ones the last; row n of the spans is the row ``places[n]``."""
        rows = places[spans.rows]
        self.views[spans.columns, rows] = _views(self.text, spans.begins, spans.lengths)
        self.is_present[spans.columns, rows] = True

    def arrays(self) -> Iterator["pa.Array"]:
        """Yield the columns as strings of Arrow, which share the text."""
        import pyarrow as pa

        columns, rows = self.is_present.shape
        missing = pa.nulls(rows, pa.string_view())
        for column in range(columns):
            if not self.is_present[column].any():
                yield missing
                continue
            valid = np.packbits(self.is_present[column], bitorder="little")
            buffers = [pa.py_buffer(array) for array in (valid, self.views[column], self.text)]
            yield pa.Array.from_buffers(pa.string_view(), rows, buffers)


class KeyTable:
    """
    The columns of keys that are spans of a text, as *column_of* finds them for keys met for the first time.

    Keys are told apart by hashes of 64 bits.
    """

    def __init__(self, column_of: Callable[[str], int | None]) -> None:
        """Begin without keys; the last hash stands for all that are not looked up."""
        self.column_of = column_of
        self.hashes = np.array([NOT_LOOKED_UP], np.uint64)
        self.columns = np.array([UNKNOWN], np.int32)

    def columns_of(self, text: Text, begins: Numbers, lengths: Numbers) -> Numbers:
        """Return the column of each key of a padded *text*: `MISSING` if it has none, or `UNKNOWN`."""
        hashes = _hashes(text, begins, lengths)
        places = np.searchsorted(self.hashes, hashes)
        if (self.hashes[places] == hashes).all():
            return self.columns[places]
        self._remember(hashes, text, begins, lengths)
        places = np.searchsorted(self.hashes, hashes)
        return np.where(self.hashes[places] == hashes, self.columns[places], np.int32(UNKNOWN))

    def _remember(self, hashes: Hashes, text: Text, begins: Numbers, lengths: Numbers) -> None:
        """Look up the keys with new *hashes*, up to the limit."""
        found, first = np.unique(hashes, return_index=True)
        new = np.flatnonzero(~np.isin(found, self.hashes))[: MAXIMUM_KEYS - len(self.hashes)]
        columns = []
        for key in first[new].tolist():
            column = self.column_of(bytes(text[begins[key] : begins[key] + lengths[key]]).decode())
            columns.append(MISSING if column is None else column)
        known = np.append(self.hashes, found[new])
        order = np.argsort(known)
        self.columns = np.append(self.columns, np.array(columns, np.int32))[order]
        self.hashes = known[order]


def _hashes(text: Text, begins: Numbers, lengths: Numbers) -> Hashes:
    """Return hashes of spans of a padded *text*; those of long ones are `NOT_LOOKED_UP`."""
    word, hashes = _words(text), lengths.astype(np.uint64)
    for offset in range(0, MAXIMUM_KEY_LENGTH, WORD):
        longer = np.flatnonzero(lengths > offset)
        part = word[begins[longer] + offset] & _OF_WORD[np.minimum(lengths[longer] - offset, WORD)]
        mixed = (hashes[longer] ^ part) * MIX
        hashes[longer] = mixed ^ (mixed >> np.uint64(29))
        if not len(longer):
            break
    hashes[lengths > MAXIMUM_KEY_LENGTH] = NOT_LOOKED_UP
    return hashes


def add_spans(
    rows: TextColumns, text: bytes | bytearray, spans: Spans, lines: Lines, records: EncodedRecords
) -> None:
    """Append to *rows* those of *spans* in *text* that begin in *lines*, and *records* from between them."""
    width = len(rows.table_spec.columns)
    whole = padded(text, "".join(records.rows).encode())
    others, other_lines = _spans_of_rows(whole, len(text), width)
    all_lines = np.concatenate((lines, other_lines))
    order = np.argsort(all_lines, kind="stable")
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    cells = Cells(whole, width, len(order))
    cells.put(spans, places[: len(lines)])
    cells.put(others, places[len(lines) :])
    rows.append([*cells.arrays()], all_lines[order])
    rows.count(records, len(lines))


def _spans_of_rows(text: Text, first: int, columns: int) -> tuple[Spans, Lines]:
    """Return the cells and the lines of the encoded rows in a padded *text* from the place *first* on."""
    encoded = text[first : -len(PADDING)]
    is_end = (encoded == ord(CELL_SEPARATOR)) | (encoded == ord("\n"))
    ends = (np.flatnonzero(is_end) + first).astype(np.int32)
    begins = np.append(np.int32(first), ends + 1)[:-1]
    lengths = ends - begins
    is_missing = (lengths == 1) & (text[begins] == ord(MISSING_CELL))
    width = columns + 1
    is_cell = (np.arange(len(ends)) % width != columns) & ~is_missing
    rows, column = np.divmod(np.flatnonzero(is_cell).astype(np.int32), width)
    numbers = zip(begins[columns::width].tolist(), ends[columns::width].tolist(), strict=True)
    lines = np.array([int(bytes(text[begin:end])) for begin, end in numbers], np.int64)
    return Spans(column, rows, begins[is_cell], lengths[is_cell]), lines
