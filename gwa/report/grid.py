"""
Tables as they are read: a column has one number of decimals, few columns are in view, magnitudes have bars.

Nothing is lost by it: a cell keeps its exact value for exports, and columns out of view are exported, too.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import floor, isfinite, log10
from typing import Final, TypeGuard

from gwa.report.document import Fact, FactTable, Table
from gwa.util.units import HOUR, KILOWATT_HOUR
from gwa.words.unit import Unit, Value

MAXIMUM_COLUMNS: Final = 10
"""How many columns are in view; the others are in exports."""

MAXIMUM_COLUMNS_SHADED: Final = 11
"""How many of those whose shades are compared, whose numbers are short."""

SCALES: Final[dict[Unit, tuple[float, str]]] = {
    "": (1, ""), "count": (1, ""), "per day": (1, ""), "per hour": (1, ""), "fraction": (100, " %"),
    "cpu seconds": (1 / HOUR, " h"), "hours": (1, " h"), "kilowatt hours": (1, " kWh"),
    "held seconds": (1 / HOUR, " h"), "joules": (1 / KILOWATT_HOUR, " kWh"),
    "gigabyte hours": (1, " GB h"), "kilograms": (1, " kg"),
}  # fmt: skip
"""What values of a unit are multiplied by, and what stands behind them; others have no decimals to align."""

AMOUNTS: Final = {
    "count",
    "fraction",
    "cpu seconds",
    "hours",
    "held seconds",
    "joules",
    "kilowatt hours",
    "gigabyte hours",
    "kilograms",
}
"""Units whose numbers may have bars: a bar begins at nothing."""

MINIMUM_BARS: Final = 3
"""The minimum number of rows: with fewer there is nothing to compare."""

DIGITS: Final = 6
"""The maximum number of digits of the largest number of a column, decimals included."""

MAXIMUM_DECIMALS: Final = 9
"""Decimals beyond these are of computing, not of the number."""

SPREAD: Final = 1e4
"""Where plain numbers differ by more than this they are of several kinds, and each is written by itself."""

MINIMUM_SHARE: Final = 0.001
"""A fraction that is nearer to none or all than this is never rounded to it."""

MAXIMUM_PLAIN: Final = 1e9
"""Numbers from here on are written with a power of ten, or in greater units."""

MAXIMUM_PERCENT: Final = 1000
"""More percent than this are times."""

Writer = Callable[[Value, Unit], str]
"""What writes a value by itself, in some language."""


@dataclass(frozen=True)
class Head:
    """The head of a column: its *key* in exports and its *label*; one that *is_minor* is out of view."""

    key: str
    label: str
    is_number: bool
    is_minor: bool


@dataclass(frozen=True)
class Cell:
    """
    A value and its text; *id* is that of a fact.

    *part* is the length of its bar, and *shade* how dark it is, from 0 to 1; *marks* are where the ends and
    the middle of a span stand between the ends of an axis that has 0 in the middle, *link* is the address of
    a page about it.
    """

    value: Value
    text: str
    id: str = ""
    part: float | None = None
    shade: float | None = None
    marks: tuple[float, ...] = ()
    link: str = ""


@dataclass(frozen=True)
class TableView:
    """A table, ready to be placed."""

    heads: tuple[Head, ...]
    rows: tuple[tuple[Cell, ...], ...]

    @property
    def is_cut(self) -> bool:
        """Whether columns are out of view."""
        return any(head.is_minor for head in self.heads)


def grid(block: Table | FactTable, write: Writer, numeral: Callable[[str], str] = str) -> TableView:
    """
    Return the table *block* as it is read.

    *write* writes what is written by itself; *numeral* turns the text of a number into that of a language.
    """
    rows = _rows(block)
    heads = _heads(block)
    columns = [[row[place] for row in rows] for place in range(len(heads))]
    written = [_written(column, write, numeral) for column in columns]
    if isinstance(block, FactTable) and (block.darkest != "none" or block.links):
        written = _shaded_and_linked(block, written)
    bars = next((place for place in _by_magnitude(columns) if not heads[place].is_minor), None)
    if bars is not None and not any(cell.shade is not None for cell in written[bars]):
        written[bars] = _with_bars(written[bars])
    return TableView(heads, tuple(zip(*written, strict=True)))


def numeric(table: Table) -> list[bool]:
    """Return for each column of *table* whether it holds numbers."""
    kinds = []
    for place, column in enumerate(table.columns):
        values = [row[place] for row in table.rows if row[place] is not None]
        kinds.append(bool(column.unit) or (bool(values) and all(map(is_number, values))))
    return kinds


def _empty(table: Table) -> list[bool]:
    """Return for each column of *table* whether it says nothing of any row, while others do."""
    known = [any(row[place] is not None for row in table.rows) for place in range(len(table.columns))]
    return [any(known) and not one for one in known]


def is_number(value: Value) -> TypeGuard[int | float]:
    """Return whether *value* is a number; booleans are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _rows(block: Table | FactTable) -> list[tuple[Fact, ...]]:
    """Return the cells of *block* as facts; those of a plain table have no id."""
    if isinstance(block, FactTable):
        return [(Fact("", name, ""), *facts) for name, facts in block.rows]
    units = [column.unit for column in block.columns]
    return [
        tuple(Fact("", value, "", unit) for value, unit in zip(row, units, strict=True)) for row in block.rows
    ]


def _heads(block: Table | FactTable) -> tuple[Head, ...]:
    """Return the heads of the columns; of those that are not minor the first ones are in view."""
    if isinstance(block, FactTable):
        named = [("what", "", False, False), *((label, label, True, False) for label in block.columns)]
    else:
        kinds = zip(block.columns, numeric(block), _empty(block), strict=True)
        named = [
            (column.key, column.label, is_number, column.minor or is_empty)
            for column, is_number, is_empty in kinds
        ]
    most = (
        MAXIMUM_COLUMNS_SHADED
        if isinstance(block, FactTable) and block.darkest != "none"
        else MAXIMUM_COLUMNS
    )
    in_view = [key for key, _, _, is_minor in named if not is_minor][:most]
    return tuple(Head(key, label, is_number, key not in in_view) for key, label, is_number, _ in named)


def _written(column: Sequence[Fact], write: Writer, numeral: Callable[[str], str]) -> list[Cell]:
    """Return the cells of a column; numbers of one unit have the same decimals."""
    by_unit = {
        unit: _decimals([fact.value for fact in column if fact.unit == unit and not fact.text], unit)
        for unit in {fact.unit for fact in column}
    }
    cells = [Cell(fact.value, _text(fact, by_unit[fact.unit], write, numeral), fact.id) for fact in column]
    return _with_marks(cells) if any(fact.unit == "span" for fact in column) else cells


def _with_marks(cells: Sequence[Cell]) -> list[Cell]:
    """Return the *cells* of spans with their places on one axis, which reaches as far to both sides."""
    spans = [[float(end) for end in cell.value] if _is_span(cell.value) else [] for cell in cells]
    reach = max((abs(end) for span in spans for end in span), default=0.0) or 1.0
    return [
        replace(cell, marks=tuple(round((1 + end / reach) / 2, 4) for end in span))
        for cell, span in zip(cells, spans, strict=True)
    ]


def _is_span(value: Value) -> TypeGuard[Sequence[float]]:
    return isinstance(value, Sequence) and not isinstance(value, str) and all(map(is_number, value))


def _shaded_and_linked(block: FactTable, columns: Sequence[list[Cell]]) -> list[list[Cell]]:
    """
    Return the *columns* of a table with shades by rank and links to the things that it is about.

    Numbers without a unit, such as changes, are not shaded.
    """
    links = block.links or ("",) * len(block.rows)
    first = [replace(cell, link=link) for cell, link in zip(columns[0], links, strict=True)]
    if block.darkest == "none":
        return [first, *columns[1:]]
    has_units = [
        any(fact.unit for fact in column) for column in zip(*(facts for _, facts in block.rows), strict=True)
    ]
    return [
        first,
        *(
            _shaded(column, is_least=block.darkest == "least") if has_unit else column
            for column, has_unit in zip(columns[1:], has_units, strict=False)
        ),
    ]


def _shaded(cells: Sequence[Cell], *, is_least: bool) -> list[Cell]:
    """Return *cells* the darker the higher their rank among the numbers of the column; equals are alike."""
    numbers = sorted({float(cell.value) for cell in cells if _is_finite(cell.value)}, reverse=is_least)
    if len(numbers) < 2:  # noqa: PLR2004 - nothing is told apart
        return list(cells)
    return [
        replace(cell, shade=round(numbers.index(float(cell.value)) / (len(numbers) - 1), 3))
        if _is_finite(cell.value)
        else cell
        for cell in cells
    ]


def _text(fact: Fact, decimals: int | None, write: Writer, numeral: Callable[[str], str]) -> str:
    """Return the text of a cell, with that number of *decimals* unless it is written by itself."""
    if fact.text or decimals is None or not _is_finite(fact.value) or fact.value == 0:
        return fact.text or write(fact.value, fact.unit)
    scale, unit = SCALES[fact.unit]
    scaled = fact.value * scale
    if round(abs(scaled), decimals) == 0:
        small = f"< {10**-decimals:.{decimals}f}{unit}"
        return numeral(small) if scaled > 0 else write(fact.value, fact.unit)
    if fact.unit == "fraction" and 1 - MINIMUM_SHARE < fact.value < 1:
        return write(fact.value, fact.unit)
    return numeral(f"{scaled:,.{decimals}f}{unit}".replace("-", "\N{MINUS SIGN}"))


def _decimals(values: Sequence[Value], unit: Unit) -> int | None:
    """
    Return how many decimals show what differs between *values*; None where each is written by itself.

    >>> _decimals([1.5, 20], ""), _decimals([3, 20], "count"), _decimals([0.1, 0.123], "fraction")
    (1, 0, 1)
    >>> _decimals([0.25 * 3600, 20_278.4 * 3600], "cpu seconds"), _decimals([1e-7, 0.5], "")
    (1, None)
    """
    if unit not in SCALES:
        return None
    scaled = [abs(value * SCALES[unit][0]) for value in values if _is_finite(value) and value != 0]
    if not scaled or max(scaled) >= MAXIMUM_PLAIN or (unit == "fraction" and max(scaled) >= MAXIMUM_PERCENT):
        return None
    if unit == "" and max(scaled) > SPREAD * min(scaled):
        return None
    high, low = (floor(log10(number)) for number in (max(scaled), min(scaled)))
    known = [(number, round(number, MAXIMUM_DECIMALS)) for number in scaled]
    most = 1 if unit == "fraction" else max(min(max(2 - high, 1 - low), DIGITS - 1 - high), 0)
    return next(
        (few for few in range(most) if all(round(number, few) == exact for number, exact in known)), most
    )


def _is_finite(value: Value) -> TypeGuard[int | float]:
    return is_number(value) and isfinite(value)


def _by_magnitude(columns: Sequence[Sequence[Fact]]) -> list[int]:
    """
    Return the columns whose magnitudes a table is about: those that it is ordered by, then its shares.

    The first column says what a row is about.
    """
    amounts = [place for place, column in enumerate(columns) if place and _is_amount(column)]
    ordered = [place for place in amounts if _falls(columns[place])]
    return ordered + [place for place in amounts if columns[place][0].unit == "fraction"]


def _is_amount(column: Sequence[Fact]) -> bool:
    """Return whether a column holds amounts of one unit that bars can compare."""
    return (
        len(column) >= MINIMUM_BARS
        and len({fact.unit for fact in column}) == 1
        and column[0].unit in AMOUNTS
        and all(_is_finite(fact.value) and fact.value >= 0 for fact in column)
        and len({fact.value for fact in column}) > 1
    )


def _falls(column: Sequence[Fact]) -> bool:
    """Return whether no number of a column is greater than the one above."""
    numbers = [fact.value for fact in column if is_number(fact.value)]
    return all(one >= other for one, other in pairwise(numbers))


def _with_bars(cells: Sequence[Cell]) -> list[Cell]:
    """Return *cells* with bars, the longest for the greatest value."""
    numbers = [float(cell.value) if _is_finite(cell.value) else 0.0 for cell in cells]
    return [
        replace(cell, part=round(number / max(numbers), 3))
        for cell, number in zip(cells, numbers, strict=True)
    ]
