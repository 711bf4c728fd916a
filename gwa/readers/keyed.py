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
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Final

from gwa.readers.batch import Records, Shape
from gwa.readers.compressed import Source
from gwa.readers.lines import SHOWN, Layout, parts

PART: Final = 1 << 23
"""Bytes of lines treated at a time: as objects of Python they take many times as much."""

TORN: Final = 100
"""A record is not put together from more lines."""

PAIR: Final = re.compile(r"""(?<!\S)([A-Za-z][\w.]*)=("[^"]*"(?!\S)|'[^']*'(?!\S)|\S*)""")
_SIGNS: Final = re.compile(r"[^a-z0-9]+")


def batches(source: Source, shape: Shape) -> Iterator[Records]:
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
    """The record in hand: the number of its first line, its place there, and its pieces."""

    def __init__(self, shape: Shape) -> None:
        self.begin = re.compile(shape.options["record"])
        self.remark = re.compile(shape.options.get("remark", "(?!)"))
        self.names = {_plain(name): name for name in shape.columns}
        self.number, self.place, self.pieces = 0, "0", list[str]()

    def take(self, number: int, line: str, batch: Records) -> None:
        """Cut a line into records, and add those to *batch* that are complete."""
        head = self.begin.match(line)
        if head and line.find(head[0][-1], head.end()) < 0:
            self._begin(number, 0, line, batch)
            return
        cuts = [found.start() for found in self.begin.finditer(line)]
        rest = line[: cuts[0]].rstrip() if cuts else line
        if rest:
            self._go_on(number, rest, batch)
        for place, (begin, end) in enumerate(pairwise([*cuts, len(line)])):
            self._begin(number, place, line[begin:end], batch)

    def _begin(self, number: int, place: int, text: str, batch: Records) -> None:
        self.flush(batch)
        self.number, self.place, self.pieces = number, str(place), [text]

    def _go_on(self, number: int, text: str, batch: Records) -> None:
        """Take *text* for the rest of the record in hand, if it can be that."""
        if self.pieces and len(self.pieces) < TORN and PAIR.search(text):
            self.pieces.append(text)
        else:
            batch.reject(number, "no record begins here", text[:SHOWN])

    def flush(self, batch: Records) -> None:
        """Add the record in hand to *batch*."""
        if not self.pieces:
            return
        text, self.pieces = " ".join(self.pieces), []
        if self.remark.match(text):
            batch.total += 1
            batch.remarks += 1
        elif head := self.begin.match(text):
            batch.add(
                self.number, {**self._pairs(text[head.end() :]), **head.groupdict(), "place": self.place}
            )

    def _pairs(self, text: str) -> Mapping[str, str]:
        """Return the values of the pairs that are columns; of equal keys the last."""
        found = {}
        for key, value in PAIR.findall(text):
            if name := self.names.get(_plain(key)):
                found[name] = value[1:-1] if value[:1] in {'"', "'"} and value[-1:] == value[:1] else value
        return found


@lru_cache(1000)
def _plain(name: str) -> str:
    """
    Return a name without case and signs.

    >>> _plain("Resource_List.mem") == _plain("resource_list_mem")
    True
    """
    return _SIGNS.sub("", name.lower())
