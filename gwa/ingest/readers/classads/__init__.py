"""
Read ClassAds: sets of ``Attribute = value`` that describe jobs of HTCondor.

An ad ends at a blank line, at a line of asterisks (as in the history of a spool), or with the file. If an
attribute is assigned twice, the last assignment holds. A value that is the name of another attribute
stands for its value; other expressions are not evaluated and their attributes are missing. Ads may also be
JSON objects, on one line or several, alone or in an array: as condor_history writes them, with braces in the
first column, they are read line by line, and in any other layout as JSON is: also under a name (`HELD_BY`),
by their ids, or as documents of a search engine (``_source``).

Each column is the attribute of that name, whatever its case. Other attributes are ignored. Options:

``skip``
    values by column, as texts: ads with one of these values count as comments.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np

from gwa.ingest.batch import EncodedRecords
from gwa.ingest.bulk_insert import MISSING_CELL
from gwa.ingest.readers.classads.plain import FoundAds, PlainAds
from gwa.ingest.readers.classads.values import classad, resolve
from gwa.ingest.source.compressed import Source
from gwa.ingest.source.head import FileHead
from gwa.ingest.source.json_records import record_blocks
from gwa.ingest.source.lines import (
    MAXIMUM_LINE_LENGTH,
    REJECT_TEXT_LENGTH,
    LineBlock,
    LineLayout,
    line_blocks,
)
from gwa.ingest.spans import add_spans
from gwa.ingest.spec import TableSpec
from gwa.ingest.text_columns import BLOCK_SIZE, BLOCKS_PER_BATCH, TextColumns

RECORD_BLOCK_SIZE: Final = 1 << 22
"""Bytes of lines treated at a time: as objects of Python they take many times as much."""

BANNER: Final = "***"
"""The beginning of the line after an ad in the history of a spool."""

MARKS: Final = b"*{[],"
"""First characters of lines that may end an ad, or are JSON."""

ASSIGNS: Final = " = "
"""What most lines have between a name and its value; a blank more or less is as good."""

MAXIMUM_NAMES_REMEMBERED: Final = 10_000

LAYOUT_SIZE: Final = 4096
"""The number of bytes at the beginning that show how JSON is laid out."""

HELD_BY: Final = ("jobs", "ads", "classads", "history", "results", "data", "hits.hits")
"""Paths of lists of ads in the documents of others."""

MAXIMUM_DEPTH: Final = 3
"""How deep ads may lie in a record."""

_OTHER_LAYOUT: Final = re.compile(
    r'\s*(\[[ \t]*(\{|\n[ \t]+\{)|\{\s*"[^"]+"\s*:\s*[\[{]|\{.*"(_source|hits)"\s*:\s*\{)', re.DOTALL
)
_NAMED: Final = frozenset({"clusterid", "globaljobid"})


def batches(source: Source, table_spec: TableSpec) -> Iterator[EncodedRecords | TextColumns]:
    """Yield the ads of *source* as rows; each line that is not an assignment is refused."""
    ads, head = _Ads(table_spec), FileHead.of(source.path, LAYOUT_SIZE).text
    if _OTHER_LAYOUT.match(head):
        yield from _documents(source, table_spec, ads)
    elif head.lstrip().startswith(("{", "[")):
        for block in line_blocks(source, LineLayout(""), RECORD_BLOCK_SIZE):
            yield ads.read(block)
    else:
        yield from _plain(source, table_spec, ads)
    ads.batch = EncodedRecords(table_spec)
    if not source.broken:
        ads.end()
    yield ads.batch


def _plain(source: Source, table_spec: TableSpec, ads: "_Ads") -> Iterator[EncodedRecords | TextColumns]:
    """Yield the ads of *source* as rows, plain ones at once."""
    plain, rows = PlainAds(ads.columns, ads.skipped), TextColumns(table_spec)
    for block in line_blocks(source, LineLayout(""), BLOCK_SIZE):
        is_json = bool(ads.lines)
        found = FoundAds.none_in(block) if is_json else plain.read(block, begins_ad=not ads.begin)
        others = ads.read(found.others)
        others.total += found.comments
        others.comments += found.comments
        if not len(found.lines):
            yield rows
            yield others
            rows = TextColumns(table_spec)
            continue
        add_spans(rows, block.data, found.spans, found.lines, others)
        if len(rows.batches) == BLOCKS_PER_BATCH:
            yield rows
            rows = TextColumns(table_spec)
    yield rows


def _documents(source: Source, table_spec: TableSpec, ads: "_Ads") -> Iterator[EncodedRecords]:
    """Yield the ads of JSON in any layout as rows."""
    number = 0
    for block in record_blocks(source, HELD_BY):
        ads.batch = EncodedRecords(table_spec, total=len(block.rejects), rejects=block.rejects)
        for record in block.records:
            for text in _ads_within(record.text):
                number = max(record.number, number + 1)
                ads.begin, ads.lines = number, [text]
                ads.end()
        yield ads.batch


def _ads_within(text: str) -> Sequence[str]:
    """Return the ads in a record of JSON: the record itself, or what it holds."""
    try:
        found = list(_found(json.loads(text), MAXIMUM_DEPTH))
    except (ValueError, RecursionError):
        return [text]
    return [json.dumps(ad) for ad in found] or [text]


def _found(value: Any, depth: int) -> Iterator[Mapping[str, Any]]:  # noqa: ANN401 - JSON is of any type
    """Yield the objects in a value that have the name of a job, the outermost only."""
    if isinstance(value, dict) and not _NAMED.isdisjoint(map(str.lower, value)):
        yield value
    elif isinstance(value, dict | list) and depth:
        for member in value.values() if isinstance(value, dict) else value:
            yield from _found(member, depth - 1)


def _runs(block: LineBlock) -> Iterator[tuple[bool, Sequence[int], Sequence[str]]]:
    """
    Yield runs of lines with their numbers, and whether a blank line precedes each run.

    Only the first line of a run may follow a blank line, or begin with one of `MARKS`. Blank lines, which
    end an ad, are missing from *block*, as are refused lines, which do not.
    """
    count, refused = block.data_lines, {reject.line for reject in block.rejects}
    numbers = np.append(block.line_numbers(np.arange(count)), block.first + block.total)
    before = np.append(block.first - 1, numbers[:-1])
    is_after_blank = numbers - before > 1
    if refused:
        for row in np.flatnonzero(is_after_blank).tolist():
            is_after_blank[row] = not refused.issuperset(range(before[row] + 1, numbers[row]))
    begins = np.append(0, block.ends)[:count]
    is_marked = np.isin(np.frombuffer(block.data, np.uint8)[begins], np.frombuffer(MARKS, np.uint8))
    breaks = np.flatnonzero(is_after_blank | np.append(is_marked, False)).tolist()
    lines = block.data.decode().split("\n")
    for begin, end in pairwise([0, *(row for row in breaks if row), count]):
        yield bool(is_after_blank[begin]), numbers[begin:end].tolist(), lines[begin:end]


class _Ads:
    """Reads ads line by line; holds the first line, the attributes and the JSON of the current one."""

    def __init__(self, table_spec: TableSpec) -> None:
        self.table_spec = table_spec
        skipped: Mapping[str, Sequence[str]] = table_spec.options.get("skip", {})
        self.skipped = {name.lower(): values for name, values in skipped.items()}
        self.columns = {name.lower(): column for column, name in enumerate(table_spec.columns)}
        self.blank = [MISSING_CELL] * len(self.columns)
        self.name_of: dict[str, str] = {}
        self.batch = EncodedRecords(table_spec)
        self.begin = 0
        self.attributes: dict[str, str] = {}
        self.lines: list[str] = []
        self.size = 0

    def read(self, block: LineBlock) -> EncodedRecords:
        """Return the ads that end in *block*."""
        self.batch = EncodedRecords(self.table_spec, total=len(block.rejects), rejects=block.rejects)
        for is_after_blank, numbers, lines in _runs(block):
            if is_after_blank:
                self.end()
            self.take_run(numbers, lines)
        return self.batch

    def take_run(self, numbers: Sequence[int], lines: Sequence[str]) -> None:
        """Take lines of which only the first may be marked."""
        numbered = zip(numbers, lines, strict=True)
        for number, line in numbered:
            self.take(number, line)
            if not self.lines:
                self._take_assignments(numbered)

    def _take_assignments(self, numbered: Iterable[tuple[int, str]]) -> None:
        """Take lines without marks, of which most assign to names met before."""
        name_of, attributes, begin = self.name_of, self.attributes, self.begin
        for number, line in numbered:
            text, sign, value = line.partition(ASSIGNS)
            if not sign or text not in name_of:
                self.take(number, line)
                attributes, begin = self.attributes, self.begin
                continue
            if not begin:
                begin = self.begin = number
            if name := name_of[text]:
                attributes[name] = value.strip()

    def take(self, number: int, line: str) -> None:
        """Continue the current ad, end it, or begin another one."""
        name, sign, value = line.partition("=")
        if self.lines or (line[0] in "{[]," and not self.begin):
            self.take_json(number, line)
        elif line.startswith(BANNER) or not line.strip():
            self.end()
        elif sign:
            self.begin = self.begin or number
            known = name.strip().lower()
            known = known if known in self.columns else ""
            if known:
                self.attributes[known] = value.strip()
            if len(self.name_of) < MAXIMUM_NAMES_REMEMBERED:
                self.name_of[name.removesuffix(" ")] = known
        else:
            self.batch.reject(number, "is not an assignment of an attribute", line[:REJECT_TEXT_LENGTH])

    def take_json(self, number: int, line: str) -> None:
        """Continue a JSON object, whose braces stand in the first column."""
        if line[0] == "{":
            self.end()
            self.begin = number
        if self.begin:
            self.lines.append(line)
            self.size += len(line)
            is_whole = line[0] == "}" or (line[0] == "{" and line.rstrip(" ,").endswith("}"))
            if is_whole or self.size > MAXIMUM_LINE_LENGTH:
                self.end()
        elif line.strip("[], "):
            self.batch.reject(number, "is not an object of JSON", line[:REJECT_TEXT_LENGTH])

    def end(self) -> None:
        """Add the current ad, if there is one, to the batch."""
        if self.lines:
            try:
                values = json.loads("".join(self.lines).rstrip(" ,"))
            except (ValueError, RecursionError) as error:
                reason = f"is not JSON: {error}"[:REJECT_TEXT_LENGTH]
                self.batch.reject(self.begin, reason, self.lines[0][:REJECT_TEXT_LENGTH])
                self.begin = 0
            else:
                self.attributes = {name.lower(): classad(value) for name, value in values.items()}
        if self.begin:
            if any(self._has(name, values) for name, values in self.skipped.items()):
                self.batch.add_comment()
            else:
                self.batch.append(self.begin, self._cells())
        self.begin, self.attributes, self.lines, self.size = 0, {}, [], 0

    def _has(self, name: str, values: Sequence[str]) -> bool:
        return name in self.attributes and resolve(self.attributes, name) in values

    def _cells(self) -> list[str]:
        """Return the cells of the current ad; most values are digits or plain texts."""
        cells, columns, attributes = self.blank.copy(), self.columns, self.attributes
        for name, value in attributes.items():
            column = columns.get(name)
            if column is None:
                continue
            if value.isdecimal():
                cells[column] = value
            elif value[:1] == value[-1:] == '"' and '"' not in (text := value[1:-1]) and len(value) > 1:
                cells[column] = text
            elif (found := resolve(attributes, name)) is not None:
                cells[column] = found
        return cells
