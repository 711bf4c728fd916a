"""A page shows each number in one place: few tables, none of which repeats another."""

from itertools import combinations

import pytest

import gwa
from gwa.analysis.base import analyses
from gwa.report.html import html
from gwa.report.layout import is_hidden

MOST = 25
"""Tables of the page of the sample."""


@pytest.fixture(scope="module")
def report(slurm_sample):
    with gwa.open(slurm_sample) as trace:
        wanted = [one.id for one in analyses() if one.view == "operator" and one.is_wanted(trace.store)]
        return trace.report(wanted, explore=True)


def test_a_page_has_few_tables(report):
    shown = [table for table in report.tables() if not is_hidden(table)]
    assert len(shown) <= MOST
    assert html(report).count("<table") <= MOST


def test_no_two_tables_of_a_page_have_the_same_rows_in_the_same_order(report):
    tables = [one for one in report.tables() if not is_hidden(one) and len(one.rows) > 1]
    names = {table.id: [str(row[0]) for row in table.rows] for table in tables}
    repeated = {
        (one.id, other.id)
        for one, other in combinations(tables, 2)
        if names[one.id] == names[other.id] and {*_headings(one)} <= {*_headings(other)}
    }
    assert not repeated


def _headings(table):
    return [column if isinstance(column, str) else column.label for column in table.columns]
