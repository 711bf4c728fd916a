"""Header rows: the names of columns, and how the cells of a row are fitted to them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

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


def initial_columns(source: Source, table_spec: TableSpec) -> Columns:
    """Return the columns at the beginning of a file: from its first header, the user, or the format."""
    rows = FileHead.of(source.path).rows(table_spec.comment)
    for row in rows:
        if header := parse_header(row, table_spec):
            return header
    order: str | Sequence[str] = table_spec.options.get("columns") or table_spec.options["order"]
    names = re.split(r"[\s,|]+", order.strip(" ,|")) if isinstance(order, str) else order
    delimiter = table_spec.delimiter
    trailing = sum(row.endswith(delimiter) and row.count(delimiter) == len(names) for row in rows)
    return _columns([*names, ""] if 2 * trailing > len(rows) else names, table_spec, assumed=True)


def parse_header(row: str, table_spec: TableSpec) -> Columns | None:
    """Return the columns named in *row* if it is a header, else None."""
    cells = row.strip().split(table_spec.delimiter)
    names = {normalized(cell) for cell in cells}
    wanted = {normalized(name) for name in table_spec.columns}
    minimum = min(MINIMUM_KNOWN_NAMES, len(wanted))
    if normalized(table_spec.options["header"]) not in names or len(wanted & names) < minimum:
        return None
    filled = all(_NAME.fullmatch(cell) for cell in (cells[:-1] if not cells[-1] else cells))
    return _columns(cells, table_spec) if filled else None
