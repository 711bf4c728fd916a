"""The report on paper."""

import re
import shutil
import subprocess
import sys

import pytest

from gwa.blocks import Report
from gwa.errors import OutputError
from gwa.report import pdf as paper
from gwa.report.pdf import pdf
from tests.made_report import make_report


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


def test_paper_is_written_where_it_is_wanted(tmp_path):
    content = pdf(Report("t", "s", ()), tmp_path / "t.pdf")

    assert (tmp_path / "t.pdf").read_bytes() == content


def test_missing_libraries_are_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "weasyprint", None)

    with pytest.raises(OutputError, match=f"apt-get install {paper.PACKAGES}"):
        pdf(Report("t", "s", ()))
