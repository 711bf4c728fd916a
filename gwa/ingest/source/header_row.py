"""Header rows: the names of columns, and how the cells of a row are fitted to them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final, Literal

from gwa.ingest.source.cell_borders import Borders, Delimited, of_header, of_rows
from gwa.ingest.source.compressed import Source
from gwa.ingest.source.head import FileHead
from gwa.ingest.spec import TableSpec

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_/ ]*")
_SIGNS: Final = re.compile(r"[^a-z0-9]")

MINIMUM_KNOWN_NAMES: Final = 3
"""A row is a header if at least this many of its cells are names of columns of the table."""


def normalized(name: str) -> str:
    """
    Reduce a name to its letters and digits in lower case.

    >>> normalized("Max_RSS") == normalized("MaxRSS")
    True
    """
    return _SIGNS.sub("", name.lower())


@dataclass(frozen=True)
class Columns:
    """
    The names of the cells of a row, in order; they are *assumed* if the file has no header.

    *loose* are the positions of cells that may hold delimiters; *checks* are patterns that cells at some
    positions must match.
    """

    names: tuple[str, ...]
    loose: tuple[int, ...]
    checks: tuple[tuple[int, re.Pattern[str]], ...]
    assumed: bool = False

    def fit(self, cells: list[str], delimiter: str) -> list[str] | None:
        """Join the pieces of a cell that holds delimiters; None if the cells do not fit the columns."""
        surplus = len(cells) - len(self.names)
        for position in self.loose if surplus else (0,):
            end = position + surplus + 1
            joined = [*cells[:position], delimiter.join(cells[position:end]), *cells[end:]]
            if len(joined) == len(self.names) and all(
                check.fullmatch(joined[checked]) for checked, check in self.checks
            ):
                return joined
        return None

    def may_begin(self, line: str, delimiter: str) -> bool:
        """Whether *line* may be the beginning of a row, judged by its first cell."""
        cell = line.partition(delimiter)[0]
        return all(position or check.fullmatch(cell) for position, check in self.checks)


def _columns(names: Sequence[str], table_spec: TableSpec, *, assumed: bool = False) -> Columns:
    positions = {name: position for position, name in enumerate(map(normalized, names))}
    checks = {normalized(name): re.compile(pattern) for name, pattern in table_spec.options["checks"].items()}
    loose = map(normalized, table_spec.options["loose"])
    return Columns(
        tuple(map(normalized, names)),
        tuple(positions[name] for name in loose if name in positions),
        tuple((positions[name], check) for name, check in checks.items() if name in positions),
        assumed,
    )


def borders(source: Source, table_spec: TableSpec) -> Borders:
    """Return where the cells of a file end: as its first header shows, else its first rows."""
    rows = FileHead.of(source.path).rows(table_spec.comment)
    return _header_borders(rows, table_spec) or of_rows(rows, len(_order(table_spec)), table_spec.delimiter)


def _header_borders(rows: Sequence[str], table_spec: TableSpec) -> Borders | None:
    for row, following in pairwise([*rows, ""]):
        found = of_header(row, following, table_spec.delimiter)
        if found and parse_header(found.row(row), replace(table_spec, delimiter=found.delimiter)):
            return found
    return None


def header_of(head: FileHead, table_spec: TableSpec) -> Literal["own", "foreign", "none"]:
    """
    Say whether a file has the header of such a table.

    It is another's where the cells are parted by something unusual and it names what such tables lack, since
    names such as JobID and User are in many tables.
    """
    rows = head.rows(table_spec.comment)
    found = _header_borders(rows, table_spec)
    if not isinstance(found, Delimited) or found.text == table_spec.delimiter:
        return "own" if found else "none"
    known = {*table_spec.options.get("names", ()), *table_spec.options["order"], ""}
    is_own = any(known.issuperset(row.strip(" \r\n").split(found.text)) for row in rows)
    return "own" if is_own else "foreign"


def _order(table_spec: TableSpec) -> Sequence[str]:
    """Return the names of the columns of a file without a header: from the user, or the format."""
    order: str | Sequence[str] = table_spec.options.get("columns") or table_spec.options["order"]
    return re.split(r"[\s,|]+", order.strip(" ,|")) if isinstance(order, str) else order


def initial_columns(source: Source, table_spec: TableSpec, cells: Borders) -> Columns:
    """Return the columns at the beginning of a file: from its first header, the user, or the format."""
    rows = [cells.row(row) for row in FileHead.of(source.path).rows(table_spec.comment)]
    for row in rows:
        if header := parse_header(row, table_spec):
            return header
    names = _order(table_spec)
    delimiter = table_spec.delimiter
    trailing = sum(row.endswith(delimiter) and row.count(delimiter) == len(names) for row in rows)
    return _columns([*names, ""] if 2 * trailing > len(rows) else names, table_spec, assumed=True)


def parse_header(row: str, table_spec: TableSpec) -> Columns | None:
    """Return the columns named in *row* if it is a header, else None."""
    # Not all white space: a separator of cells is some, too.
    cells = row.strip(" \r\n").split(table_spec.delimiter)
    names = {normalized(cell) for cell in cells}
    wanted = {normalized(name) for name in table_spec.columns}
    minimum = min(MINIMUM_KNOWN_NAMES, len(wanted))
    if normalized(table_spec.options["header"]) not in names or len(wanted & names) < minimum:
        return None
    filled = all(_NAME.fullmatch(cell) for cell in (cells[:-1] if not cells[-1] else cells))
    return _columns(cells, table_spec) if filled else None
