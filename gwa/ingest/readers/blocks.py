"""
Read blocks of lines, each a key and its value, as ``qstat -f`` and ``qacct -j`` print jobs.

A column is found under its name, whatever its case and punctuation: ``resource_list_mem`` is
``Resource_List.mem``, and ``end_`` is ``end``. Of equal keys in a block the first counts. A line that is no
key and value continues the value before it, whose parts are joined without a blank. A block without any key
is not a record and counts as a comment. Options:

``begins``
    the pattern of the line that begins a block; its groups are named after columns.
``pair``
    the pattern of a key and its value, which are its groups ``key`` and ``value``.
``keys``
    the key of a column, or several, of which the first that has a value counts; for other columns it is
    the name of the column.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from gwa.ingest.batch import EncodedRecords, assemble
from gwa.ingest.source.compressed import Source
from gwa.ingest.source.header_row import normalized
from gwa.ingest.source.lines import REJECT_TEXT_LENGTH
from gwa.ingest.spec import TableSpec

MAXIMUM_LINES: Final = 100_000
"""A block of more lines is not put together: jobs on thousands of nodes take thousands of lines."""


def batches(source: Source, table_spec: TableSpec) -> Iterator[EncodedRecords]:
    """Yield the blocks of *source* as rows; lines before the first are refused."""
    return assemble(source, table_spec, _Blocks(table_spec))


class _Blocks:
    """Puts blocks together; holds the first line, the size and the values of the current one."""

    def __init__(self, table_spec: TableSpec) -> None:
        options = table_spec.options
        self.begins, self.pair = re.compile(options["begins"]), re.compile(options["pair"])
        self.keys = _keys(table_spec.columns, options.get("keys", {}))
        self.wanted = {key for keys in self.keys.values() for key in keys}
        self.number, self.size = 0, 0
        self.beginning: Mapping[str, str | None] = {}
        self.values: dict[str, list[str]] = {}
        self.current: list[str] = []

    def take(self, number: int, line: str, batch: EncodedRecords) -> None:
        """Begin a block with a line, or continue the current one."""
        if beginning := self.begins.match(line):
            self.flush(batch)
            self.number, self.beginning = number, beginning.groupdict()
        elif self.number and self.size < MAXIMUM_LINES:
            self._continue(line)
        else:
            batch.reject(number, "no record begins here", line[:REJECT_TEXT_LENGTH])

    def _continue(self, line: str) -> None:
        """Add a line to the current block; values that no column wants are not kept."""
        self.size += 1
        pair = self.pair.match(line)
        if not pair:
            self.current.append(line.strip())
            return
        key = normalized(pair["key"])
        self.current = [(pair["value"] or "").strip()]
        if key in self.wanted:
            self.values.setdefault(key, self.current)
        else:
            self.values.setdefault("", [])

    def flush(self, batch: EncodedRecords) -> None:
        """Add the current block to *batch*."""
        if self.number and not self.values:
            batch.add_comment()
        elif self.number:
            batch.add(self.number, {**self._cells(), **self.beginning})
        self.number, self.size, self.values, self.current = 0, 0, {}, []

    def _cells(self) -> Mapping[str, str | None]:
        texts = {key: "".join(parts) for key, parts in self.values.items()}
        return {
            name: next((texts[key] for key in keys if texts.get(key)), None)
            for name, keys in self.keys.items()
        }


def _keys(
    columns: Mapping[str, str], given: Mapping[str, str | Sequence[str]]
) -> Mapping[str, Sequence[str]]:
    """Return the normalized keys of each column, the one that counts first."""
    named = {name: given.get(name, name) for name in columns}
    return {
        name: [normalized(key) for key in ([keys] if isinstance(keys, str) else keys)]
        for name, keys in named.items()
    }
