"""Every rule of what is worth knowing speaks above its threshold and is silent below."""

import pytest

import gwa
from gwa.analysis.base import analyses
from gwa.analysis.finding import findings, rules

ORDINARY = {
    "conversion.rejected": 0,
    "conversion.rows": 1000,
    "trace.users": 100,
    "trace.jobs": 1000,
    "trace.cpus": 100,
    "trace.cpus_inferred": False,
    "trace.span_seconds": 1e7,
    "users.half_jobs": 20,
    "users.half_cpu": 30,
    "users.by_jobs": [{"id": "a", "jobs_share": 0.1}],
    "users.by_cpu": [{"id": "b", "cpu_share": 0.1}],
    "estimates.modal": [{"req_time": 3600, "share": 0.1}],
    "estimates.time.median": 0.5,
    "estimates.time.limit": 0.05,
    "capacity.outages.count": 0,
    "capacity.outages.seconds": 0,
    "utilization.mean": 0.5,
    "capacity.peak": 100,
    "jobs.failed.count": 50,
    "jobs.cancelled.count": 10,
    "jobs.wait.median": 60,
    "jobs.wait.p95": 3600,
    "jobs.sequential.count": 500,
    "jobs.parallel.count": 500,
    "jobs.sequential.cpu_seconds": 1.0,
    "jobs.parallel.cpu_seconds": 3.0,
    "bags.text.jobs_in_bags_fraction": 0.3,
    "bags.text.size.mean": 3.0,
    "arrivals.cycle.busiest_hour": 23,
    "arrivals.cycle.busiest_hour_share": 0.05,
    "arrivals.cycle.quietest_hour": 4,
    "arrivals.cycle.quietest_hour_share": 0.03,
    "arrivals.hour.max": 90,
    "arrivals.hour.mean": 10.0,
    "flurries.count": 0,
    "flurries.jobs_share": 0.0,
    "changes": [],
    "dependence.verdict": "undecided",
    "dependence.counts": "undecided",
    "dependence.roots": "undecided",
    "dependence.hurst": 0.7,
    "dependence.scale.min": 7200,
    "dependence.scale.max": 7.5e6,
    "fit.runtime.weibull.ks": 0.05,
    "fit.runtime.normal.ks": 0.3,
}
"""A trace of which nothing is remarkable."""

REMARKABLE = [
    ("rejected-rows", {"conversion.rejected": 12}, "12 of 1,000 rows (1.2 %)"),
    ("few-users", {"users.half_jobs": 3}, "3 of 100 users submit half of the jobs, 30 use half"),
    ("one-user", {"users.by_jobs": [{"id": "<b>", "jobs_share": 0.489}]}, "<b> submits 48.9 % of the jobs"),
    ("one-user", {"users.by_cpu": [{"id": "z", "cpu_share": 0.25}]}, "z uses 25 % of the CPU time"),
    (
        "round-requests",
        {"estimates.modal": [{"req_time": 86400, "share": 0.31}]},
        "31 % of the jobs request exactly 24 h",
    ),
    ("overestimates", {"estimates.time.median": 0.2}, "run for 20 % of the time"),
    ("cut-off", {"estimates.time.limit": 0.132}, "13.2 % of the jobs end when"),
    (
        "outages",
        {"capacity.outages.count": 14, "capacity.outages.seconds": 1e6},
        "14 times, for 11.6 days in all (10 %",
    ),
    ("outages", {"capacity.outages.count": 1, "capacity.outages.seconds": 3600}, "ran once, for 1 h"),
    ("fullness", {"utilization.mean": 0.93}, "nearly full: on average 93 % of its processors"),
    (
        "fullness",
        {"utilization.mean": 0.1, "trace.cpus_inferred": True},
        "mostly idle: on average 10 % of the most",
    ),
    (
        "too-small",
        {"capacity.peak": 104},
        "Up to 104 processors are busy at once, but the system is said to have 100",
    ),
    ("failures", {"jobs.failed.count": 279}, "27.9 % failed and 1 % were cancelled"),
    ("failures", {"jobs.failed.count": 0, "jobs.cancelled.count": 500}, "Of the jobs, 50 % were cancelled"),
    (
        "long-waits",
        {"jobs.wait.p95": 84555},
        "waits for 23 h 29 min or longer, while half of the jobs start within 1 min",
    ),
    ("sequential", {"jobs.sequential.count": 9500}, "95 % of the jobs use one processor, for 25 % of"),
    ("sequential", {"jobs.parallel.count": 0}, "Every job uses one processor"),
    ("bags", {"bags.text.jobs_in_bags_fraction": 0.75}, "75 % of the jobs come in bags of tasks, of 3 jobs"),
    (
        "daily-cycle",
        {"arrivals.cycle.quietest_hour_share": 0.01},
        "from 23:00 to 00:00: 5 % of them, 5 times as many",
    ),
    ("daily-cycle", {"arrivals.cycle.quietest_hour_share": 0.0}, "while none come in the hour from 04:00"),
    ("bursts", {"arrivals.hour.max": 2000}, "the busiest hour 2,000 jobs are submitted, 200 times"),
    ("flurries", {"flurries.count": 2, "flurries.jobs_share": 0.2}, "2 flurries of single users hold 20 %"),
    (
        "changes",
        {"changes": [{"what": "wait", "when": "2002-07-22", "before": 3000.0, "after": 13800.0}]},
        "Mean wait time per week rises from 50 min to 3 h 50 min from the week of 2002-07-22 on.",
    ),
    ("memory-of-load", {"dependence.verdict": "power law"}, "at all scales from 2 h to 86.8 days"),
    (
        "memory-of-load",
        {"dependence.verdict": "one memory time", "dependence.memory_time": 70000},
        "last about 19 h 27 min; nothing beyond",
    ),
    ("odd-run-times", {"fit.runtime.weibull.ks": 0.12}, "the best, Weibull, is off by 12 % of the jobs"),
]


def test_of_an_ordinary_trace_nothing_is_said():
    assert findings(ORDINARY) == ()


def test_of_a_few_jobs_only_their_quality_is_remarkable():
    few = ORDINARY | {"trace.jobs": 3, "users.half_jobs": 1, "conversion.rejected": 12}

    assert [one.id for one in findings(few)] == ["rejected-rows"]


def test_of_a_system_some_of_its_jobs_tell_nothing():
    facts = ORDINARY | {"utilization.mean": 0.01, "users.half_jobs": 3}

    assert [one.id for one in findings(facts)] == ["few-users", "fullness"]
    assert [one.id for one in findings(facts, whole=False)] == ["few-users"]


def test_hours_without_days_have_no_daily_cycle():
    assert (
        findings(ORDINARY | {"arrivals.cycle.quietest_hour_share": 0.0, "trace.span_seconds": 20_000}) == ()
    )


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
    assert rule.help.startswith("Said w")
    assert all(any(one.has_facts(name) for one in sections.values()) for name in rule.needs)


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.id)
def test_without_its_facts_a_rule_is_silent(rule):
    assert rule({}) is None
    assert rule(dict.fromkeys(ORDINARY)) is None


def test_the_most_remarkable_comes_first():
    said = findings(ORDINARY | {"users.half_jobs": 1, "estimates.time.limit": 0.1, "flurries.count": 1})
    assert [one.weight for one in said] == sorted((one.weight for one in said), reverse=True)
    assert len(said) == 3


def test_a_report_holds_what_its_facts_say(sample):
    with gwa.open(sample / "swf" / "tiny.swf") as trace:
        report = trace.report()
        facts = {fact.id: fact.value for fact in report.facts()}
    assert report.findings == findings(facts)
    assert report.findings
