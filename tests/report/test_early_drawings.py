"""Figures that a second process draws while a report is computed: the same bytes, whatever happens to it."""

import os
import signal
import sys

import pytest
from click.testing import CliRunner

import gwa
from gwa.analysis.build import build
from gwa.cli import gwa as program
from gwa.report.document import Figure, Section
from gwa.report.drawing import draw, to_draw
from gwa.report.early_drawings import ALONE, EarlyDrawings
from gwa.report.figures.spark import spark
from gwa.report.language import Language, read_language, translated
from gwa.util.processes import Pool, Worker
from tests.conftest import HOME
from tests.killing import is_running

TINY = HOME / "sample_traces" / "swf" / "tiny.swf"


@pytest.fixture
def workers(monkeypatch):
    """Return the list that each pool's workers are put into."""
    made = []
    start = Pool.__init__

    def recorded(pool, *arguments):
        start(pool, *arguments)
        made.extend(pool.workers)

    monkeypatch.setattr(Pool, "__init__", recorded)
    return made


def running(workers: list[Worker[Figure, str]]) -> int:
    """Return the process id of the only worker."""
    (worker,) = workers
    assert worker.process
    return worker.process.pid


def figure(number: int, highest: float = 5.0) -> Figure:
    return spark(f"f{number}", "Jobs", [0.0, highest, number], f"{number} jobs")


def section(*figures: Figure) -> Section:
    return Section("made", "Made", "Made up.", figures)


def some(count: int) -> list[Figure]:
    return [figure(number) for number in range(count)]


@pytest.mark.parametrize("code", ["en", "de"])
def test_each_drawing_of_a_report_is_the_same(code):
    language = read_language(code)
    with gwa.open(TINY) as trace, EarlyDrawings(language) as early:
        report = translated(build(trace.store, "tiny", ready=early.begin), language)
        figures = to_draw(report)
        drawn = early.draw_all(figures)

    assert len(figures) > ALONE
    assert drawn == {one.id: draw(one, language) for one in figures}
    assert list(drawn) == [one.id for one in figures]


def test_all_but_few_are_drawn_in_a_second_process_that_ends(workers):
    with EarlyDrawings(Language()) as early:
        early.begin(section(*some(ALONE)))
        early.draw_all(some(ALONE))
        assert workers[0].process is None
        early.begin(section(figure(99)))
        early.draw_all([*some(ALONE), figure(99)])
        pid = running(workers)
        assert pid != os.getpid()

    assert not is_running(pid)


def test_nothing_is_shared_unless_it_may_be(workers):
    with EarlyDrawings(Language(), is_shared=False) as early:
        early.begin(section(*some(20)))
        assert early.draw_all(some(20)) == {one.id: draw(one) for one in some(20)}

    assert workers[0].process is None


def test_a_figure_that_has_changed_since_is_drawn_again():
    with EarlyDrawings(Language()) as early:
        early.begin(section(*some(20)))
        later = [figure(number, highest=50.0) for number in range(20)]
        assert early.draw_all(later) == {one.id: draw(one) for one in later}


@pytest.mark.parametrize("executable", ["/nowhere/python", "/bin/false"])
def test_without_a_second_process_all_is_drawn_here(monkeypatch, executable):
    monkeypatch.setattr(sys, "executable", executable)
    with EarlyDrawings(Language()) as early:
        early.begin(section(*some(20)))
        assert early.draw_all(some(20)) == {one.id: draw(one) for one in some(20)}


def test_what_a_killed_process_did_not_draw_is_drawn_here(workers):
    with EarlyDrawings(Language()) as early:
        early.begin(section(*some(20)))
        early.draw_all(some(20))
        os.kill(running(workers), signal.SIGKILL)
        later = [figure(number) for number in range(20, 40)]
        assert early.draw_all(later) == {one.id: draw(one) for one in later}


def test_a_figure_that_cannot_be_drawn_is_an_error_as_ever():
    wrong = [Figure(f"f{number}", "Jobs", "nonsense", {}, "no plot") for number in range(20)]
    with EarlyDrawings(Language()) as early:
        early.begin(section(*wrong))
        with pytest.raises(ValueError, match="no plot is called 'nonsense'"):
            early.draw_all(wrong)


@pytest.mark.parametrize(
    ("options", "is_shared"), [((), True), (("--memory", "1GB"), False), (("--json",), False)]
)
def test_a_command_shares_where_memory_is_not_limited(workers, monkeypatch, tmp_path, options, is_shared):
    asked = []
    ask = Pool.ask

    def recorded(pool, request):
        asked.append(request)
        return ask(pool, request)

    monkeypatch.setattr(Pool, "ask", recorded)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    said = CliRunner().invoke(program, ["report", str(TINY), "-o", str(tmp_path), *options])

    assert said.exit_code == 0
    assert bool(asked) == is_shared
    assert all(worker.process is None for worker in workers)
