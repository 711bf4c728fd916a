"""
Where the cells of a row end: at any text, or at fixed places in a table made for the eye.

Whatever a file has between its cells, its rows are handed on with `SEPARATOR` there, which no log holds.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import AnyStr, Final, Protocol

import numpy as np

from gwa.ingest.source.lines import LineBlock

SEPARATOR: Final = "\x1f"
"""What stands between cells that were parted by more than a character: the unit separator of ASCII."""

RULE: Final = re.compile(r"-+(?: +-+)+ *")
"""The line under the names of a table made for the eye, as ``------ ----``."""

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


def of_header(row: str, following: str, usual: str) -> Borders | None:
    r"""
    Return what parts the names in *row*, before the row *following*; None where it names nothing.

    *usual* is what parts the cells of most such files.

    >>> of_header("JobID☃User☃State", "12☃ann☃FAILED", "|")
    Delimited(text='☃', usual='|')
    >>> of_header("JobID  User", "------ ----", "|").row("12      ann")
    '12\x1fann'
    """
    if RULE.fullmatch(following):
        return Ruled(tuple(map(len, following.split())))
    match = _FIRST_NAMES.match(row)
    return Delimited(match[1], usual) if match else None


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
