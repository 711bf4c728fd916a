"""Columns of tables that show a quantity, and tables that say what each column has of a thing."""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias, TypeVar

from gwa.report.document import Column, Table
from gwa.words.formatting import number
from gwa.words.message import message
from gwa.words.quantities import quantity
from gwa.words.unit import Unit, Value

T = TypeVar("T")

Cells: TypeAlias = Mapping[Column, Callable[[T], Value]]
"""What a table shows of a thing, by the column under which that stands."""


def column(name: str, key: str = "", unit: Unit | None = None, *, minor: bool = False) -> Column:
    """
    Return the column of the quantity *name*, which exports call *key* or else as the quantity.

    A *unit* is given where its numbers are not in that of the quantity, as hours of seconds that are held.

    >>> column("wait_median", "median")
    Column(key='median', label='Median wait', unit='seconds', minor=False)
    """
    of = quantity(name)
    return Column(key or name, of.heading, of.unit if unit is None else unit, minor)


def table_of(
    id: str,  # noqa: A002 - as blocks call it
    title: str,
    things: Iterable[T],
    cells: Cells[T],
    note: str = "",
    *,
    minor: bool = False,
) -> Table:
    """
    Return a table with a row for each of *things*, whose *cells* say under each column what it has.

    >>> cells = {Column("word", "Word"): str.upper, Column("letters", "Letters"): len}
    >>> table_of("words", "Words", ["a", "bc"], cells).rows
    (('A', 1), ('BC', 2))
    """
    rows = tuple(tuple(cell(thing) for cell in cells.values()) for thing in things)
    return Table(id, title, tuple(cells), rows, note, minor=minor)


def first_of(shown: int, total: int) -> str:
    """
    Return the note of a table that has the first rows of a *total* only; empty where it has all.

    >>> first_of(20, 12345), first_of(3, 3)
    ('The first 20 of 12,345.', '')
    """
    if shown >= total:
        return ""
    return message("The first {rows} of {total}.", rows=number(shown), total=number(total))


def rejected_rows(id: str, rows: Iterable[tuple[Value, ...]], total: int) -> Table:  # noqa: A002 - as above
    """Return the first *rows* of a source that were rejected, of a *total*: file, line, reason and text."""
    columns = (Column("file", "File"), column("line"), Column("reason", "Why"), Column("text", "Text"))
    shown = tuple(rows)
    return Table(id, "Rejected rows", columns, shown, first_of(len(shown), total))
