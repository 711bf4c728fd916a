"""
Read events: some lines each, which tell what happened to a job and when, as HTCondor's event log has them.

An event begins with a line that a pattern matches and goes on until the line that ends events. One that
another begins before, or the file ends in, is cut and refused: what its last line says may be half of it.
Options:

``begins``
    the pattern of the line that begins an event; its groups are named after columns.
``ends``
    the line that ends an event.
``kinds``
    the values of the group ``kind`` that are read; events of other kinds count as comments.
``details``
    by column, the pattern of a line that tells its value, which is its one group; of several such lines of
    an event the first counts.

Where the groups ``month`` and ``day`` have no ``year``, the column ``turns`` counts the turns of the year
since the first event of the file: a date more than half a year before the one above it is of the next year,
and one more than half a year after it of the year before, but never before the first.
"""

import re
from collections.abc import Iterator
from typing import Final

from gwa.ingest.batch import EncodedRecords, assemble
from gwa.ingest.source.compressed import Source
from gwa.ingest.source.lines import REJECT_TEXT_LENGTH
from gwa.ingest.spec import TableSpec

DAYS_OF_MONTH: Final = 31
HALF_A_YEAR: Final = 6 * DAYS_OF_MONTH
"""In days of twelve months that are equally long, which is enough to tell turns of the year."""


def batches(source: Source, table_spec: TableSpec) -> Iterator[EncodedRecords]:
    """Yield the events of *source* as rows."""
    return assemble(source, table_spec, _Events(table_spec))


class _Events:
    """Puts events together; holds the first line and the values of the current one, and the date."""

    def __init__(self, table_spec: TableSpec) -> None:
        options = table_spec.options
        details = "|".join(f"(?P<{column}>{pattern})" for column, pattern in options["details"].items())
        self.begins, self.details = re.compile(options["begins"]), re.compile(rf"\s*+(?:{details})")
        self.ends, self.kinds = options["ends"], frozenset(options["kinds"])
        self.number, self.beginning = 0, ""
        self.values: dict[str, str | None] = {}
        self.turns = _Turns()

    def take(self, number: int, line: str, batch: EncodedRecords) -> None:
        """Begin an event with a line, or continue or end the current one."""
        if beginning := self.begins.match(line):
            self.flush(batch)
            self.number, self.beginning, self.values = number, line, beginning.groupdict()
            if not self.values["year"]:
                self.values["turns"] = self.turns.until(beginning["month"], beginning["day"])
        elif line.rstrip() == self.ends:
            self._end(batch)
        elif not self.number:
            batch.reject(number, "no event begins here", line[:REJECT_TEXT_LENGTH])
        elif detail := self.details.match(line):
            column = detail.lastgroup or ""
            self.values.setdefault(column, detail[self.details.groupindex[column] + 1].strip())

    def _end(self, batch: EncodedRecords) -> None:
        """Add the current event, which is whole, to *batch*."""
        if self.number and self.values["kind"] in self.kinds:
            batch.add(self.number, self.values)
        elif self.number:
            batch.add_comment()
        self.number = 0

    def flush(self, batch: EncodedRecords) -> None:
        """Refuse the current event, which has no end."""
        if self.number:
            batch.reject(self.number, "the event is cut", self.beginning[:REJECT_TEXT_LENGTH])
        self.number = 0


class _Turns:
    """Counts the turns of the year in dates without a year, which are in order but for small steps back."""

    def __init__(self) -> None:
        self.turns, self.day = 0, 0

    def until(self, month: str, day: str) -> str:
        """Return how many turns of the year lie before a date, the next one."""
        now = int(month) * DAYS_OF_MONTH + int(day)
        if self.day and now < self.day - HALF_A_YEAR:
            self.turns += 1
        elif self.day and self.turns and now > self.day + HALF_A_YEAR:
            self.turns -= 1
        self.day = now
        return str(self.turns)
