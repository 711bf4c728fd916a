"""The quantities: one heading and one unit each, in all tables, and in what compares them."""

import ast
from collections import Counter, defaultdict
from typing import Any

import pytest

import gwa
from gwa.analysis.comparison.quantities import QUANTITIES
from gwa.errors import DefinitionError
from gwa.metrics.interval_values import MEASURES
from gwa.words.quantities import Quantity, quantities, quantity
from tests.conftest import HOME

CODE = sorted((HOME / "gwa").rglob("*.py"))

CONVERTED = {
    ("held seconds", "hours"), ("joules", "kilowatt hours"), ("cpu seconds", "hours"),
}  # fmt: skip
"""Units of quantities in whose place a table writes another."""


def literal(node: Any) -> Any:
    """Return the text of an argument, None where it is made."""
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "message" and not node.keywords:
        (node,) = node.args
    return node.value if isinstance(node, ast.Constant) else None


def own_columns():
    """Yield the heading and the unit of each column that states its own."""
    for path in CODE:
        node: Any
        for node in ast.walk(ast.parse(path.read_text())):
            is_column = isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Column"
            if is_column and len(node.args) > 1 and (heading := literal(node.args[1])):
                yield heading, literal(node.args[2]) if len(node.args) > 2 else ""


def test_a_heading_stands_for_one_quantity():
    counted = Counter(one.heading.casefold() for one in quantities().values())
    assert [heading for heading, times in counted.items() if times > 1] == []
    assert all(one.name == name for name, one in quantities().items())


def test_no_table_words_a_quantity_by_itself():
    headings = {one.heading for one in quantities().values()}
    assert sorted({heading for heading, _ in own_columns()} & headings) == []


def test_what_several_tables_show_is_a_quantity():
    units = defaultdict(list)
    for heading, unit in own_columns():
        if unit:
            units[heading].append(unit)
    assert {heading: found for heading, found in units.items() if len(found) > 1} == {}


def test_each_table_of_a_report_shows_a_quantity_under_its_heading_and_in_its_unit():
    headings: dict[str, Quantity] = {one.heading: one for one in quantities().values()}
    with gwa.open(HOME / "sample_traces" / "slurm" / "sacct-2024.txt") as trace:
        columns = [
            column
            for table in trace.report().tables()
            if isinstance(table, gwa.Table)
            for column in table.columns[1:]  # the first says what a row is of
        ]
    shown = [column for column in columns if column.label in headings]
    assert len(shown) > 20
    for column in shown:
        unit = headings[column.label].unit
        assert column.unit == unit or (unit, column.unit) in CONVERTED, column


def test_what_is_compared_and_what_is_measured_by_week_are_quantities():
    compared = {one.of for one in QUANTITIES.values()} | {one.of for one in MEASURES.values()}
    assert compared <= {*quantities()}


def test_a_quantity_that_is_not_there_is_named():
    with pytest.raises(DefinitionError, match="no quantity 'waits'"):
        quantity("waits")
