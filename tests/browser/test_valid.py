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
UNKNOWN = "wasm-unsafe-eval"
"""What a policy of content may say since 2021, and the checker does not know."""


def complaints(*places):
    """Return what the checker has to say of the pages in *places*, files or folders."""
    java = shutil.which("java")
    if java is None or not CHECKER.is_file():
        pytest.skip("the Nu Html Checker is not here; make browser fetches it, and it needs Java")
    done = subprocess.run(
        [java, "-jar", CHECKER, "--stdout", "--format", "json", "--skip-non-html", *places],
        capture_output=True, check=False,
    )  # fmt: skip
    said = json.loads(done.stdout)["messages"]
    return [
        (one["url"], one.get("lastLine"), one["message"]) for one in said if UNKNOWN not in one["message"]
    ]


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
