"""
Read records of fields separated by blanks, where text is quoted and lists begin with their length.

In ``"it says ""no"" and goes"`` is one field. A line that ends with ``!`` goes on with the next one, in the
midst of a field or between two, as copies of logs with short lines have it. Options:

``record``
    the pattern at the beginning of a record; other lines are refused, unless they continue a text
    whose quote is open.
``kind``
    the first field of a row; records of other kinds count as comments.
``fields``
    the names of the fields in order, each with ``%s`` for a text, ``%d`` for a number, or ``%3``
    for a list: a number n, then n times three fields. A column is found under its name; the column of a
    list holds the fields of the list, separated by blanks.
``least``
    the last field that every record has. Up to it, a field of the wrong kind means that the record
    cannot be read; after it versions differ, and a field of the wrong kind and all that follow are missing.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, NamedTuple

from gwa.ingest.batch import MAXIMUM_RECORD_LINES, EncodedRecords, assemble
from gwa.ingest.bulk_insert import MISSING_CELL
from gwa.ingest.source.compressed import Source
from gwa.ingest.source.lines import MAXIMUM_LINE_LENGTH, REJECT_TEXT_LENGTH
from gwa.ingest.spec import TableSpec

INSIDE_QUOTES: Final = r'[^"]*+(?:""[^"]*+)*+'
ANY_FIELD: Final = rf'(?:"{INSIDE_QUOTES}"|[^\s"]++)'
FIELD: Final = re.compile(rf'"({INSIDE_QUOTES})"(?!\S)|([^\s"]+)')
WHOLE_RECORD: Final = re.compile(rf"\s*+(?:{ANY_FIELD}(?:\s++|\Z))*+")
NUMBER: Final = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?")
PLAIN_NUMBER: Final = r"-?[0-9]++(?:\.[0-9]++)?+"

MAXIMUM_ENTRIES: Final = 4
"""Longer lists of several fields are read field by field."""

CONTINUATION: Final = "!"
"""The mark at the end of a line that goes on with the next one."""

Fields = Iterator[tuple[str, str]]
"""The remaining fields of a record: each is the text inside quotes, or else the unquoted text."""


class _UnfitError(ValueError):
    """A record that cannot be read; the message is the reason."""


def batches(source: Source, table_spec: TableSpec) -> Iterator[EncodedRecords]:
    """Yield the records of *source*; those whose fields do not fit their columns are refused."""
    return assemble(source, table_spec, _QuotedRecords(table_spec))


class _Field(NamedTuple):
    """A text (*kind* ``s``), a number (``d``), or a list whose entries have *size* fields each."""

    name: str
    kind: str
    size: int


def _fields_of(table_spec: TableSpec) -> tuple[Sequence[_Field], int]:
    """Return the fields up to the last that is read, and the position of the last that is required."""
    fields = [
        _Field(name, kind, int(kind) if kind.isdigit() else 0)
        for name, _, kind in (field.partition("%") for field in table_spec.options["fields"].split())
    ]
    last_required = [field.name for field in fields].index(table_spec.options["least"])
    wanted = [position for position, field in enumerate(fields) if field.name in table_spec.columns]
    return fields[: max([last_required, *wanted]) + 1], last_required


class _LinePattern:
    """
    Reads a line that is a whole record with one regular expression, which is made of the fields.

    It matches most lines: one blank separates their fields, texts are quoted, numbers consist of digits,
    lists of several fields are short, and all fields fit or the line ends. `_QuotedRecords` reads the other
    lines field by field, and would find the same cells in these.
    """

    def __init__(self, table_spec: TableSpec) -> None:
        fields, last_required = _fields_of(table_spec)
        self.columns = table_spec.columns
        self.captured: list[_Field] = []
        kind = self._captured(fields[0], re.escape(table_spec.options["kind"]))
        parts = [f'"{kind}"', *(f" {self._part(field)}" for field in fields[1:])]
        end = rf" ?+(?<!{CONTINUATION})(?<!{CONTINUATION} )\Z"
        rest = rf"(?: {ANY_FIELD})*+{end}"
        for part in reversed(parts[last_required + 1 :]):
            rest = f"(?:{end}|{part}{rest})"
        self.pattern = re.compile("".join([*parts[: last_required + 1], rest]))
        groups = {field.name: group for group, field in enumerate(self.captured)}
        # The group behind the last is that of columns which are not fields.
        self.groups = [groups.get(name, len(groups)) for name in self.columns]
        self.texts = [group for group, field in enumerate(self.captured) if field.kind == "s"]
        self.lists = [(group, field.size) for group, field in enumerate(self.captured) if field.size]

    def _part(self, field: _Field) -> str:
        """Return the pattern of a field; that of a list begins with its length."""
        if field.kind == "s":
            return f'"{self._captured(field, INSIDE_QUOTES)}"'
        if not field.size:
            return self._captured(field, PLAIN_NUMBER)
        if field.size == 1:
            # Such a list may be long: whether it has this length is left to `cells`.
            self.captured.append(field)
            return f'([0-9]{{1,6}}+(?: "{INSIDE_QUOTES}")*+)'
        entries = (f"{n}(?: {ANY_FIELD}){{{n * field.size}}}+" for n in range(1, MAXIMUM_ENTRIES + 1))
        return self._captured(field, f"(?:0|{'|'.join(entries)})")

    def _captured(self, field: _Field, pattern: str) -> str:
        """Return *pattern*, as a group if the field is a column."""
        if field.name not in self.columns:
            return pattern
        self.captured.append(field)
        return f"({pattern})"

    def cells(self, line: str) -> list[str] | None:
        """Return the cells of a whole record, None if *line* is none or must be read field by field."""
        match = self.pattern.match(line)
        if not match:
            return None
        values = [*match.groups(MISSING_CELL), MISSING_CELL]
        for group in self.texts:
            if '"' in values[group]:
                values[group] = values[group].replace('""', '"')
        for group, size in self.lists:
            if values[group] == MISSING_CELL:
                continue
            length, *entries = [quoted or bare for quoted, bare in FIELD.findall(values[group])]
            if len(entries) != int(length) * size:
                return None
            values[group] = " ".join(entries)
        return [values[group] for group in self.groups]


class _QuotedRecords:
    """Joins lines to records; holds the lines of the current record and the number of the first."""

    def __init__(self, table_spec: TableSpec) -> None:
        self.begin = re.compile(table_spec.options["record"])
        self.kind: str = table_spec.options["kind"]
        self.fields, self.last_required = _fields_of(table_spec)
        self.columns = frozenset(table_spec.columns)
        self.line_pattern = _LinePattern(table_spec)
        self.number, self.lines = 0, list[str]()
        self.is_quote_open = self.is_continued = False

    def take(self, number: int, line: str, batch: EncodedRecords) -> None:
        """Begin a record with a line, or continue the current one if its quote is open or a mark says so."""
        begins = bool(self.begin.match(line))
        if begins and (cells := self.line_pattern.cells(line)):
            self.flush(batch)
            batch.append(number, cells)
            return
        is_open = self.is_quote_open or self.is_continued
        if not begins and not (is_open and len(self.lines) < MAXIMUM_RECORD_LINES):
            batch.reject(number, "no record begins here", line[:REJECT_TEXT_LENGTH])
            return
        if begins:
            self.flush(batch)
            self.number, self.is_quote_open = number, False
        self.is_continued = line.rstrip().endswith(CONTINUATION)
        self.lines.append(line.rstrip()[: -len(CONTINUATION)] if self.is_continued else f"{line}\n")
        self.is_quote_open ^= line.count('"') % 2 == 1

    def flush(self, batch: EncodedRecords) -> None:
        """Add the current record to *batch*."""
        if not self.lines:
            return
        text, self.lines = "".join(self.lines).removesuffix("\n"), []
        self.is_quote_open = self.is_continued = False
        fields = FIELD.finditer(text)
        if self.begin.match(text) and (first := next(fields, None)) and first[1] != self.kind:
            batch.add_comment()
            return
        try:
            batch.add(self.number, self._values(text))
        except _UnfitError as reason:
            batch.reject(self.number, str(reason), text[:REJECT_TEXT_LENGTH])

    def _values(self, text: str) -> Mapping[str, str]:
        """Return the fields of a record that are columns."""
        if not WHOLE_RECORD.fullmatch(text):
            raise _UnfitError("a quote is not closed, or stands within a field")
        fields = iter(FIELD.findall(text))
        values: dict[str, str] = {}
        for position, (name, kind, size) in enumerate(self.fields):
            try:
                value = _next_list(name, fields, size) if size else _next_field(name, fields, kind)
            except _UnfitError:
                if position <= self.last_required:
                    raise
                break
            if name in self.columns:
                values[name] = value
        return values


def _next_list(name: str, fields: Fields, size: int) -> str:
    """Return the next list, whose entries have *size* fields each."""
    length = float(_next_field(name, fields, "d"))
    limit = int(min(max(length, 0), MAXIMUM_LINE_LENGTH)) * size
    values = [quoted or bare for quoted, bare in islice(fields, limit)]
    if len(values) != length * size:
        raise _UnfitError(f"{name} is a list of {length:.0f}, and the record ends before")
    return " ".join(values)


def _next_field(name: str, fields: Fields, kind: str) -> str:
    """Return the next field, which must be a number unless its *kind* is text."""
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
