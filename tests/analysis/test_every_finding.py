"""Every rule of what is worth knowing speaks above its threshold and is silent below."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gwa.analysis.base import analyses
from gwa.analysis.finding import findings, rank, rules
from gwa.analysis.findings.alerts import NUMBERS
from gwa.metrics.alert_rules import RULES

ORDINARY: dict[str, Any] = {
    "conversion.rejected": 0,
    "conversion.rows": 1000,
    "completeness.user_id": 1.0,
    "completeness.ran_without_wait": 0,
    "trace.users": 100,
    "trace.jobs": 1000,
    "trace.ran": 1000,
    "trace.cpus": 100,
    "trace.cpus_inferred": False,
    "trace.span_seconds": 1e7,
    "window.first": 0.0,
    "window.last": 1e7,
    "window.cut": "none",
    "users.half_jobs": 20,
    "users.half_held": 30,
    "users.by_jobs": [{"id": "a", "jobs_share": 0.1}],
    "users.by_held": [{"id": "b", "held_share": 0.1}],
    "estimates.distinct": 50,
    "estimates.modal": [{"req_time": 86400, "share": 0.1}],
    "estimates.modal_limit": 0.1,
    "estimates.modal_users": 0.6,
    "estimates.modal_top_user": 0.1,
    "estimates.time.median": 0.5,
    "estimates.time.at_limit": 0.02,
    "estimates.time.before_limit": 0.02,
    "estimates.time.beyond": 0.01,
    "estimates.time.beyond_far": 0.0,
    "capacity.outages.count": 0,
    "capacity.outages.seconds": 0,
    "capacity.idle": 0.1,
    "capacity.idle_seconds": 1e6,
    "capacity.unaccounted_seconds": 0,
    "stretches": [],
    "utilization.mean": 0.5,
    "utilization.peak": 100,
    "utilization.above_capacity": 0.0,
    "utilization.unfinished": 0,
    "jobs.completed.count": 940,
    "jobs.failed.count": 50,
    "jobs.cancelled.count": 10,
    "outcomes.jobs.unknown": 0,
    "jobs.never_ran.count": 10,
    "jobs.wait.median": 60,
    "jobs.wait.p95": 3600,
    "wait.worst": None,
    "jobs.runtime.one_second": 0.01,
    "jobs.runtime.resolution": 1,
    "jobs.sequential.count": 500,
    "jobs.parallel.count": 500,
    "jobs.parallel.power_of_two": 0.3,
    "jobs.parallel.power_of_two_large": 0.7,
    "jobs.parallel.powers": 5,
    "jobs.sequential.cpu_seconds": 1.0,
    "jobs.parallel.cpu_seconds": 3.0,
    "bags.text.jobs_in_bags_fraction": 0.3,
    "bags.text.single_if_even": 0.8,
    "bags.text.size.mean": 3.0,
    "arrivals.cycle.busiest_hour": 23,
    "arrivals.cycle.busiest_hour_share": 0.05,
    "arrivals.cycle.quietest_hour": 4,
    "arrivals.cycle.quietest_hour_share": 0.03,
    "arrivals.cycle.days": 100,
    "arrivals.cycle.repeated": 0.9,
    "arrivals.hour.max": 90,
    "arrivals.hour.mean": 10.0,
    "flurries.count": 0,
    "flurries.jobs_share": 0.0,
    "changes": [],
    "changes.weeks": 110,
    "dependence.verdict": "undecided",
    "dependence.counts": "undecided",
    "dependence.roots": "undecided",
    "dependence.hurst": 0.7,
    "dependence.scale.min": 7200,
    "dependence.scale.max": 7.5e6,
    "flurries.days": 3,
    "flurries.submission_days": 100,
    "fit.runtime.weibull.ks": 0.05,
    "fit.runtime.normal.ks": 0.3,
    "fit.runtime.gamma.ks": 0.3,
}  # fmt: skip
"""A trace of which nothing is remarkable."""


def stretch(kind, *, days, **known):
    """Return a stretch as the fact has it."""
    begin = datetime(2012, 3, 1, 7, 33, tzinfo=UTC)
    end = begin + timedelta(days=days)
    return {
        "kind": kind,
        "begin": begin.timestamp(),
        "end": end.timestamp(),
        "from": f"{begin:%Y-%m-%d %H:%M:%S}",
        "to": f"{end:%Y-%m-%d %H:%M:%S}",
        "jobs": 0,
        "users": 0,
        "numbers_passed": None,
        "rows_complete": False,
        "unknown_from": f"{begin:%Y-%m-%d %H:%M:%S}",
        **known,
    }


WINDOW = "window."
"""The facts on the window of observation: without them, the rules that need them are silent."""

WORST = {
    "kind": "queue", "id": "<b>", "jobs": 200, "share": 0.2, "median": 7200, "p95": 90_000,
    "others_median": 60, "others_p95": 3600, "intervals": 60, "longer": 57, "p_value": 1e-6,
    "quantile": "median",
}  # fmt: skip


def ended(limit=0.01, failed=0.04, cancelled=0.01, hours=None):
    """Return the fact on the shares of outcomes; those of *hours* are the same if they are not given."""
    by_job = {"limit": limit, "failed": failed, "cancelled": cancelled}
    by_hour = hours or by_job
    rows = [{"id": name, "jobs": by_job[name], "core_hours": by_hour[name]} for name in by_job]
    total = {"jobs": sum(by_job.values()), "core_hours": sum(by_hour.values())}
    return {"outcomes.shares": [*rows, {"id": "not completed", **total}]}


ORDINARY |= ended()
for one in RULES:
    ORDINARY |= dict.fromkeys((f"alerts.{one.id.replace('-', '_')}.{name}" for name in NUMBERS), 0)


def alert(name, **numbers):
    """Return the facts of an alert that holds for three users."""
    told = {"users": 3, "jobs": 40, "hours": 1234.5, "known": 80, "about": 100} | numbers
    return {f"alerts.{name.replace('-', '_')}.{fact}": value for fact, value in told.items()}


REMARKABLE = [
    (
        "idle-gpu-hours",
        alert("idle-gpu-hours"),
        "3 users held GPUs that did nothing, for 1,234 GPU-hours. Measured: 80 of 100 jobs with GPUs.",
    ),
    ("low-gpu-use", alert("low-gpu-use", users=1), "1 user used little of their GPUs; 1,234 GPU-hours were"),
    ("gpu-too-powerful", alert("gpu-too-powerful"), "parts of GPUs would do, for 1,234 GPU-hours."),
    ("memory-per-gpu", alert("memory-per-gpu"), "40 jobs held much memory for each GPU; 1,234 TB-hours"),
    ("cores-per-gpu", alert("cores-per-gpu"), "40 jobs held more cores than usual for each GPU"),
    ("spread-gpu", alert("spread-gpu"), "The GPUs of 40 jobs would have fit on fewer nodes, with 1,234 node"),
    ("low-cpu-use", alert("low-cpu-use"), "3 users used little of the CPU time of their cores; 1,234 core-h"),
    ("serial-on-many", alert("serial-on-many"), "3 users ran programs that use one core on several"),
    ("idle-nodes", alert("idle-nodes"), "40 jobs held nodes on which no CPU time was used"),
    ("spread-cpu", alert("spread-cpu"), "40 jobs without GPUs would have fit on fewer nodes"),
    ("excess-memory", alert("excess-memory"), "3 users used little of the memory that they held"),
    (
        "limit-gpu",
        alert("limit-gpu"),
        "3 users asked for far more time than their jobs take; 1,234 GPU-hours",
    ),
    ("limit-cpu", alert("limit-cpu"), "3 users asked for far more time than their jobs take; 1,234 core-h"),
    (
        "earlier-runs",
        alert("earlier-runs"),
        "Of the core-hours of 3 users, earlier runs of jobs that ran again held 1,234 core-hours.",
    ),
    ("rejected-rows", {"conversion.rejected": 12}, "12 of 1,000 rows (1.2 %)"),
    ("few-users", {"users.half_jobs": 3}, "3 of 100 users submit half of the jobs."),
    (
        "few-users",
        {"users.half_jobs": 1, "users.half_held": 3},
        "Half of the jobs come from 1 of 100 users, and half of the CPU time from 3.",
    ),
    ("one-user", {"users.by_jobs": [{"id": "<b>", "jobs_share": 0.489}]}, "<b> submits 48.9 % of the jobs"),
    ("one-user", {"users.by_held": [{"id": "z", "held_share": 0.25}]}, "z uses 25 % of the CPU time"),
    (
        "round-requests",
        {"estimates.modal": [{"req_time": 86400, "share": 0.31}]},
        "31 % of the jobs that request a time request exactly 24 h; 60 % of the users have done so",
    ),
    (
        "longest-request",
        {"estimates.modal": [{"req_time": 86400, "share": 0.31}], "estimates.modal_limit": 0.9},
        "exactly 24 h, and hardly any job requests more",
    ),
    (
        "overestimates",
        {"estimates.time.median": 0.2},
        "Half of the jobs that request a time use at most 20 % of it",
    ),
    (
        "cut-off",
        {"estimates.time.at_limit": 0.132},
        "13.2 % of the jobs with a requested time end just as it runs out; 1 % run longer",
    ),
    ("limits-ignored", {"estimates.time.beyond_far": 0.22}, "not enforced: 22 % of the jobs"),
    (
        "outages",
        {"capacity.outages.count": 14, "capacity.outages.seconds": 4e5},
        (
            "Nothing ran for 11.6 days (10 % of the time), 4.6 days of it in 14 outages or maintenance"
            " periods; of the rest the log does not tell idleness from outage."
        ),
    ),
    (
        "outages",
        {"capacity.outages.count": 1, "capacity.outages.seconds": 1e6},
        "Nothing ran for 11.6 days (10 % of the time), all of it in 1 outage or maintenance period.",
    ),
    (
        "missing",
        {"stretches": [stretch("missing", days=10, numbers_passed=14_200)]},
        (
            "Rows are missing: over 10 days from 2012-03-01 07:33 to 2012-03-11 07:33, job numbers jump by"
            " 14,200."
        ),
    ),
    (
        "still",
        {"stretches": [stretch("still", days=6), stretch("still", days=2)]},
        "in 2 stretches of a day or more, 8 days in all, the longest for 6 days from 2012-03-01 07:33",
    ),
    (
        "still",
        {"stretches": [stretch("still", days=6, unknown_from="2012-02-28 17:00:09")]},
        (
            "Nothing was submitted from 2012-02-28 17:00 on, and nothing ran for 6 days from 2012-03-01 07:33"
            " to 2012-03-07 07:33: the machine was down or closed, or rows are missing"
        ),
    ),
    (
        "still",
        {"stretches": [stretch("still", days=6, rows_complete=True)]},
        "the machine was down or closed; job numbers show that no rows are missing.",
    ),
    ("fullness", {"utilization.mean": 0.93}, "nearly full: on average, 93 % of the processors are busy"),
    ("fullness", {"utilization.mean": 0.1}, "mostly idle: on average, 10 % of the processors are busy"),
    (
        "too-small",
        {"utilization.above_capacity": 0.138, "utilization.peak": 128},
        "For 13.8 % of the time, more processors are busy than the 100 that the system is said to have",
    ),
    ("cut-log", {"window.cut": "end", "window.last": 5e6}, "known for 57.9 days of the 116 days that"),
    ("cut-log", {"window.cut": "both", "window.last": None}, "lower bounds throughout"),
    ("still-running", {"utilization.unfinished": 512}, "512 of 1,000 jobs (51.2 %) were still running"),
    ("waits-unknown", {"completeness.ran_without_wait": 1000}, "does not record how long jobs waited"),
    (
        "waits-unknown",
        {"completeness.ran_without_wait": 200},
        "the wait time of 200 of 1,000 jobs that ran (20 %)",
    ),
    (
        "failures",
        ended(0.143, 0.136, 0, hours={"limit": 0.405, "failed": 0.041, "cancelled": 0}),
        "40.5 % went into jobs that reached their time limit and 4.1 % into jobs that failed (of the jobs:",
    ),
    (
        "failures",
        ended(0, 0, 0.5) | {"outcomes.jobs.unknown": 400},
        "Of the core-hours of jobs whose outcome is known, 50 % went into jobs that were cancelled",
    ),
    ("never-ran", {"jobs.never_ran.count": 50}, "50 jobs (5 %) failed or were cancelled"),
    (
        "long-waits",
        {"jobs.wait.p95": 84555},
        "waits for 23 h 29 min or longer, while half wait for 1 min at most",
    ),
    (
        "worst-served",
        {"wait.worst": WORST},
        "Jobs in queue <b> (20 % of the jobs) wait longer than the others in 57 of 60 time intervals",
    ),
    (
        "worst-served",
        {"wait.worst": WORST | {"median": 60, "quantile": "p95"}},
        "one in twenty waits for 25 h or longer, against 1 h.",
    ),
    ("short-jobs", {"jobs.runtime.one_second": 0.3}, "30 % of the jobs that ran took one second or less"),
    ("powers-of-two", {"jobs.parallel.power_of_two": 0.8}, "80 % of the parallel jobs use a power of two"),
    (
        "sequential",
        {"jobs.sequential.count": 9500},
        "95 % of the jobs that ran used one processor; they used 25 % of the CPU time",
    ),
    ("sequential", {"jobs.parallel.count": 0}, "Every job that ran counts as one processor"),
    ("bags", {"bags.text.jobs_in_bags_fraction": 0.75}, "75 % of the jobs come in bags of tasks: submitted"),
    (
        "daily-cycle",
        {"arrivals.cycle.quietest_hour_share": 0.01, "arrivals.cycle.zone": "Europe/Paris"},
        "from 23:00 to 00:00 (Europe/Paris): 5 % of all jobs arrive then, 5 times as many",
    ),
    ("bursts", {"arrivals.hour.max": 2000}, "the busiest hour 2,000 jobs are submitted, 200 times"),
    (
        "changes",
        {
            "changes": [
                {"what": "wait", "when": "2002-07-22", "before": 3000, "after": 13800, "shape": "step"},
                {"what": "jobs", "when": None, "before": 300, "after": 200, "shape": "line"},
            ],
            "changes.weeks": 110,
        },
        (
            "From about the week of 2002-07-22, mean waits were longer: 3 h 50 min (median of weeks) against"
            " 50 min before. Also changed: jobs."
        ),
    ),
    ("memory-of-load", {"dependence.verdict": "power law"}, "at all scales from 2 h to 86.8 days"),
    (
        "busy-times",
        {"dependence.verdict": "one memory time", "dependence.memory_time": 70000},
        "last about 19 h; nothing beyond",
    ),
    ("daily-cycle", {"arrivals.cycle.quietest_hour_share": 0.0}, "while none arrive in the hour from 04:00"),
    (
        "flurries",
        {"flurries.count": 2, "flurries.jobs_share": 0.2},
        "2 flurries of single users hold 20 % of all jobs, on 3 of 100 days",
    ),
    (
        "odd-run-times",
        {"fit.runtime.weibull.ks": 0.12},
        "the best is off by up to 12 % of the jobs",
    ),
]

FALSE = [
    {"utilization.mean": 0.1, "trace.cpus_inferred": True},
    {"utilization.mean": 0.1, "window.last": 3e5},
    {"utilization.mean": 0.1, "window.first": None},
    {"utilization.above_capacity": 0.014, "utilization.peak": 3000},
    {"stretches": [stretch("still", days=0.9), stretch("silent", days=9), stretch("outage", days=9)]},
    {"utilization.mean": 0.1, "capacity.unaccounted_seconds": 5e5},
    {"utilization.mean": 0.9, "capacity.unaccounted_seconds": 5e5},
    {"jobs.failed.count": 100, "jobs.completed.count": 200},
    {"estimates.time.at_limit": 0.05, "estimates.time.beyond": 0.05},
    {"estimates.time.at_limit": 0.05, "estimates.time.before_limit": 0.04},
    {"estimates.time.at_limit": 0.95},
    {"estimates.modal": [{"req_time": 86400, "share": 0.31}], "estimates.modal_users": 0.1},
    {"estimates.modal": [{"req_time": 86400, "share": 0.31}], "estimates.modal_top_user": 0.8},
    {"estimates.modal": [{"req_time": 3600, "share": 0.6}, {"req_time": 60, "share": 0.3}]},
    {"users.half_jobs": 3, "completeness.user_id": 0.5},
    {"arrivals.cycle.quietest_hour_share": 0.01, "arrivals.cycle.repeated": 0.6},
    {"jobs.runtime.one_second": 0.3, "jobs.runtime.resolution": 60},
    {"jobs.parallel.power_of_two": 0.8, "jobs.parallel.powers": 1},
    {"bags.text.jobs_in_bags_fraction": 0.75, "bags.text.single_if_even": 0.3},
    {"flurries.count": 1, "flurries.jobs_share": 0.9, "flurries.days": 60},
]
"""What looks remarkable by one fact, and is not by another."""


def test_of_an_ordinary_trace_nothing_is_said():
    assert findings(ORDINARY) == ()


def test_of_a_few_jobs_only_their_quality_is_remarkable():
    few = ORDINARY | {"trace.jobs": 3, "users.half_jobs": 1, "conversion.rejected": 12}

    assert [one.id for one in findings(few)] == ["rejected-rows"]


def test_of_a_system_some_of_its_jobs_tell_nothing():
    facts = ORDINARY | {"utilization.mean": 0.01, "users.half_jobs": 3}

    assert {one.id for one in findings(facts)} == {"few-users", "fullness"}
    assert [one.id for one in findings(facts, whole=False)] == ["few-users"]


@pytest.mark.parametrize("change", FALSE, ids=" ".join)
def test_what_other_facts_contradict_is_not_said(change):
    assert findings(ORDINARY | change) == ()


def test_of_processors_only_one_thing_is_said():
    change = {"utilization.mean": 0.872, "utilization.above_capacity": 0.138, "utilization.peak": 28_416}

    assert [one.id for one in findings(ORDINARY | change)] == ["too-small"]


def test_where_waits_are_unknown_nothing_is_said_of_when_jobs_ran():
    change = {
        "completeness.ran_without_wait": 900,
        "utilization.above_capacity": 0.4,
        "capacity.outages.count": 3,
        "capacity.outages.seconds": 1e5,
    }
    assert [one.id for one in findings(ORDINARY | change)] == ["waits-unknown"]


def test_few_days_have_no_daily_cycle():
    assert findings(ORDINARY | {"arrivals.cycle.quietest_hour_share": 0.0, "arrivals.cycle.days": 9}) == ()


@pytest.mark.parametrize(("name", "change", "said"), REMARKABLE)
def test_what_is_remarkable_is_said_with_its_figures(name, change, said):
    (found,) = findings(ORDINARY | change)
    assert found.id == name
    assert said in found.text
    assert 0 <= found.weight <= 1


def test_every_rule_is_shown_to_speak():
    assert {rule.id for rule in rules()} == {name for name, _, _ in REMARKABLE}


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.id)
def test_every_rule_names_a_section_its_threshold_and_facts_that_exist(rule):
    sections = {one.id: one for one in analyses()}
    assert rule.section in sections
    assert rule.help.startswith(("Shown if ", "Shown whenever "))
    needs = [name for name in rule.needs if not name.startswith(WINDOW)]
    assert all(any(one.has_facts(name) for one in sections.values()) for name in needs)


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.id)
def test_without_its_facts_a_rule_is_silent(rule):
    assert rule({}) is None
    assert rule(dict.fromkeys(ORDINARY)) is None


def test_what_matters_to_readers_comes_first_and_then_the_most_remarkable():
    change = {
        "users.half_jobs": 1,
        "flurries.count": 1,
        "estimates.time.median": 0.0,
        "bags.text.jobs_in_bags_fraction": 0.99,
    }
    said = findings(ORDINARY | change)
    assert [one.id for one in said] == ["few-users", "flurries", "overestimates", "bags"]
    assert [(rank(one.section), -one.weight) for one in said] == sorted(
        (rank(one.section), -one.weight) for one in said
    )


def test_a_report_holds_what_its_facts_say(tiny_report):
    facts = {fact.id: fact.value for fact in tiny_report.facts()}
    assert tiny_report.findings == findings(facts)
    assert tiny_report.findings
