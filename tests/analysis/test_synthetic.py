"""A page on a trace that a model made says so, in every format, and does not blame a log."""

import re

import pytest

import gwa
from gwa.analysis.synthetic import LOG, REWORDED, of_trace
from gwa.formats.registry import writer
from gwa.models.files import load_model
from gwa.models.generate import GenerationRequest, generate, generate_store
from gwa.models.streams import Extent
from gwa.report.document import Note
from gwa.report.language import read_language
from gwa.words.message import Message, Verbatim, message, plural
from tests.conftest import HOME

TINY = HOME / "sample_traces" / "swf" / "tiny.swf"


def request(jobs=300):
    return GenerationRequest(load_model("lublin").model, Extent(jobs=jobs), 7, (("Processors", "128"),))


def sentences(report):
    """Return what a report claims: answers, findings with their advice, and notes."""
    yield from (answer.text for answer in report.answers)
    yield from (text for one in report.findings for text in (one.text, one.advice))
    yield from (block.text for section in report.sections for block in section.blocks if type(block) is Note)


@pytest.mark.parametrize("suffix", ["gwf", "gwf.gz", "swf", "parquet", "sqlite", "duckdb"])
def test_every_format_keeps_that_a_model_made_the_jobs(suffix, tmp_path):
    path = tmp_path / f"made.{suffix}"
    generate(request(), path)
    with gwa.open(path) as trace:
        trace.save(tmp_path / "again.gwf")
        first = trace.report(only=["overview"])
    with gwa.open(tmp_path / "again.gwf") as trace:
        second = trace.report(only=["overview"])

    for report in (first, second):
        assert report.overline == "Workload report on a synthetic trace"
        assert report.subtitle == "synthetic: made by the model lublin, seed 7"


def test_no_sentence_on_a_synthetic_trace_blames_a_log(tmp_path):
    path = tmp_path / "made.gwf"
    generate(request(2000), path)
    with gwa.open(path) as trace:
        report = trace.report()

    blamed = [
        text for text in sentences(report) if re.search(r"\b(the|this|a) log\b|outage", text, re.IGNORECASE)
    ]
    assert blamed == []
    answers = {answer.id: answer.text for answer in report.answers}
    assert answers["wait"] == "The model makes no waits."
    assert answers["wrong"].startswith("The model makes no outcomes.")


def test_a_log_is_called_one():
    with gwa.open(TINY) as trace:
        report = trace.report(only=["overview", "data-quality", "utilization"])

    assert report.overline == "Workload report"
    assert "synthetic" not in report.subtitle


def test_a_header_that_only_resembles_ours_is_that_of_a_log(tmp_path):
    (tmp_path / "a.swf").write_text("; Synthetic: maybe\n" + TINY.read_text())
    with gwa.open(tmp_path / "a.swf") as trace:
        assert trace.report(only=["overview"]).overline == "Workload report"


def test_names_are_not_reworded():
    name = Verbatim("The log")
    assert of_trace(name) is name
    said = of_trace(message("{user} submits half of the log.", user=Verbatim("the log")))
    assert said == "the log submits half of the trace."
    assert isinstance(said, Message)
    assert said.template == "{user} submits half of the log."  # by which other languages find it


def test_parts_and_plurals_are_reworded_too():
    text = message("Known: {what}.", what=plural("{n} week of the log", "{n} weeks of the log", 3))
    assert of_trace(text) == "Known: 3 weeks of the trace."


def test_other_languages_say_what_is_reworded_too():
    """A German report on a synthetic trace had English sentences."""
    german = read_language("de")
    text = of_trace(
        plural(" {n} job had not ended when the log did.", " {n} jobs had not ended when the log did.", 2)
    )
    assert text == " 2 jobs had not ended when the trace did."
    assert german(text) == " 2 Jobs waren am Ende des Logs noch nicht beendet."
    assert german(of_trace("The log does not record how long jobs waited.")) != "The model makes no waits."


def test_what_is_reworded_is_said_of_logs():
    """A text that no report has any more would leave the words of a log on a synthetic trace."""
    texts = (HOME / "templates" / "languages" / "messages.pot").read_text().replace('"\n"', "")
    assert [one for one in REWORDED if one not in texts] == []


def test_what_is_said_instead_has_no_log():
    assert not [one for one in REWORDED.values() if LOG.search(one)]


def test_a_store_that_a_model_fills_is_synthetic(tmp_path):
    with generate_store(request()) as store:
        assert store.is_generated
        writer(tmp_path / "x.gwf").save(store, tmp_path / "x.gwf")
