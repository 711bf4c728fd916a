"""The first rows of a table, from which it is decided what its columns are."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Final

import duckdb

from gwa.formats.builtin._parquet import MAGIC, columns_of, escaped_path, first_line
from gwa.formats.tables.vocabulary import missing
from gwa.ingest.readers.table import flat, is_json, json_objects
from gwa.ingest.source.delimited import header_of, rows_among
from gwa.ingest.source.head import FileHead
from gwa.ingest.source.lines import Reject
from gwa.ingest.source.parquet_text import duration_text, durations
from gwa.store.engines.duckdb import literal

MAXIMUM_ROWS: Final = 1000
"""Rows that are examined."""

MAXIMUM_COLUMNS: Final = 1000
"""A table with more columns is not a log."""

MINIMUM_SHARE: Final = 0.95
"""What holds for this share of the values of a column holds for the column."""

YEAR: Final = r"(\d{4}|\d\d(?=[T ,]+\d))"
"""A year, of two digits only before a clock: others may be parts of a number of a version."""

SHAPES: Final = {
    "whole": r"[-+]?\d+(\.0+)?",
    "number": r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?",
    "comma": r"[-+]?\d+,\d+",
    "iso": r"\d{4}[-/]\d{1,2}[-/]\d{1,2}([T ]\s?\d{1,2}:\d\d(:\d\d([.,]\d+)?)?)?"
    r"( ?([+-]\d\d(:?\d\d)?|Z|UTC|GMT))?",
    "compact": r"\d{8}T?\d{6}Z?",
    "slashes": rf"\d{{1,2}}/\d{{1,2}}/{YEAR}([T ,]+\d{{1,2}}:\d\d(:\d\d(\.\d+)?)?( ?[AaPp][Mm])?)?",
    "dots": rf"\d{{1,2}}\.\d{{1,2}}\.{YEAR}([T ,]+\d{{1,2}}:\d\d(:\d\d)?)?",
    "named": r"\d{1,2}[- ][A-Z][a-z]{2}[- ]\d{4}([T ]\d{1,2}:\d\d(:\d\d)?)?",
    "ctime": r"[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]?\d \d\d:\d\d:\d\d( [A-Z]{3,4})? \d{4}",
    "clock": r"(\d+(-|( days?,?)? ))?\d+:\d\d(:\d\d([.,]\d+)?)?",
    "iso8601": r"P(?=.)(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?",
    "spoken": r"(\d+(\.\d+)? ?(d|days?|h|hrs?|hours?|m|mins?|minutes?|s|secs?|seconds?|ms)[ ,]*)+",
    "size": r"\d+(\.\d+)? ?[KMGTPE]?i?B?[cn]?",
    "pair": r"\d+:\d+",
    "tres": r"[\w/:.-]+=[^,=]+(,[\w/:.-]+=[^,=]+)*",
}
"""How the values of a column look; the first that fits its values is its shape."""

_GROUPS: Final = re.compile(r"[1-9]\d{0,2}(,\d{3})+|[1-9]\d{0,2}(\.\d{3})+")
_ZERO: Final = re.compile(r"[-+]?0+(\.0+)?")
_PATTERNS: Final = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in SHAPES.items()}


@dataclass(frozen=True)
class SampledColumn:
    """A column: its *name*, and the *values* of the sample without those that are missing."""

    name: str
    values: Sequence[str]

    @cached_property
    def shape(self) -> str:
        """How its values look: one of `SHAPES`, ``text``, or ``empty``."""
        if not self.values:
            return "empty"
        return next((name for name in SHAPES if self.looks(name)), "text")

    def looks(self, shape: str) -> bool:
        """Whether nearly all values look like *shape*, but for words such as Unknown in place of one."""
        told = self._told
        fits = sum(bool(_PATTERNS[shape].fullmatch(value)) for value in told)
        return bool(told) and fits >= MINIMUM_SHARE * len(told)

    @cached_property
    def _told(self) -> Sequence[str]:
        """Its values without words that stand for a time or a number that is not known."""
        unknown = missing("time") | missing("duration")
        return [value for value in self.values if value not in unknown]

    @property
    def is_number(self) -> bool:
        """Whether its values are numbers."""
        return self.shape in {"whole", "number", "comma"}

    @cached_property
    def looks_grouped(self) -> bool:
        """Whether points or commas may part thousands: three digits behind each, and no number is below 1."""
        parted = [value for value in self.values if "." in value or "," in value]
        return bool(parted) and all(map(_GROUPS.fullmatch, parted))

    @cached_property
    def is_zero(self) -> bool:
        """Whether it has values, and all of them are 0."""
        return bool(self.values) and all(map(_ZERO.fullmatch, self.values))

    def shown(self, most: int = 3) -> str:
        """Return the column with some of its values, for a question."""
        values = ", ".join(list(dict.fromkeys(value[:30] for value in self.values))[:most])
        return f"'{self.name}' ({values})"


@dataclass(frozen=True)
class TableSample:
    """The *names* of the columns of a table, and its first *rows*, where None is a missing value."""

    names: Sequence[str]
    rows: Sequence[Sequence[str | None]]

    @cached_property
    def columns(self) -> Mapping[str, SampledColumn]:
        """All columns by name; of several with one name, the first."""
        found: dict[str, SampledColumn] = {}
        for place, name in enumerate(self.names):
            values = [text for row in self.rows if (text := row[place]) is not None]
            found.setdefault(name, SampledColumn(name, values))
        found.pop("", None)
        return found

    def joined(self, other: "TableSample") -> "TableSample":
        """Return this sample with the rows, and the further columns, of another table."""
        names = list(dict.fromkeys([*self.names, *other.names]))
        rows = [
            [dict(zip(sample.names, row, strict=True)).get(name) for name in names]
            for sample in (self, other)
            for row in sample.rows
        ]
        return TableSample(names, rows)


def sample_of(head: FileHead) -> TableSample:
    """Return the sample of a table; raise `ValueError` with what the file is if it is none."""
    if head.data.startswith(MAGIC):
        sample = _of_parquet(head)
    elif head.is_binary:
        raise ValueError("is not a table")
    else:
        sample = _of_json(head) if is_json(head) else _of_text(head)
    if len(sample.names) > MAXIMUM_COLUMNS:
        raise ValueError(f"has {len(sample.names):,} columns, which no log of jobs has")
    if not sample.rows:
        raise ValueError("has no row")
    repeated = [name for name in dict.fromkeys(sample.names) if name and sample.names.count(name) > 1]
    if repeated:
        raise ValueError(f"has the column {repeated[0][:40]} twice")
    return sample


def _cleaned(row: Sequence[object]) -> list[str | None]:
    texts = ["" if value is None else str(value).strip() for value in row]
    return [None if text in missing("text") else text for text in texts]


def _of_text(head: FileHead) -> TableSample:
    header = header_of(head)
    if not header:
        raise ValueError("has no row with names of columns")
    width = len(header.names)
    names = [_without_white(name) for name in header.names]
    rows = rows_among(head.rows(), header.delimiter, width)
    return TableSample(header.names, [_cleaned(row) for row in rows if [*map(_without_white, row)] != names])


def _without_white(text: str) -> str:
    return "".join(text.split()).lstrip("#")


def _of_json(head: FileHead) -> TableSample:
    objects = (found for found in json_objects(head.source()) if not isinstance(found, Reject))
    rows = [flat(value) for _, value in islice(objects, MAXIMUM_ROWS)]
    names = list(dict.fromkeys(name for row in rows for name in row))
    return TableSample(names, [_cleaned([row.get(name) for name in names]) for row in rows])


def _of_parquet(head: FileHead) -> TableSample:
    names = columns_of(head)
    with duckdb.connect() as database:
        database.execute("set TimeZone = 'UTC'")
        try:
            path = escaped_path(head)
            file, units = f"read_parquet({literal(path)})", durations(database, path)
            types = [str(kind) for _, kind, *_ in database.execute(f"describe from {file}").fetchall()]
            texts = ", ".join(
                "null"
                if kind.endswith("]") or "(" in kind.replace("DECIMAL(", "")
                else duration_text(f"c{place}", units[names[place]])
                if names[place] in units
                else f"left(c{place}::varchar, 300)"
                for place, kind in enumerate(types)
            )
            cells = ", ".join(f"c{place}" for place in range(len(names)))
            rows = database.execute(
                f"select {texts} from {file} as t({cells}) limit {MAXIMUM_ROWS}"
            ).fetchall()
        except duckdb.Error as error:
            raise ValueError(f"cannot be read: {first_line(error)}") from error
    return TableSample(names, [_cleaned(row) for row in rows])
