"""Every fact of every sample trace: unit, kind and range agree, and what means the same is the same."""

import math
import re
from collections import defaultdict
from pathlib import Path
from typing import get_args

import pytest

import gwa
from gwa.analysis.base import Chapter, Drawing, analysis
from gwa.analysis.build import facts
from gwa.report.document import Fact, Note
from gwa.words.formatting import FORMATS
from gwa.words.unit import Unit

HOME = Path(__file__).parents[2] / "sample_traces"
TRACES = sorted(path for path in HOME.glob("*/expected.gwf"))
QUICK = {"slurm", "sge"}
"""These take part each time, the others with the slow tests."""

MAY_EXCEED_ONE = re.compile(
    r"estimates\.(time|memory|cpu)\.(mean|median|p95|max|overall)$"  # what is used of what was asked for
    r"|efficiency\.time\.mean$"  # of time limits that nothing enforces
    r"|demand\."  # what runs and waits, of all processors
    r"|utilization\.|users\.by|groups\.by"  # of processors that a header states, which may be wrong
)
AVERAGED = re.compile(
    r"\.(mean|median|p95|mean_nonzero|mean_per_day|typical_day|jobs_per_day|procs_mean)$"
    r"|^perf\.(running|waiting)\.|^capacity\.peak$|^gpu\.total$"  # averages over intervals, shares of GPUs
    r"|^(utilization|gpu|nodes)\.(known_)?busy(_at_least)?$"
)
"""Averages and quantiles of counts are not whole numbers."""

SUMMARIES = ("min", "median", "p95", "max")

SAME = (
    ("trace.users", "fit.user_rank.zipf.ranks"),
    ("trace.jobs", "flurries.with.jobs"),
    ("trace.users", "flurries.with.users"),
    ("trace.cpu_seconds", "flurries.with.cpu_seconds"),
    ("trace.ran", "fit.runtime.n"),
    ("jobs.runtime.mean", "flurries.with.runtime_mean"),
    ("jobs.runtime.median", "flurries.with.runtime_median"),
    ("jobs.procs.mean", "flurries.with.procs_mean"),
    ("arrivals.day.max", "flurries.with.busiest_day"),
)
"""Facts that mean the same, where a trace has both."""


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(path, marks=() if path.parent.name in QUICK else pytest.mark.slow, id=path.parent.name)
        for path in TRACES
    ],
)
def found(request) -> dict[str, Fact]:
    with gwa.open(request.param) as trace:
        report = trace.report()
        return {fact.id: fact for fact in report.facts()}


def numbers(found: dict[str, Fact], *units: Unit) -> dict[str, float]:
    return {
        fact.id: fact.value
        for fact in found.values()
        if isinstance(fact.value, int | float) and not isinstance(fact.value, bool) and fact.unit in units
    }


def test_every_unit_can_be_written():
    assert set(get_args(Unit)) == set(FORMATS)
    assert FORMATS["seconds squared"](1234.5) == "1,234 s²"


def test_fractions_are_between_0_and_1(found):
    wrong = {
        name: value
        for name, value in numbers(found, "fraction").items()
        if not 0 <= value <= (math.inf if MAY_EXCEED_ONE.match(name) else 1)
    }
    assert not wrong


def test_counts_are_whole_and_durations_and_amounts_at_least_0(found):
    counted = numbers(found, "count")
    assert not {name: value for name, value in counted.items() if value < 0}
    assert not {name: v for name, v in counted.items() if v != int(v) and not AVERAGED.search(name)}
    amounts = numbers(found, "seconds", "seconds squared", "kilobytes", "cpu seconds", "per day", "per hour")
    assert not {name: value for name, value in amounts.items() if value < 0}


def test_numbers_are_finite_and_their_words_are_those_of_their_unit(found):
    for fact in found.values():
        assert fact.label, fact.id
        if isinstance(fact.value, float):
            assert math.isfinite(fact.value), fact.id
        is_fraction = isinstance(fact.value, float) and re.search(
            r"\b(share|fraction) of", fact.label.lower()
        )
        assert not is_fraction or fact.unit == "fraction", fact
        assert "percent" not in fact.label.lower().replace("percentile", ""), fact
        assert fact.unit != "seconds" or "variance" not in fact.label.lower(), fact


def test_summaries_are_in_order(found):
    families: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for name, value in numbers(found, *get_args(Unit)).items():
        family, _, last = name.rpartition(".")
        families[family][last] = value
    for family, values in families.items():
        ordered = [values[name] for name in SUMMARIES if name in values]
        assert ordered == sorted(ordered), family
        if {"min", "mean", "max"} <= values.keys():
            slack = 1e-9 * max(abs(values["max"]), 1)
            assert values["min"] - slack <= values["mean"] <= values["max"] + slack, family


def test_what_means_the_same_is_the_same(found):
    for one, other in SAME:
        if one in found and other in found:
            assert found[one].value == pytest.approx(found[other].value, rel=1e-9), (one, other)
    for period in ("day", "week", "month"):
        if f"arrivals.busiest_{period}" in found:
            busiest = found[f"arrivals.busiest_{period}"].value
            assert busiest["jobs"] == found[f"arrivals.{period}.max"].value
    if "jobs.sequential.count" in found:
        both = found["jobs.sequential.count"].value + found["jobs.parallel.count"].value
        assert both == found["trace.ran"].value
    for family in ("users", "groups"):
        if f"{family}.half_jobs" in found:
            assert found[f"{family}.half_jobs"].value <= found[f"trace.{family}"].value


def test_drawings_are_made_only_where_they_are_shown(make_store):
    made = []

    def draw():
        made.append(Note("drawn"))
        return made[0]

    @analysis("Drawn", Chapter.TRACE, facts=("drawn",))
    def drawn(_):
        """Nothing but a drawing."""
        yield Drawing(draw)

    store = make_store(submit_time=[0.0])

    assert drawn.section(store, is_drawn=False).blocks == ()
    assert not made
    assert drawn.section(store).blocks == tuple(made)
    assert made


def test_facts_take_no_queries_for_figures_alone(make_store, monkeypatch):
    for section in ("utilization", "run_times"):
        monkeypatch.setattr(f"gwa.analysis.sections.{section}._figure", lambda *_: pytest.fail("a figure"))
    store = make_store(submit_time=[0.0, 5.0], wait_time=[0.0, 0.0], run_time=[9.0, 9.0], n_procs=[1, 1])

    assert {fact.id for fact in facts(store, "jobs.runtime")} >= {"jobs.runtime.mean"}
    assert {fact.id for fact in facts(store, "utilization")} >= {"utilization.span_mean"}
