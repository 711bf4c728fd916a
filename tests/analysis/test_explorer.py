"""What a page filters: codes that name their classes, sums that are those of the trace."""

import json
from datetime import timedelta

import numpy as np
import pytest

import gwa
from gwa.analysis.explorer import explorer as explorer_or_none
from gwa.breakdown.cube import EPOCH
from gwa.breakdown.planes import PlaneColumn, PlaneTable, unpacked
from gwa.report.as_json import as_json
from gwa.report.html import html
from gwa.report.language import read_language, translated
from gwa.store.subset import Subset, select
from gwa.util.units import DAY, HOUR

HOSTILE = "</script><b>&"


def explorer(store, facts):
    """Return what the page of a trace filters, which it has."""
    made = explorer_or_none(store, facts)
    assert made is not None
    return made


def between(page, first, last):
    """Return what stands between two texts."""
    return page.partition(first)[2].partition(last)[0]


def tables_of(made):
    """Return the unpacked tables of an explorer."""
    layout = {
        name: PlaneTable(table["rows"], tuple(PlaneColumn(**column) for column in table["columns"]))
        for name, table in made.tables.items()
    }
    return unpacked(layout, made.cells)


@pytest.fixture(scope="module")
def trace():
    """Return a small trace with users, groups, queues, sizes and requests."""
    with gwa.open("sample_traces/swf/tiny.swf") as opened:
        yield opened


def test_each_list_adds_up_to_the_trace_and_each_code_has_a_name(trace):
    made = explorer(trace.store, {})
    tables = tables_of(made)
    assert tables["jobs"]["jobs"].sum() == trace.facts("trace.jobs")["trace.jobs"]
    rows = trace.sql("select user_id, count(*) as n from jobs group by user_id").set_index("user_id").n
    users = next(choice for choice in made.choices if choice.key == "user")
    for code, name in enumerate(users.names):
        assert tables["jobs"]["jobs"][tables["jobs"]["user"] == code].sum() == rows[name]
    for choice in made.choices:
        for table in ("jobs", "usage"):
            assert tables[table][choice.key].max() <= len(choice.names) + 1


def test_days_lie_within_the_first_and_the_last(trace):
    made = explorer(trace.store, {})
    days = tables_of(made)["days"]
    assert days["day"][0] == 0
    assert made.first_day + days["day"][-1] < made.last_day
    assert (np.diff(days["day"]) > 0).all()


def test_lists_that_tell_jobs_apart_as_another_does_are_left_out(make_store):
    same = ["a", "b", "a", "b"]
    store = make_store(
        submit_time=[0.0, 1e5, 2e5, 3e5], wait_time=[0.0] * 4, run_time=[10.0] * 4, n_procs=[1] * 4,
        user_id=same, queue_id=[name.upper() for name in same], partition_id=["only"] * 4,
    )  # fmt: skip
    assert [choice.key for choice in explorer(store, {}).choices] == ["user"]


def test_a_trace_without_times_has_nothing_to_explore(make_store):
    assert explorer_or_none(make_store(user_id=["a", "b"], run_time=[1.0, 2.0], n_procs=[1, 1]), {}) is None


def test_jobs_beyond_the_largest_are_counted_as_others(make_store, monkeypatch):
    from gwa.breakdown import cube as cubes

    monkeypatch.setattr(cubes, "GRAINS", (cubes.Grain(1, 2, 2),))
    store = make_store(
        submit_time=[1e5 * n for n in range(8)], wait_time=[0.0] * 8, n_procs=[1] * 8,
        run_time=[10.0 * n + 10 for n in range(8)], user_id=[f"u{n % 5}" for n in range(8)],
    )  # fmt: skip
    users = explorer(store, {}).choices[0]
    assert users.names == ("u2", "u1")
    assert users.others == 3


def test_the_page_holds_the_cells_and_the_json_does_not(trace):
    report = trace.report(["overview"], explore=True)
    page = html(report)
    about = json.loads(between(page, 'id="explorer-about">', "</script>"))
    assert about["tables"]["jobs"]["rows"] > 0
    assert "cells" not in about
    assert 'id="explorer-data"' in page
    assert "explorer" not in json.loads(as_json(report))
    assert 'id="explorer-data"' not in html(trace.report(["overview"]))


def test_names_of_a_log_stay_text(make_store):
    from gwa.analysis.build import build

    store = make_store(
        submit_time=[0.0, 1e5, 2e5], wait_time=[0.0] * 3, run_time=[10.0] * 3, n_procs=[1] * 3,
        user_id=[HOSTILE, "b", "c"],
    )  # fmt: skip
    page = html(build(store, "x", only=["overview"], explore=True))
    about = between(page, 'id="explorer-about">', "</script>")
    assert HOSTILE not in page
    assert HOSTILE in json.loads(about)["choices"][0]["names"]


def test_headings_and_classes_are_in_the_language_and_names_are_not(trace):
    german = translated(trace.report(["overview"], explore=True), read_language("de")).explorer
    assert german is not None
    english = explorer(trace.store, {})
    for mine, theirs in zip(german.choices, english.choices, strict=True):
        assert mine.key == theirs.key
        assert mine.has_own_order or mine.names == theirs.names
    assert {choice.heading for choice in german.choices} != {choice.heading for choice in english.choices}
    assert german.outcomes["completed"] != english.outcomes["completed"]


def test_without_scripts_the_first_picture_stands_in_the_page(trace):
    page = html(trace.report(["overview"], explore=True))
    picture = between(page, "<noscript>", "</svg>")
    assert "2025-03-10" in picture
    assert 'fill="var(--outcome-completed, #' in picture
    assert "nan" not in picture


def test_jobs_without_a_day_stand_after_the_last_one(make_store):
    store = make_store(
        submit_time=[0.0, 1e5, None], wait_time=[0.0] * 3, run_time=[10.0] * 3, n_procs=[1] * 3,
        user_id=["a", "b", "c"],
    )  # fmt: skip
    tables = tables_of(explorer(store, {}))
    assert sorted(tables["jobs"]["day"].tolist()) == [0, 1, 2]
    assert len(tables["days"]["day"]) == 2


def test_waits_that_are_not_recorded_have_no_classes(make_store):
    store = make_store(submit_time=[0.0, 1e5], run_time=[10.0] * 2, n_procs=[1] * 2, user_id=["a", "b"])
    assert explorer(store, {}).octaves == 0


def test_of_a_period_others_are_not_counted_for_some_only_ran_in_it(trace):
    users = next(
        one for one in explorer(trace.filter(period="2025-03-14").store, {}).choices if one.key == "user"
    )
    assert users.others == 0


def measured_jobs(**others):
    """Return jobs of two projects of which three are measured, and two tell idle GPUs."""
    return {
        "submit_time": [0.0, 1e5, 2e5, 3e5], "wait_time": [0.0] * 4, "run_time": [3600.0] * 4,
        "n_procs": [4] * 4, "n_gpus": [4.0, 2.0, 1.0, None], "project_id": ["a", "b", "a", "b"], **others,
    }  # fmt: skip


def test_cells_hold_what_is_measured_of_gpus_and_the_time_of_which_it_is_known(make_store):
    found = {"gpu_utilization": [0.25, 0.5, None, 0.5], "idle_gpus": [3, None, None, 1]}
    usage = tables_of(explorer(make_store(**measured_jobs(**found)), {}))["usage"]
    sums = {name: values.sum() / 3600 for name, values in usage.items() if name.endswith("_seconds")}
    assert sums == {"cpu_seconds": 16, "gpu_seconds": 7, "gpu_used_seconds": 2, "gpu_known_seconds": 6}


def test_cells_of_a_log_without_measurements_have_none(make_store):
    usage = tables_of(explorer(make_store(**measured_jobs()), {}))["usage"]
    assert {name for name in usage if name.startswith("gpu_")} == {"gpu_seconds"}


def test_what_is_measured_of_nothing_is_unknown(make_store, monkeypatch):
    from gwa.analysis.build import facts
    from gwa.analysis.sections import usage
    from gwa.breakdown.held import Held

    amounts = dict.fromkeys(("gpu_used_seconds", "gpu_known_seconds", "gpu_idle_seconds"), 0.0)
    monkeypatch.setattr(usage, "held", lambda _: Held({**amounts, "gpu_idle_known_seconds": 9.0}, {}))
    found = {one.id: one.value for one in facts(make_store(**measured_jobs()), "usage.gpu")}
    assert found == {
        "usage.gpu_used_seconds": None, "usage.gpu_known_seconds": 0.0, "usage.gpu_idle_seconds": 0.0,
        "usage.gpu_idle_known_seconds": 9.0,
    }  # fmt: skip


def test_facts_of_a_period_are_what_its_jobs_used(make_store):
    from gwa.analysis.build import facts

    count = 400
    store = make_store(
        submit_time=[3600.0 * n for n in range(count)], wait_time=[0.0] * count, run_time=[7200.0] * count,
        n_procs=[4] * count, n_gpus=[2.0] * count, status=[1] * count, idle_gpus=[None] * (count - 1) + [0],
        gpu_utilization=[0.25 * (n % 3) if n < count / 2 else None for n in range(count)],
    )  # fmt: skip
    found = {one.id: one.value for one in facts(store.filtered("true", (360000.0, 390000.0)), "usage")}
    expected = {"": 0.0, "known_": 0.0, "used_": 0.0}
    for n in range(count):
        lasted = max(0.0, min(n * 3600 + 7200, 390000) - max(n * 3600, 360000))
        expected[""] += 2 * lasted
        expected["known_"] += 2 * lasted if n < count / 2 else 0
        expected["used_"] += 2 * lasted * 0.25 * (n % 3) if n < count / 2 else 0
    assert {name: found[f"usage.gpu_{name}seconds"] for name in expected} == pytest.approx(expected)


@pytest.mark.parametrize("period", ["", "2010-03"])
def test_weeks_begin_and_end_where_the_log_or_the_period_does(period, make_store, monkeypatch):
    """The boxes of dates beside the first picture are those of the head of the page."""
    from gwa.analysis.build import build
    from gwa.breakdown import cube as cubes

    monkeypatch.setattr(cubes, "GRAINS", (cubes.Grain(7, 2, 2),))
    wednesday, count = 1_262_736_000.0, 120  # 6 January 2010
    store = make_store(
        submit_time=[wednesday + n * DAY for n in range(count)], wait_time=[0.0] * count,
        run_time=[HOUR] * count, n_procs=[1] * count, user_id=[f"u{n % 5}" for n in range(count)],
    )  # fmt: skip
    store.set_header((("Times", "Unix seconds, UTC"), ("TimeZoneString", "UTC")))
    filters = [Subset(period=period)] if period else []
    part = select(store, filters[0]) if filters else store
    made = explorer(part, {})
    first, last = (str(EPOCH + timedelta(days=day)) for day in (made.first_day, made.last_day - 1))
    assert (first, last) == (("2010-03-01", "2010-03-31") if period else ("2010-01-06", "2010-05-05"))
    assert build(part, "log", filters=filters, only=["overview"]).period.startswith(f"{first} to {last} ")
    days = tables_of(made)["days"]["day"]
    assert days[0] == 0
    assert set(np.diff(days)[1:]) == {7}


def test_everybody_can_be_chosen(logs):
    """Of Curie's 582 users none is among the others: all together take fewer cells than hours would."""
    with gwa.open(next(logs.glob("swf/CEA-Curie*"))) as trace:
        found = explorer(trace.store, {})
    users = next(choice for choice in found.choices if choice.key == "user")
    assert (len(users.names), users.others) == (582, 0)
    assert len(found.cells) < 500_000
