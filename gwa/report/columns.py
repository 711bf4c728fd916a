"""Columns of tables that show a quantity, under its heading and in its unit."""

from gwa.report.document import Column
from gwa.words.quantities import quantity
from gwa.words.unit import Unit


def column(name: str, key: str = "", unit: Unit | None = None, *, minor: bool = False) -> Column:
    """
    Return the column of the quantity *name*, which exports call *key* or else as the quantity.

    A *unit* is given where its numbers are not in that of the quantity, as hours of seconds that are held.

    >>> column("wait_median", "median")
    Column(key='median', label='Median wait', unit='seconds', minor=False)
    """
    of = quantity(name)
    return Column(key or name, of.heading, of.unit if unit is None else unit, minor)
