"""What is said first of waits and outcomes: by core-hour and by job, and only what the log tells."""

import gzip
from typing import Any

import numpy as np
import pytest

import gwa
from gwa.analysis.answers import answers, evidence
from gwa.analysis.base import analyses
from gwa.analysis.finding import findings
from gwa.metrics.outcomes import KNOWN_OUTCOMES
from gwa.words.formatting import fraction
from tests.analysis.sections.blocks import START

SECTIONS = {"waits", "slowdown", "outcomes", "capacity"}


def answer_of(store, question, *, is_selection=False):
    """Return the answer to a question on the jobs of a store."""
    known = evidence(store, (), is_selection=is_selection)
    return next(one for one in answers(known, ()) if one.id == question)


def jobs(many=50, **fields):
    """Return jobs of an hour on one processor, which start at once, of five users."""
    return {
        "submit_time": [START + 60.0 * n for n in range(many)],
        "wait_time": [0.0] * many,
        "run_time": [3600.0] * many,
        "n_procs": [1] * many,
        "user_id": [f"U{n % 5}" for n in range(many)],
        **fields,
    }


def test_waits_are_said_by_core_hour_and_by_job(make_store):
    store = make_store(**jobs(wait_time=[5.0] * 40 + [7200.0] * 10, n_procs=[1] * 40 + [64] * 10))
    answer = answer_of(store, "wait")
    assert (answer.number, answer.caption) == ("2 h", "median core-hour; median job 5 s")
    assert answer.text.startswith(
        "Half of the core-hours went to jobs that waited 2 h or less (half of the jobs that ran: 5 s), 95 %"
        " to jobs that waited 2 h or less (95 % of the jobs that ran: 2 h)."
    )
    assert answer.text.endswith("A single job has 9.4 % of these core-hours.")
    assert answer.picture.data["rows"] == ["1", "64"]


def test_jobs_that_did_not_wait_are_not_said_to_wait_for_no_time_or_less(make_store):
    store = make_store(**jobs(wait_time=[0.0] * 40 + [7200.0] * 10, n_procs=[64] * 40 + [1] * 10))
    assert answer_of(store, "wait").text.startswith(
        "Half of the core-hours went to jobs that did not wait (half of the jobs that ran: 0 s), 95 % to jobs"
        " that did not wait (95 % of the jobs that ran: 2 h)."
    )


@pytest.mark.parametrize(
    ("fields", "state", "number", "text"),
    [
        ({"wait_time": [None] * 50}, "unknown", "", "Wait times are not recorded."),
        ({}, "known", "0 s", "Every known wait is 0 s: no job waited."),
        (
            {"wait_time": [60.0] * 50, "n_procs": [None] * 50},
            "known",
            "1 min",
            (
                "Half of the jobs waited 1 min or less; the 95th percentile is 1 min. By core-hour it is"
                " unknown, for core-hours or their waits are not known."
            ),
        ),
    ],
)
def test_waits_that_are_not_known_are_not_said(make_store, fields, state, number, text):
    answer = answer_of(make_store(**jobs(**fields)), "wait")
    assert (answer.state, answer.number, answer.text) == (state, number, text)


def test_of_waits_that_are_known_in_part_the_part_is_said(make_store):
    store = make_store(**jobs(wait_time=[60.0, None] * 25))
    text = answer_of(store, "wait").text
    assert text.startswith(
        "Half of the core-hours whose wait is known (50 % of all) went to jobs that waited"
    )


def test_one_user_is_not_said_to_have_all_core_hours(make_store):
    store = make_store(**jobs(wait_time=[60.0] * 50, user_id=["U1"] * 50))
    answer = answer_of(store, "wait", is_selection=True)
    assert "U1" not in answer.text
    assert "Resampling" not in answer.text


@pytest.mark.parametrize("seed", range(4))
def test_who_is_served_worst_is_said_by_answer_and_finding_or_by_none(make_store, seed):
    rng = np.random.default_rng(seed)
    many = 3000
    queue = rng.choice(["Q1", "Q2"], many)
    factor = np.where((queue == "Q1") & (seed % 2 == 0), 20, 1)
    store = make_store(
        **jobs(
            many,
            submit_time=(START + np.sort(rng.integers(0, 60 * 86400, many))).astype(float).tolist(),
            wait_time=np.round(rng.exponential(600 * factor)).tolist(),
            queue_id=queue.tolist(),
        )
    )
    known = evidence(store, ())
    text = answer_of(store, "wait").text
    worst = [one for one in findings({**known.facts, "trace.jobs": many}) if one.id == "worst-served"]
    assert ("Worst served" in text) == bool(worst) == (seed % 2 == 0) == bool(known.get("wait.worst"))


def test_where_nobody_waits_nobody_is_served_worst(make_store):
    store = make_store(**jobs(300, queue_id=["Q1", "Q2", "Q3"] * 100))
    known = evidence(store, ())
    assert known.get("wait.worst") is None
    assert "Worst" not in answer_of(store, "wait").text


def test_outcomes_are_said_by_core_hour_and_by_job(make_store):
    status, procs = [1] * 40 + [0] * 6 + [5] * 4, [1] * 40 + [10] * 4 + [5] * 6
    requests = [7200.0] * 40 + [3600.0] * 4 + [7200.0] * 6
    answer = answer_of(make_store(**jobs(status=status, n_procs=procs, req_time=requests)), "wrong")
    assert (answer.number, answer.caption) == ("63.6 %", "of core-hours not completed; of jobs 20 %")
    assert answer.text.startswith(
        "Of the core-hours, 36.4 % went into jobs that reached their time limit, 9.1 % into jobs that failed"
        " and 18.2 % into jobs that were cancelled (of the jobs: 8 %, 4 % and 8 %)."
    )
    assert answer.picture.data["rows"] == ["time limit", "failed", "cancelled"]
    assert answer.picture.data["values"] == pytest.approx([40 / 110, 10 / 110, 20 / 110], rel=1e-4)


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, "How jobs ended is not recorded."),
        (
            {"status": [1] * 50},
            (
                "How jobs ended is unknown: all jobs of the log have the same status, so other outcomes may"
                " not be recorded."
            ),
        ),
    ],
)
def test_outcomes_that_are_not_known_are_not_said(make_store, fields, text):
    answer = answer_of(make_store(**jobs(**fields)), "wrong")
    assert (answer.state, answer.number) == ("unknown", "")
    assert answer.text.startswith(text)


def test_all_jobs_of_a_user_completed_in_a_log_that_records_failures(make_store):
    store = make_store(**jobs(status=[0] + [1] * 49))
    part = store.filtered("user_id = 'U1'")
    assert answer_of(part, "wrong", is_selection=True).text.startswith("All jobs completed.")


def test_all_jobs_completed_where_the_source_has_states(make_store):
    store = make_store(**jobs(status=[1] * 50, state=["COMPLETED"] * 50))
    assert answer_of(store, "wrong").text.startswith("All jobs completed.")


def test_of_jobs_without_an_outcome_nothing_is_said(make_store):
    store = make_store(**jobs(status=[1] * 20 + [0] * 5 + [None] * 25))
    answer = answer_of(store, "wrong")
    assert answer.text.startswith(
        "Of the core-hours of jobs whose outcome is known, 20 % went into jobs that failed"
    )
    assert "Whether any of them reached a time limit is unknown." in answer.text


def test_outcomes_are_shares_of_what_the_first_screen_counts(make_store):
    """A job that runs on when the log ends counts for what it held until then, in each view."""
    run_times = [18000.0] * 97 + [2 * 86400.0] + [18000.0] * 2
    submitted = [START + 6 * 3600.0 * n for n in range(100)]
    status = [0] * 10 + [1] * 87 + [0] + [1] * 2
    store = make_store(**jobs(100, submit_time=submitted, run_time=run_times, status=status))
    known = evidence(store, ())
    held = {name: known.get(f"usage.outcomes.{name}") or 0.0 for name in KNOWN_OUTCOMES}
    share = held["failed"] / sum(held.values())
    of_runs = {row["id"]: row["core_hours"] for row in known.get("outcomes.shares")}
    assert 0 < share < of_runs["failed"] - 0.01
    answer = answer_of(store, "wrong")
    assert answer.number == fraction(share)
    assert f"{fraction(share)} went into jobs that failed" in answer.text
    finding = next(one for one in findings(known.facts) if one.id == "failures")
    assert f"{fraction(share)} went into jobs that failed" in finding.text


@pytest.mark.parametrize("running", [10, 40])
def test_of_what_little_is_known_no_finding_is_made(make_store, running):
    """Jobs that still run have no outcome: where most core-hours are theirs, shares of others mislead."""
    ended = 50 - running
    store = make_store(
        **jobs(
            submit_time=[START + 3600.0 * n for n in range(50)],
            run_time=[3600.0] * ended + [None] * running,
            status=[0] * (ended // 2) + [1] * (ended - ended // 2) + [None] * running,
            state=["FAILED"] * (ended // 2) + ["COMPLETED"] * (ended - ended // 2) + ["RUNNING"] * running,
        )
    )
    known = evidence(store, ())
    assert known.get("outcomes.jobs.running") == running
    answer = answer_of(store, "wrong")
    assert " whose outcome is known" in answer.text
    assert ("failures" in {one.id for one in findings(known.facts)}) == (running < 25)


def test_running_jobs_are_counted_apart(make_store):
    runs = [3600.0] * 48 + [None] * 2
    store = make_store(**jobs(status=[1] * 40 + [0] * 8 + [None] * 2, run_time=runs))
    assert "2 jobs had not ended when the log did." in answer_of(store, "wrong").text


LOGS = {
    "CEA-Curie-2011-2.1-cln": (5_461, 265_000, 0.107),
    "KTH-SP2-1996-2.1-cln": (48_180, 488_000, 0.405),
    "LANL-CM5-1994-4.1-cln": (8, 45_700, None),
    "HPC2N-2002-2.1-cln": (27_000, 546_000, None),
    "RICC-2010-2": (42_900, 1_340_000, 0.002),
    "LLNL-Thunder-2007-1.1-cln": (None, None, 0.001),
    "METACENTRUM-2009-2-noheader": (37, 254_000, None),
}
"""Median and 95th percentile of waits by core-hour in seconds, and the share at the time limit, roughly."""


@pytest.mark.slow
@pytest.mark.parametrize("name", LOGS)
def test_numbers_by_core_hour_of_real_logs(logs, name):
    path = logs / "swf" / f"{name}.swf.gz"
    with gzip.open(path, "rt", errors="replace") as file:
        rows = [line.split()[:11] for line in file if line.strip() and not line.startswith(";")]
    wait, run, procs, request, status = np.array(rows, float)[:, [2, 3, 4, 8, 10]].T
    by_id = {one.id: one for one in analyses()}
    with gwa.open(path) as trace:
        facts: dict[str, Any] = {
            fact.id: fact.value
            for section in ("waits", "outcomes")
            for fact in by_id[section].section(trace.store).facts()
        }
    hours = np.where((run >= 0) & (procs >= 1), run * procs, 0)
    median, high, limit = LOGS[name]
    if median:
        known = wait >= 0
        order = np.argsort(wait[known], kind="stable")
        upto = np.cumsum(hours[known][order])
        exact = [wait[known][order][np.searchsorted(upto, share * upto[-1])] for share in (0.5, 0.95)]
        assert [facts["wait.weighted.median"], facts["wait.weighted.p95"]] == exact
        assert exact == pytest.approx([median, high], rel=0.03)
    at_limit = (run >= 60) & (request > 0) & (run >= 0.98 * request) & (run <= 1.05 * request + 600)
    at_limit &= np.isin(status, (0, 5))
    if limit is None:
        assert facts["outcomes.core_hours.limit"] is None
    else:
        assert facts["outcomes.core_hours.limit"] == pytest.approx(hours[at_limit].sum() / 3600, rel=1e-9)
        shares = {row["id"]: row["core_hours"] for row in facts["outcomes.shares"]}
        assert shares["limit"] == pytest.approx(limit, abs=0.001)
