"""The reports on all sample traces and on some real logs, as a reader opens them."""

from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe

import gwa
from gwa.report.html import html
from tests.browser.conftest import visit
from tests.conftest import HOME

SAMPLES = sorted(path.parent.name for path in (HOME / "sample_traces").glob("*/expected.gwf"))
REAL = ("swf/KTH-SP2-1996-2.1-cln.swf.gz", "swf/LCG.swf.gz", "swf/HPC2N-2002-2.1-cln.swf.gz", "google2011")
VIEWS: tuple[tuple[int, Literal["light", "dark"]], ...] = ((1280, "light"), (380, "dark"))
MOST = 5_000_000
"""So many bytes a page may have, however large its trace."""


def look(context, trace, folder):
    """Open the report on *trace*, wide and narrow, light and dark, and find nothing wrong."""
    file = folder / "report.html"
    with gwa.open(trace) as opened:
        file.write_text(html(opened.report()), encoding="utf-8")
    page, wrong = visit(context, file)
    assert file.stat().st_size < MOST
    for width, theme in VIEWS:
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=theme)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert not [
            (rule["id"], [node["html"][:200] for node in rule["nodes"]])
            for rule in Axe().run(page).response["violations"]
            if rule["impact"] in {"serious", "critical"}
        ]
    assert not wrong


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLES)
def test_the_report_on_a_sample_trace(context, sample, tmp_path, name):
    look(context, sample / name / "expected.gwf", tmp_path)


@pytest.mark.slow
@pytest.mark.logs
@pytest.mark.parametrize("name", REAL)
def test_the_report_on_a_real_log(context, logs, tmp_path, name):
    look(context, logs / name, tmp_path)
