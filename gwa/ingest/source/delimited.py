"""Tables in text whose cells are parted by one character: which character, and the names of the columns."""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gwa.ingest.source.head import FileHead

DELIMITERS: Final = (",", "\t", ";", "|")
COMMENT: Final = "#"
_NUMBER: Final = re.compile(r"[-+]?[\d.,:]+")
_PARTS_CELLS: Final = (*DELIMITERS, " ")
_PIECES: Final = {
    mark: re.compile(rf'(^|{re.escape(mark)})"(?:[^"]|"")*+"', re.MULTILINE) for mark in _PARTS_CELLS
}
_OPEN: Final = {mark: re.compile(rf'(?:^|{re.escape(mark)})"') for mark in _PARTS_CELLS}

MAXIMUM_HEADER_LINES: Final = 50
"""A header with line breaks in its names has no more lines."""

MINIMUM_SHARE: Final = 0.5
"""In a table, more lines than this share have as many cells as the header."""


@dataclass(frozen=True)
class Header:
    """The first row of a table: its *text*, how cells are parted, the *names*, and the lines down to it."""

    text: str
    delimiter: str
    names: tuple[str, ...]
    lines: int


def cells_of(row: str, delimiter: str, *, strict: bool = False) -> list[str] | None:
    """Return the cells of a row; None if it is not a row, or if *strict* where text follows a quoted cell."""
    try:
        return next(csv.reader([row], delimiter=delimiter, strict=strict), [])
    except csv.Error:
        return None


def rows_among(lines: Sequence[str], delimiter: str, width: int) -> list[list[str]]:
    """Return the rows of *width* cells in *lines*: each a line, or several where that makes more rows."""
    single = [cells for line in lines if (cells := cells_of(line, delimiter)) and len(cells) == width]
    try:
        joined = [cells for cells in csv.reader(lines, delimiter=delimiter) if len(cells) == width]
    except csv.Error:
        return single
    return max(single, joined, key=len)


def is_open(text: str, delimiter: str) -> bool:
    r"""
    Whether a quoted cell at the end of *text* goes on in the next line.

    >>> is_open('1,"two\nlines', ","), is_open('1,"two"', ","), is_open('5" disk,2', ",")
    (True, False, False)
    """
    return _OPEN[delimiter].search(_PIECES[delimiter].sub(r"\1", text)) is not None


def header_of(head: FileHead) -> Header | None:
    """Return the header of a table in text; None for what is none, or has no names."""
    lines = head.text.split("\n")
    filled = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    leading = [pair for pair in filled if pair[1].startswith(COMMENT)]
    rows = head.rows()[len(leading[: _prefix(filled)]) :]
    if not rows:
        return None
    number, first = filled[_prefix(filled)]
    found = [_header(*_whole(lines, number, mark), rows[1:], mark) for mark in DELIMITERS]
    if _prefix(filled):
        number, last = filled[_prefix(filled) - 1]
        named = [_header(last, number, rows, mark) for mark in DELIMITERS]
        if any(named) and (not any(found) or any(map(_NUMBER.fullmatch, re.split(r"[,;|\t]", first)))):
            found = named
    return max(filter(None, found), key=lambda header: len(header.names), default=None)


def _whole(lines: Sequence[str], number: int, delimiter: str) -> tuple[str, int]:
    """Return the row that begins in line *number*, down to the end of its quoted names, and its last line."""
    last = number
    text = lines[number - 1]
    while is_open(text, delimiter) and last < min(len(lines), number + MAXIMUM_HEADER_LINES):
        text, last = f"{text}\n{lines[last]}", last + 1
    return (text, last) if not is_open(text, delimiter) else (lines[number - 1], number)


def _prefix(filled: Sequence[tuple[int, str]]) -> int:
    """Return the number of comments before the first other line."""
    return next((place for place, (_, line) in enumerate(filled) if not line.startswith(COMMENT)), 0)


def _header(line: str, number: int, rows: Sequence[str], delimiter: str) -> Header | None:
    """Return *line* as a header of *rows*; None if it has no names, or another number of cells."""
    cells = cells_of(line.lstrip("# "), delimiter) or []
    names = [" ".join(cell.split()) for cell in cells]
    named = [name for name in names if name and not _NUMBER.fullmatch(name)]
    if len(names) == 1 or 2 * len(named) <= len(names):
        return None
    parted = [row for row in rows if delimiter in row]
    if rows and len(rows_among(rows, delimiter, len(names))) <= MINIMUM_SHARE * len(parted):
        return None
    return Header(line, delimiter, tuple(names), number)
