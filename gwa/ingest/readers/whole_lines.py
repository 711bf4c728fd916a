"""
Read whole lines as text, for formats that a SELECT takes apart itself: one column, ``text``.

Options:

``wanted``
    a pattern found in all lines of data; other lines count as comments.
``begins``
    a pattern at the beginning of each record; lines that do not match it continue the record before.
``lines``
    how many lines a record has at most: 100 if the format does not say.
"""

import re
from collections.abc import Iterator

from gwa.ingest.batch import MAXIMUM_RECORD_LINES, EncodedRecords, assemble
from gwa.ingest.source.compressed import Source
from gwa.ingest.source.lines import REJECT_TEXT_LENGTH
from gwa.ingest.spec import TableSpec


def batches(source: Source, table_spec: TableSpec) -> Iterator[EncodedRecords]:
    """Yield the lines of *source* that are neither blank nor comments."""
    return assemble(source, table_spec, _LineJoiner(table_spec))


class _LineJoiner:
    """Joins lines to records; holds the lines of the current record and the number of the first."""

    def __init__(self, table_spec: TableSpec) -> None:
        self.wanted = re.compile(table_spec.options.get("wanted", ""))
        self.begins = re.compile(table_spec.options.get("begins", ""))
        self.most: int = table_spec.options.get("lines", MAXIMUM_RECORD_LINES)
        self.number, self.lines = 0, list[str]()

    def take(self, number: int, line: str, batch: EncodedRecords) -> None:
        """Begin a record with a line, or continue the current one."""
        if not self.wanted.search(line):
            batch.add_comment()
        elif self.begins.match(line):
            self.flush(batch)
            self.number, self.lines = number, [line]
        elif self.lines and len(self.lines) < self.most:
            self.lines.append(line)
        else:
            batch.reject(number, "no record begins here", line[:REJECT_TEXT_LENGTH])

    def flush(self, batch: EncodedRecords) -> None:
        """Add the current record to *batch*."""
        if self.lines:
            batch.add(self.number, {"text": "\n".join(self.lines)})
            self.lines = []
