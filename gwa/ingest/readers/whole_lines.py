"""
Read whole lines as text, for formats that a SELECT takes apart itself: one column, ``text``.

Options:

``wanted``
    a pattern found in all lines of data; other lines count as comments.
``begins``
    a pattern that a record begins with; lines that it does not match go on with the record before.
"""

import re
from collections.abc import Iterator
from typing import Final

from gwa.ingest.batch import Records
from gwa.ingest.source.compressed import Source
from gwa.ingest.source.lines import SHOWN, Layout, parts
from gwa.ingest.spec import TableSpec

LINES = {"text": "varchar"}
"""The columns of this reader."""

PART: Final = 1 << 23
"""Bytes of lines treated at a time: as objects of Python they take many times as much."""

TORN: Final = 100
"""A record is not put together from more lines."""


def batches(source: Source, shape: TableSpec) -> Iterator[Records]:
    """Yield the lines of *source* that are neither blank nor comments."""
    lines = _Lines(shape)
    for part in parts(source, Layout("", shape.comment), PART):
        batch = Records(shape, total=part.total - part.kept, rejects=part.rejects)
        batch.remarks = len(part.comments) + part.blank
        for number, line in part.rows():
            lines.take(number, line, batch)
        yield batch
    batch = Records(shape)
    lines.flush(batch)
    yield batch


class _Lines:
    """The record in hand: the number of its first line, and its lines."""

    def __init__(self, shape: TableSpec) -> None:
        self.wanted = re.compile(shape.options.get("wanted", ""))
        self.begins = re.compile(shape.options.get("begins", ""))
        self.number, self.pieces = 0, list[str]()

    def take(self, number: int, line: str, batch: Records) -> None:
        """Begin a record with a line, or go on with the one in hand."""
        if not self.wanted.search(line):
            batch.total += 1
            batch.remarks += 1
        elif self.begins.match(line):
            self.flush(batch)
            self.number, self.pieces = number, [line]
        elif self.pieces and len(self.pieces) < TORN:
            self.pieces.append(line)
        else:
            batch.reject(number, "no record begins here", line[:SHOWN])

    def flush(self, batch: Records) -> None:
        """Add the record in hand to *batch*."""
        if self.pieces:
            batch.add(self.number, {"text": "\n".join(self.pieces)})
            self.pieces = []
