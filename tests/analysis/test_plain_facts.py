"""Facts of random logs, against the few lines of pandas that a reader would write from their definitions."""

import numpy as np
import pandas as pd
import pytest

from gwa.analysis.base import analyses
from gwa.metrics.bags import DEFINITIONS
from gwa.report.document import Report
from tests.metrics.test_bags import counted, slowly

JOBS = 700
STATES = ("COMPLETED", "FAILED", "TIMEOUT", "OUT_OF_MEMORY", "CANCELLED")
LOGS = {
    # Clocks go back on 26 October 2025 in Berlin and forward on 8 March 2026 in Los Angeles.
    "Europe/Berlin": (1, 1_760_000_000, 40),
    "America/Los_Angeles": (2, 1_771_000_000, 70),
    "UTC": (3, 1_700_000_000, 3),
}


def random_log(seed, first, days):
    """Return a log whose users submit in bursts; a tenth of each field is not known."""
    chance = np.random.default_rng(seed)
    bursts = chance.uniform(0, days * 86400, JOBS // 5)
    submits = np.sort(first + (chance.choice(bursts, JOBS) + chance.exponential(400, JOBS)).round())
    users = chance.choice(["a", "b", "c", "d", "e"], JOBS, p=[0.5, 0.2, 0.1, 0.1, 0.1])
    procs = chance.choice([1, 1, 2, 4, 7, 16], JOBS)
    run = np.where(chance.random(JOBS) < 0.1, 0, chance.lognormal(6, 2, JOBS).round())
    state = chance.choice(STATES, JOBS, p=[0.6, 0.1, 0.1, 0.1, 0.1])
    status = pd.Series(state).map({"COMPLETED": 1, "CANCELLED": 5}).fillna(0)
    jobs = pd.DataFrame(
        {
            "submit_time": submits, "user_id": users, "group_id": chance.choice(["g", "h"], JOBS),
            "wait_time": chance.exponential(900, JOBS).round(), "run_time": run, "n_procs": procs,
            "req_time": chance.choice([600, 3600, 86400], JOBS), "req_n_procs": procs,
            "average_cpu_time": (run * chance.choice([0.1, 0.5, 0.95, 1.5], JOBS)).round(2),
            "used_memory": chance.lognormal(12, 1, JOBS).round(), "req_memory": np.full(JOBS, 2.0e6),
            "state": state, "status": status.to_numpy(), "job_structure": "BoT",
            "job_structure_params": chance.choice(["1", "2", "3"], JOBS),
        }
    )  # fmt: skip
    for name in ("user_id", "group_id", "run_time", "n_procs", "req_time", "average_cpu_time", "used_memory"):
        jobs[name] = jobs[name].astype(object).where(chance.random(JOBS) > 0.1, None)
    return jobs


@pytest.fixture(scope="module", params=LOGS)
def log(request, make_shared_store):
    """Return the zone, the jobs as a frame, and a function that makes the facts of a section."""
    zone, jobs = request.param, random_log(*LOGS[request.param])
    whole = {"n_procs", "req_n_procs", "status"}
    columns = {
        name: [None if value is None else int(value) if name in whole else value for value in jobs[name]]
        for name in jobs
    }
    header = (("Times", "Unix seconds, UTC"), ("TimeZoneString", zone), ("MaxProcs", "64"))
    store = make_shared_store(header, **columns)
    sections = {one.id: one for one in analyses()}

    def facts(name):
        return {fact.id: fact.value for fact in Report("", "", (sections[name].section(store),)).facts()}

    numbers = jobs.apply(lambda one: pd.to_numeric(one) if one.name not in NAMES else one)
    return zone, numbers, facts


NAMES = ("user_id", "group_id", "state", "job_structure", "job_structure_params")


def summed_up(prefix, values, *, busy=False):
    """Return the facts that sum up *values*, and the mean of those above 0."""
    values = pd.Series(values, dtype=float)
    facts = {
        "min": values.min(), "mean": values.mean(), "median": values.median(),
        "p95": values.quantile(0.95), "max": values.max(),
    } | ({"mean_nonzero": values[values > 0].mean()} if busy else {})  # fmt: skip
    return {f"{prefix}.{name}": value for name, value in facts.items()}


def near(expected):
    """Return what facts may be where they are *expected*; what is not a number is not known."""
    return {
        name: None if np.isnan(value) else pytest.approx(value, rel=1e-9, abs=1e-12)
        for name, value in expected.items()
    }


def chosen(facts, expected):
    return {name: facts[name] for name in expected}


def test_jobs_that_arrive_in_hours_days_weeks_and_months_of_the_calendar(log):
    zone, jobs, facts = log
    made = facts("arrivals")
    local = pd.to_datetime(jobs.submit_time, unit="s", utc=True).dt.tz_convert(zone)
    hours = local.dt.tz_convert("UTC").dt.floor("h")
    every_hour = pd.date_range(hours.min(), hours.max(), freq="h")
    expected = summed_up("arrivals.hour", hours.value_counts().reindex(every_hour, fill_value=0), busy=True)
    for name, frequency in (("day", "D"), ("week", "W-SUN"), ("month", "M")):
        periods = local.dt.tz_localize(None).dt.to_period(frequency)
        every = pd.period_range(periods.min(), periods.max(), freq=frequency)
        numbers = periods.value_counts().reindex(every, fill_value=0)
        expected |= summed_up(f"arrivals.{name}", numbers, busy=True)
        assert made[f"arrivals.busiest_{name}"]["jobs"] == numbers.max()

    assert chosen(made, expected) == near(expected)


def test_outcomes_and_their_core_hours(log):
    _, jobs, facts = log
    made = facts("outcomes")
    ran = jobs[(jobs.run_time >= 0) & (jobs.n_procs >= 1)]
    hours = (ran.run_time * ran.n_procs).groupby(ran.state).sum() / 3600
    ended = jobs.state.value_counts()
    failed = ["FAILED", "OUT_OF_MEMORY"]
    outcomes = {
        "completed": ["COMPLETED"], "limit": ["TIMEOUT"], "failed": failed, "cancelled": ["CANCELLED"]
    }  # fmt: skip
    expected = {
        "jobs.completed.count": ended["COMPLETED"],
        "jobs.cancelled.count": ended["CANCELLED"],
        "jobs.failed.count": (jobs.status == 0).sum(),
        **{f"outcomes.jobs.{name}": ended[states].sum() for name, states in outcomes.items()},
        **{f"outcomes.core_hours.{name}": hours[states].sum() for name, states in outcomes.items()},
    }

    assert chosen(made, expected) == near(expected)


def test_jobs_that_were_ended_and_what_was_used_of_what_was_given(log):
    _, jobs, facts = log
    made = facts("efficiency")
    held = (jobs.run_time * jobs.n_procs).groupby(jobs.state).agg(["count", "sum"])
    expected = {
        "killed.time.jobs": (jobs.state == "TIMEOUT").sum(),
        "killed.time.cpu_hours": held["sum"]["TIMEOUT"] / 3600,
        "killed.memory.jobs": (jobs.state == "OUT_OF_MEMORY").sum(),
        "killed.memory.cpu_hours": held["sum"]["OUT_OF_MEMORY"] / 3600,
    }
    timed = jobs[(jobs.run_time >= 0) & (jobs.n_procs >= 1) & (jobs.req_time > 0)]
    expected |= {
        "efficiency.time.jobs": len(timed),
        "efficiency.time.median": (timed.run_time / timed.req_time).median(),
    }

    assert chosen(made, expected) == near(expected)


def test_how_much_of_what_is_requested_is_used(log):
    _, jobs, facts = log
    made = facts("estimates")
    timed = jobs[(jobs.run_time >= 0) & (jobs.n_procs >= 1) & (jobs.req_time > 0)]
    used = timed.run_time / timed.req_time
    expected = summed_up("estimates.time", used) | {
        "estimates.time.overrun": (used >= 1.01).mean(),
        "estimates.time.limit": (used >= 0.99).mean(),
        "estimates.time.below_tenth": (used < 0.1).mean(),
    }

    assert chosen(made, expected) == near(expected)


@pytest.mark.parametrize("definition", DEFINITIONS.values(), ids=DEFINITIONS)
def test_bags_by_each_definition(log, definition):
    _, jobs, facts = log
    listed = (
        jobs.astype(object).where(jobs.notna(), None).assign(job_id=range(1, JOBS + 1)).to_dict("records")
    )
    bag_of = pd.Series(slowly(listed, definition))
    sizes = bag_of.value_counts()
    several = sizes[sizes > 1]
    submits = jobs.submit_time.set_axis(range(1, JOBS + 1))[bag_of.index].groupby(bag_of)
    spans = (submits.max() - submits.min())[several.index]
    about = len(listed) if definition.name == "arrays" else sum(counted(job, definition) for job in listed)
    ordered = np.sort(sizes.to_numpy(float))
    ranks = np.arange(1, len(ordered) + 1)
    expected = {
        "count": len(sizes), "singletons": (sizes == 1).sum(), "jobs_in_bags_fraction": several.sum() / about,
        "size.mean": several.mean(), "size.median": several.median(), "size.p95": several.quantile(0.95),
        "size.max": several.max(), "duration.median": spans.median(),
        "gini_jobs": (2 * ranks - len(ordered) - 1).dot(ordered) / len(ordered) / ordered.sum(),
    }  # fmt: skip
    expected = {f"bags.{definition.name}.{name}": value for name, value in expected.items()}

    assert chosen(facts("bags-of-tasks"), expected) == near(expected)
