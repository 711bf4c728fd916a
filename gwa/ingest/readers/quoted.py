"""
Read records of fields parted by blanks, where text stands in quotes and lists say their length first.

In ``"it says ""no"" and goes"`` is one field. Options:

``record``
    the pattern of what a record begins with; other lines are refused, unless they go on with a text
    whose quote is open.
``kind``
    what the first field of a row is; records of other kinds count as comments.
``fields``
    the names of the fields in their order, each with ``%s`` for a text, ``%d`` for a number, or ``%3``
    for a list: a number, and so many times three fields. A column is found under its name; that of a
    list gets the fields of the list, parted by blanks.
``least``
    the last field that every record has. Up to it, one that is not what it should be is the sign of a
    record that cannot be read; behind it versions differ, and what follows such a field is missing.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final

from gwa.ingest.batch import Records
from gwa.ingest.source.compressed import Source
from gwa.ingest.source.lines import LONGEST_LINE, SHOWN, Layout, parts
from gwa.ingest.spec import TableSpec

PART: Final = 1 << 23
"""Bytes of lines treated at a time: as objects of Python they take many times as much."""

TORN: Final = 100
"""A record is not put together from more lines."""

FIELD: Final = re.compile(r'"((?:[^"]|"")*+)"(?!\S)|([^\s"]+)')
WHOLE: Final = re.compile(r'\s*+(?:(?:"(?:[^"]|"")*+"|[^\s"]++)(?:\s++|\Z))*+')
NUMBER: Final = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?")


Fields = Iterator[tuple[str, str]]
"""What is left of a record: of each field the text in its quotes, or else what stands bare."""


class _UnfitError(ValueError):
    """A record that cannot be read; the message says why."""


def batches(source: Source, shape: TableSpec) -> Iterator[Records]:
    """Yield the records of *source*; those whose fields do not fit their columns are refused."""
    quoted = _Quoted(shape)
    for part in parts(source, Layout("", shape.comment), PART):
        batch = Records(shape, total=part.total - part.kept, rejects=part.rejects)
        batch.remarks = len(part.comments) + part.blank
        for number, line in part.rows():
            quoted.take(number, line, batch)
        yield batch
    batch = Records(shape)
    quoted.flush(batch)
    yield batch


class _Quoted:
    """The record in hand: the number of its first line, and its pieces."""

    def __init__(self, shape: TableSpec) -> None:
        self.begin = re.compile(shape.options["record"])
        self.kind: str = shape.options["kind"]
        self.fields = [
            (name, kind, int(kind) if kind.isdigit() else 0)
            for name, _, kind in (one.partition("%") for one in shape.options["fields"].split())
        ]
        self.least = [name for name, *_ in self.fields].index(shape.options["least"])
        self.columns = frozenset(shape.columns)
        wanted = [place for place, (name, *_) in enumerate(self.fields) if name in self.columns]
        self.fields = self.fields[: max([self.least, *wanted]) + 1]
        self.number, self.pieces, self.is_open = 0, list[str](), False

    def take(self, number: int, line: str, batch: Records) -> None:
        """Begin a record with a line, or go on with the one in hand, whose quote is open."""
        begins = bool(self.begin.match(line))
        if not begins and not (self.is_open and len(self.pieces) < TORN):
            batch.reject(number, "no record begins here", line[:SHOWN])
            return
        if begins:
            self.flush(batch)
            self.number, self.is_open = number, False
        self.pieces.append(line)
        self.is_open ^= line.count('"') % 2 == 1

    def flush(self, batch: Records) -> None:
        """Add the record in hand to *batch*."""
        if not self.pieces:
            return
        text, self.pieces, self.is_open = "\n".join(self.pieces), [], False
        fields = FIELD.finditer(text)
        if self.begin.match(text) and (first := next(fields, None)) and first[1] != self.kind:
            batch.total += 1
            batch.remarks += 1
            return
        try:
            batch.add(self.number, self._record(text))
        except _UnfitError as fault:
            batch.reject(self.number, str(fault), text[:SHOWN])

    def _record(self, text: str) -> Mapping[str, str]:
        """Return the fields of a record that are columns."""
        if not WHOLE.fullmatch(text):
            raise _UnfitError("a quote is not closed, or stands within a field")
        fields = iter(FIELD.findall(text))
        found: dict[str, str] = {}
        for place, (name, kind, size) in enumerate(self.fields):
            try:
                value = _list(name, fields, size) if size else _field(name, fields, kind)
            except _UnfitError:
                if place <= self.least:
                    raise
                break
            if name in self.columns:
                found[name] = value
        return found


def _list(name: str, fields: Fields, size: int) -> str:
    """Return the next list, whose entries are of *size* fields."""
    length = float(_field(name, fields, "d"))
    values = [
        quoted or bare for quoted, bare in islice(fields, int(min(max(length, 0), LONGEST_LINE)) * size)
    ]
    if len(values) != length * size:
        raise _UnfitError(f"{name} is a list of {length:.0f}, and the record ends before")
    return " ".join(values)


def _field(name: str, fields: Fields, kind: str) -> str:
    """Return the next field, which must be a number if it is of that *kind*."""
    field = next(fields, None)
    if field is None:
        raise _UnfitError(f"the record ends before {name}")
    quoted, bare = field
    if kind == "s":
        return bare or (quoted.replace('""', '"') if '"' in quoted else quoted)
    if bare.isascii() and bare.isdigit():
        return bare
    if not NUMBER.fullmatch(bare):
        raise _UnfitError(f"{name} is '{(bare or quoted)[:40]}', expected a number")
    return bare
