"""The report as JSON."""

import json
from typing import Any

import numpy as np
import pytest

from gwa.report.as_json import as_json
from gwa.report.document import Fact, Facts, Report, Section
from tests.made_report import make_report


@pytest.fixture(scope="module")
def report():
    """Return the made-up report."""
    return make_report()


def test_json_has_everything_and_no_word_that_json_lacks(report):
    numbers: Any = [float("nan"), float("inf"), np.float64(2.5), np.int64(3)]
    odd = Fact("odd", numbers, "Odd")
    section = Section("a", "A", "h", (Facts((odd,)), *report.sections[4].blocks))
    data = json.loads(as_json(Report("t", "s", (section,))))

    block = data["sections"][0]["blocks"][0]
    assert block["kind"] == "facts"
    assert block["facts"][0]["value"] == [None, None, 2.5, 3]
    assert [one["kind"] for one in data["sections"][0]["blocks"]] == ["facts", "table", "figure", "figure"]
    assert as_json(report) == as_json(make_report())
    assert as_json(report).encode()


def test_what_json_cannot_hold_is_refused():
    with pytest.raises(TypeError, match="JSON has no word for it"):
        as_json(Report("t", "s", (), reproduction={"x": object()}))  # type: ignore[dict-item]
