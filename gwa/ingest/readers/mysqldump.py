"""
Read rows of some tables of a database from a dump in SQL, as mysqldump and mariadb-dump write it.

Each row is a record, whichever table it is from: the columns of that name hold its values, and others are
missing. The order of the values is that of CREATE TABLE, or of the names before
VALUES. Statements on other tables are passed over. A row's number is its place among the rows read. Options:

``tables``
    the ends of the names of tables by what the column ``table_`` calls them, as in ``{job = "job_table"}``.
    What precedes them, without the underscore, is in the column ``prefix``.
``explain``
    those of these tables whose rows only explain others: they count as comments.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from gwa.ingest.batch import RECORD_BLOCK_SIZE, EncodedRecords
from gwa.ingest.bulk_insert import MAXIMUM_ROW_LENGTH
from gwa.ingest.source.compressed import Source
from gwa.ingest.source.json_records import BROKEN_OFF
from gwa.ingest.source.lines import REJECT_TEXT_LENGTH, decoded, to_utf8
from gwa.ingest.spec import TableSpec

MAXIMUM_STATEMENT_SIZE: Final = 4 * MAXIMUM_ROW_LENGTH
"""Bytes in which a row, or a CREATE TABLE, ends; else it is passed over."""

TAIL: Final = 1 << 12
"""Bytes that are kept so that the beginning of a statement across the border of two chunks is found."""

_STATEMENT: Final = re.compile(
    rb"^(?:CREATE TABLE (?:IF NOT EXISTS )?`(?P<made>[^`\n]+)` \((?P<body>.*?)\n\)"
    rb"|INSERT (?:IGNORE )?INTO `(?P<filled>[^`\n]+)` (?:\((?P<names>[^)\n]*)\) )?VALUES\s*+)",
    re.DOTALL | re.MULTILINE,
)
_BEGINNING: Final = re.compile(rb"^(?:CREATE TABLE |INSERT )", re.MULTILINE)
_ROW: Final = re.compile(rb"\s*+\(((?:[^'()]|'(?:[^'\\]|\\.|'')*+')*+)\)\s*+([,;])", re.DOTALL)
_COLUMN: Final = re.compile(rb"^\s*`(\w+)`", re.MULTILINE)
_VALUE: Final = re.compile(r"(?:_binary )?'((?:[^'\\]|\\.|'')*+)'|([^,]+)", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(.)|''", re.DOTALL)
_ESCAPED: Final = {"n": "\n", "r": "\r", "t": "\t", "0": "\0", "Z": "\x1a", None: "'"}


def batches(source: Source, table_spec: TableSpec) -> Iterator[EncodedRecords]:
    """Yield the rows of *source*."""
    dump = _Dump(table_spec)
    size = 0
    for chunk in decoded(source):
        dump.feed(chunk)
        size += len(chunk)
        if size >= RECORD_BLOCK_SIZE:
            yield dump.taken()
            size = 0
    dump.end(is_cut=bool(source.broken))
    yield dump.taken()


@dataclass
class _Table:
    """A table of the dump: what it is called, the *prefix* of its name, and its columns."""

    kind: str
    prefix: str
    columns: list[str] = field(default_factory=list)


class _Dump:
    """Takes the rows of tables from a dump that it is fed piece by piece."""

    def __init__(self, table_spec: TableSpec) -> None:
        self.table_spec = table_spec
        self.ends: Mapping[str, str] = table_spec.options["tables"]
        self.explain = frozenset(table_spec.options.get("explain", ()))
        self.tables: dict[str, _Table] = {}
        self.records = EncodedRecords(table_spec)
        self.text = b""
        self.filled: _Table | None = None
        self.is_filling = False
        self.number = 0

    def taken(self) -> EncodedRecords:
        """Return the rows found since the last call."""
        records, self.records = self.records, EncodedRecords(self.table_spec)
        return records

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes."""
        self.text += chunk
        at = 0
        while True:
            found = self._take_rows(at) if self.is_filling else self._begin_statement(at)
            if found is None:
                break
            at = found
        self.text = self.text[at:]
        if len(self.text) > MAXIMUM_STATEMENT_SIZE:
            self._pass_over()

    def _begin_statement(self, at: int) -> int | None:
        """Read the next statement on a table; return where it ends, None if there is none that ends."""
        match = _STATEMENT.search(self.text, at)
        if not match:
            return None
        if match["made"]:
            if table := self._table(match["made"]):
                table.columns = [name.decode() for name in _COLUMN.findall(match["body"])]
        else:
            self.filled, self.is_filling = self._table(match["filled"]), True
            if self.filled and match["names"]:
                self.filled.columns = re.findall(r"\w+", match["names"].decode("utf-8", "replace"))
        return match.end()

    def _table(self, name: bytes) -> _Table | None:
        """Return the table called *name*, None if it is not wanted."""
        text = name.decode("utf-8", "replace")
        for kind, end in self.ends.items():
            if text == end or text.endswith(f"_{end}"):
                return self.tables.setdefault(text, _Table(kind, text[: -len(end)].rstrip("_")))
        return None

    def _take_rows(self, at: int) -> int | None:
        """Take rows from the place *at*; return where they end, None if there is no whole row."""
        begin = at
        while self.is_filling and (match := _ROW.match(self.text, at)):
            if self.filled:
                self._take(self.filled, to_utf8(match[1]).decode())
            at = match.end()
            self.is_filling = match[2] == b","
        return at if at > begin else None

    def _take(self, table: _Table, row: str) -> None:
        """Add a row of a *table* to the records, or refuse it."""
        self.number += 1
        values = _VALUE.findall(row)
        if len(values) != len(table.columns):
            reason = f"{len(values)} values, expected {len(table.columns)}, as CREATE TABLE says"
            self.records.reject(self.number, reason, row[:REJECT_TEXT_LENGTH])
            return
        cells = {
            name: _unescaped(quoted) if quoted or not bare else None if bare == "NULL" else bare
            for name, (quoted, bare) in zip(table.columns, values, strict=True)
        }
        is_comment = table.kind in self.explain or cells.get("deleted") == "1"
        if is_comment:
            self.records.add_comment()
        if not is_comment or table.kind in self.explain:
            self.records.add(self.number, cells | {"table_": table.kind, "prefix": table.prefix})

    def _pass_over(self) -> None:
        """Forget text in which no statement or row ends; the next statement begins on a line of its own."""
        if self.is_filling and self.filled:
            self.number += 1
            text = self.text[:REJECT_TEXT_LENGTH].decode("utf-8", "replace")
            self.records.reject(self.number, f"no row ends within {MAXIMUM_STATEMENT_SIZE} bytes", text)
        self.is_filling = False
        next_one = _BEGINNING.search(self.text, 1)
        self.text = self.text[next_one.start() if next_one else len(self.text) - TAIL :]

    def end(self, *, is_cut: bool) -> None:
        """Take note that the dump ends; where it *is_cut* that is accounted for elsewhere."""
        if self.is_filling and self.filled and not is_cut:
            self.number += 1
            text = self.text[:REJECT_TEXT_LENGTH].decode("utf-8", "replace")
            self.records.reject(self.number, f"{BROKEN_OFF}: its end is missing", text)


def _unescaped(text: str) -> str:
    r"""
    Return a text without the escapes of MySQL.

    >>> _unescaped(r"it\'s a\\b")
    "it's a\\b"
    """
    if "\\" not in text and "''" not in text:
        return text
    return _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[1]), text)
