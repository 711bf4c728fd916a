"""Two periods beside each other: planted differences are told, chance is not, and users are who they are."""

import numpy as np
import pytest

import gwa
from gwa.analysis.comparison.levels import compare_levels, level_findings
from gwa.store.subset import Subset, select

DAY = 86_400
DATED = (("Times", "Unix seconds, UTC"), ("Processors", "16"))
JUNE, JULY = "1970-06", "1970-07"
BEGIN = 151 * DAY
"""The first of June 1970."""


def two_months(make_store, seed=1, jobs=40, longer_waits=1.0, more_failures=0.0, more_jobs=1.0, **more):
    """Return June and July of a log that begins in May; in July some things are so many times as large."""
    rng = np.random.default_rng(seed)
    days = np.arange(BEGIN // DAY - 20, BEGIN // DAY + 80)
    july = days >= BEGIN // DAY + 30
    counts = rng.poisson(jobs * np.where(july, more_jobs, 1.0) * np.where(days % 7 < 2, 0.4, 1.0))
    later = np.repeat(july, counts)
    submit = np.sort(np.repeat(days, counts) * DAY + rng.integers(0, DAY, counts.sum()))
    total = submit.size
    columns = {
        "submit_time": submit.astype(float).tolist(),
        "wait_time": np.round(rng.exponential(3600, total) * np.where(later, longer_waits, 1.0)).tolist(),
        "run_time": np.round(rng.lognormal(7, 1, total)).tolist(),
        "n_procs": (2 ** rng.integers(0, 4, total)).tolist(),
        "status": np.where(rng.random(total) < 0.05 + more_failures * later, 0, 1).tolist(),
        "user_id": [f"u{user}" for user in rng.integers(0, 30, total)],
    }
    store = make_store(DATED, **(columns | more))
    return select(store, Subset(JUNE)), select(store, Subset(JULY))


def verdicts(june, july):
    return {difference.name: difference.verdict for difference in compare_levels(june, july)}


def test_what_was_planted_differs_and_nothing_else(make_store):
    found = verdicts(*two_months(make_store, longer_waits=4.0))
    differing = {name for name, verdict in found.items() if verdict == "differs"}
    assert "wait_median" in differing
    assert differing <= {"wait_median", "wait_p95", "slowdown_median"}

    found = verdicts(*two_months(make_store, more_failures=0.2))
    assert [name for name, verdict in found.items() if verdict == "differs"] == ["failed"]


def test_more_jobs_are_more_load(make_store):
    found = verdicts(*two_months(make_store, more_jobs=2.0))
    assert found["jobs"] == found["busy"] == "differs"
    assert found["runtime_median"] == found["wait_median"] == "no more than chance"


def test_values_are_those_that_pandas_counts(make_store):
    june, july = two_months(make_store, seed=5)
    jobs = {difference.name: difference for difference in compare_levels(june, july)}["jobs"]
    for store, level in ((june, jobs.first), (july, jobs.second)):
        per_day = (store.frame().submit_time // DAY).value_counts()
        assert level == pytest.approx(per_day.mean())


def test_few_of_many_pairs_of_months_without_a_difference_have_one(make_store):
    """At 5 % of tables with any, 2 of 40 are expected."""
    alarms = [seed for seed in range(40) if "differs" in verdicts(*two_months(make_store, seed)).values()]
    assert len(alarms) <= 3


def test_findings_say_what_differs_or_that_nothing_does(make_store):
    found, *_ = level_findings(
        compare_levels(*two_months(make_store, longer_waits=4.0)), (JUNE, JULY), "levels"
    )
    assert found.text.startswith("Median wait rises from ")
    assert " in 1970-06 to " in found.text
    (found,) = level_findings(compare_levels(*two_months(make_store)), (JUNE, JULY), "levels")
    assert (
        found.text
        == "1970-07 is not found to differ from 1970-06 by more than chance in any quantity compared."
    )


def test_what_has_too_few_days_is_not_known(make_store):
    june, _ = two_months(make_store)
    short = select(june, Subset("1970-06-01..1970-06-03"))
    found = compare_levels(short, june)
    assert {difference.verdict for difference in found} == {"not known", "equal"}
    assert level_findings(found, ("a", "b"), "levels") == ()


def test_load_is_of_all_jobs_that_run_in_the_period(make_store):
    """Jobs of May that run into June are load of June, though they were not submitted then."""
    hours = [float(BEGIN + n * 3600) for n in range(-60 * 24, 60 * 24)]
    long = [BEGIN - 5.0 * DAY] * 8
    # Before and behind them many jobs hold as much: where few carry the load, no window is taken.
    days = [BEGIN + n * DAY for n in (*range(-60, -5), *range(20, 60)) for _ in range(8)]
    jobs = len(long) + len(days) + len(hours)
    store = make_store(
        DATED,
        submit_time=[*long, *days, *hours],
        wait_time=[0.0] * jobs,
        run_time=[25.0 * DAY] * len(long) + [float(DAY)] * len(days) + [60.0] * len(hours),
        n_procs=[1] * jobs,
    )
    parts = [select(store, Subset(period)) for period in ("1970-06-01..1970-06-10", "1970-06-11..1970-06-20")]
    busy = {difference.name: difference for difference in compare_levels(*parts)}["busy"]
    assert busy.first == pytest.approx(8 / 16, abs=0.01)
    assert busy.second == pytest.approx(8 / 16, abs=0.01)


def test_a_report_says_first_what_is_different(make_store):
    users = {
        "submit_time": [
            1.0,
            BEGIN + 1.0,
            BEGIN + 2.0,
            BEGIN + 31.0 * DAY,
            BEGIN + 32.0 * DAY,
            BEGIN + 33.0 * DAY,
        ],
        "user_id": ["back", "old", "both", "both", "back", "new"],
        "run_time": [10.0, 20.0, 30.0, 40.0, 50.0, 60.0],
        "n_procs": [1] * 6,
        "wait_time": [0.0] * 6,
    }
    with gwa.Trace(make_store(DATED, **users), "made") as trace:
        july = trace.filter(period=JULY)
        report = july.report(against=trace.filter(period=JUNE))
    first = [section.id for section in report.sections[:5]]
    assert first == ["against", "levels", "users-changed", "facts", "differences"]
    assert report.sections[0].chapter == "What is different"
    assert report.subtitle.endswith("period 1970-07 · against 1970-06")
    rows = report.table("users-changed").frame().set_index("user").what.to_dict()
    assert rows == {"new": "new", "back": "back", "old": "gone"}
    assert report.fact("differences.users.gone").value == 1
    assert report.fact("compare.1.trace.jobs").value == 2
    assert report.fact("compare.2.trace.jobs").value == report.fact("trace.jobs").value == 3


def test_the_same_comparison_of_two_traces(make_store):
    from gwa.analysis.comparison.compare import compare

    june, july = two_months(make_store, longer_waits=4.0)
    report = compare([("june", june), ("july", july)])
    assert [section.id for section in report.sections][:2] == ["answers", "levels"]
    assert "its median wait is longer (" in report.answer
    assert not {"level-wait_median", "level-wait_p95"} & {found.id for found in report.findings}
    assert report.fact("differences.wait_median.verdict").value == "differs"
