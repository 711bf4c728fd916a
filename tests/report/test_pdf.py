"""The report on paper."""

import json
import re
import shutil
import subprocess
import sys
import zlib
from base64 import b64decode

import pytest
from click.testing import CliRunner

from gwa.cli import gwa as program
from gwa.errors import OutputError
from gwa.report import pdf as paper
from gwa.report.document import Column, Report, Section, Table
from gwa.report.pdf import pdf
from gwa.util.assets import asset
from tests.made_report import make_figures, make_report


@pytest.fixture(scope="module")
def report():
    """Return the made-up report."""
    return make_report()


@pytest.fixture(scope="module")
def printed(report):
    """Return the made-up report on paper."""
    return pdf(report)


def test_paper_is_the_same_each_time(report, printed):
    assert printed.startswith(b"%PDF")
    assert pdf(report) == printed


@pytest.mark.skipif(not shutil.which("pdfinfo"), reason="needs pdfinfo to look into the document")
def test_paper_can_be_read_aloud(printed):
    said = subprocess.run(["pdfinfo", "-"], input=printed, capture_output=True, check=True).stdout.decode()  # noqa: S607

    assert re.search(r"Tagged: +yes", said)
    assert re.search(r"Title: +KTH-SP2 <1996>", said)


def test_missing_libraries_are_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "weasyprint", None)

    with pytest.raises(OutputError, match=f"apt-get install {paper.PACKAGES}"):
        pdf(Report("t", "s", ()))


def test_only_the_own_message_says_what_is_missing(monkeypatch, tmp_path, capsys):
    """WeasyPrint prints an advice of its own when its libraries are missing."""
    (tmp_path / "weasyprint.py").write_text("print('please read on')\nraise OSError('cannot load pango')")
    monkeypatch.delitem(sys.modules, "weasyprint", raising=False)
    monkeypatch.syspath_prepend(tmp_path)

    with pytest.raises(OutputError, match="cannot load pango"):
        pdf(Report("t", "s", ()))
    assert capsys.readouterr().out == ""


@pytest.fixture(scope="module")
def objects(printed, tmp_path_factory):
    """Return what qpdf finds in the document, by its number; qpdf itself must find nothing wrong."""
    if not shutil.which("qpdf"):
        pytest.skip("needs qpdf to look into the document")
    path = tmp_path_factory.mktemp("paper") / "report.pdf"
    path.write_bytes(printed)
    checked = subprocess.run(["qpdf", "--check", path], capture_output=True, text=True, check=True)  # noqa: S607
    assert "WARNING" not in checked.stdout + checked.stderr
    command = ["qpdf", "--json", "--json-stream-data=inline", "--decode-level=all", path]
    text = subprocess.run(command, capture_output=True, check=True).stdout
    return json.loads(text)["qpdf"][1]


def dictionaries(objects, **wanted):
    """Return all dictionaries of the document that have the entries *wanted*."""
    every = [one["value"] if "value" in one else one["stream"]["dict"] for one in objects.values()]
    names = {f"/{name}": f"/{value}" for name, value in wanted.items()}
    return [one for one in every if isinstance(one, dict) and names.items() <= one.items()]


def test_paper_says_that_it_follows_pdf_ua(objects):
    (catalog,) = dictionaries(objects, Type="Catalog")
    metadata = b64decode(objects[f"obj:{catalog['/Metadata']}"]["stream"]["data"]).decode()

    assert 'pdfuaid:part="1"' in metadata
    assert catalog["/Lang"] == "u:en"
    assert catalog["/MarkInfo"] == {"/Marked": True}
    assert catalog["/ViewerPreferences"] == {"/DisplayDocTitle": True}
    assert {"/StructTreeRoot", "/Outlines"} <= catalog.keys()


def test_everything_on_paper_can_be_read_aloud(objects):
    figures = dictionaries(objects, S="Figure")
    links = dictionaries(objects, Subtype="Link")
    pages = dictionaries(objects, Type="Page")
    fonts = dictionaries(objects, Type="FontDescriptor")

    assert len(figures) == len(make_figures())
    assert all(figure.get("/Alt", "u:") != "u:" for figure in figures)
    assert links
    assert all({"/Contents", "/StructParent"} <= link.keys() for link in links)
    assert all(page.get("/Tabs") == "/S" for page in pages)
    assert fonts
    assert all(any(name.startswith("/FontFile") for name in font) for font in fonts)
    assert len(dictionaries(objects, S="H1")) == 1
    headings = {head["/ID"] for head in dictionaries(objects, S="TH")}
    assert all(set(cell["/A"]["/Headers"]) <= headings for cell in dictionaries(objects, S="TD"))


WITHIN = {
    "/LI": {"/L"}, "/Lbl": {"/LI"}, "/LBody": {"/LI"}, "/THead": {"/Table"}, "/TBody": {"/Table"},
    "/TR": {"/Table", "/THead", "/TBody"}, "/TH": {"/TR"}, "/TD": {"/TR"},
}  # fmt: skip
"""What each tag may stand in (ISO 32000-1, 14.8.4.3)."""

HOLDS = {"/L": {"/LI", "/Caption"}, "/LI": {"/Lbl", "/LBody"}, "/TR": {"/TH", "/TD"}}
HOLDS["/Table"] = {"/TR", "/THead", "/TBody", "/Caption"}
"""What some tags may hold, and nothing else."""


def test_lists_and_tables_are_tagged_as_such(objects):
    parts = dictionaries(objects, Type="StructElem")
    pairs = {(objects[f"obj:{one['/P']}"]["value"].get("/S"), one["/S"]) for one in parts}

    assert {inner for _, inner in pairs} >= WITHIN.keys() | HOLDS.keys()
    assert not {(outer, inner) for outer, inner in pairs if outer not in WITHIN.get(inner, {outer})}
    assert not {(outer, inner) for outer, inner in pairs if inner not in HOLDS.get(outer, {inner})}


def test_sections_are_bookmarks(objects, report):
    known = dictionaries(objects)
    titles = {one["/Title"].removeprefix("u:") for one in known if {"/Title", "/Parent"} <= one.keys()}

    assert {section.title for section in report.sections} <= titles


@pytest.mark.skipif(not shutil.which("pdftotext"), reason="needs pdftotext to read the document")
def test_contents_have_page_numbers_and_pages_running_heads(printed, report):
    text = subprocess.run(["pdftotext", "-layout", "-", "-"], input=printed, capture_output=True, check=True)  # noqa: S607
    pages = text.stdout.decode().split("\f")
    contents = next(page for page in pages if "Contents" in page)

    for section in report.sections:
        found = re.search(rf"^\s*{section.title} ?\.[. ]*\.+ *(\d+)$", contents, re.MULTILINE)
        assert found, section.title
        page = pages[int(found[1]) - 1]
        assert section.title in page
        assert report.title in page.splitlines()[0]
        assert re.search(rf"\b{found[1]} ?/ ?{len(pages) - 1}\b", page)


def test_no_rule_looks_through_a_table_for_each_of_its_cells():
    for name in ("report.css", "print.css"):
        assert ":has(" not in asset("templates", "static", name).read_text(), "paper would take hours"


def test_columns_of_facts_do_not_depend_on_how_wide_their_text_is():
    rules = asset("templates", "static", "print.css").read_text()
    (columns,) = re.findall(r"\.facts { grid-template-columns: (.*?);", rules)
    assert columns == "repeat(2, minmax(0, 1fr))", "text that may break anywhere is measured letter by letter"


def test_a_table_of_thousands_of_rows_is_set_too():
    rows = tuple((f"row {n}", n) for n in range(1500))
    long = Table("long", "Long", (Column("name", "Name"), Column("n", "N", "count")), rows)
    report = Report("t", "s", (Section("s", "S", "", (long,)),))

    assert pdf(report).startswith(b"%PDF")


def number_of_pages(content):
    """Return how many pages a document has, whose objects stand in compressed streams."""
    streams = re.findall(rb"/ObjStm.*?stream\r?\n(.*?)\r?\nendstream", content, re.DOTALL)
    objects = [zlib.decompressobj().decompress(stream) for stream in streams]
    return sum(len(re.findall(rb"/Type */Page\b", one)) for one in objects)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["the sample", "Curie"])
def test_operators_have_the_first_screen_on_one_page_of_eight_at_most(name, request, tmp_path):
    if name == "Curie":
        log = next(request.getfixturevalue("logs").glob("swf/CEA-Curie*"))
    else:
        log = request.getfixturevalue("slurm_sample")
    done = CliRunner().invoke(program, ["report", str(log), "--pdf", "-o", str(tmp_path)])
    assert done.exit_code == 0, done.output
    (path,) = tmp_path.glob("*.pdf")
    assert 1 < number_of_pages(path.read_bytes()) <= 8
    if not shutil.which("pdftotext"):
        return
    said = subprocess.run(["pdftotext", "-l", "1", path, "-"], capture_output=True, text=True, check=True)  # noqa: S607
    for text in (
        "Of every 100",
        "Who used it",
        "How long jobs waited",
        "Whose jobs did not",
        "Month by month",
    ):
        assert text in said.stdout
