"""The report on every real log: each section is made, and the page and the document are whole."""

import pytest

import gwa
from gwa.report.language import Language
from gwa.report.output import Edition, outputs
from tests.conftest import LOGS
from tests.test_every_log import FILES, OTHER, named

TRACES = [path for path in FILES if path not in OTHER and "google2011" not in path.parts]
LARGEST = 5_000_000
"""So many bytes a page may have, however large its trace."""


@pytest.mark.slow
@pytest.mark.logs
@pytest.mark.parametrize("path", [*TRACES, LOGS / "google2011"], ids=named)
def test_every_section_of_every_log_is_written(path):
    with gwa.open(path) as trace:
        report = trace.report()
    edition = Edition(report, None, Language())
    written = {name: output.render(edition) for name, output in outputs().items()}

    assert not [section.title for section in report.sections if section.failed]
    assert len(written["html"]) < LARGEST
    assert isinstance(written["pdf"], bytes)
    assert written["pdf"].startswith(b"%PDF")
    assert "report.tex" in written["latex"]
