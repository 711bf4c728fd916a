"""
Read records that consist of some fields in fixed positions and then pairs ``key=value``, separated by blanks.

A column is found under its name, whatever its case and punctuation: ``resource_list_mem`` is
``Resource_List.mem``, and ``end_`` is ``end``. A quoted value may contain blanks. Options:

``record``
    the pattern at the beginning of a record, up to a character that always ends it; its groups are
    named after columns. A line may hold several records, numbered from 0 in the column ``place``, and
    a line break may split one.
``spaced``
    columns whose values may contain blanks though they are not quoted: words without ``=`` go on with them.
``remark``
    the pattern of records that count as comments.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gwa.ingest.batch import MAXIMUM_RECORD_LINES, EncodedRecords, assemble, assemble_others
from gwa.ingest.bulk_insert import MISSING_CELL
from gwa.ingest.source.compressed import Source
from gwa.ingest.source.header_row import normalized
from gwa.ingest.source.lines import NEWLINE, REJECT_TEXT_LENGTH, LineBlock
from gwa.ingest.spans import UNKNOWN, KeyTable, Spans, Text, add_spans, padded
from gwa.ingest.spec import TableSpec
from gwa.ingest.text_columns import TextColumns, batches_of_blocks

PAIR: Final = re.compile(r"""(?<!\S)([A-Za-z][\w.]*)=("[^"]*"(?!\S)|'[^']*'(?!\S)|\S*)""")
KEY: Final = re.compile(r"[A-Za-z][\w.]*")
QUOTED: Final = re.compile(r"""=["']""")
MAXIMUM_KEYS_REMEMBERED: Final = 1000

FIXED_FIELDS: Final = re.compile(r"(?:\(\?P<\w+>(?:\[[^\]\\]*\]|[^()\[\];\\]|\\d)+\);)+")
"""Patterns of records whose fixed fields are all named, each before a semicolon of its own."""

PLAIN_REST: Final = rb".*+\n"
"""The rest of a plain record."""

MAXIMUM_PLAIN_LENGTH: Final = 1 << 19
"""In bytes; longer lines are taken apart one by one."""

FIRST_PLACE: Final = b"0"
"""The place of a plain record in its line."""

IS_ODD: Final = np.isin(np.arange(256), [ord('"'), ord("'"), *range(128, 256)])
"""Which bytes no plain record has: quotes, and what is not ASCII."""

EQUALS, SEMICOLON, BLANK, LINE_END = b"=; \n"


def batches(source: Source, table_spec: TableSpec) -> Iterator[EncodedRecords | TextColumns]:
    """Yield the records of *source*; text that belongs to none is refused."""
    assembler = _KeyedRecords(table_spec)
    if not FIXED_FIELDS.fullmatch(table_spec.options["record"]):
        yield from assemble(source, table_spec, assembler)
        return
    plain = _PlainRecords(table_spec, assembler.column)

    def add(rows: TextColumns, block: LineBlock) -> None:
        is_plain, spans = plain.read(block.data)
        others = assemble_others(block, is_plain, table_spec, assembler)
        lines = block.line_numbers(np.flatnonzero(is_plain))
        add_spans(rows, block.data + FIRST_PLACE, spans, lines, others)

    yield from batches_of_blocks(source, table_spec, assembler, add)


class _KeyedRecords:
    """Cuts lines into records; holds the beginning, position and text of the current one."""

    def __init__(self, table_spec: TableSpec) -> None:
        self.begin = re.compile(table_spec.options["record"])
        self.comment = re.compile(table_spec.options.get("remark", "(?!)"))
        names = list(table_spec.columns)
        self.blank = [MISSING_CELL] * len(names)
        self.place_column = names.index("place")
        self.fixed = [(names.index(name), group) for name, group in self.begin.groupindex.items()]
        self.columns = {normalized(name): column for column, name in enumerate(names)}
        self.spaced = {names.index(name) for name in table_spec.options.get("spaced", ())}
        self.column_of_key: dict[str, int | None] = {}
        self.number, self.place, self.pieces = 0, 0, list[str]()
        self.beginning: re.Match[str] | None = None

    def take(self, number: int, line: str, batch: EncodedRecords) -> None:
        """Cut a line into records, and add to *batch* those that are complete."""
        first = self.begin.match(line)
        if first and line.find(first[0][-1], first.end()) < 0:
            self._begin(number, 0, first, line[first.end() :], batch)
            return
        beginnings = list(self.begin.finditer(line))
        starts = [*(beginning.start() for beginning in beginnings), len(line)]
        if rest := line[: starts[0]].rstrip():
            self._continue(number, rest, batch)
        for place, (beginning, end) in enumerate(zip(beginnings, starts[1:], strict=True)):
            self._begin(number, place, beginning, line[beginning.end() : end], batch)

    def _begin(
        self, number: int, place: int, beginning: re.Match[str], text: str, batch: EncodedRecords
    ) -> None:
        self.flush(batch)
        self.number, self.place, self.beginning, self.pieces = number, place, beginning, [text]

    def _continue(self, number: int, text: str, batch: EncodedRecords) -> None:
        """Append *text* to the current record, or refuse it if it cannot belong to it."""
        if self.pieces and len(self.pieces) < MAXIMUM_RECORD_LINES and PAIR.search(text):
            self.pieces.append(text)
        else:
            batch.reject(number, "no record begins here", text[:REJECT_TEXT_LENGTH])

    def flush(self, batch: EncodedRecords) -> None:
        """Add the current record to *batch*."""
        beginning, pieces = self.beginning, self.pieces
        self.beginning, self.pieces = None, []
        if beginning is None:
            return
        if self.comment.match(beginning[0]):
            batch.add_comment()
            return
        cells = self.blank.copy()
        self._set_pairs(pieces[0] if len(pieces) == 1 else " ".join(pieces), cells)
        for column, group in self.fixed:
            cells[column] = beginning[group]
        cells[self.place_column] = str(self.place)
        batch.append(self.number, cells)

    def _set_pairs(self, text: str, cells: list[str]) -> None:
        """Put the values of the pairs that are columns into *cells*; the last of equal keys wins."""
        if QUOTED.search(text):
            self._set_quoted_pairs(text, cells)
            return
        known = self.column_of_key
        column = None
        for pair in text.split():
            key, sign, value = pair.partition("=")
            if sign:
                column = known[key] if key in known else self.column(key)
                if column is not None:
                    cells[column] = value
            elif column in self.spaced:
                cells[column] += f" {pair}"

    def _set_quoted_pairs(self, text: str, cells: list[str]) -> None:
        """Put the values of pairs, some of which are quoted, into *cells*."""
        column, end = None, 0
        for match in PAIR.finditer(text):
            self._add_words(text[end : match.start()], column, cells)
            (key, value), end = match.groups(), match.end()
            column = self.column(key)
            if column is not None:
                is_whole = value[:1] in {'"', "'"} and value[-1:] == value[:1]
                cells[column] = value[1:-1] if is_whole else value
        self._add_words(text[end:], column, cells)

    def _add_words(self, words: str, column: int | None, cells: list[str]) -> None:
        """Add *words* that follow the value of a *column* to it, if its values may contain blanks."""
        if column in self.spaced and (more := " ".join(words.split())):
            cells[column] += f" {more}"

    def column(self, key: str) -> int | None:
        """Return the column of a *key*, None if it has none, and remember it."""
        column = self.columns.get(normalized(key)) if KEY.fullmatch(key) else None
        if len(self.column_of_key) < MAXIMUM_KEYS_REMEMBERED:
            self.column_of_key[key] = column
        return column


class _Tokens:
    """
    The lines of a padded *text* cut at white space and semicolons.

    Token n stands between the places n and n + 1 of *borders*, and the first ``=`` after border n, if it is
    in the token, at *signs* ``[n]``; *kinds* are the characters at the borders.
    """

    def __init__(self, text: Text) -> None:
        is_mark = (text <= BLANK) | (text == EQUALS) | (text == SEMICOLON)
        marks = np.flatnonzero(is_mark).astype(np.int32)
        kinds = text[marks]
        borders = np.flatnonzero(kinds != EQUALS)
        self.borders, self.kinds = marks[borders], kinds[borders]
        has_sign = kinds[borders[:-1] + 1] == EQUALS
        self.pairs = np.flatnonzero(has_sign)
        self.signs = marks[borders[self.pairs] + 1]
        self.line_ends = self.borders[self.kinds == LINE_END]
        self.semicolons = self.borders[self.kinds == SEMICOLON]
        before = np.searchsorted(self.semicolons, self.line_ends)
        self.counts = np.diff(before, prepend=0)
        """How many semicolons each line has."""
        self.fixed_ends = np.append(self.semicolons, np.int32(0))[before - 1]
        """The last semicolon before the end of each line."""

    def lines_with_words(self) -> NDArray[np.int64]:
        """Return the lines with a word that is not part of a pair, behind their fixed fields."""
        is_word = np.diff(self.borders) > 1
        is_word[self.pairs] = False
        begins = self.borders[:-1][is_word]
        lines = np.searchsorted(self.line_ends, begins, side="right")
        begins, lines = begins[lines < len(self.line_ends)], lines[lines < len(self.line_ends)]
        return np.unique(lines[begins >= self.fixed_ends[lines]])


class _PlainRecords:
    """
    Finds the cells of plain records: of one line that begins with all fixed fields, in ASCII, without quotes.

    The next line begins a record, too, so that it does not continue this one.
    """

    def __init__(self, table_spec: TableSpec, column_of: Callable[[str], int | None]) -> None:
        self.table_spec = table_spec
        record, remark = (table_spec.options.get(name, "(?!)").encode() for name in ("record", "remark"))
        # No field goes on after its line.
        unnamed = re.sub(rb"\(\?P<\w+>", b"(?:", record).replace(b"[^", rb"[^\n")
        self.run = re.compile(rb"(?:(?!%b)%b%b)*+" % (remark, unnamed, PLAIN_REST))
        names = list(table_spec.columns)
        self.place_column = names.index("place")
        self.fixed = [names.index(name) for name in re.compile(table_spec.options["record"]).groupindex]
        self.keys = KeyTable(column_of)
        self.is_spaced = bool(table_spec.options.get("spaced"))

    def read(self, data: bytearray) -> tuple[NDArray[np.bool_], Spans]:
        """Return which of whole lines are plain records, and the cells of these."""
        text = padded(data)
        tokens = _Tokens(text[: len(data)])
        is_plain = self._begin_plainly(data, tokens)
        if self.is_spaced:
            is_plain[tokens.lines_with_words()] = False
        lines = np.cumsum(tokens.kinds == LINE_END, dtype=np.int32)[tokens.pairs]
        begins, signs, ends = tokens.borders[tokens.pairs] + 1, tokens.signs, tokens.borders[tokens.pairs + 1]
        keys = np.flatnonzero(is_plain[lines] & (begins > tokens.fixed_ends[lines]))
        lines, begins, signs, ends = lines[keys], begins[keys], signs[keys], ends[keys]
        columns = self.keys.columns_of(text, begins, signs - begins)
        is_plain[lines[columns == UNKNOWN]] = False
        is_plain = is_plain & np.append(is_plain[1:], False)
        cells = np.flatnonzero(is_plain[lines] & (columns >= 0))
        rows = (np.cumsum(is_plain, dtype=np.int32) - 1)[lines[cells]]
        begins = signs[cells] + 1
        pairs = Spans(columns[cells], rows, begins, ends[cells] - begins)
        fixed = self._fixed(tokens, is_plain, len(data))
        # Fixed fields count more than pairs, and are set after them.
        return is_plain, Spans(*map(np.concatenate, zip(pairs, *fixed, strict=True)))

    def _begin_plainly(self, data: bytearray, tokens: _Tokens) -> NDArray[np.bool_]:
        """Return which lines look like plain records, as far as their fixed fields and characters go."""
        line_ends = tokens.line_ends
        is_plain: NDArray[np.bool_] = tokens.counts == len(self.fixed)
        is_plain &= np.diff(line_ends, prepend=-1) <= MAXIMUM_PLAIN_LENGTH
        odd = [tokens.borders[(tokens.kinds < BLANK) & (tokens.kinds != LINE_END)]]
        if b'"' in data or b"'" in data or not data.isascii():
            odd.append(np.flatnonzero(IS_ODD[np.frombuffer(data, np.uint8)]))
        is_plain[np.searchsorted(line_ends, np.concatenate(odd))] = False
        is_plain[np.searchsorted(line_ends, self._breaks(data))] = False
        return is_plain

    def _breaks(self, data: bytearray) -> list[int]:
        """Return the places of the lines that interrupt a run of plain records."""
        breaks, place = list[int](), 0
        while match := self.run.match(data, place):
            if match.end() == len(data):
                break
            breaks.append(match.end())
            place = data.index(NEWLINE, match.end()) + 1
        return breaks

    def _fixed(self, tokens: _Tokens, is_plain: NDArray[np.bool_], place: int) -> Iterator[Spans]:
        """Yield the cells of the fixed fields of plain records, and *place*, where their place is written."""
        begins = np.append(np.int32(0), tokens.line_ends[:-1] + 1)[is_plain]
        firsts = np.searchsorted(tokens.semicolons, begins)
        rows, same = np.arange(len(begins), dtype=np.int32), np.ones(len(begins), np.int32)
        for number, column in enumerate(self.fixed):
            ends = tokens.semicolons[firsts + number]
            yield Spans(column * same, rows, begins, ends - begins)
            begins = ends + 1
        yield Spans(self.place_column * same, rows, place * same, same)
