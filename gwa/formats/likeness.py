"""Whether a file is of the format of a definition, judged by its head, and how near it comes."""

from collections.abc import Sequence
from json import JSONDecoder
from typing import Final

from gwa.formats.definition import MAXIMUM_COLUMNS, DefinitionHeader
from gwa.ingest.source.head import FileHead
from gwa.ingest.source.header_row import header_of
from gwa.ingest.source.lines import LineLayout
from gwa.ingest.spec import ConverterSpec, TableSpec
from gwa.store.requests import RequestStore

READERS_OF_LINES: Final = {"columns", "named", "quoted", "keyed", "gridengine", "whole_lines"}
"""The readers of files that may be read from any line on, but for a line with the names of columns."""

NEAR_WIDTH: Final = 4
"""A table whose number of columns differs by this many is not like another."""
MINIMUM_NEAR_WIDTH: Final = 10
"""Tables of fewer columns are alike by chance."""


def lines_of_header(head: FileHead, spec: ConverterSpec) -> int | None:
    """Return how many lines of a file name its columns; None where it is not one of lines."""
    if spec.reader not in READERS_OF_LINES:
        return None
    return int(spec.reader == "named" and header_of(head, spec.table_read) != "none")


def mismatch(head: FileHead, spec: ConverterSpec, header: DefinitionHeader) -> str | None:
    """Return why *head* is not of a format, judged by its first lines; None when it is."""
    if head.is_binary:
        return "is not text"
    rows = head.rows(spec.table_read.comment)
    if not rows:
        return "has no line of data"
    if spec.reader == "columns" and not spec.table_read.options.get("any_width"):
        width, wanted = _widths(head, spec)
        if width not in wanted and not (header.extra_columns and wanted[0] < width <= MAXIMUM_COLUMNS):
            return f"has {width} columns, expected {' or '.join(map(str, wanted))}"
    # Columns of requests are sought in the whole text at once: each log of jobs is tried as one of them.
    if header.of == RequestStore.holds and _lacks_records(head, header):
        return NO_RECORD
    return _odd_rows(head, rows, spec, header)


NO_RECORD: Final = "has no line such as those of its records"
FOREIGN_NAMES: Final = "names columns that it does not have"


def _lacks_records(head: FileHead, header: DefinitionHeader) -> bool:
    """Whether *head* lacks one of the marks that a format's files have."""
    return not all(mark.search(head.text) for mark in header.contains)


def _odd_rows(
    head: FileHead, rows: Sequence[str], spec: ConverterSpec, header: DefinitionHeader
) -> str | None:
    """Return why *rows* are not lines of a format, None when they are."""
    if spec.reader == "named":
        found = header_of(head, spec.table_read)
        if found != "none":
            return None if found == "own" else FOREIGN_NAMES
        if spec.table_read.options.get("closed") and not header.first:
            return NO_RECORD
    return _odd_lines(head, rows, spec, header)


def _odd_lines(
    head: FileHead, rows: Sequence[str], spec: ConverterSpec, header: DefinitionHeader
) -> str | None:
    """Return why *rows* are not those of a format, judged by their text, None when they are."""
    if header.first and 2 * sum(bool(header.first.match(row)) for row in rows) < len(rows):
        return "most of its lines look different"
    if _lacks_records(head, header):
        return NO_RECORD
    if (
        spec.reader == "json"
        and spec.table_read.options.get("closed")
        and not _is_closed(head, spec.table_read)
    ):
        return FOREIGN_NAMES
    if header.distinct and not _is_distinct(rows, spec.table_read, header.distinct):
        return f"most of its lines have the same {header.distinct}"
    return None


def _is_closed(head: FileHead, table_spec: TableSpec) -> bool:
    """Whether the first record of JSON in *head*, if it ends there, has no keys but those that are read."""
    begin = max(head.text.find("{"), 0)
    try:
        record, _ = JSONDecoder().raw_decode(head.text, begin)
    except (ValueError, RecursionError):
        return True
    given = table_spec.options.get("paths", {})
    paths = (given.get(name, name) for name in table_spec.columns)
    read = {path.split(".")[0] for each in paths for path in ([each] if isinstance(each, str) else each)}
    return not isinstance(record, dict) or record.keys() <= read


def _is_distinct(rows: Sequence[str], table_spec: TableSpec, column: str) -> bool:
    """Whether most of *rows* have a value of their own in a column."""
    position = list(table_spec.columns).index(column)
    split = None if table_spec.delimiter == " " else table_spec.delimiter
    values = [cells[position] for cells in (row.split(split) for row in rows) if len(cells) > position]
    return 2 * len(set(values)) > len(values)


def likeness(head: FileHead, spec: ConverterSpec, header: DefinitionHeader) -> float:
    """Return how near *head* comes to a format: by the pattern of its lines, in its head, or its columns."""
    if head.is_binary:
        return 0.0
    rows = head.rows(spec.table_read.comment)
    found = [sum(bool(header.first.match(row)) for row in rows) / len(rows)] if header.first and rows else []
    if header.contains:
        found.append(sum(bool(mark.search(head.text)) for mark in header.contains) / len(header.contains))
    if spec.reader == "columns":
        width, wanted = _widths(head, spec)
        if width >= MINIMUM_NEAR_WIDTH:
            found.append(max(1 - abs(width - number) / NEAR_WIDTH for number in wanted))
    return max([*found, 0.0])


def _widths(head: FileHead, spec: ConverterSpec) -> tuple[int, list[int]]:
    shapes = (spec.table_read, *spec.explaining_tables.values())
    return head.width(LineLayout(spec.table_read.delimiter, spec.table_read.comment)), [
        len(shape.columns) for shape in shapes
    ]
