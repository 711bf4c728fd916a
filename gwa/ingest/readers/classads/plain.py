"""
Plain ads of ClassAds, found by NumPy for many at once; their cells are read where they stand.

A plain ad stands between two ends of ads in one block, in ASCII: lines ``Name = value`` with one blank on
each side of the sign, whose values are decided by a look at them.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gwa.ingest.readers.classads.values import LITERAL, MAXIMUM_REFERENCES, NAME
from gwa.ingest.source.lines import LineBlock
from gwa.ingest.spans import MISSING, PADDING, UNKNOWN, KeyTable, Lines, Numbers, Spans, Text, padded

MAXIMUM_PLAIN_LENGTH: Final = 1 << 19
"""In bytes; longer ads are taken line by line."""

MAXIMUM_NUMBER_LENGTH: Final = 24
"""In bytes; longer numbers are looked at one by one."""

MAXIMUM_ADS: Final = 20_000
"""Blocks with more ads are taken line by line: such ads say next to nothing."""

BEGINS_JSON: Final = np.isin(np.arange(256), np.frombuffer(b"{[],", np.uint8))
"""Which bytes begin lines of JSON."""

EQUALS, LINE_END, BLANK, QUOTE, STAR, DOT, ZERO, NINE = b'=\n "*.09'
TILDE: Final = ord("~")
LETTER_BITS: Final = 5
LETTER: Final = 31
"""The bits of a letter that do not tell its case."""

IS_DIGIT: Final = np.isin(np.arange(256), np.frombuffer(b"0123456789", np.uint8))


class FoundAds(NamedTuple):
    """The cells of plain ads as *spans*, the *lines* in which they begin, and what is left of their block."""

    spans: Spans
    lines: Lines
    comments: int
    others: LineBlock

    @classmethod
    def none_in(cls, block: LineBlock) -> "FoundAds":
        """Leave all of *block*."""
        nothing = np.empty(0, np.int64)
        return cls(Spans(nothing, nothing, nothing, nothing), nothing, 0, block)


class PlainAds:
    """
    Finds plain ads by the names of *columns*, in lower case.

    Those with a value that is *skipped* in a column count as comments.
    """

    def __init__(self, columns: Mapping[str, int], skipped: Mapping[str, Sequence[str]]) -> None:
        """Begin without names and values met before."""
        self.columns, self.width = columns, len(columns)
        self.is_mark = np.zeros((max(map(len, columns)) + 2) << LETTER_BITS, np.bool_)
        """Which lengths and letters, the first, a name of a column has."""
        self.is_mark[[(len(name) << LETTER_BITS) + (ord(name[0]) & LETTER) for name in columns]] = True
        self.names, self.values = KeyTable(lambda name: columns.get(name.lower())), KeyTable(self._kind)
        self.skipped = [
            (columns[name], KeyTable(partial(_is_among, texts)))
            for name, texts in skipped.items()
            if name in columns
        ]

    def _kind(self, value: str) -> int | None:
        """Return the column that a *value* is the name of, `width` for a literal; None for an expression."""
        if LITERAL.fullmatch(value):
            return UNKNOWN if value[0] == '"' else self.width
        reference = NAME.fullmatch(value)
        return self.columns.get(reference[1].lower()) if reference else None

    def read(self, block: LineBlock, *, begins_ad: bool) -> FoundAds:
        """Return the plain ads of *block*, whose first line *begins* an *ad*, or may go on with one."""
        text = padded(block.data)
        lines = _Lines(text[: -len(PADDING)], text, is_ascii=block.data.isascii())
        if block.rejects or not len(lines.ends) or lines.is_json:
            return FoundAds.none_in(block)
        ads = _Ads(block, lines, begins_ad=begins_ad)
        if len(ads.is_plain) > MAXIMUM_ADS:
            return FoundAds.none_in(block)
        cells = self._cells(text, lines, ads)
        is_comment = self._are_comments(text, cells, ads)
        is_row, comments = ads.is_plain & ~is_comment, np.count_nonzero(ads.is_plain & is_comment)
        kept = np.flatnonzero(is_row[cells.rows])
        row = (np.cumsum(is_row & ads.has_lines) - 1)[cells.rows[kept]]
        spans = Spans(cells.columns[kept], row, cells.begins[kept], cells.lengths[kept])
        return FoundAds(spans, ads.first_lines[is_row & ads.has_lines], int(comments), ads.others())

    def _cells(self, text: Text, lines: "_Lines", ads: "_Ads") -> Spans:
        """Return the literals of plain ads, whose rows are *ads*, by columns; odd ones are plain no more."""
        rows, columns = self._assignments(text, lines, ads)
        begins, lengths = lines.signs[rows] + 2, lines.ends[rows] - lines.signs[rows] - 2
        kinds = self._kinds(text, begins, lengths)
        ads.is_plain[ads.of_line[rows[kinds == UNKNOWN]]] = False
        # Of assignments to one name the last counts.
        places = np.full((len(ads.is_plain), self.width), MISSING)
        places[ads.of_line[rows], columns] = np.arange(len(rows))
        of_ad, column = np.nonzero(places != MISSING)
        place = places[of_ad, column]
        for _ in range(MAXIMUM_REFERENCES - 1):
            names = np.flatnonzero((place != MISSING) & (kinds[place] >= 0) & (kinds[place] < self.width))
            place[names] = places[of_ad[names], kinds[place[names]]]
        found = np.flatnonzero((place != MISSING) & (kinds[place] == self.width))
        place = place[found]
        is_quoted = text[begins[place]] == QUOTE
        return Spans(column[found], of_ad[found], begins[place] + is_quoted, lengths[place] - 2 * is_quoted)

    def _are_comments(self, text: Text, cells: Spans, ads: "_Ads") -> NDArray[np.bool_]:
        """Return which ads have a value that is skipped; those that need a closer look are plain no more."""
        is_comment = np.zeros(len(ads.is_plain), np.bool_)
        for column, table in self.skipped:
            these = np.flatnonzero(cells.columns == column)
            judged = table.columns_of(text, cells.begins[these], cells.lengths[these])
            is_comment[cells.rows[these[judged == 1]]] = True
            ads.is_plain[cells.rows[these[judged == UNKNOWN]]] = False
        return is_comment

    def _assignments(self, text: Text, lines: "_Lines", ads: "_Ads") -> tuple[Numbers, Numbers]:
        """Return the lines of plain ads that assign to columns, and these; names not looked up are odd."""
        rows = np.flatnonzero(lines.is_plain & ads.is_plain[ads.of_line])
        begins = lines.begins[rows]
        lengths = lines.signs[rows] - 1 - begins
        marks = (lengths << LETTER_BITS) + (text[begins] & LETTER)
        # Most names are of no column, and not looked up.
        wanted = np.flatnonzero(self.is_mark[np.minimum(marks, len(self.is_mark) - 1)])
        rows, begins, lengths = rows[wanted], begins[wanted], lengths[wanted]
        columns = self.names.columns_of(text, begins, lengths)
        ads.is_plain[ads.of_line[rows[columns == UNKNOWN]]] = False
        known = np.flatnonzero(columns >= 0)
        return rows[known], columns[known]

    def _kinds(self, text: Text, begins: Numbers, lengths: Numbers) -> Numbers:
        """Return the kind of each value, as `_kind` does; `UNKNOWN` where it has to be looked at closely."""
        ends, first = begins + lengths, text[begins]
        is_literal = np.zeros(len(begins), np.bool_)
        digits = np.flatnonzero(IS_DIGIT[first] & (lengths <= MAXIMUM_NUMBER_LENGTH))
        is_literal[digits] = _are_numbers(text, begins[digits], ends[digits])
        texts = np.flatnonzero((first == QUOTE) & (text[ends - 1] == QUOTE) & (lengths > 1))
        quotes = np.flatnonzero(text == QUOTE)
        closing = quotes[np.searchsorted(quotes, begins[texts]) + 1]
        is_literal[texts] = closing == ends[texts] - 1
        kinds = np.full(len(begins), self.width)
        others = np.flatnonzero(~is_literal)
        kinds[others] = self.values.columns_of(text, begins[others], lengths[others])
        return kinds


def _is_among(texts: Sequence[str], text: str) -> int:
    return int(text in texts)


def _are_numbers(text: Text, begins: Numbers, ends: Numbers) -> NDArray[np.bool_]:
    """Return which short spans, each of which begins with a digit, are digits with at most one dot."""
    if not len(begins):
        return np.empty(0, np.bool_)
    borders = np.stack((begins, ends), 1).ravel()
    others = np.add.reduceat(((text < ZERO) | (text > NINE)).view(np.uint8), borders, dtype=np.uint8)[::2]
    is_number: NDArray[np.bool_] = others == 0
    rest = np.flatnonzero(others == 1)
    if len(rest):
        borders = np.stack((begins[rest], ends[rest]), 1).ravel()
        is_number[rest] = np.add.reduceat((text == DOT).view(np.uint8), borders, dtype=np.uint8)[::2] == 1
    return is_number


class _Lines:
    """The lines of *data*, a padded *text*: where each begins and ends, and has its first sign ``=``."""

    def __init__(self, data: Text, text: Text, *, is_ascii: bool) -> None:
        # Places are of 64 bits, by which an array is indexed four times as fast as by those of 32.
        marks = np.flatnonzero((data == EQUALS) | (data == LINE_END))
        is_end = data[marks] == LINE_END
        last_marks = np.flatnonzero(is_end)
        self.ends = marks[last_marks]
        self.begins = np.append(0, self.ends + 1)[:-1]
        self.signs = marks[np.append(0, last_marks + 1)[:-1]]
        begins, signs, ends = self.begins, self.signs, self.ends
        first = text[begins]
        self.is_banner = first == STAR
        stars = np.flatnonzero(self.is_banner)
        self.is_banner[stars] = (text[begins[stars] + 1] == STAR) & (text[begins[stars] + 2] == STAR)
        is_plain = ~self.is_banner & (first != BLANK) & (signs >= begins + 2) & (signs + 2 < ends)
        for place in (signs - 1, signs + 1):
            is_plain &= text[place] == BLANK
        for place in (signs - 2, signs + 2, ends - 1):
            is_plain &= text[place] != BLANK
        if np.count_nonzero(data < BLANK) > len(ends) or not is_ascii:
            odd = np.flatnonzero(((data < BLANK) & (data != LINE_END)) | (data > TILDE))
            is_plain[np.searchsorted(ends, odd)] = False
        self.is_json, self.is_plain = bool(BEGINS_JSON[first].any()), is_plain


class _Ads:
    """
    The ads of *block*, each with the lines up to an end of ads; the first one goes on with an earlier block.

    An ad *is_plain* as long as nothing in it is odd.
    """

    def __init__(self, block: LineBlock, lines: _Lines, *, begins_ad: bool) -> None:
        self.block, self.lines = block, lines
        count = len(lines.ends)
        self.numbers = block.line_numbers(np.arange(count))
        begins = np.diff(self.numbers, prepend=block.first - 1) > 1
        begins[1:] |= lines.is_banner[:-1]
        begins[0] |= begins_ad
        self.of_line = np.cumsum(begins)
        firsts = np.flatnonzero(begins)
        has_blank_end = block.first + block.total > self.numbers[-1] + 1
        sizes = np.diff(lines.begins[firsts], append=lines.ends[-1])
        self.is_plain = np.append(False, sizes <= MAXIMUM_PLAIN_LENGTH)
        self.is_plain[-1] &= has_blank_end or bool(lines.is_banner[-1])
        self.is_plain[self.of_line[~(lines.is_plain | lines.is_banner)]] = False
        self.has_lines = np.append(False, ~lines.is_banner[firsts])
        self.first_lines = np.append(0, self.numbers[firsts])

    def others(self) -> LineBlock:
        """Return the block without the lines of plain ads."""
        is_read, begins, ends = self.is_plain[self.of_line], self.lines.begins, self.lines.ends
        block, rest = self.block, np.flatnonzero(~is_read).tolist()
        data = bytearray().join(block.data[begins[line] : ends[line] + 1] for line in rest)
        skipped = [*block.skipped, self.numbers[is_read]]
        return LineBlock(block.first, data, block.total, skipped, block.comments)
