"""How many queries a small trace is asked: each takes a millisecond or two, whatever it asks."""

from collections import Counter

import pytest

import gwa
from gwa.analysis.build import build, facts
from gwa.store.engines.duckdb import Duck

MOST = {"facts": 233, "report": 416}
"""The maximum number of queries of 1,200 jobs, a tenth more than there are."""

MOST_OFTEN = 30
"""The maximum number of times that the same is asked."""


@pytest.mark.parametrize("kind", MOST)
def test_a_small_trace_is_asked_few_queries_and_none_often(kind, sample, monkeypatch):
    asked: Counter[str] = Counter()
    ask, keep = Duck.ask, Duck.keep

    def counted_ask(self, sql, parameters=None):
        asked[sql] += 1
        return ask(self, sql, parameters)

    def counted_keep(self, name, select):
        asked[name] += 1
        return keep(self, name, select)

    with gwa.open(sample / "swf" / "tiny.swf") as trace:
        monkeypatch.setattr(Duck, "ask", counted_ask)
        monkeypatch.setattr(Duck, "keep", counted_keep)
        made = facts(trace.store) if kind == "facts" else build(trace.store, "tiny").sections
        monkeypatch.undo()
    assert made
    assert asked.total() <= MOST[kind]
    assert asked.most_common(1)[0][1] <= MOST_OFTEN, asked.most_common(3)


def test_one_thread_answers_a_small_trace_unless_the_user_states_threads(sample):
    for stated, used in ((None, 1), (2, 2)):
        with gwa.open(sample / "swf" / "tiny.swf", threads=stated) as trace:
            trace.store.settle()
            assert trace.store.row("select current_setting('threads')")[0] == used
