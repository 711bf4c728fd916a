"""The pages are valid HTML: the Nu Html Checker finds nothing. `make browser` fetches it, Java runs it."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import gwa
from gwa.report.html import html
from tests.conftest import HOME
from tests.made_report import make_report

CHECKER = Path(__file__).parent / "node_modules" / "vnu-jar" / "build" / "dist" / "vnu.jar"
STYLE = "CSS: "
"""How complaints of style sheets begin: the checker knows none of CSS's rules for paged media."""


def complaints(folder):
    """Return the errors that the checker finds in the pages in *folder*."""
    java = shutil.which("java")
    if java is None or not CHECKER.is_file():
        pytest.skip("the Nu Html Checker is not here; make browser fetches it, and it needs Java")
    command = [java, "-jar", CHECKER, "--stdout", "--format", "json", "--skip-non-html", folder]
    said = json.loads(subprocess.run(command, capture_output=True, check=False).stdout)["messages"]
    errors = [one for one in said if one["type"] != "info" and not one["message"].startswith(STYLE)]
    return [(Path(one["url"]).name, one.get("lastLine"), one["message"]) for one in errors]


@pytest.mark.slow
def test_every_page_of_a_site_is_valid(public):
    assert len(list(public.rglob("*.html"))) > 10
    assert not complaints(public)


@pytest.mark.slow
def test_the_page_of_a_report_is_valid(tmp_path):
    (tmp_path / "made.html").write_text(html(make_report()), encoding="utf-8")
    with gwa.open(HOME / "sample_traces" / "swf" / "tiny.swf") as trace:
        (tmp_path / "tiny.html").write_text(html(trace.report()), encoding="utf-8")

    assert not complaints(tmp_path)
