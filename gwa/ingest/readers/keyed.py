"""
Read records of some fields in fixed places and then pairs ``key=value``, parted by blanks.

A column is found under its name, without regard to case and signs: ``resource_list_mem`` is
``Resource_List.mem``, and ``end_`` is ``end``. A value in quotes may hold blanks. Options:

``record``
    the pattern of what a record begins with, up to a sign that all end it with; its groups go by the
    names of columns. Several records may stand on one line, which the column ``place`` counts from 0,
    and a line break may tear one apart.
``remark``
    the pattern of records that count as comments.
"""

import re
from collections.abc import Iterator
from typing import Final

from gwa.ingest.batch import Records
from gwa.ingest.bulk_insert import MISSING
from gwa.ingest.source.compressed import Source
from gwa.ingest.source.lines import SHOWN, Layout, parts
from gwa.ingest.spec import TableSpec

PART: Final = 1 << 23
"""Bytes of lines treated at a time: as objects of Python they take many times as much."""

TORN: Final = 100
"""A record is not put together from more lines."""

PAIR: Final = re.compile(r"""(?<!\S)([A-Za-z][\w.]*)=("[^"]*"(?!\S)|'[^']*'(?!\S)|\S*)""")
KEY: Final = re.compile(r"[A-Za-z][\w.]*")
QUOTED: Final = re.compile(r"""=["']""")
MANY: Final = 1000
"""So many keys are kept in mind."""

_SIGNS: Final = re.compile(r"[^a-z0-9]+")


def batches(source: Source, shape: TableSpec) -> Iterator[Records]:
    """Yield the records of *source*; text that belongs to none is refused."""
    keyed = _Keyed(shape)
    for part in parts(source, Layout("", shape.comment), PART):
        batch = Records(shape, total=part.total - part.kept, rejects=part.rejects)
        batch.remarks = len(part.comments) + part.blank
        for number, line in part.rows():
            keyed.take(number, line, batch)
        yield batch
    batch = Records(shape)
    keyed.flush(batch)
    yield batch


class _Keyed:
    """The record in hand: the number of its first line, its place there, its head and its pieces."""

    def __init__(self, shape: TableSpec) -> None:
        self.begin = re.compile(shape.options["record"])
        self.remark = re.compile(shape.options.get("remark", "(?!)"))
        names = list(shape.columns)
        self.blank = [MISSING] * len(names)
        self.place_at = names.index("place")
        self.heads = [(names.index(name), group) for name, group in self.begin.groupindex.items()]
        self.names = {_plain(name): place for place, name in enumerate(names)}
        self.known: dict[str, int | None] = {}
        self.number, self.place, self.pieces = 0, 0, list[str]()
        self.head: re.Match[str] | None = None

    def take(self, number: int, line: str, batch: Records) -> None:
        """Cut a line into records, and add those to *batch* that are complete."""
        head = self.begin.match(line)
        if head and line.find(head[0][-1], head.end()) < 0:
            self._begin(number, 0, head, line[head.end() :], batch)
            return
        heads = list(self.begin.finditer(line))
        starts = [*(found.start() for found in heads), len(line)]
        if rest := line[: starts[0]].rstrip():
            self._go_on(number, rest, batch)
        for place, (found, end) in enumerate(zip(heads, starts[1:], strict=True)):
            self._begin(number, place, found, line[found.end() : end], batch)

    def _begin(self, number: int, place: int, head: re.Match[str], text: str, batch: Records) -> None:
        self.flush(batch)
        self.number, self.place, self.head, self.pieces = number, place, head, [text]

    def _go_on(self, number: int, text: str, batch: Records) -> None:
        """Take *text* for the rest of the record in hand, if it can be that."""
        if self.pieces and len(self.pieces) < TORN and PAIR.search(text):
            self.pieces.append(text)
        else:
            batch.reject(number, "no record begins here", text[:SHOWN])

    def flush(self, batch: Records) -> None:
        """Add the record in hand to *batch*."""
        head, pieces = self.head, self.pieces
        self.head, self.pieces = None, []
        if head is None:
            return
        if self.remark.match(head[0]):
            batch.total += 1
            batch.remarks += 1
            return
        cells = self.blank.copy()
        self._pairs(pieces[0] if len(pieces) == 1 else " ".join(pieces), cells)
        for place, group in self.heads:
            cells[place] = head[group]
        cells[self.place_at] = str(self.place)
        batch.append(self.number, cells)

    def _pairs(self, text: str, cells: list[str]) -> None:
        """Put the values of the pairs that are columns into *cells*; of equal keys the last."""
        if QUOTED.search(text):
            for key, value in PAIR.findall(text):
                if (place := self._place(key)) is not None:
                    is_whole = value[:1] in {'"', "'"} and value[-1:] == value[:1]
                    cells[place] = value[1:-1] if is_whole else value
            return
        known = self.known
        for pair in text.split():
            key, sign, value = pair.partition("=")
            if sign:
                place = known[key] if key in known else self._place(key)
                if place is not None:
                    cells[place] = value

    def _place(self, key: str) -> int | None:
        """Return the place of the column that a *key* means, and keep it in mind."""
        place = self.names.get(_plain(key)) if KEY.fullmatch(key) else None
        if len(self.known) < MANY:
            self.known[key] = place
        return place


def _plain(name: str) -> str:
    """
    Return a name without case and signs.

    >>> _plain("Resource_List.mem") == _plain("resource_list_mem")
    True
    """
    return _SIGNS.sub("", name.lower())
