"""Names of columns: those in a header row, and the cells that belong to them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gwa.ingest.source.compressed import Source
from gwa.ingest.source.head import FileHead
from gwa.ingest.spec import TableSpec

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_/ ]*")
_SIGNS: Final = re.compile(r"[^a-z0-9]")

FEW: Final = 3
"""A row is a header when at least so many of its cells are names that are asked for."""


def plain(name: str) -> str:
    """
    Return a name without case and signs.

    >>> plain("Max_RSS") == plain("MaxRSS")
    True
    """
    return _SIGNS.sub("", name.lower())


@dataclass(frozen=True)
class Columns:
    """
    The names of the cells of a row, in order; *assumed* where no header says them.

    *loose* are the places of cells that may hold delimiters, *checks* say what cells must look like.
    """

    names: tuple[str, ...]
    loose: tuple[int, ...]
    checks: tuple[tuple[int, re.Pattern[str]], ...]
    assumed: bool = False

    def mended(self, cells: list[str], delimiter: str) -> list[str] | None:
        """Return *cells* with the pieces of the one that holds delimiters joined; None when none fits."""
        over = len(cells) - len(self.names)
        for place in self.loose if over else (0,):
            end = place + over + 1
            joined = [*cells[:place], delimiter.join(cells[place:end]), *cells[end:]]
            if len(joined) == len(self.names) and all(
                check.fullmatch(joined[at]) for at, check in self.checks
            ):
                return joined
        return None

    def begin(self, line: str, delimiter: str) -> bool:
        """Whether *line* may be the beginning of a row, by its first cell."""
        cell = line.partition(delimiter)[0]
        return all(place or check.fullmatch(cell) for place, check in self.checks)


def _columns(names: Sequence[str], shape: TableSpec, *, assumed: bool = False) -> Columns:
    """Return the columns of these *names*."""
    places = {name: place for place, name in enumerate(map(plain, names))}
    checks = {plain(name): re.compile(pattern) for name, pattern in shape.options["checks"].items()}
    loose = map(plain, shape.options["loose"])
    return Columns(
        tuple(map(plain, names)),
        tuple(places[name] for name in loose if name in places),
        tuple((places[name], check) for name, check in checks.items() if name in places),
        assumed,
    )


def first_columns(source: Source, shape: TableSpec) -> Columns:
    """Return the columns that a file begins with: of its first header, of the user, or as usual."""
    rows = FileHead.of(source.path).rows(shape.comment)
    for row in rows:
        if header := header_in(row, shape):
            return header
    order: str | Sequence[str] = shape.options.get("columns") or shape.options["order"]
    names = re.split(r"[\s,|]+", order.strip(" ,|")) if isinstance(order, str) else order
    wide = sum(row.endswith(shape.delimiter) and row.count(shape.delimiter) == len(names) for row in rows)
    return _columns([*names, ""] if 2 * wide > len(rows) else names, shape, assumed=True)


def header_in(row: str, shape: TableSpec) -> Columns | None:
    """Return the columns that *row* names, if it is a header."""
    cells = row.strip().split(shape.delimiter)
    names = {plain(cell) for cell in cells}
    wanted = {plain(name) for name in shape.columns}
    known = wanted & names
    if plain(shape.options["header"]) not in names or len(known) < min(FEW, len(wanted)):
        return None
    filled = all(_NAME.fullmatch(cell) for cell in (cells[:-1] if not cells[-1] else cells))
    return _columns(cells, shape) if filled else None
