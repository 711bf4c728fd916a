"""
Where the cells of a row end: at any text, as CSV has them, or at fixed places in a table made for the eye.

Whatever a file has between its cells, its rows are handed on with `SEPARATOR` there, which no log holds.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import AnyStr, Final, Protocol

import numpy as np

from gwa.ingest.source.delimited import DELIMITERS, cells_of, is_open
from gwa.ingest.source.lines import LineBlock

SEPARATOR: Final = "\x1f"
"""What stands between cells that were parted by more than a character: the unit separator of ASCII."""

RULE: Final = re.compile(r"-+(?: +-+)+ *")
"""The line under the names of a table made for the eye, as ``------ ----``."""

QUOTE: Final = '"'

MAXIMUM_ROW_LINES: Final = 10
"""A row that line breaks split into more lines is not put together again."""

_FIRST_NAMES: Final = re.compile(r"\s*[A-Za-z]+([^A-Za-z0-9 \t-\r]{1,8}|\t)[A-Za-z]")
_FIRST_CELL: Final = re.compile(r"\d+(?:_(?:\d+|\[[^\]]*\]))?(?:\+\d+)?(?:\.\w+)?([^\w \t-\r]{1,8}|\t)")


class Borders(Protocol):
    """Cuts rows into cells."""

    @property
    def delimiter(self) -> str:
        """What parts the cells that are handed on."""

    @property
    def text(self) -> str:
        """What parts them in the file."""

    def row(self, line: str) -> str:
        """Return a line with the *delimiter* between its cells."""

    def rows(self, block: LineBlock) -> None:
        """Do the same with all lines of *block*, in place."""


@dataclass(frozen=True)
class Delimited:
    """Cells with a *text* between them, of which *usual* is handed on as it is."""

    text: str
    usual: str

    @property
    def delimiter(self) -> str:
        """What parts the cells that are handed on."""
        return self.text if self.text == self.usual else SEPARATOR

    def row(self, line: str) -> str:
        """Return a line with the delimiter between its cells."""
        if self.text in (self.usual, SEPARATOR):
            return line
        return line.replace(SEPARATOR, " ").replace(self.text, SEPARATOR)

    def rows(self, block: LineBlock) -> None:
        """Replace what parts the cells of *block*."""
        if self.text not in (self.usual, SEPARATOR):
            data = block.data.replace(SEPARATOR.encode(), b" ")
            block.data = data.replace(self.text.encode(), SEPARATOR.encode())


@dataclass(frozen=True)
class Quoted:
    """
    Cells as CSV has them: one character, *text*, between them, and those that hold it in quotes.

    A quoted cell may hold line breaks, each of which becomes a blank; a quote that is not closed within a
    row of *width* cells is part of the text. Where *rows_are_named*, as by R, rows have one cell more than
    the header, the first: the header is given one without a name.
    """

    text: str
    width: int
    rows_are_named: bool = False
    delimiter: str = SEPARATOR

    def row(self, line: str) -> str:
        """Return a line with the delimiter between its cells, which lose their quotes."""
        if QUOTE not in line:
            cells = line.replace(SEPARATOR, " ").replace(self.text, SEPARATOR)
        else:
            cells = SEPARATOR.join(self._cells(line))
        is_short = self.rows_are_named and cells.count(SEPARATOR) + 1 == self.width
        return SEPARATOR + cells if is_short else cells

    def _cells(self, line: str) -> list[str]:
        line = line.replace(SEPARATOR, " ")
        return cells_of(line, self.text) or line.split(self.text)

    def rows(self, block: LineBlock) -> None:
        """Do the same with the lines of *block*, and put rows together that line breaks split."""
        if QUOTE.encode() not in block.data and not self.rows_are_named:
            data = block.data.replace(SEPARATOR.encode(), b" ")
            block.data = data.replace(self.text.encode(), SEPARATOR.encode())
            return
        numbered = list(block.numbered_lines())
        lines = [line for _, line in numbered]
        cut: list[str] = []
        joined: list[int] = []
        position = 0
        while position < len(numbered):
            row, used = self._whole_row(lines, position)
            cut.append(row)
            joined += [number for number, _ in numbered[position + 1 : position + used]]
            position += used
        block.data = bytearray("".join(f"{row}\n" for row in cut), "utf-8")
        block.skipped.append(np.array(joined, np.int64))

    def _whole_row(self, lines: Sequence[str], position: int) -> tuple[str, int]:
        """Return the row that begins at a *position* in *lines*, and the number of lines that it takes."""
        text = lines[position]
        if not self._is_open(text):
            return self.row(text), 1
        for used in range(2, min(MAXIMUM_ROW_LINES, len(lines) - position) + 1):
            text = f"{text}\n{lines[position + used - 1]}"
            if not self._is_open(text):
                cells = cells_of(text.replace(SEPARATOR, " "), self.text, strict=True) or []
                if len(cells) != self.width + self.rows_are_named:
                    break
                return SEPARATOR.join(cells).replace("\n", " "), used
        return lines[position].replace(SEPARATOR, " ").replace(self.text, SEPARATOR), 1

    def _is_open(self, text: str) -> bool:
        return text.count(QUOTE) % 2 == 1 and is_open(text, self.text)


@dataclass(frozen=True)
class Ruled:
    """
    Cells at fixed places, each *width* characters wide with a blank between them.

    A line with something else between its cells is handed on as one cell. The rule is a comment.
    """

    widths: tuple[int, ...]
    delimiter: str = SEPARATOR
    text: str = SEPARATOR

    def row(self, line: str) -> str:
        """Return a line with the delimiter between its cells, which lose their padding."""
        line = line.replace(SEPARATOR, " ")
        # The programs that print such tables count either.
        cells = self._cells(line) or [cell.decode() for cell in self._cells(line.encode()) or ()]
        return SEPARATOR.join(cell.strip() for cell in cells) if cells else line

    def _cells(self, line: AnyStr) -> list[AnyStr] | None:
        """Return the cells of *line*; None if there are no blanks between them."""
        borders = list(accumulate((width + 1 for width in self.widths), initial=0))
        padded = line.ljust(borders[-1])
        if padded[borders[-1] :].strip() or any(padded[end - 1 : end].strip() for end in borders[1:]):
            return None
        return [padded[begin : end - 1] for begin, end in pairwise(borders)]

    def rows(self, block: LineBlock) -> None:
        """Cut the lines of *block*, and leave out the rule."""
        lines = [(number, line) for number, line in block.numbered_lines() if line]
        rules = [number for number, line in lines if RULE.fullmatch(line)]
        cut = "".join(f"{self.row(line)}\n" for number, line in lines if number not in rules)
        block.data = bytearray(cut, "utf-8")
        block.skipped.append(np.array(rules, np.int64))
        block.comments += len(rules)


def of_header(row: str, following: str, usual: str) -> Iterator[Borders]:
    r"""
    Yield what may part the names in *row*, before the row *following*, the likeliest first.

    *usual* is what parts the cells of most such files.

    >>> list(of_header("JobID☃User☃State", "12☃ann☃FAILED", "|"))
    [Delimited(text='☃', usual='|')]
    >>> next(of_header("JobID  User", "------ ----", "|")).row("12      ann")
    '12\x1fann'
    >>> next(of_header('"","JobID","User"', '"1","12","ann"', "|")).row('"1","12_[3,5]","ann"')
    '1\x1f12_[3,5]\x1fann'
    """
    if RULE.fullmatch(following):
        yield Ruled(tuple(map(len, following.split())))
        return
    match = _FIRST_NAMES.match(row)
    if match and (match[1] == usual or match[1] not in DELIMITERS):
        yield Delimited(match[1], usual)
    for mark in (*DELIMITERS, " ") if QUOTE in row else DELIMITERS:
        if mark in row and (mark != usual or QUOTE in row or row.startswith(mark)):
            yield Quoted(mark, len(cells_of(row, mark) or ()))
        elif mark in row:
            yield Delimited(usual, usual)


def is_quoted(row: str, mark: str, width: int) -> bool:
    """Whether *row* has *width* cells between which *mark* stands, but only as CSV has them."""
    return QUOTE in row and row.count(mark) + 1 != width == len(cells_of(row, mark) or ())


def of_rows(rows: Sequence[str], width: int, usual: str) -> Borders:
    """
    Return what parts most *rows* without a header into *width* cells, of which the first is a number.

    Rows may end in what parts their cells. If none has that many cells, it is the sign behind the first.

    >>> of_rows(["12☃☃FAILED☃", "13☃ann☃FAILED☃"], 3, "|")
    Delimited(text='☃', usual='|')
    """
    fitting: Counter[str] = Counter()
    signs: Counter[str] = Counter()
    for row in rows:
        if match := _FIRST_CELL.match(row):
            texts = [match[1][:size] for size in range(1, len(match[1]) + 1)]
            signs[texts[0]] += 1
            fitting.update(text for text in texts if row.removesuffix(text).count(text) + 1 == width)
    votes = fitting or signs
    return Delimited(votes.most_common(1)[0][0] if votes else usual, usual)
