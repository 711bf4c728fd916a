"""Waits are from when a job could start, in all that a page says of them."""

import math
from typing import Any

import pytest

from gwa.analysis.base import analyses
from gwa.analysis.build import build
from gwa.breakdown.breakdown import columns
from gwa.breakdown.cube import cube
from gwa.breakdown.dimensions import by_name
from gwa.util.assets import asset

HELD, WAIT = 54_000.0, 360.0
"""Half of the jobs depend on others for 15 h, and all wait for the system for six minutes then."""


@pytest.fixture
def chained(make_store):
    jobs = range(200)
    submit = [10_800.0 * n for n in jobs]
    held = [HELD * (n % 2) for n in jobs]
    return make_store(
        (("Times", "Unix seconds, UTC"), ("Processors", "16")),
        submit_time=submit,
        eligible_time=[one + other for one, other in zip(submit, held, strict=True)],
        wait_time=[one + WAIT for one in held],
        run_time=[7200.0] * len(jobs), n_procs=[4] * len(jobs), user_id=[f"u{n % 5}" for n in jobs],
    )  # fmt: skip


def test_the_first_screen_and_the_chapter_count_from_when_jobs_could_start(chained):
    """The first screen said 15 h, and the section below it six minutes."""
    report = build(chained, "log", only=["waits", "waits-by-class", "slowdown"])
    (answer,) = (one for one in report.answers if one.id == "wait")
    numbers = [report.fact(name).value for name in ("jobs.wait.median", "wait.weighted.p95", "wait.ran.p95")]
    lists: list[Any] = [report.fact(f"wait.by_{name}").value for name in ("month", "user", "size")]

    assert {*numbers, *(rows[0]["p95"] for rows in lists)} == {WAIT}
    assert answer.number == "6 min"
    assert "jobs that waited 6 min or less" in answer.text
    assert "98.7 % of the time from submission to start lay before." in answer.text
    assert report.fact("wait.held.share").value == pytest.approx(100 * HELD / (100 * HELD + 200 * WAIT))
    assert report.fact("wait.submitted.p95").value == HELD + WAIT


def test_the_cells_of_a_page_have_the_same_waits(chained):
    assert set(cube(chained).jobs["wait"].to_pylist()) == {math.floor(2 * math.log2(WAIT))}


def test_a_median_wait_in_a_table_of_classes_is_the_same_one(chained):
    headings = {column.key: (column.label, column.minor) for column in columns(chained, by_name("users"))}

    assert headings["queued_median"] == ("Median wait", False)
    assert headings["wait_median"] == ("Median wait since submission", True)


def test_a_page_calls_a_median_wait_by_one_name(chained):
    """Tables of one page had "Median wait" and "Median wait time"."""
    report = build(chained, "log", only=["waits", "waits-by-class", "slowdown", "changes"])
    labels = {str(column) for table in report.tables() for column in getattr(table, "columns", ())}
    catalogue = asset("templates", "languages", "messages.pot").read_text()

    assert labels
    assert not [label for label in labels if "Median wait time" in label]
    assert 'msgid "Median wait"' in catalogue
    assert 'msgid "Median wait time"' not in catalogue


def test_without_such_a_time_waits_are_since_submission(make_store):
    store = make_store(submit_time=[0.0, 10.0], wait_time=[60.0, 60.0], run_time=[5.0, 5.0], n_procs=[1, 1])
    report = build(store, "log", only=["waits"])

    assert report.fact("jobs.wait.median").value == 60
    assert "lay before" not in next(one.text for one in report.answers if one.id == "wait")
    assert "wait.held.share" not in {fact.id for fact in report.facts()}
    assert {one.id for one in analyses() if "wait.held" in one.facts} == {"waits"}
