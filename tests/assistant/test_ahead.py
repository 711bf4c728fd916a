"""What is computed ahead is what would be computed when it is asked for, and delays nobody."""

import threading
import time

import pytest

from gwa.analysis.base import analyses
from gwa.assistant import tools
from gwa.assistant.desk import Ahead, Desk
from gwa.formats.open import open_trace
from tests.conftest import HOME, LOGS

TINY = HOME / "sample_traces" / "swf" / "tiny.swf"
GPUS = LOGS / "today" / "alibaba-gpu2023" / "openb_pod_list_default.csv"


def is_alive():
    return any(isinstance(thread, Ahead) for thread in threading.enumerate())


def waited(desk):
    """Let a desk compute all that it computes ahead."""
    desk.prepare(tools.USUAL)
    while is_alive():
        time.sleep(0.05)
    return desk


@pytest.mark.parametrize("path", [TINY, pytest.param(GPUS, marks=pytest.mark.slow)], ids=["swf", "pods"])
def test_answers_are_those_that_would_be_computed(path):
    if not path.exists():
        pytest.skip("the real logs are not here")
    with Desk.open([path]) as prepared, Desk.open([path]) as plain:
        waited(prepared)
        for ask in (
            tools.questions,
            tools.findings,
            lambda desk: tools.facts(desk, "utilization"),
            lambda desk: tools.facts(desk, "jobs."),
            lambda desk: tools.breakdown(desk, "sizes"),
        ):
            assert ask(prepared) == ask(plain)


def test_what_was_computed_ahead_is_not_computed_again(monkeypatch):
    with Desk.open([TINY]) as desk:
        waited(desk)

        def refuse(*_, **__):
            raise AssertionError

        monkeypatch.setattr(type(analyses()[0]), "section", refuse)
        assert tools.findings(desk)["findings"]
        assert tools.facts(desk, "jobs.wait")["facts"]


def test_questions_may_come_while_it_works_and_end_it():
    with Desk.open([TINY]) as desk:
        desk.prepare(tools.USUAL)
        assert tools.facts(desk, "trace.jobs")["facts"] == {"trace.jobs": 1200}
        assert tools.sql(desk, "select count(*) from jobs")["rows"] == [[1200]]
    assert not is_alive()


def test_a_twin_is_asked_by_itself_and_leaves_the_store_as_it_is():
    with open_trace([TINY]) as store:
        with store.twin() as twin:
            assert twin.whole is twin
            assert twin.system == store.system
            assert (twin.account, twin.header) == (store.account, store.header)
            twin.settle()
            assert twin.row("select count(*) as n from all_jobs") == (1200,)
        assert store.scratch.exists()
        assert not store.is_closed
        assert store.row("select count(*) as n from jobs") == (1200,)
