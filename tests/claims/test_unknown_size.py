"""Where the size of a system is not recorded, no output has a share of it."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import gwa
from gwa.analysis.by_month import by_month
from gwa.archive.published import PublishedTrace
from gwa.assistant import tools
from gwa.assistant.desk import Desk
from gwa.report.as_json import as_json
from gwa.report.output import write
from gwa.report.prometheus import exposition
from gwa.words.formatting import fraction
from tests.claims.first_screens import BEGIN, DAY, Made, jobs_at, swf

SHARES = ("mean", "min", "max", "mean_nonzero", "span_mean", "known_mean", "at_least", "above_capacity")
SECTIONS = ("overview", "utilization", "stretches", "capacity", "demand", "usage")


def text_of(log, seed):
    rng = np.random.default_rng(seed)
    submit = BEGIN + np.sort(rng.integers(0, 70 * DAY, 1500)).astype(float)
    log.write_text(swf(Made(jobs_at(rng, submit, None))))
    return log


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("unsized")
    return [text_of(folder / f"{name}.swf", seed) for seed, name in enumerate(("one", "two"))]


@pytest.fixture(scope="module")
def traces(logs):
    opened = [gwa.open(log) for log in logs]
    yield opened
    for trace in opened:
        trace.close()


@pytest.fixture(scope="module")
def facts(traces):
    return traces[0].facts("utilization")


@pytest.fixture(scope="module")
def said(logs, traces, tmp_path_factory):
    """Return the text of each output of a trace."""
    trace, folder = traces[0], tmp_path_factory.mktemp("outputs")
    report = trace.report(SECTIONS)
    paths = write(report, folder, "report", ["html", "json", "latex"])
    texts = {path.suffix or path.name: _text(path) for path in paths}
    texts["months"] = as_json(by_month(trace.store, "one", {}))
    texts["comparison"] = as_json(gwa.compare(traces))
    texts["prometheus"] = "\n".join(exposition(report.facts(), "one"))
    with Desk.open(logs[:1]) as desk:
        texts["assistant"] = str(tools.questions(desk))
    return texts


def _text(path):
    parts = sorted(path.rglob("*.tex")) if path.is_dir() else [path]
    return "\n".join(part.read_text(encoding="utf-8") for part in parts)


def test_shares_of_a_system_of_unknown_size_are_unknown(facts):
    assert {name: facts.get(f"utilization.{name}") for name in SHARES} == dict.fromkeys(SHARES)
    assert facts["utilization.kind"] == "value"
    assert facts["utilization.of_most_busy"] == pytest.approx(
        facts["utilization.busy"] / facts["utilization.peak"]
    )


def test_no_output_has_a_share_of_the_most_that_were_busy(facts, said):
    share = fraction(facts["utilization.of_most_busy"])
    forms = (share, share.replace("\N{NO-BREAK SPACE}", " "), share.replace(" %", r"~\%"))
    assert {name for name, text in said.items() if any(form in text for form in forms)} == set()
    assert "busy" in said["assistant"]


def test_a_site_lists_it_as_unknown(facts):
    entry: Any = SimpleNamespace(id="one")
    assert PublishedTrace(entry, {"facts": facts}).busy[0] is None
