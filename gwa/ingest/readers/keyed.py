"""
Read records that consist of some fields in fixed positions and then pairs ``key=value``, separated by blanks.

A column is found under its name, whatever its case and punctuation: ``resource_list_mem`` is
``Resource_List.mem``, and ``end_`` is ``end``. A quoted value may contain blanks. Options:

``record``
    the pattern at the beginning of a record, up to a character that always ends it; its groups are
    named after columns. A line may hold several records, numbered from 0 in the column ``place``, and
    a line break may split one.
``remark``
    the pattern of records that count as comments.
"""

import re
from collections.abc import Iterator
from typing import Final

from gwa.ingest.batch import MAXIMUM_RECORD_LINES, Records, assemble
from gwa.ingest.bulk_insert import MISSING_CELL
from gwa.ingest.source.compressed import Source
from gwa.ingest.source.header_row import normalized
from gwa.ingest.source.lines import REJECT_TEXT_LENGTH
from gwa.ingest.spec import TableSpec

PAIR: Final = re.compile(r"""(?<!\S)([A-Za-z][\w.]*)=("[^"]*"(?!\S)|'[^']*'(?!\S)|\S*)""")
KEY: Final = re.compile(r"[A-Za-z][\w.]*")
QUOTED: Final = re.compile(r"""=["']""")
MAXIMUM_KEYS_REMEMBERED: Final = 1000


def batches(source: Source, table_spec: TableSpec) -> Iterator[Records]:
    """Yield the records of *source*; text that belongs to none is refused."""
    return assemble(source, table_spec, _KeyedRecords(table_spec))


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
        self.column_of_key: dict[str, int | None] = {}
        self.number, self.place, self.pieces = 0, 0, list[str]()
        self.beginning: re.Match[str] | None = None

    def take(self, number: int, line: str, batch: Records) -> None:
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

    def _begin(self, number: int, place: int, beginning: re.Match[str], text: str, batch: Records) -> None:
        self.flush(batch)
        self.number, self.place, self.beginning, self.pieces = number, place, beginning, [text]

    def _continue(self, number: int, text: str, batch: Records) -> None:
        """Append *text* to the current record, or refuse it if it cannot belong to it."""
        if self.pieces and len(self.pieces) < MAXIMUM_RECORD_LINES and PAIR.search(text):
            self.pieces.append(text)
        else:
            batch.reject(number, "no record begins here", text[:REJECT_TEXT_LENGTH])

    def flush(self, batch: Records) -> None:
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
            for key, value in PAIR.findall(text):
                if (column := self._column(key)) is not None:
                    is_whole = value[:1] in {'"', "'"} and value[-1:] == value[:1]
                    cells[column] = value[1:-1] if is_whole else value
            return
        known = self.column_of_key
        for pair in text.split():
            key, sign, value = pair.partition("=")
            if sign:
                column = known[key] if key in known else self._column(key)
                if column is not None:
                    cells[column] = value

    def _column(self, key: str) -> int | None:
        """Return the column of a *key*, None if it has none, and remember it."""
        column = self.columns.get(normalized(key)) if KEY.fullmatch(key) else None
        if len(self.column_of_key) < MAXIMUM_KEYS_REMEMBERED:
            self.column_of_key[key] = column
        return column
