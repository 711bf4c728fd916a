"""The page, its exports, Python and JSON have the same figures and tables with the same numbers."""

import json

import pytest
from click.testing import CliRunner
from lxml import html as parser

from gwa.cli import gwa as command
from gwa.report.as_json import plain
from gwa.report.document import FactTable
from gwa.report.layout import is_hidden
from gwa.report.printable import clean


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Return the page and the data that the command writes of the same trace."""
    folder = tmp_path_factory.mktemp("same")
    words = ["report", "sample_traces/swf/tiny.swf", "-o", str(folder), "--html", "--json", "--view", "all"]
    assert not CliRunner().invoke(command, words).exit_code
    page = parser.document_fromstring((folder / "tiny-all.html").read_text(encoding="utf-8"))
    return page, json.loads((folder / "tiny-all.json").read_text(encoding="utf-8"))


def blocks(data, *kinds):
    """Return the blocks of some *kinds* of a report as data, by their ids."""
    found = (block for section in data["sections"] for block in section["blocks"] if block["kind"] in kinds)
    return {block["id"]: block for block in found}


def exported(block):
    """Return the lines of a table of the page as its script exports them: exact values, else texts."""
    keys = block.xpath(".//thead//th/@data-key")
    return [keys, *([exact(cell) for cell in row] for row in block.xpath(".//tbody/tr"))]


def exact(cell):
    """Return the value of a cell as the script of the page reads it."""
    return json.loads(cell.get("data-value")) if "data-value" in cell.attrib else cell.text_content()


def rows_of(table):
    """Return the lines of a table of a report: keys, then values."""
    if isinstance(table, FactTable):
        return [
            ["what", *table.columns],
            *([name, *(fact.value for fact in facts)] for name, facts in table.rows),
        ]
    return [[column.key for column in table.columns], *table.rows]


def test_every_table_has_the_same_numbers_everywhere(tiny_report, files):
    page, data = files
    on_page = {block.get("data-name"): exported(block) for block in page.xpath("//*[@data-name]")}
    tables = tiny_report.tables()
    assert {table.id for table in tables} == blocks(data, "table", "fact_table").keys()
    assert on_page.keys() == {table.id for table in tables if not is_hidden(table)}
    assert any(map(is_hidden, tables))
    for table in tables:
        assert blocks(data, "table", "fact_table")[table.id] == plain(table)
        assert is_hidden(table) or on_page[table.id] == plain(rows_of(table)), table.id
        frame = table.frame()
        assert frame.shape == (len(table.rows), len(rows_of(table)[0]) - isinstance(table, FactTable))


def test_every_figure_shows_the_same_numbers_everywhere(tiny_report, files):
    page, data = files
    on_page = {figure.get("id").removeprefix("figure-"): figure for figure in page.xpath("//figure")}
    assert on_page.keys() == {figure.id for figure in tiny_report.figures()} == blocks(data, "figure").keys()
    for figure in tiny_report.figures():
        assert blocks(data, "figure")[figure.id] == plain(figure)
        (shown,) = on_page[figure.id].xpath("./script[@type='application/json']")
        assert on_page[figure.id].get("data-plot") == figure.plot
        assert json.loads(shown.text) == clean(plain(figure.data))


def test_every_number_has_the_same_value_everywhere(tiny_report, files):
    page, data = files
    values = {fact["id"]: fact["value"] for block in data["sections"] for fact in facts_of(block)}
    assert values == {fact.id: plain(fact.value) for fact in tiny_report.facts()}
    shown = page.xpath("//main//data")
    assert shown
    for number in shown:
        assert json.loads(number.get("value")) == values[number.get("title").partition(" = ")[0]]


def facts_of(section):
    """Return the facts of a section as data."""
    for block in section["blocks"]:
        yield from block.get("facts", ())
        if block["kind"] == "fact_table":
            yield from (fact for _, facts in block["rows"] for fact in facts)
