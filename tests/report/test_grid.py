"""Tables as they are read: decimals, bars, and the columns in view."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.report.document import Column, Fact, FactTable, Report, Section, Table
from gwa.report.grid import MAXIMUM_COLUMNS, SCALES, grid, numeric
from gwa.report.html import html
from gwa.words.formatting import brief


def texts(values, unit=""):
    """Return how a column of *values* is written."""
    table = Table("t", "T", (Column("a", "A", unit),), tuple((value,) for value in values))
    return [cell.text for (cell,) in grid(table, brief).rows]


def parts(table):
    """Return the lengths of the bars in each column of *table*."""
    return [[cell.part for cell in column] for column in zip(*grid(table, brief).rows, strict=True)]


@pytest.mark.parametrize(
    ("unit", "values", "written"),
    [
        ("count", [1, 20, 1200], ["1", "20", "1,200"]),
        ("count", [1.5, 20, None], ["1.5", "20.0", "–"]),
        ("fraction", [0.5, 0.123, 0, 1], ["50.0 %", "12.3 %", "0 %", "100.0 %"]),
        ("fraction", [0.5, 0.0004, 0.9997], ["50.0 %", "< 0.1 %", "> 99.9 %"]),
        ("fraction", [0.5, 1], ["50 %", "100 %"]),
        ("cpu seconds", [20_278.44 * 3600, 900, 90], ["20,278.4 h", "0.2 h", "< 0.1 h"]),
        ("per day", [12.5, 3, -2], ["12.5", "3.0", "\N{MINUS SIGN}2.0"]),
        ("", [0.01, 12_000.7], ["0.01", "12,001"]),
        ("seconds", [45, 7200], ["45 s", "2 h"]),
        ("", ["x", True, None], ["x", "yes", "–"]),
    ],
)  # fmt: skip
def test_numbers_of_a_column_have_the_same_decimals(unit, values, written):
    assert texts(values, unit) == written


@given(st.sampled_from(sorted(SCALES)), st.lists(st.floats(1e-3, 1e6)))
def test_a_column_is_aligned_or_each_number_is_written_by_itself(unit, values):
    found = texts(values, unit)
    decimals = {
        len(re.sub(r"^.*\.|\D", "", text)) if "." in text else 0 for text in found if text[0] not in "<>"
    }
    assert len(decimals) <= 1 or found == [brief(value, unit) for value in values]


@given(st.lists(st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5), max_size=5))
def test_any_column_is_written(values):
    assert len(texts(values, "")) == len(texts(values, "fraction")) == len(values)


def test_facts_of_other_units_are_aligned_among_themselves():
    facts = (Fact("a", 1.5, "X", "count"), Fact("b", 20, "X", "count"), Fact("c", 0.5, "X", "fraction"))
    table = FactTable("t", "T", ("X",), tuple((fact.id, (fact,)) for fact in facts))
    written = [[cell.text for cell in row] for row in grid(table, brief).rows]
    assert written == [["a", "1.5"], ["b", "20.0"], ["c", "50 %"]]


def test_the_column_that_a_table_is_ordered_by_has_bars():
    columns = (Column("u", "User"), Column("j", "Jobs", "count"), Column("h", "Hours", "cpu seconds"))
    rows = (("a", 1, 8000.0), ("b", 3, 4000.0), ("c", 2, 0.0))
    assert parts(Table("t", "T", columns, rows)) == [[None] * 3, [None] * 3, [1, 0.5, 0]]


def test_shares_have_bars_where_nothing_is_ordered():
    columns = (Column("u", "User"), Column("s", "Share", "fraction"))
    assert parts(Table("t", "T", columns, (("a", 0.1), ("b", 0.4), ("c", 0.2))))[1] == [0.25, 1, 0.5]


@pytest.mark.parametrize("values", [(3, 2), (2, 2, 2), (3, None, 1), (1, 0, -1), (1, 3, 2)])
def test_what_cannot_be_compared_has_no_bars(values):
    columns = (Column("u", "User"), Column("j", "Jobs", "count"))
    table = Table("t", "T", columns, tuple(("U", value) for value in values))
    assert parts(table)[1] == [None] * len(values)


def test_the_column_that_names_the_rows_has_no_bars():
    columns = (Column("p", "Processors", "count"), Column("s", "Sizes"))
    assert parts(Table("t", "T", columns, ((3, "a"), (2, "b"), (1, "c"))))[0] == [None] * 3


def test_columns_of_numbers_are_known():
    columns = (Column("a", "A"), Column("b", "B"), Column("c", "C", "count"), Column("d", "D"))
    table = Table("t", "T", columns, (("x", 1, None, None), ("y", None, None, True)))
    assert numeric(table) == [False, True, True, False]


def test_columns_beyond_the_tenth_are_in_exports_only_and_the_page_says_so():
    columns = tuple(Column(f"c{place}", f"Column {place}", minor=place == 1) for place in range(13))
    table = Table("t", "T", columns, (tuple(f"v{place}" for place in range(13)),))
    shown = grid(table, brief)
    assert [head.key for head in shown.heads if head.is_minor] == ["c1", "c11", "c12"]
    assert sum(not head.is_minor for head in shown.heads) == MAXIMUM_COLUMNS
    page = html(Report("r", "", (Section("s", "S", "", (table,)),)))
    assert 'data-key="c12" class="minor"' in page
    assert "More columns are in the CSV and JSON." in page


def plainly(value, unit):
    return f"{value} {unit}"


def test_the_greatest_of_a_column_is_darkest_and_what_has_no_unit_or_value_is_not_shaded():
    rows = tuple(
        (name, (Fact(f"{name}.jobs", jobs, "Jobs", "count"), Fact(f"{name}.change", jobs, "Change")))
        for name, jobs in (("a", 5), ("b", None), ("c", 9), ("d", 7), ("e", 9))
    )
    table = FactTable("t", "T", ("Jobs", "Change"), rows)
    shades = {}
    for darkest in ("greatest", "least", "none"):
        shown = grid(replace(table, darkest=darkest), plainly)
        shades[darkest] = [row[1].shade for row in shown.rows]
        assert {row[2].shade for row in shown.rows} == {None}

    assert shades == {"greatest": [0, None, 1, 0.5, 1], "least": [1, None, 0, 0.5, 0], "none": [None] * 5}


def test_spans_stand_on_one_axis_with_nothing_in_the_middle():
    rows = (
        ("a", (Fact("a", [-1.0, 1.0, 4.0], "", "span"),)),
        ("b", (Fact("b", None, "", "span", text="–"),)),
    )
    shown = grid(FactTable("t", "T", ("Span",), rows), plainly)

    assert [row[1].marks for row in shown.rows] == [(0.375, 0.625, 1.0), ()]


def test_a_row_with_a_page_is_a_link():
    rows = (("a", (Fact("a", 1, ""),)), ("b", (Fact("b", 2, ""),)))
    shown = grid(FactTable("t", "T", ("N",), rows, links=("a.html", "")), plainly)

    assert [row[0].link for row in shown.rows] == ["a.html", ""]


def test_a_column_that_says_nothing_is_out_of_view_and_another_takes_its_place():
    columns = tuple(Column(f"c{n}", f"C{n}", "count") for n in range(MAXIMUM_COLUMNS + 1))
    rows = tuple((*range(row, row + 3), None, *range(MAXIMUM_COLUMNS - 3)) for row in range(3))
    heads = grid(Table("t", "T", columns, rows), brief).heads

    assert [head.key for head in heads if head.is_minor] == ["c3"]
    assert not any(head.is_minor for head in grid(Table("t", "T", columns[:2], ((None, None),)), brief).heads)


def test_a_column_of_small_numbers_has_three_digits():
    assert texts([0.184643, 0.0899166]) == ["0.185", "0.090"]
