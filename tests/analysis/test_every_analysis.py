"""What holds for every analysis, found by looking."""

import json
from typing import Any

import pytest
import sqlglot

from gwa.analysis.base import analyses
from gwa.analysis.build import build
from gwa.metrics.carbon import Carbon
from gwa.metrics.quotas import Quotas
from gwa.report.as_json import as_json
from gwa.report.document import Facts, Figure, Note, Report
from gwa.report.drawing import draw
from gwa.store.engines.spark_sql import to_spark_sql
from gwa.store.schema import GWF_FIELDS
from gwa.trace import Trace

SOME: dict[str, list[Any]] = {
    "job_id": [1, 2, 3, 4, 5, 6],
    "submit_time": [1e9, 1e9 + 10, 1e9 + 10, 1e9 + 4000, 1e9 + 90_000, None],
    "wait_time": [0.0, 5.0, None, 100.0, 0.0, 3.0],
    "run_time": [100.0, 0.0, 50.0, None, 7200.0, 60.0],
    "n_procs": [1, 4, 2, None, 8, 1],
    "average_cpu_time": [90.0, None, 45.5, None, 7000.0, 1.0],
    "used_memory": [1000.0, 0.0, 5e6, None, 2048.0, 1.0],
    "req_n_procs": [1, 4, 2, 1, 8, 1],
    "req_time": [3600.0, 60.0, 60.0, 60.0, 7200.0, 60.0],
    "req_memory": [2000.0, None, 1e7, None, 4096.0, 1.0],
    "status": [1, 0, 5, 5, 1, None],
    "user_id": ["U1", "U2", "<script>", None, "U1", "U1"],
    "group_id": ["G1", "G1", "G2", None, "G1", "G1"],
    "project_id": ["P1", "P1", "<b>", None, "P2", "P1"],
    "n_nodes": [1, 1, 2, None, 4, 1],
    "n_gpus": [1.0, None, 0.5, None, 0.0, 8.0],
    "gpu_type": ["a100", None, "<i>:1,v100:2", None, None, None],
    "gpu_utilization": [0.5, None, 0.0, None, None, 1.0],
    "energy": [1e6, None, 5e6, None, 3.6e6, 0.0],
    "eligible_time": [1e9, 1e9 + 12, None, None, 1e9 + 90_000, None],
    "max_memory": [1500.0, None, 2e6, None, 1024.0, 1.0],
    "state": ["COMPLETED", "TIMEOUT", "<u>", None, "OUT_OF_MEMORY", None],
    "node_list": ["n1", "n[1-2]", "n1*3,n2", None, "n[1-4]", "n3"],
}

# fmt: off
DEGENERATE: dict[str, dict[str, list[Any]]] = {
    "one job": {
        "submit_time": [5.0], "run_time": [3.0], "n_procs": [1], "user_id": ["u"], "wait_time": [1.0],
    },
    "one job of no length": {
        "submit_time": [5.0], "run_time": [0.0], "n_procs": [1], "wait_time": [0.0],
    },
    "all equal": {
        "submit_time": [7.0] * 9, "run_time": [60.0] * 9, "n_procs": [2] * 9, "user_id": ["u"] * 9,
    },
    "nothing ran": {
        "submit_time": [1.0, 2.0], "run_time": [None, None], "n_procs": [None, None], "status": [5, 5],
    },
    "no processor": {
        "submit_time": [1.0, 2.0], "run_time": [9.0, 9.0], "n_procs": [0, 0],
    },
    "no submit time": {
        "submit_time": [None, None], "run_time": [9.0, 9.0], "n_procs": [1, 1],
    },
    "a user per job": {
        "submit_time": [1.0, 2.0, 3.0], "run_time": [1.0] * 3, "n_procs": [1] * 3, "user_id": ["a", "b", "c"],
    },
    "a year of silence": {
        "submit_time": [1e9, 1e9 + 4e7], "run_time": [60.0, 60.0], "n_procs": [1, 1], "wait_time": [0.0, 0.0],
    },
    "fractions of seconds": {
        "submit_time": [1e9 + 0.25, 1e9 + 0.5], "run_time": [0.125, 0.3], "n_procs": [1, 3],
    },
    "memory of nothing": {
        "used_memory": [0.0, 0.0], "submit_time": [1.0, 2.0],
    },
}
# fmt: on


def _same(count: int, **fields: Any) -> dict[str, list[Any]]:
    """Return *count* jobs with everything a trace may record, alike but for *fields*."""
    alike = {name: [values[4]] * count for name, values in SOME.items()}
    return {**alike, "job_id": list(range(1, count + 1)), **fields}


MANY = 60

LARGE: dict[str, dict[str, list[Any]]] = {
    "one job": _same(1),
    "all equal": _same(MANY),
    "all simultaneous": _same(
        MANY, run_time=[float(2**n) for n in range(MANY // 4)] * 4, n_procs=[1, 2, 3, 8] * (MANY // 4)
    ),
    "a user per job": _same(
        MANY,
        user_id=[f"U{n}" for n in range(MANY)],
        submit_time=[1e9 + 3600.0 * n for n in range(MANY)],
        run_time=[10.0 * n for n in range(MANY)],
    ),
    "no user at all": _same(
        MANY,
        user_id=[None] * MANY,
        group_id=[None] * MANY,
        submit_time=[1e9 + 700.0 * n for n in range(MANY)],
    ),
    "a year of silence in the middle": _same(
        4 * MANY,
        submit_time=[1e9 + 900.0 * n + (3.15e7 if n >= 2 * MANY else 0) for n in range(4 * MANY)],
        run_time=[1.0 + n * n % 997 for n in range(4 * MANY)],
    ),
}
"""The same with all that a trace may record, and enough jobs for fits, clusters and Hurst estimates."""

EVERY = pytest.mark.parametrize("one", analyses(), ids=lambda one: one.id)


@EVERY
def test_says_what_it_shows(one):
    assert one.help.endswith(".")
    assert one.title[0].isupper()


@pytest.fixture(scope="module")
def some(make_shared_store):
    """Return a trace with everything, which sections share as in a report."""
    return make_shared_store(**SOME)


@EVERY
def test_yields_blocks_on_a_trace_with_everything(one, some):
    section = one.section(some)

    assert section.blocks
    assert not any(isinstance(block, Note) and block.level == "error" for block in section.blocks)
    told = [fact.id for fact in Report("", "", (section,), None, {}).facts()]
    assert [name for name in told if not name.startswith(one.facts)] == []


@EVERY
def test_says_so_where_a_field_it_needs_is_missing(one, make_store):
    for name in one.needs:
        without = {key: values for key, values in SOME.items() if key != name}
        section = one.section(make_store(**without))

        assert [type(block) for block in section.blocks] == [Note]
        assert "does not record" in section.blocks[0].text


@pytest.fixture(scope="module", params=DEGENERATE)
def degenerate(request, make_shared_store):
    """Return a trace that leaves hardly anything to analyse; sections share its store, as in a report."""
    return make_shared_store(**DEGENERATE[request.param])


@EVERY
def test_yields_or_says_why_not_on_a_degenerate_trace(one, degenerate):
    section = one.section(degenerate)

    assert section.blocks
    for block in section.blocks:
        if isinstance(block, Facts):
            json.dumps([fact.value for fact in block.facts], allow_nan=False)
        if isinstance(block, Figure):
            json.dumps(block.data, allow_nan=False)


@pytest.mark.parametrize("case", LARGE, ids=str)
def test_every_analysis_yields_or_says_why_not(case, make_store):
    store = make_store(**LARGE[case])

    for one in analyses():
        section = one.section(store)
        assert section.blocks, one.id
        for fact in Report("", "", (section,), None, {}).facts():
            json.dumps(fact.value, allow_nan=False)
        for block in section.blocks:
            if isinstance(block, Figure):
                json.dumps(block.data, allow_nan=False)
                assert draw(block).startswith("<svg"), block.id


def test_asks_the_engine_in_words_that_another_engine_understands(make_store):
    """Every query is translated to Spark SQL, and what comes out parses there."""
    store, asked = make_store(**SOME), set()
    store.stated |= {"carbon": Carbon(constant=100.0), "quota": Quotas(users={"U1": 10.0})}

    def noted(function, place=0):
        def ask(*words):
            asked.add(words[place])
            return function(*words)

        return ask

    store.rows, store.arrays = noted(store.rows), noted(store.arrays)
    store.database.keep = noted(store.database.keep, 1)
    for one in analyses():
        one.section(store)

    assert len(asked) > len(analyses())
    for query in asked:
        assert sqlglot.parse_one(to_spark_sql(query), read="spark") is not None
        assert not any(
            word in query.lower() for word in ("quantile", "percentile", "skewness", "kurtosis", "hugeint")
        ), query


@pytest.fixture(scope="module")
def report(make_shared_store):
    """Return the report on a trace with everything."""
    return build(make_shared_store(**SOME), "some", strict=True)


def test_fact_ids_are_unique(report):
    ids = [fact.id for fact in report.facts()]

    assert len(ids) == len(set(ids))


@pytest.fixture(scope="module")
def every_fact(make_shared_store):
    """Return all facts of a trace with everything."""
    return Trace(make_shared_store(**SOME), "some").facts(every=True)


@pytest.mark.parametrize("prefix", ["trace", "jobs.procs.m", "jobs", "bags.minh.gap.median", "nothing"])
def test_facts_asked_for_by_prefix_are_those_of_the_whole(prefix, make_store, every_fact):
    trace = Trace(make_store(**SOME), "some")
    assert trace.facts(prefix) == {
        name: value for name, value in every_fact.items() if name.startswith(prefix)
    }


def test_facts_do_not_depend_on_the_order_of_jobs(make_store, report):
    backwards = {name: values[::-1] for name, values in SOME.items()}
    back = build(make_store(**backwards), "some", strict=True)

    assert [vars(fact) for fact in report.facts()] == [vars(fact) for fact in back.facts()]


def test_an_analysis_that_fails_leaves_a_note_and_the_rest(make_store, monkeypatch):
    store = make_store(**SOME)
    monkeypatch.setattr("gwa.analysis.sections.waits.summary", lambda *_: 1 / 0)
    report = build(store, "some")

    assert report.failed
    assert [section.id for section in report.sections if section.failed] == ["waits"]
    assert len(report.sections) == sum(one.is_wanted(store) for one in analyses())
    with pytest.raises(ZeroDivisionError):
        build(store, "some", strict=True)


def test_the_report_as_json_has_every_fact(report):
    text = as_json(report)

    assert all(json.dumps(fact.id) in text for fact in report.facts())
    assert len(GWF_FIELDS) == 29
