"""Resources, efficiency, waits, energy and quotas of a made-up cluster, against plain Python."""

import random
from collections import defaultdict
from datetime import UTC, date, datetime
from math import ceil, floor, log10
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.analysis.build import build
from gwa.errors import DefinitionError
from gwa.metrics.carbon import Carbon, read_carbon
from gwa.metrics.efficiency import requests
from gwa.metrics.quotas import Quotas, read_quotas
from gwa.report.document import Figure, Note, Table
from gwa.store.store import Store
from tests.conftest import examples

START = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
NUMBER = 400
CLOSE: dict[str, Any] = {"rel": 1e-9, "abs": 1e-9}


def cluster(seed=1):
    """Return the jobs of a cluster as columns; each amount is now and then unknown."""
    rng = random.Random(seed)
    jobs: dict[str, list[Any]] = defaultdict(list)
    for number in range(NUMBER):
        procs = rng.choice([1, 1, 2, 4, 16, 100])
        run = float(rng.choice([0, 30, 600, 3600, 7200, 86_400]) + rng.randrange(60))
        gpus = rng.choice([None, None, 0.0, 0.5, 1.0, 2.0, 4.0, 8.0])
        wait = float(rng.randrange(50_000))
        submit = START + rng.randrange(120 * 86_400)
        jobs["job_id"].append(number + 1)
        jobs["submit_time"].append(submit)
        jobs["wait_time"].append(wait)
        jobs["eligible_time"].append(rng.choice([None, submit, submit + wait / 2, submit + wait + 5]))
        jobs["run_time"].append(run)
        jobs["n_procs"].append(procs)
        jobs["req_n_procs"].append(procs)
        jobs["average_cpu_time"].append(rng.choice([None, run * rng.random(), run / procs, run * 1.1]))
        jobs["req_time"].append(rng.choice([None, run * 2 + 1, 86_400.0, 3600.0]))
        jobs["req_memory"].append(rng.choice([None, 1024.0**2, 2e6]))
        jobs["max_memory"].append(rng.choice([None, rng.random() * 3e6 * procs]))
        jobs["n_gpus"].append(gpus)
        jobs["gpu_type"].append(rng.choice([None, "a100", "a100:1,v100:3"]) if gpus else None)
        jobs["gpu_utilization"].append(rng.choice([None, 0.0, 0.005, rng.random()]) if gpus else None)
        jobs["n_nodes"].append(ceil(procs / 16))
        jobs["energy"].append(rng.choice([None, run * procs * 10.5]))
        jobs["status"].append(rng.choice([0, 1, 1, 5, None]))
        jobs["state"].append(rng.choice(["COMPLETED", "TIMEOUT", "OUT_OF_MEMORY", None]))
        jobs["user_id"].append(rng.choice(["ann", "bob", "o'hara", "eve"]))
        jobs["project_id"].append(rng.choice(["climate", "bio", None]))
        jobs["queue_id"].append(rng.choice(["short", "long"]))
        jobs["executable_id"].append(rng.choice(["sim", "fit"]))
        jobs["job_structure_params"].append(rng.choice([None, "17"]))
    return dict(jobs)


JOBS = cluster()
ROWS = [dict(zip(JOBS, values, strict=True)) for values in zip(*JOBS.values(), strict=True)]


UNIX = ("Times", "Unix seconds, UTC")


@pytest.fixture
def store(make_store):
    return make_store((UNIX,), **JOBS)


def facts_of(store, *sections):
    report = build(store, "made up", only=sections, strict=True)
    return {fact.id: fact.value for fact in report.facts()}


def by_id(rows, key="id"):
    return {row[key]: row for row in rows}


def start(job):
    return job["submit_time"] + job["wait_time"]


# GPUs and nodes.


def held(name, rows=ROWS):
    return [job for job in rows if job[name]]


def most_at_once(name):
    edges: dict[float, float] = defaultdict(float)
    for job in held(name):
        edges[start(job)] += job[name]
        edges[start(job) + job["run_time"]] -= job[name]
    return max(np.cumsum([edges[time] for time in sorted(edges)]))


@pytest.mark.parametrize(
    ("section", "family", "name"), [("gpus", "gpu", "n_gpus"), ("nodes", "nodes", "n_nodes")]
)
def test_hours_users_sizes_and_totals_of_a_resource(section, family, name, store):
    facts = facts_of(store, section)
    jobs = held(name)
    hours = sum(job[name] * job["run_time"] for job in jobs) / 3600
    assert facts[f"{family}.jobs"] == len(jobs)
    assert facts[f"{family}.hours"] == pytest.approx(hours, **CLOSE)
    assert facts[f"{family}.total"] == most_at_once(name)
    for owner, field in (("users", "user_id"), ("projects", "project_id"), ("queues", "queue_id")):
        found = by_id(facts[f"{family}.{owner}.by_hours"])
        for who in {job[field] for job in jobs} - {None}:
            own = [job for job in jobs if job[field] == who]
            assert found[who]["jobs"] == len(own)
            expected = sum(job[name] * job["run_time"] for job in own) / 3600
            assert found[who]["hours"] == pytest.approx(expected, **CLOSE)
    one = next(row for row in facts[f"{family}.sizes"] if row["size"] == "1")
    alone = [job for job in jobs if job[name] == 1]
    assert one["jobs"] == len(alone)
    assert one["wait_median"] == pytest.approx(np.median([queued(job) for job in alone]), **CLOSE)
    known = [job["status"] for job in alone if job["status"] is not None]
    assert one["completed"] == pytest.approx(known.count(1) / len(known), **CLOSE)


def test_a_mixed_type_counts_for_each_by_its_number_and_idle_gpus_are_found(store):
    facts = facts_of(store, "gpus")
    hours: dict[str, float] = defaultdict(float)
    for job in held("n_gpus"):
        parts = (
            {"a100": 0.25, "v100": 0.75}
            if job["gpu_type"] == "a100:1,v100:3"
            else {job["gpu_type"] or "unknown": 1.0}
        )
        for kind, part in parts.items():
            hours[kind] += part * job["n_gpus"] * job["run_time"] / 3600
    found = {row["type"]: row["hours"] for row in facts["gpu.types"]}
    assert found == pytest.approx(dict(hours), **CLOSE)
    measured = [job for job in held("n_gpus") if job["gpu_utilization"] is not None]
    idle = [job for job in measured if job["gpu_utilization"] < 0.01]
    assert (facts["gpu.measured_jobs"], facts["gpu.idle_jobs"]) == (len(measured), len(idle))
    expected = sum(job["n_gpus"] * job["run_time"] for job in idle) / 3600
    assert facts["gpu.idle_hours"] == pytest.approx(expected, **CLOSE)


def test_of_a_period_hours_are_the_part_within_it(store):
    first, last = START + 20 * 86_400, START + 50 * 86_400
    part = store.filtered("true", (first, last))
    expected = 0.0
    for job in held("n_gpus"):
        overlap = min(start(job) + job["run_time"], last) - max(start(job), first)
        expected += job["n_gpus"] * max(overlap, 0) / 3600
    assert facts_of(part, "gpus")["gpu.hours"] == pytest.approx(expected, **CLOSE)


def blocks_of(store, section, kind):
    """Return the blocks of a *kind* in a section, by id."""
    (made,) = build(store, "made up", only=[section], strict=True).sections
    return {block.id: block for block in made.blocks if isinstance(block, kind)}


def overlap_of(job, first, last):
    return max(min(start(job) + job["run_time"], last) - max(start(job), first), 0.0)


@pytest.mark.parametrize("days", [None, (20, 50)])
def test_hours_of_gpus_are_those_measured_used_and_idle(make_store, days):
    rng = random.Random(9)
    idle = [rng.choice([None, 0, 1]) if gpus and gpus >= 1 else None for gpus in JOBS["n_gpus"]]
    part = make_store((UNIX,), **JOBS, idle_gpus=idle)
    first, last = (START + day * 86_400 for day in days or (-1000, 1000))
    if days:
        part = part.filtered("true", (first, last))
    facts = facts_of(part, "gpus")
    expected: dict[str, float] = defaultdict(float)
    for job, unused in zip(ROWS, idle, strict=True):
        hours = overlap_of(job, first, last) / 3600
        if job["n_gpus"] and job["gpu_utilization"] is not None:
            expected["known_hours"] += job["n_gpus"] * hours
            expected["used_hours"] += job["n_gpus"] * job["gpu_utilization"] * hours
        if unused is not None:
            expected["idle_known_hours"] += job["n_gpus"] * hours
            expected["idle_gpu_hours"] += unused * hours
    assert {name: facts[f"gpu.{name}"] for name in expected} == pytest.approx(dict(expected), **CLOSE)
    assert len(expected) == 4


def test_the_figure_shows_what_was_used_and_gaps_where_that_is_unknown(make_store):
    """A GPU more is held each hour of a day; from day 20 to 40 nothing is measured, then half."""
    days = 60
    jobs: dict[str, list[Any]] = defaultdict(list)
    for day in range(days):
        for number in range(4):
            is_measured = day < 20 or (day >= 40 and number % 2)
            jobs["submit_time"].append(START + day * 86_400 + number)
            jobs["wait_time"].append(0.0)
            jobs["run_time"].append(86_400.0)
            jobs["n_procs"].append(1)
            jobs["n_gpus"].append(2.0)
            jobs["status"].append(1)
            jobs["gpu_utilization"].append(0.25 if is_measured else None)
    figure = blocks_of(make_store((UNIX,), **jobs), "gpus", Figure)["gpu"]
    lines = {line["label"]: dict(zip(line["x"], line["y"], strict=True)) for line in figure.data["lines"]}
    assert set(lines) == {"held", "used, where that is measured", "held, and its use measured"}

    def between(label, first, last):
        days_of = ((when - START) / 86_400 for when in lines[label])
        return [y for day, y in zip(days_of, lines[label].values(), strict=True) if first <= day < last]

    assert between("held", 1, 59) == pytest.approx([8.0] * len(between("held", 1, 59)), rel=1e-3)
    used = [between("used, where that is measured", *span) for span in ((1, 19), (21, 39), (41, 58))]
    assert used[0] == pytest.approx([2.0] * len(used[0]), rel=1e-3)
    assert used[1] == [None] * len(used[1])
    assert used[2] == pytest.approx([1.0] * len(used[2]), rel=1e-3)
    assert min(map(len, used)) > 15
    assert figure.note == "Means of each day."


def test_who_left_gpus_idle_is_listed_with_what_is_known(make_store):
    jobs = {
        "submit_time": [START] * 4, "wait_time": [0.0] * 4, "run_time": [3600.0] * 4, "n_procs": [1] * 4,
        "n_gpus": [4.0, 2.0, 1.0, 8.0], "user_id": ["ann", "bob", "ann", "eve"],
        "gpu_utilization": [0.1, 0.0, None, 0.9], "idle_gpus": [3, 2, None, 0],
    }  # fmt: skip
    table = blocks_of(make_store((UNIX,), **jobs), "gpus", Table)["gpu-idle-users"]
    keys = [column.key for column in table.columns]
    assert not any(column.minor for column in table.columns)
    rows = [dict(zip(keys, row, strict=True)) for row in table.rows]
    assert [(row["id"], row["gpu_idle_seconds"] / 3600, row["gpu_known_share"]) for row in rows] == [
        ("ann", 3, 0.8), ("bob", 2, 1.0),
    ]  # fmt: skip


def test_where_idle_gpus_are_not_told_apart_what_was_not_used_is_listed(make_store):
    jobs = {
        "submit_time": [START] * 3, "wait_time": [0.0] * 3, "run_time": [3600.0] * 3, "n_procs": [1] * 3,
        "n_gpus": [4.0, 2.0, 1.0], "user_id": ["ann", "bob", "eve"], "gpu_utilization": [0.5, 0.0, None],
    }  # fmt: skip
    table = blocks_of(make_store((UNIX,), **jobs), "gpus", Table)["gpu-idle-users"]
    assert [row[0] for row in table.rows] == ["ann", "bob"]


def test_where_nothing_is_measured_the_section_says_how_it_would_be(make_store):
    bare = {name: values for name, values in JOBS.items() if name != "gpu_utilization"}
    (made,) = build(make_store((UNIX,), **bare), "made up", only=["gpus"], strict=True).sections
    assert any("--measurements" in str(block.text) for block in made.blocks if isinstance(block, Note))


def test_stated_sizes_of_a_system_replace_the_inferred_ones(make_store):
    store = make_store(**JOBS)
    store.set_header((("GPUs", "64"), ("Nodes", "12")))
    facts = facts_of(store, "gpus", "nodes")
    assert (facts["gpu.total"], facts["nodes.total"]) == (64, 12)


def test_a_log_without_gpus_has_no_section_on_them(make_store):
    plain = make_store(
        **{name: JOBS[name] for name in ("job_id", "submit_time", "run_time", "n_procs", "user_id")}
    )
    ids = {section.id for section in build(plain, "plain").sections}
    assert not ids & {"gpus", "nodes", "energy", "quotas"}


# Efficiency.


def is_impossible(job):
    used, run = job["average_cpu_time"], job["run_time"]
    return used is not None and run > 0 and used > max(run * 1.05, run + 1)


def ratios(kind, rows=ROWS):
    """Return what each job used, was given, and how much that weighs."""
    for job in rows:
        procs, run = job["n_procs"], job["run_time"]
        if kind == "cpu" and job["average_cpu_time"] is not None and run > 0 and not is_impossible(job):
            yield job["average_cpu_time"], run, procs
        if kind == "memory" and job["max_memory"] and job["req_memory"]:
            yield job["max_memory"], job["req_memory"] * procs, run
        if kind == "time" and job["req_time"]:
            yield run, job["req_time"], procs
        if kind == "gpu" and job["n_gpus"] and job["gpu_utilization"] is not None:
            yield job["gpu_utilization"], 1.0, job["n_gpus"] * run


HOURS = {
    "cpu": ("cpu_hours", 3600),
    "gpu": ("gpu_hours", 3600),
    "memory": ("memory_gb_hours", 3600 * 1024**2),
}


@pytest.mark.parametrize("kind", ["cpu", "memory", "time", "gpu"])
def test_efficiency_is_of_totals_and_waste_is_what_was_not_used(kind, store):
    facts = facts_of(store, "efficiency")
    known = list(ratios(kind))
    used = sum(used * weight for used, _, weight in known)
    given = sum(given * weight for _, given, weight in known)
    assert facts[f"efficiency.{kind}.jobs"] == len(known)
    assert facts[f"efficiency.{kind}.mean"] == pytest.approx(used / given, **CLOSE)
    assert facts[f"efficiency.{kind}.median"] == pytest.approx(
        np.median([u / g for u, g, _ in known]), **CLOSE
    )
    if kind in HOURS:
        name, unit = HOURS[kind]
        wasted = sum(max(given - used, 0) * weight for used, given, weight in known) / unit
        assert facts[f"waste.{name}"] == pytest.approx(wasted, **CLOSE)
        own = [job for job in ROWS if job["user_id"] == "o'hara"]
        wasted = sum(max(given - used, 0) * weight for used, given, weight in ratios(kind, own)) / unit
        assert by_id(facts["waste.users"])["o'hara"][name] == pytest.approx(wasted, **CLOSE)


def rounded_up(value):
    if value < 1000:
        return ceil(value)
    unit = 10 ** (floor(log10(value)) - 2)
    return ceil(value / unit) * unit


def test_jobs_with_more_cpu_time_than_possible_are_counted(store):
    facts = facts_of(store, "efficiency")
    assert facts["efficiency.cpu.impossible"] == sum(map(is_impossible, ROWS)) > 50


def test_one_impossible_value_does_not_move_the_mean(make_store):
    """Of 99 jobs at 50 % and one with 46 times the CPU time that it could have, the mean was 95.8 %."""
    jobs: dict[str, list[Any]] = {
        "submit_time": [START] * 100,
        "run_time": [1000.0] * 100,
        "n_procs": [1] * 100,
    }
    facts = facts_of(make_store((UNIX,), **jobs, average_cpu_time=[500.0] * 99 + [46_000.0]), "efficiency")
    assert facts["efficiency.cpu.mean"] == facts["efficiency.cpu.median"] == 0.5
    assert (facts["efficiency.cpu.jobs"], facts["efficiency.cpu.impossible"]) == (99, 1)


def percentile_95(values):
    values = sorted(values)
    return values[ceil(0.95 * len(values)) - 1]


def test_who_could_ask_for_less_is_the_same_quantile_of_what_was_asked_for_and_used(make_store):
    changed = [value if value is None or n % 3 else value / 3 for n, value in enumerate(JOBS["max_memory"])]
    facts = facts_of(make_store((UNIX,), **(JOBS | {"max_memory": changed})), "efficiency")
    rows = [{**row, "max_memory": value} for row, value in zip(ROWS, changed, strict=True)]
    for kind, unit in (("memory", 3600 * 1024**2), ("time", 3600)):
        proposals = by_id(facts.get(f"efficiency.requests.{kind}", []))
        for who in ("ann", "bob", "o'hara", "eve"):
            known = list(ratios(kind, [job for job in rows if job["user_id"] == who]))
            asked = percentile_95([given for _, given, _ in known])
            enough = percentile_95([rounded_up(used) for used, _, _ in known])
            saved = sum(max(given - max(enough, used), 0) * weight for used, given, weight in known) / unit
            assert (who in proposals) == (enough < asked and saved > 0)
            if who in proposals:
                found = proposals[who]
                assert (found["jobs"], found["asked"]) == (len(known), pytest.approx(asked, **CLOSE))
                assert found["enough"] == pytest.approx(enough, **CLOSE)
                assert found["unneeded"] == pytest.approx(saved, **CLOSE)


@examples(40)
@given(
    st.lists(
        st.tuples(st.integers(0, 5000), st.integers(1, 5000), st.sampled_from(["ann", "bob"])),
        min_size=1,
        max_size=40,
    )
)
def test_no_user_is_asked_for_more_than_is_asked_for_today(jobs):
    with Store.create() as store:
        store.begin(["job_id", "run_time", "req_time", "n_procs", "user_id"])
        names = [name for name, *_ in store.rows("describe recorded")]
        rows = [
            {"job_id": n, "run_time": float(run), "req_time": float(asked), "n_procs": 2, "user_id": user}
            for n, (run, asked, user) in enumerate(jobs)
        ]
        store.insert("recorded", [[row[name] for name in names] for row in rows])
        found = requests(store, "time", ["ann", "bob"])
    for request in found:
        own = [(run, asked) for run, asked, user in jobs if user == request.user]
        assert request.asked == percentile_95([asked for _, asked in own])
        assert percentile_95([run for run, _ in own]) <= request.enough < request.asked
        saved = sum(2 * max(asked - max(run, request.enough), 0) for run, asked in own) / 3600
        assert request.unneeded == pytest.approx(saved)


def test_sequential_and_killed_jobs(store):
    facts = facts_of(store, "efficiency")
    lazy = [
        job for job in ROWS
        if job["n_procs"] > 1 and job["run_time"] >= 60 and job["average_cpu_time"]
        and job["average_cpu_time"] * job["n_procs"] <= job["run_time"] * 1.05
    ]  # fmt: skip
    assert facts["waste.sequential.jobs"] == len(lazy)
    idle = sum((job["n_procs"] - 1) * job["run_time"] for job in lazy) / 3600
    assert facts["waste.sequential.cpu_hours"] == pytest.approx(idle, **CLOSE)
    for kind, state in (("time", "TIMEOUT"), ("memory", "OUT_OF_MEMORY")):
        hit = [job for job in ROWS if job["state"] == state]
        assert facts[f"killed.{kind}.jobs"] == len(hit)


def test_that_no_job_has_the_state_of_a_limit_does_not_say_that_none_reached_it(make_store):
    words = ["Succeeded", "Failed", "Running"]
    facts = facts_of(make_store(run_time=[60.0] * 3, n_procs=[1] * 3, state=words), "efficiency")

    assert {
        facts[f"killed.{kind}.{what}"] for kind in ("time", "memory") for what in ("jobs", "cpu_hours")
    } == {None}


# Waits.


def queued(job):
    eligible = job["submit_time"] if job["eligible_time"] is None else job["eligible_time"]
    return job["wait_time"] - min(max(eligible - job["submit_time"], 0), job["wait_time"])


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Kolkata"])
def test_waits_by_month_and_hour_are_by_the_clock_of_the_system(zone, make_store):
    store = make_store(**JOBS)
    store.set_header((("TimeZoneString", zone), UNIX))
    facts = facts_of(store, "waits-by-class")
    months: dict[str, list[float]] = defaultdict(list)
    clock: dict[str, list[float]] = defaultdict(list)
    for job in ROWS:
        local = datetime.fromtimestamp(job["submit_time"], ZoneInfo(zone))
        months[local.strftime("%Y-%m")].append(queued(job))
        clock[f"{local.hour:02}:00"].append(queued(job))
    for kind, expected in (("month", months), ("hour", clock)):
        found = by_id(facts[f"wait.by_{kind}"])
        assert {name: row["jobs"] for name, row in found.items()} == {
            name: len(values) for name, values in expected.items()
        }
        for name, values in expected.items():
            assert found[name]["p95"] == np.quantile(values, 0.95)


def test_waits_by_project_and_request_and_what_was_held(store):
    facts = facts_of(store, "waits-by-class")
    bio = [queued(job) for job in ROWS if job["project_id"] == "bio"]
    assert by_id(facts["wait.by_project"])["bio"]["jobs"] == len(bio)
    assert by_id(facts["wait.by_project"])["bio"]["median"] == np.median(bio)
    short = [job for job in ROWS if job["req_time"] and 600 < job["req_time"] <= 3600]
    assert by_id(facts["wait.by_request"])["to 1 h"]["jobs"] == len(short)
    held_back = [job["wait_time"] - queued(job) for job in ROWS]
    facts = facts_of(store, "waits")
    assert facts["wait.held.jobs"] == sum(value > 0 for value in held_back)
    share = sum(held_back) / sum(job["wait_time"] for job in ROWS)
    assert facts["wait.held.share"] == pytest.approx(share, **CLOSE)


# Energy and carbon.

WATTS = (("WattsPerProcessor", "7.5"), ("WattsPerGPU", "300"), ("WattsPerNode", "100"), UNIX)


def joules(job, *, watts):
    if job["energy"] is not None:
        return job["energy"]
    return (
        job["run_time"] * (7.5 * job["n_procs"] + 300 * (job["n_gpus"] or 0) + 100 * job["n_nodes"])
        if watts
        else None
    )


@pytest.mark.parametrize("watts", [False, True])
def test_energy_is_that_recorded_else_that_estimated(watts, make_store):
    store = make_store(**JOBS)
    store.set_header(WATTS if watts else (UNIX,))
    facts = facts_of(store, "energy")
    known = [joules(job, watts=watts) for job in ROWS]
    assert facts["energy.jobs"] == sum(value is not None for value in known)
    assert facts["energy.kwh"] == pytest.approx(sum(value or 0 for value in known) / 3.6e6, **CLOSE)
    estimated = [joules(job, watts=watts) for job in ROWS if job["energy"] is None] if watts else []
    assert facts["energy.estimated_jobs"] == len(estimated)
    assert facts["energy.estimated_kwh"] == pytest.approx(sum(estimated) / 3.6e6, **CLOSE)
    ann = sum(joules(job, watts=watts) or 0 for job in ROWS if job["user_id"] == "ann") / 3.6e6
    assert by_id(facts["energy.users"])["ann"]["kwh"] == pytest.approx(ann, **CLOSE)
    assert sum(row["kwh"] for row in facts["energy.sizes"]) == pytest.approx(facts["energy.kwh"], **CLOSE)
    timed = sum(value or 0 for value, job in zip(known, ROWS, strict=True) if job["run_time"]) / 3.6e6
    assert sum(row["kwh"] for row in facts["energy.by_month"]) == pytest.approx(timed, **CLOSE)


def series(path, *, gap):
    """Write grams per hour for four months, without ten days where there is a *gap*."""
    hours = [hour for hour in range(24 * 121) if not (gap and 480 <= hour < 720)]
    grams = {hour: 100 + hour % 24 * 10 for hour in hours}
    lines = [
        f"{datetime.fromtimestamp(START + hour * 3600, UTC).isoformat()},{value}"
        for hour, value in grams.items()
    ]
    path.write_text("\n".join(["time,g_per_kwh", *lines]) + "\n")
    return grams


def per_hour(rows):
    """Return the kilowatt hours in each hour since the start."""
    found: dict[int, float] = defaultdict(float)
    for job in rows:
        if job["energy"] is None or not job["run_time"]:
            continue
        first, last = start(job) - START, start(job) - START + job["run_time"]
        for hour in range(int(first // 3600), int(last // 3600) + 1):
            part = min(last, (hour + 1) * 3600) - max(first, hour * 3600)
            found[hour] += max(part, 0) / job["run_time"] * job["energy"] / 3.6e6
    return found


@pytest.mark.parametrize("gap", [False, True])
def test_carbon_follows_the_hours_and_gaps_are_said_not_guessed(gap, make_store, tmp_path):
    grams = series(tmp_path / "grid.csv", gap=gap)
    (tmp_path / "carbon.toml").write_text(
        'series = "grid.csv"\npue = 1.25\nprice_per_kwh = 0.3\n[embodied]\nkg = 1e6\nyears = 5\n'
    )
    store = make_store(**JOBS)
    store.set_header((("Processors", "500"), UNIX))
    store.stated["carbon"] = read_carbon(tmp_path / "carbon.toml")
    facts = facts_of(store, "energy")
    used = per_hour(ROWS)
    kg = sum(kwh * grams[hour] for hour, kwh in used.items() if hour in grams) * 1.25 / 1000
    assert facts["carbon.kg"] == pytest.approx(kg, **CLOSE)
    total = sum(job["energy"] for job in ROWS if job["energy"]) / 3.6e6
    known = sum(kwh for hour, kwh in used.items() if hour in grams)
    assert facts["carbon.unknown_kwh"] == pytest.approx(max(total - known, 0), rel=1e-9, abs=1e-6)
    assert (facts["carbon.unknown_kwh"] > 1) == gap
    assert facts["energy.cost"] == pytest.approx(total * 1.25 * 0.3, **CLOSE)
    cpu_seconds = sum(job["n_procs"] * job["run_time"] for job in ROWS)
    assert facts["carbon.embodied_kg"] == pytest.approx(
        1e6 * cpu_seconds / (500 * 5 * 365.25 * 86_400), **CLOSE
    )
    ann = per_hour([job for job in ROWS if job["user_id"] == "ann"])
    kg = sum(kwh * grams.get(hour, 0) for hour, kwh in ann.items()) * 1.25 / 1000
    assert by_id(facts["energy.users"])["ann"]["kg"] == pytest.approx(kg, **CLOSE)
    assert sum(row["kg"] for row in facts["energy.by_month"]) == pytest.approx(facts["carbon.kg"], **CLOSE)


def test_a_constant_intensity(make_store):
    store = make_store(**JOBS)
    store.stated["carbon"] = Carbon(constant=400.0)
    facts = facts_of(store, "energy")
    assert facts["carbon.kg"] == pytest.approx(facts["energy.kwh"] * 0.4, **CLOSE)
    assert facts["carbon.unknown_kwh"] == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("pue = 1.2\n", "expected either g_per_kwh or series"),
        ("g_per_kwh = -1\n", "expected a number, at least 0"),
        ("g_per_kwh = 1\npue = 0.5\n", "pue: is 0.5, expected a number from 1 to 10"),
        ("g_per_kwh = 1\n[embodied]\nkg = 5\n", "embodied.years: is missing"),
        ('series = "grid.csv"\n', "expected CSV"),
    ],
)
def test_a_wrong_carbon_file_is_refused(text, said, tmp_path):
    (tmp_path / "carbon.toml").write_text(text)
    (tmp_path / "grid.csv").write_text("when,grams\n1,2\n")
    with pytest.raises(DefinitionError, match=said):
        read_carbon(tmp_path / "carbon.toml")


@pytest.mark.parametrize(
    "text", ["time,g_per_kwh\nsoon,5\n", "time,g_per_kwh\n5\n", "time,g_per_kwh\n", "time,g_per_kwh\n1,-4\n"]
)
def test_a_wrong_series_is_refused(text, tmp_path):
    (tmp_path / "grid.csv").write_text(text)
    with pytest.raises(DefinitionError, match=r"grams|CSV"):
        read_carbon(tmp_path / "grid.csv")


# Quotas.


def test_quotas(make_store, tmp_path):
    (tmp_path / "quota.toml").write_text(
        "[quota]\nbegins = 2026-02-01\nends = 2026-04-01\n[quota.projects]\nclimate = 1e4\nnobody = 5\n"
        '[quota.users]\n"o\'hara" = 100\n'
    )
    store = make_store(**JOBS)
    store.stated["quota"] = read_quotas(tmp_path / "quota.toml")
    facts = facts_of(store, "quotas")
    found = by_id(facts["quota.used"])
    first, last = (datetime(2026, month, 1, tzinfo=UTC).timestamp() for month in (2, 4))

    def hours(field, name, begin, end):
        total = 0.0
        for job in ROWS:
            if job[field] == name:
                part = min(start(job) + job["run_time"], end) - max(start(job), begin)
                total += job["n_procs"] * max(part, 0) / 3600
        return total

    used, recent = (
        hours("project_id", "climate", first, last),
        hours("project_id", "climate", last - 30 * 86_400, last),
    )
    assert found["climate"]["used"] == pytest.approx(used, **CLOSE)
    assert found["climate"]["recent"] == pytest.approx(recent, **CLOSE)
    assert found["climate"]["days_left"] == pytest.approx(max(1e4 - used, 0) / (recent / 30), **CLOSE)
    assert found["o'hara"]["share"] == pytest.approx(hours("user_id", "o'hara", first, last) / 100, **CLOSE)
    assert (found["nobody"]["used"], found["nobody"]["days_left"]) == (0, None)
    assert facts["quota.exceeded"] == sum(row["share"] > 1 for row in facts["quota.used"])


def test_the_rate_of_a_young_quota_is_that_of_its_own_days(make_store, tmp_path):
    (tmp_path / "quota.toml").write_text("[quota]\nbegins = 2026-02-01\n[quota.users]\nann = 100\n")
    first = datetime(2026, 2, 1, tzinfo=UTC).timestamp()
    # An hour on 8 processors at the end of each of three days; what is before them is not of the quota.
    store = make_store(
        submit_time=[first + day * 86_400 - 3600 for day in (-5, 1, 2, 3)],
        wait_time=[0.0] * 4,
        run_time=[3600.0] * 4,
        n_procs=[8] * 4,
        user_id=["ann"] * 4,
    )
    store.stated["quota"] = read_quotas(tmp_path / "quota.toml")
    (ann,) = facts_of(store, "quotas")["quota.used"]
    assert (ann["used"], ann["recent"], ann["days_left"]) == (24, 24, pytest.approx((100 - 24) / 8))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[quota]\n", "projects: is missing"),
        ("[quota]\nof = 'beer'\n[quota.users]\na = 1\n", "quota.of: is 'beer'"),
        ("[quota.users]\na = 0\n", "expected hours above 0"),
        (
            "[quota]\nbegins = 2026-02-01\nends = 2026-01-01\n[quota.users]\na = 1\n",
            "ends: is not after begins",
        ),
    ],
)
def test_a_wrong_quota_file_is_refused(text, said, tmp_path):
    (tmp_path / "quota.toml").write_text(text)
    with pytest.raises(DefinitionError, match=said):
        read_quotas(tmp_path / "quota.toml")


def test_quotas_begin_on_a_day():
    assert Quotas(users={"ann": 1.0}, begins=date(2026, 1, 1)).of == "cpu_hours"
