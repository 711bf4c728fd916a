"""Header rows: the names of columns, and how the cells of a row are fitted to them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final, Literal

from gwa.ingest.source.cell_borders import Borders, Quoted, Ruled, is_quoted, of_header, of_rows
from gwa.ingest.source.compressed import Source
from gwa.ingest.source.head import FileHead
from gwa.ingest.spec import TableSpec

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_/ ]*")
_INDEX: Final = re.compile(r"(Unnamed: \d+|index)?", re.IGNORECASE)
"""What the column of the numbers of rows, which pandas and R write first, is called."""
_SIGNS: Final = re.compile(r"[^a-z0-9]")

MINIMUM_KNOWN_NAMES: Final = 3
"""How many names of columns a header has at least, unless the format says how many."""

MINIMUM_PECULIAR_NAMES: Final = 3
"""A table with other names beside those of such tables is one if it has this many names of theirs alone."""

MAXIMUM_SURPLUS: Final = 40
"""A row with more cells than this beyond its columns is not fitted to them."""


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
        """
        Join the pieces of cells that hold delimiters; None if the cells do not fit the columns.

        All pieces are of the first cell that may hold delimiters and lets the others pass their checks; where
        there is none, they are of several cells, if that is possible in one way only.
        """
        surplus = len(cells) - len(self.names)
        for position in self.loose if surplus else (0,):
            end = position + surplus + 1
            joined = [*cells[:position], delimiter.join(cells[position:end]), *cells[end:]]
            if len(joined) == len(self.names) and self._pass(joined):
                return joined
        return self._fit_in_one_way(cells, delimiter) if 1 < surplus <= MAXIMUM_SURPLUS else None

    def _pass(self, cells: Sequence[str]) -> bool:
        return all(check.fullmatch(cells[checked]) for checked, check in self.checks)

    def _fit_in_one_way(self, pieces: list[str], delimiter: str) -> list[str] | None:
        """Return the cells that *pieces* make, None unless there is exactly one way to join them."""
        checks, surplus = dict(self.checks), len(pieces) - len(self.names)
        # By how many pieces more than cells are used up: the number of ways, and the cells of one of them.
        ways: dict[int, tuple[int, list[str]]] = {0: (1, [])}
        for position in range(len(self.names)):
            reached: dict[int, tuple[int, list[str]]] = {}
            for used, (count, cells) in ways.items():
                most = surplus - used if position in self.loose else 0
                for more in range(most + 1):
                    begin = position + used
                    cell = delimiter.join(pieces[begin : begin + more + 1])
                    if position not in checks or checks[position].fullmatch(cell):
                        others, _ = reached.get(used + more, (0, []))
                        reached[used + more] = (count + others, [*cells, cell])
            ways = reached
        count, cells = ways.get(surplus, (0, []))
        return cells if count == 1 else None

    def is_behind_a_name(self, cells: Sequence[str]) -> bool:
        """Whether *cells* fit the columns but for one more cell, the first."""
        return len(cells) == len(self.names) + 1 and self._pass(cells[1:])

    def may_begin(self, line: str, delimiter: str) -> bool:
        """Whether *line* may be the beginning of a row, judged by its first cell."""
        cell = line.partition(delimiter)[0]
        return all(position or check.fullmatch(cell) for position, check in self.checks)

    def may_continue(self, line: str, delimiter: str) -> bool:
        """
        Whether *line* may be a part of a row: it has too few cells, or does not begin as a row does.

        None may without checks: whatever lines were put together would be taken for a row.
        """
        if any(position == 0 for position, _ in self.checks):
            return not self.may_begin(line, delimiter)
        return bool(self.checks) and line.count(delimiter) + 1 < len(self.names)


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
    """Return where cells end in the first of *rows* that is a header, and the rows that follow."""
    keys = _pattern_of_keys(table_spec)
    for position, (row, following) in enumerate(pairwise([*rows, ""])):
        if not keys.search(row):
            continue
        for found in of_header(row, following, table_spec.delimiter):
            header = parse_header(found.row(row), replace(table_spec, delimiter=found.delimiter))
            if header:
                return _as_written(found, header, rows[position + 1 :])
    return None


def _as_written(found: Borders, header: Columns, rows: Sequence[str]) -> Borders:
    """Return the borders of cells that the *rows* behind a header show, where it does not show all."""
    if isinstance(found, Ruled) or len(found.text) > 1:
        return found
    width = len(header.names)
    quoted = found if isinstance(found, Quoted) else Quoted(found.text, width)
    cut = [quoted.row(row).split(quoted.delimiter) for row in rows]
    if sum(map(header.is_behind_a_name, cut)) > sum(len(cells) == width for cells in cut):
        return replace(quoted, rows_are_named=True)
    return quoted if any(is_quoted(row, found.text, width) for row in rows) else found


def header_of(head: FileHead, table_spec: TableSpec) -> Literal["own", "foreign", "none"]:
    """
    Say whether a file has the header of such a table.

    Names such as JobID and User are in many tables. Where the cells are parted by something unusual, the
    table is another's unless it names only what such tables have, as they spell it; in another spelling,
    with one name that only they have; or several of these beside any others. The tables of a data set that
    is *closed* have its names and no others.
    """
    rows = head.rows(table_spec.comment)
    found = _header_borders(rows, table_spec)
    if not found:
        return "none"
    spec = replace(table_spec, delimiter=found.delimiter)
    lines = (found.row(row.strip(" \r\n")) for row in rows)
    cells = next(line.split(found.delimiter) for line in lines if parse_header(line, spec))
    if table_spec.options.get("closed"):
        return "own" if _has_no_other(cells, table_spec) else "foreign"
    if isinstance(found, Ruled) or found.text == table_spec.delimiter:
        return "own"
    return "own" if _is_own(cells, table_spec, head.text) else "foreign"


def _has_no_other(cells: Sequence[str], table_spec: TableSpec) -> bool:
    """Whether the *cells* of a header are names of such tables, all of them."""
    names = {normalized(cell) for cell in cells if not _INDEX.fullmatch(cell)}
    return names <= {*map(normalized, _order(table_spec)), *map(normalized, table_spec.columns)}


def _is_own(cells: Sequence[str], table_spec: TableSpec, text: str) -> bool:
    """Whether the *cells* of a header are those of such a table."""
    spelled = {*table_spec.options.get("names", ()), *table_spec.options["order"]}
    names = {cell for cell in cells if not _INDEX.fullmatch(cell)}
    if names <= spelled:
        return True
    known = {normalized(name) for name in spelled}
    peculiar = known.difference(map(normalized, table_spec.options.get("common", known)))
    theirs = {normalized(name) for name in names}
    if not theirs <= known:
        return len(theirs & peculiar) >= MINIMUM_PECULIAR_NAMES
    mark = table_spec.options.get("mark")
    return bool(theirs & peculiar) or bool(mark and re.search(mark, text))


def _order(table_spec: TableSpec) -> Sequence[str]:
    """Return the names of the columns of a file without a header: from the user, or the format."""
    order: str | Sequence[str] = table_spec.options.get("columns") or table_spec.options["order"]
    return re.split(r"[\s,|]+", order.strip(" ,|")) if isinstance(order, str) else order


def _order_of(rows: Sequence[str], table_spec: TableSpec) -> Sequence[str]:
    """Return the names of the columns of *rows* without a header, of the orders that of their width."""
    delimiter, usual = table_spec.delimiter, _order(table_spec)
    older: Mapping[str, Sequence[str]] = table_spec.options.get("older", {})
    orders = [usual] if table_spec.options.get("columns") else [usual, *older.values()]
    fitting = (
        names
        for names in orders
        if 2 * sum(row.removesuffix(delimiter).count(delimiter) + 1 == len(names) for row in rows) > len(rows)
    )
    return next(fitting, usual)


def initial_columns(source: Source, table_spec: TableSpec, cells: Borders) -> Columns:
    """Return the columns at the beginning of a file: from its first header, the user, or the format."""
    rows = [cells.row(row) for row in FileHead.of(source.path).rows(table_spec.comment)]
    for row in rows:
        if header := parse_header(row, table_spec):
            return header
    names = _order_of(rows, table_spec)
    delimiter = table_spec.delimiter
    trailing = sum(row.endswith(delimiter) and row.count(delimiter) == len(names) for row in rows)
    return _columns([*names, ""] if 2 * trailing > len(rows) else names, table_spec, assumed=True)


def parse_header(row: str, table_spec: TableSpec) -> Columns | None:
    """Return the columns named in *row* if it is a header, else None."""
    # Not all white space: a separator of cells is some, too.
    cells = row.strip(" \r\n").split(table_spec.delimiter)
    first, *others = cells if cells[-1] or len(cells) == 1 else cells[:-1]
    if not (_NAME.fullmatch(first) or _INDEX.fullmatch(first)) or not all(map(_NAME.fullmatch, others)):
        return None
    names = {normalized(cell) for cell in cells}
    wanted = {normalized(name) for name in table_spec.columns}
    minimum = min(table_spec.options.get("least", MINIMUM_KNOWN_NAMES), len(wanted))
    if names.isdisjoint(map(normalized, _keys(table_spec))) or len(wanted & names) < minimum:
        return None
    return _columns(cells, table_spec)


def _keys(table_spec: TableSpec) -> Sequence[str]:
    """Return the names of which every header has one."""
    names: str | Sequence[str] = table_spec.options["header"]
    return [names] if isinstance(names, str) else names


def _pattern_of_keys(table_spec: TableSpec) -> re.Pattern[str]:
    """Return what is found in a text with one of the keys, whatever its case and punctuation."""
    spelled = (f"{_SIGNS.pattern}*".join(normalized(key)) for key in _keys(table_spec))
    return re.compile("|".join(spelled), re.IGNORECASE)


def keys_as_spelled(source: Source, table_spec: TableSpec, cells: Borders) -> list[str]:
    """Return the texts of which every header has one: as the format spells them, and the file does."""
    spelled, keys = set(_keys(table_spec)), set(map(normalized, _keys(table_spec)))
    for row in map(cells.row, FileHead.of(source.path).rows(table_spec.comment)):
        if parse_header(row, table_spec):
            names = row.strip(" \r\n").split(table_spec.delimiter)
            spelled.update(name for name in names if normalized(name) in keys)
    return [one for one in sorted(spelled) if not any(other in one for other in spelled - {one})]
