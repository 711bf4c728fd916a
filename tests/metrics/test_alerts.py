"""Alerts: by the logs with their right answers, by pandas, and silent where nothing is wasted."""

import json
import math
import random
from base64 import b64encode
from dataclasses import replace
from gzip import compress
from pathlib import Path
from typing import Any

import pytest
import sqlglot

from gwa.breakdown.dimensions import by_name
from gwa.breakdown.held import held_rows
from gwa.errors import DefinitionError
from gwa.formats.open import open_trace
from gwa.metrics.alert_rules import RULES, SCALES, TEXTS
from gwa.metrics.alerts import alerts, default_thresholds, jobs_of, lacking, read_thresholds, sums
from gwa.metrics.asked_cores import threads_per_core
from gwa.metrics.efficiency import sequential
from gwa.store.engines.spark_sql import to_spark_sql
from gwa.store.options import ReadOptions
from gwa.words.message import Message

SHARED = Path(__file__).parents[2].parent / "shared"
CASES = SHARED / "cases" / "gpu"
GIB = 1 << 30
NODE_MEMORY = 190 * 1024**2
HEADER = (("ProcessorsPerNode", "32"), ("MemoryPerNode", str(NODE_MEMORY)), ("GPUsPerNode", "4"))
SYSTEM = {"node_cores": 32, "node_memory": NODE_MEMORY, "node_gpus": 4}
BY_ID = {alert.id: alert for alert in RULES}


def by_id(store, by="user"):
    return {alert.rule.id: alert for alert in alerts(store, by)}


def found_jobs(store, alert, by="user"):
    """Return what is found of each job at fault, by the job's number in the log."""
    return {
        job.job: job.found for holder in alert.holders for job in jobs_of(store, alert.rule, by, holder.name)
    }


def hours(alert):
    return {holder.name: holder.hours for holder in alert.holders}


# --- The logs with their right answers ---


@pytest.fixture(params=sorted(path.name for path in CASES.glob("[1-5]-*")) or ["none"])
def case(request):
    """Return the name of a case, what is expected, and its store."""
    if request.param == "none":
        pytest.skip("there are no logs with right answers in shared/cases/gpu beside the checkout")
    folder = CASES / request.param
    expected = json.loads((folder / "expect.json").read_text())
    with open_trace([folder / "jobs.sacct"], options=ReadOptions(system=SYSTEM)) as store:
        yield expected, store


def test_every_expectation_of_the_cases_holds(case):
    expected, store = case
    found = by_id(store)
    checks = {
        "measured": lambda value: check_measured(store, found, value),
        "idle-gpu-hours": lambda value: check_idle(found["idle-gpu-hours"], value),
        "not in spread-cpu": lambda value: check_not_spread(store, found, value),
        "note": bool,
    }
    for name, value in expected.items():
        if name in checks:
            checks[name](value)
        elif name in {"memory-per-gpu", "cores-per-gpu"}:
            assert sorted(found_jobs(store, found[name])) == value
        elif name in {"spread-cpu", "idle-nodes"}:
            assert found_jobs(store, found[name]) == value
        elif name in {"low-gpu-use", "low-cpu-use"}:
            assert {one.name: round(one.used, 3) for one in found[name].holders} == value
        else:
            assert hours(found[name]) == pytest.approx(value)


def check_measured(store, found, value):
    counts = dict(store.rows("select name, jobs from repairs"))
    gpus = found["idle-gpu-hours"]
    told = {
        "jobs": store.row("select count(*) from jobs")[0],
        "gpu jobs": gpus.about,
        "gpu use": gpus.known,
        "gpu memory": store.row("select count(max_gpu_memory) from jobs where n_gpus > 0")[0],
        "broken": counts.get("broken summary", 0),
    }
    assert {name: told[name] for name in value} == value


def check_idle(alert, value):
    assert hours(alert) == pytest.approx({name: value["hours"][name] for name in value["list"]})
    assert sorted(hours(alert)) == value["list"]
    assert sorted(one.name for one in alert.holders if one.is_mailed) == value["mail"]


def check_not_spread(store, found, value):
    assert not set(value) & set(found_jobs(store, found["spread-cpu"]))


# --- Small logs of our own ---

COLUMNS = (
    "JobIDRaw|JobID|User|Account|State|Submit|Start|End|ElapsedRaw|TimelimitRaw|NNodes|NCPUS|ReqMem|AllocTRES"
    "|AdminComment"
)


PLAIN: dict[str, Any] = {
    "user": "ann", "hours": 10.0, "cores": 4, "nodes": 1, "gpus": 0, "memory": 16, "limit": None, "cpu": 0.9,
    "used": 0.8, "use": None, "gpu_memory": 20.0, "idle_nodes": 0, "state": "COMPLETED", "summary": True,
}  # fmt: skip
"""A job: memory in GiB, its limit in hours, the use of its GPUs in %, shares of CPU time and memory used."""


def line(number, **changes):
    """Return a row of sacct with the summary of a job."""
    job = PLAIN | changes
    run, begin = round(job["hours"] * 3600), 1_793_494_200 + 60 * number
    nodes = {f"n{node}": node_of(job, node, run) for node in range(job["nodes"])}
    packed = compress(json.dumps({"nodes": nodes, "total_time": run}).encode(), mtime=0)
    tres = f"cpu={job['cores']},mem={job['memory']}G,node={job['nodes']}"
    cells = [
        number, number, job["user"], "climate", job["state"], begin, begin + 60, begin + 60 + run, run,
        round((job["limit"] or job["hours"] * 1.2) * 60), job["nodes"], job["cores"], f"{job['memory']}G",
        tres + (f",gres/gpu={job['gpus']}" if job["gpus"] else ""),
        f"JS1:{b64encode(packed).decode()}" if job["summary"] else "",
    ]  # fmt: skip
    return "|".join(map(str, cells))


def node_of(job, node, run):
    """Return what the summary says of a node."""
    cores, memory = job["cores"] // job["nodes"], job["memory"] * GIB
    part = {
        "cpus": cores,
        "total_time": 0 if node < job["idle_nodes"] else job["cpu"] * run * cores,
        "total_memory": memory // job["nodes"],
        "used_memory": int(job["used"] * memory) // job["nodes"],
    }
    if job["gpus"] and job["use"] is not None:
        count = job["gpus"] // job["nodes"] + (node < job["gpus"] % job["nodes"])
        part["gpu_utilization"] = {str(gpu): job["use"] for gpu in range(count)}
        part["gpu_used_memory"] = {str(gpu): int(job["gpu_memory"] * GIB) for gpu in range(count)}
    return part


@pytest.fixture
def of_lines(tmp_path):
    """Return a function that makes the store of a log of some lines."""
    stores: list[Any] = []

    def make(*lines, system=SYSTEM):
        path = tmp_path / f"jobs{len(stores)}.sacct"
        path.write_text("\n".join((COLUMNS, *lines)) + "\n")
        store = open_trace([path], options=ReadOptions(system=system))
        stores.append(store)
        return store

    yield make
    for store in stores:
        store.close()


@pytest.mark.parametrize(
    ("nodes", "gpus", "least"), [(2, 4, 1), (3, 9, None), (3, 8, 2), (2, 8, None), (4, 4, 1), (2, 5, None)]
)
def test_gpus_are_spread_only_where_fewer_nodes_have_as_many(nodes, gpus, least, of_lines):
    store = of_lines(line(1, nodes=nodes, gpus=gpus, cores=2 * nodes, use=80.0))
    found = by_id(store)["spread-gpu"]
    assert found_jobs(store, found) == ({"1": least} if least else {})
    assert hours(found) == ({"ann": pytest.approx((nodes - least) * 10)} if least else {})


def test_gpus_are_not_spread_where_cores_or_memory_need_the_nodes(of_lines):
    store = of_lines(
        line(1, nodes=2, gpus=4, cores=64, use=80.0),
        line(2, nodes=2, gpus=4, cores=8, memory=300, used=0.9, use=80.0),
    )
    assert found_jobs(store, by_id(store)["spread-gpu"]) == {}


def test_what_needs_the_size_of_a_node_is_not_told_without_it(of_lines):
    found = by_id(of_lines(line(1, nodes=2, gpus=4, cores=8, use=80.0), system=None))
    assert found["spread-gpu"].lacking == ("node_gpus",)
    assert found["spread-cpu"].lacking == ("node_cores", "node_memory")
    assert found["spread-gpu"].holders == ()


def test_time_limits_of_gpus(of_lines):
    """Ten jobs of two hours on four GPUs, with a limit of 48: 1,840 GPU-hours are asked for and not used."""
    wasteful = [line(number, hours=2, gpus=4, use=80.0, limit=48) for number in range(1, 11)]
    store = of_lines(*wasteful, *(line(number, user="bob", gpus=4, use=80.0) for number in range(11, 15)))
    (holder,) = by_id(store)["limit-gpu"].holders
    assert (holder.name, holder.jobs) == ("ann", 10)
    assert holder.hours == pytest.approx(10 * 46 * 4)
    assert holder.used == pytest.approx(2 / 48)


def test_time_limits_are_judged_by_sum_mean_and_median(of_lines):
    """Nine of nineteen jobs that use all of their time leave the median low, but not the mean."""
    few = [line(number, hours=2, gpus=4, use=80.0, limit=200) for number in range(1, 11)]
    rest = [line(number, hours=2, gpus=4, use=80.0, limit=2) for number in range(11, 20)]
    assert hours(by_id(of_lines(*few))["limit-gpu"]) == {"ann": pytest.approx(7920)}
    assert hours(by_id(of_lines(*few, *rest))["limit-gpu"]) == {}


def test_time_limits_of_jobs_that_did_not_complete_say_nothing(of_lines):
    lines = [line(number, hours=2, gpus=4, use=80.0, limit=200, state="FAILED") for number in range(1, 11)]
    found = by_id(of_lines(*lines))["limit-gpu"]
    assert (found.about, found.holders) == (0, ())


def test_time_limits_of_cores(of_lines):
    """The threshold is 100,000 core-hours, and is exceeded."""
    lines = [line(number, hours=10, cores=100, limit=110) for number in range(1, 11)]
    assert hours(by_id(of_lines(*lines))["limit-cpu"]) == {}
    more = of_lines(*lines, line(11, hours=10, cores=100, limit=110))
    assert hours(by_id(more)["limit-cpu"]) == {"ann": pytest.approx(110_000)}


def test_a_part_of_a_gpu_would_do(of_lines):
    little = {"hours": 30, "gpus": 1, "use": 15.0, "gpu_memory": 10, "memory": 32, "cores": 12, "used": 1.0}
    store = of_lines(line(1, **little))
    assert hours(by_id(store)["gpu-too-powerful"]) == {"ann": pytest.approx(30)}
    for other in (
        {"use": 15.1}, {"use": 0.0}, {"gpu_memory": 10.1}, {"cores": 13}, {"hours": 24},
        {"state": "OUT_OF_MEMORY"}, {"memory": 33},
    ):  # fmt: skip
        assert hours(by_id(of_lines(line(1, **(little | other))))["gpu-too-powerful"]) == {}, other


def test_a_part_of_a_gpu_is_no_gpu_that_is_too_powerful(make_store):
    world: dict[str, list[Any]] = {
        "submit_time": [1e9], "wait_time": [0.0], "run_time": [360_000.0], "n_procs": [1], "user_id": ["ann"],
        "n_gpus": [1.0], "gpu_utilization": [0.1], "gpu_memory": [1e6], "max_memory": [1e6],
        "gpu_type": ["a100"],
    }  # fmt: skip
    assert hours(by_id(make_store(**world))["gpu-too-powerful"]) == {"ann": 100}
    assert hours(by_id(make_store(**(world | {"gpu_type": ["a100_1g.10gb"]})))["gpu-too-powerful"]) == {}


def test_gpu_hours_are_of_whole_gpus_and_parts_of_unknown_size_are_not_judged(make_store):
    """A seventh that is idle for 700 hours is 100 hours of a GPU; without a profile it is unknown."""
    world: dict[str, list[Any]] = {
        "submit_time": [1e9] * 4, "wait_time": [0.0] * 4, "run_time": [2_520_000.0] * 4,
        "n_procs": [1] * 4, "user_id": ["ann", "bob", "cid", "cid"], "n_gpus": [1.0] * 4,
        "gpu_utilization": [0.0, 0.0, 0.0, 0.9], "gpu_memory": [1e5] * 4, "status": [1] * 4,
        "req_time": [25_200_000.0] * 4, "gpu_type": ["a100_1g.5gb", "a100", "mig", "a100_1g.5gb"],
    }  # fmt: skip
    found = by_id(make_store(**world))
    assert hours(found["idle-gpu-hours"]) == {"ann": pytest.approx(100), "bob": pytest.approx(700)}
    assert (found["idle-gpu-hours"].known, found["idle-gpu-hours"].about) == (3, 4)
    assert hours(found["low-gpu-use"]) == {"ann": pytest.approx(100), "bob": pytest.approx(700)}
    assert hours(found["limit-gpu"]) == {"bob": pytest.approx(6300)}
    every = by_id(make_store(**(world | {"gpu_type": ["a100"] * 4})))
    assert hours(every["limit-gpu"]) == pytest.approx({"ann": 6300, "bob": 6300, "cid": 12600})


def test_idle_nodes(of_lines):
    store = of_lines(line(1, nodes=4, cores=32, idle_nodes=3), line(2, nodes=2, cores=32))
    found = by_id(store)["idle-nodes"]
    assert found_jobs(store, found) == {"1": 3}
    assert hours(found) == {"ann": pytest.approx(3 * 8 * 10)}


def test_nodes_without_any_other_measurement_are_listed_and_nobody_is_written_to(make_store):
    world: dict[str, list[Any]] = {
        "submit_time": [1e9], "wait_time": [0.0], "run_time": [36_000.0], "n_procs": [8], "user_id": ["ann"],
        "n_nodes": [2], "idle_nodes": [2], "average_cpu_time": [0.0],
    }  # fmt: skip
    (holder,) = by_id(make_store(**world))["idle-nodes"].holders
    assert not holder.is_mailed
    (holder,) = by_id(make_store(**(world | {"max_memory": [1e6]})))["idle-nodes"].holders
    assert holder.is_mailed


# --- What is known of a job ---

GPU_JOB: dict[str, list[Any]] = {
    "submit_time": [1e9], "wait_time": [0.0], "run_time": [720_000.0], "n_procs": [4], "user_id": ["ann"],
    "project_id": ["climate"], "n_gpus": [2.0], "max_memory": [1e6],
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"gpu_utilization": [0.0]}, 400),
        ({"gpu_utilization": [0.25]}, None),
        ({"gpu_utilization": [0.25], "n_gpus": [1.0]}, 0),
        ({"idle_gpus": [1]}, 200),
        ({"idle_gpus": [5]}, 400),
        ({"idle_gpus": [2], "gpu_utilization": [0.5]}, None),
        ({"idle_gpus": [0], "gpu_utilization": [0.5]}, 0),
        ({"gpu_utilization": [0.0], "bounds": ["max_memory,gpu_utilization"]}, None),
        ({"gpu_utilization": [0.0], "bounds": ["max_memory"]}, 400),
        ({"idle_gpus": [2], "bounds": ["idle_gpus"]}, None),
        ({"idle_gpus": [2], "run_time": [1799.0]}, 0),
        ({"n_gpus": [None], "idle_gpus": [2]}, None),
    ],
)
def test_which_gpus_are_known_to_be_idle(change, expected, make_store):
    """Beside another job, so that each field is recorded; None is unknown."""
    other: dict[str, Any] = {"user_id": "bob", "n_gpus": 1.0, "gpu_utilization": 0.5, "idle_gpus": 0}
    job = GPU_JOB | change
    names = sorted({*job, *other})
    store = make_store(
        **{
            name: [*job.get(name, [None]), other.get(name, (GPU_JOB.get(name) or [None])[0])]
            for name in names
        }
    )
    found = by_id(store)["idle-gpu-hours"]
    assert found.known == (1 if expected is None else 2)
    assert hours(found) == ({"ann": expected} if expected else {})


@pytest.mark.parametrize(
    ("witness", "is_mailed"),
    [
        ({}, False),
        ({"max_memory": [1e6]}, False),
        ({"average_cpu_time": [0.0]}, False),
        ({"gpu_memory": [0.0]}, True),
        ({"gpu_memory": [4e6]}, False),
        ({"max_gpu_memory": [4e6], "gpu_memory": [4e6]}, False),
    ],
)
def test_a_use_of_0_needs_a_witness(witness, is_mailed, make_store):
    job = {name: values for name, values in GPU_JOB.items() if name != "max_memory"}
    found = by_id(make_store(**job, gpu_utilization=[0.0], **witness))
    (holder,) = found["idle-gpu-hours"].holders
    assert holder.is_mailed is is_mailed
    assert (found["low-gpu-use"].holders != ()) is is_mailed


@pytest.mark.parametrize(
    ("watts", "is_mailed"), [(None, False), (120.0, True), (310.0, True), (350.0, False)]
)
def test_the_power_of_a_gpu_agrees_if_it_is_half_of_that_of_those_that_compute(watts, is_mailed, make_store):
    """Data are in its memory: it is 0 in each short look, and what it draws tells whether it computed."""
    job = {name: values * 2 for name, values in GPU_JOB.items()} | {"user_id": ["ann", "bob"]}
    energy = [watts and watts * 2 * 720_000.0, 650.0 * 2 * 720_000.0]
    store = make_store(**job, gpu_utilization=[0.0, 0.9], gpu_memory=[4e7, 4e7], energy=energy)
    (holder,) = by_id(store)["idle-gpu-hours"].holders
    assert (holder.name, holder.is_mailed) == ("ann", is_mailed)


def test_what_a_job_is_judged_by_is_computed_once_for_each(make_store):
    """Sums that are moved below a join repeated the text of what was allocated over five hundred times."""
    job = {name: values * 2 for name, values in GPU_JOB.items()} | {"user_id": ["ann", "bob"]}
    store = make_store(
        **job, gpu_utilization=[0.0, 0.9], gpu_memory=[4e7, 4e7], energy=[None, 9e8], gpu_type=["a100", None],
        used_resources=["mem:4G", None], bounds=[None, "max_memory"], idle_gpus=[2, 0],
    )  # fmt: skip
    rules = tuple(rule for rule in default_thresholds().rules.values() if not lacking(store, rule))
    ((_, plan),) = store.rows(f"explain {sums(store, rules)}")
    assert 1 <= plan.count("used_resources") < 10


def test_memory_allocated_is_what_the_log_says_of_it(make_store):
    world: dict[str, list[Any]] = {
        "submit_time": [1e9] * 2, "wait_time": [0.0] * 2, "run_time": [3.6e6] * 2, "n_procs": [2] * 2,
        "user_id": ["ann", "bob"], "max_memory": [1024.0**2] * 2, "req_memory": [50 * 1024.0**2] * 2,
        "used_resources": ["billing:2,cpu:2,mem:400G,node:1", None],
    }  # fmt: skip
    found = by_id(make_store(**world))["excess-memory"]
    assert hours(found) == {"ann": pytest.approx(399 * 1000 / 1024), "bob": pytest.approx(99 * 1000 / 1024)}


@pytest.mark.parametrize(
    "text", ["mem:", "mem:12", "mem:9999999999999999E", "mem:1.2.3G", "xmem:1G", "mem:0G"]
)
def test_memory_that_cannot_be_is_not_believed(text, make_store):
    world: dict[str, list[Any]] = {
        "submit_time": [1e9], "run_time": [3.6e6], "n_procs": [2], "user_id": ["ann"], "max_memory": [1e6],
        "used_resources": [text],
    }  # fmt: skip
    assert by_id(make_store(**world))["excess-memory"].known == 0


def test_more_cpu_time_than_there_was_is_unknown(make_store):
    world: dict[str, list[Any]] = {
        "submit_time": [1e9] * 2, "run_time": [360_000.0] * 2, "n_procs": [2] * 2, "user_id": ["ann"] * 2,
        "average_cpu_time": [360_000.0, 360_001.0],
    }  # fmt: skip
    found = by_id(make_store(**world))["low-cpu-use"]
    assert (found.known, found.about) == (1, 2)


def test_hours_are_those_within_the_period(make_store):
    """A job of 400 hours that began 300 before the period counts for the part of 100 in it, of two GPUs."""
    begin = 1e9
    store = make_store(**(GPU_JOB | {"run_time": [1.44e6], "gpu_utilization": [0.0]}))
    part = store.filtered("true", (begin + 300 * 3600, begin + 1000 * 3600))
    assert hours(by_id(part)["idle-gpu-hours"]) == {"ann": pytest.approx(200)}
    (job,) = jobs_of(part, by_id(part)["idle-gpu-hours"].rule, "user", "ann")
    assert job.hours == pytest.approx(200)
    assert job.run_time == 1.44e6
    assert (
        hours(by_id(store.filtered("true", (begin + 500 * 3600, begin + 600 * 3600)))["idle-gpu-hours"]) == {}
    )


def test_each_user_is_found_once_where_only_time_limits_are_recorded(make_store):
    """Nothing is summed over all users then: each of many users counts for herself."""
    users = [f"u{user}" for user in range(3) for _ in range(20)]
    alike = {"submit_time": 0.0, "wait_time": 0.0, "run_time": 7200.0, "req_time": 86400.0, "n_procs": 1000}
    columns = {name: [value] * len(users) for name, value in alike.items()}
    store = make_store(**columns, job_id=list(range(60)), status=[1] * 60, user_id=users)
    (due,) = (alert for alert in alerts(store) if alert.holders)
    assert [(holder.name, holder.jobs) for holder in due.holders] == [("u0", 20), ("u1", 20), ("u2", 20)]


def test_by_project(make_store):
    world = GPU_JOB | {"gpu_utilization": [0.0]}
    twice = {name: values * 2 for name, values in world.items()} | {"user_id": ["ann", "bob"]}
    store = make_store(**twice)
    assert hours(by_id(store)["idle-gpu-hours"]) == {"ann": 400, "bob": 400}
    assert hours(by_id(store, "project")["idle-gpu-hours"]) == {"climate": 800}


def test_the_jobs_of_an_alert_are_asked_for_in_words_that_another_engine_understands(make_store):
    """As a section's queries are: every query is translated to Spark SQL, and what comes out parses there."""
    store = make_store(HEADER, **(GPU_JOB | {"gpu_utilization": [0.0]}))
    asked: list[str] = []
    rows = store.rows

    def noted(sql, *words):
        asked.append(sql)
        return rows(sql, *words)

    store.rows = noted
    for alert in alerts(store, "project"):
        jobs_of(store, alert.rule, "project", "climate", 10)
    assert len(asked) > len(BY_ID)
    for query in asked:
        assert sqlglot.parse_one(to_spark_sql(query), read="spark") is not None


# --- Thresholds ---


def written(tmp_path, text):
    path = tmp_path / "thresholds.toml"
    path.write_text(text)
    return path


def test_thresholds_that_are_not_stated_are_the_defaults(tmp_path):
    stated = read_thresholds(written(tmp_path, "[low_gpu_use]\nuse = 0.5\n"))
    defaults = default_thresholds()
    limits = {**defaults.rules["low-gpu-use"].limits, "use": 0.5}
    assert stated.rules["low-gpu-use"] == replace(defaults.rules["low-gpu-use"], limits=limits)
    assert stated.rules["limit-cpu"] == defaults.rules["limit-cpu"]
    assert tuple(defaults.rules) == tuple(BY_ID)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[low_gpu]\nuse = 0.5", r"thresholds.toml:1: low_gpu: unknown key, expected one of exclude"),
        ("[low_gpu_use]\nuze = 0.5", r"thresholds.toml:2: low_gpu_use.uze: unknown key, expected one of use"),
        (
            "[low_gpu_use]\nuse = 25",
            r"thresholds.toml:2: low_gpu_use.use: is 25, expected a share from 0 to 1",
        ),
        ("[low_gpu_use]\nuse = 'low'", r"thresholds.toml:2: low_gpu_use.use: is 'low', expected a share"),
        ("[low_gpu_use]\ntop = 1.5", r"thresholds.toml:2: low_gpu_use.top: is 1.5, expected a whole number"),
        (
            "[idle_gpu_hours]\nmail_hours = -1",
            r"thresholds.toml:2: idle_gpu_hours.mail_hours: is -1, expected a",
        ),
        ("low_gpu_use = 3", r"thresholds.toml:1: low_gpu_use: is 3, expected a table"),
        ("[exclude]\nusers = 'ann'", r"thresholds.toml:2: exclude.users: is 'ann', expected a list"),
        ("[low_gpu_use", r"thresholds.toml:1: .*expected TOML"),
    ],
)
def test_thresholds_that_make_no_sense_are_refused_by_line(text, said, tmp_path):
    with pytest.raises(DefinitionError, match=said):
        read_thresholds(written(tmp_path, text))


def test_stated_thresholds_and_exclusions_hold(tmp_path, make_store):
    store = make_store(**(GPU_JOB | {"gpu_utilization": [0.0]}))
    store.stated["thresholds"] = read_thresholds(written(tmp_path, "[idle_gpu_hours]\nlist_hours = 401\n"))
    assert hours(by_id(store)["idle-gpu-hours"]) == {}
    for text in ("users = ['ann']", "projects = ['climate']"):
        other = make_store(**(GPU_JOB | {"gpu_utilization": [0.0]}))
        other.stated["thresholds"] = read_thresholds(written(tmp_path, f"[exclude]\n{text}\n"))
        assert not any(alert.holders for alert in alerts(other))


# --- Nothing where nothing is wasted ---


def without_waste(seed):
    """Return the lines of a log of which nobody wastes anything."""
    chance = random.Random(seed)
    lines = []
    for number in range(1, chance.randint(20, 120)):
        kind = chance.choice(["serial", "parallel", "wide", "gpu", "gpus", "short", "unmeasured"])
        job: dict[str, Any] = {"user": chance.choice("abcdef"), "hours": chance.uniform(0.1, 48)}
        job |= {"cpu": chance.uniform(0.7, 1.0), "used": chance.uniform(0.5, 1.0)}
        job["limit"] = job["hours"] * chance.uniform(1.0, 4.0) + 0.1
        job["state"] = chance.choice(["COMPLETED"] * 8 + ["FAILED", "TIMEOUT"])
        gpus = chance.choice([1, 2, 4])
        kinds: dict[str, dict[str, Any]] = {
            "serial": {"cores": 1, "memory": chance.randint(1, 16)},
            "parallel": {"cores": chance.randint(4, 32), "memory": chance.randint(4, 128)},
            "wide": {"cores": 64, "nodes": 2, "memory": 300},
            "gpu": {"gpus": 1, "use": chance.uniform(40, 100), "cores": chance.randint(1, 18), "memory": 64},
            "gpus": {"gpus": gpus, "use": chance.uniform(40, 100), "cores": 4 * gpus, "memory": 40 * gpus},
            "short": {"hours": 0.02, "gpus": 1, "use": 0.0, "cores": 30, "cpu": 0.01, "limit": 48.0},
            "unmeasured": {"gpus": 4, "cores": 16, "summary": False, "memory": 2000},
        }  # fmt: skip
        job |= kinds[kind]
        lines.append(line(number, **job))
    return lines


@pytest.mark.parametrize(
    "seed", [*range(8), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(8, 200))]
)
def test_where_nothing_is_wasted_there_is_no_alert(seed, of_lines):
    found = alerts(of_lines(*without_waste(seed)))
    assert {alert.rule.id: hours(alert) for alert in found if alert.holders} == {}


def test_what_rules_say_in_words_can_be_translated():
    assert all(isinstance(getattr(rule, name), Message) for rule in RULES for name in TEXTS)


def test_hours_are_in_the_unit_that_is_said():
    assert {rule.stake for rule in RULES} == SCALES.keys()
    assert math.isclose(SCALES["TB-hours"], 1024**3 * 3600)


def cores_of(make_store, held, asked, busy, threads=None, jobs=30):
    """Return jobs of 20 hours on a node that keep *busy* of the processors *held* busy."""
    header = (("ThreadsPerCore", str(threads)),) if threads else ()
    sizes = {"n_procs": held, "req_n_procs": asked}
    columns = {
        name: [value] * jobs if not isinstance(value, list) else value for name, value in sizes.items()
    }
    return make_store(
        header,
        submit_time=[1e9 + n for n in range(jobs)], wait_time=[0.0] * jobs, run_time=[72_000.0] * jobs,
        n_nodes=[1] * jobs, user_id=["ann"] * jobs, status=[1] * jobs,
        average_cpu_time=[72_000.0 * busy / n for n in columns["n_procs"]], **columns,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("held", "asked", "threads", "at_stake"),
    [
        (2, 1, None, 0),  # one processor is all that can be asked for
        (2, 2, 2, 0),  # one core
        (2, 2, None, 30 * 20),
        (2, None, None, 30 * 20),
        (4, 3, 2, 30 * 20 * 2),
        (8, 8, 2, 30 * 20 * 6),
        (64, 1, None, 0),  # a whole node
    ],
)
def test_cores_are_judged_against_what_could_be_asked_for(make_store, held, asked, threads, at_stake):
    store = cores_of(make_store, held, asked, 0.99, threads)
    found = by_id(store)
    assert sum(one.hours for one in found["serial-on-many"].holders) == pytest.approx(at_stake)
    assert bool(found["low-cpu-use"].holders) == bool(at_stake)
    assert sequential(store)[1] == pytest.approx(at_stake)


def test_the_threads_of_a_core_are_those_that_all_requests_were_rounded_up_to(make_store):
    """Half of the jobs ask for one processor or three, and get two or four."""
    asked = [1, 2, 3, 2, 1, 4] * 10
    whole = [2 * math.ceil(n / 2) for n in asked]
    assert threads_per_core(cores_of(make_store, whole, asked, 0.99, jobs=60)) == 2
    assert threads_per_core(cores_of(make_store, [*whole[:-1], 7], asked, 0.99, jobs=60)) == 1
    assert threads_per_core(cores_of(make_store, asked, asked, 0.99, jobs=60)) == 1
    # Two and four threads round three and seven alike, and one size may be a node.
    both = [3, 7] * 30
    assert threads_per_core(cores_of(make_store, [4, 8] * 30, both, 0.99, jobs=60)) == 1
    assert threads_per_core(cores_of(make_store, 2, 1, 0.99)) == 1


def test_cores_for_each_gpu_are_those_of_the_request(make_store):
    def found(asked):
        store = make_store(
            submit_time=[1e9], wait_time=[0.0], run_time=[72_000.0], n_nodes=[1], n_gpus=[1.0],
            n_procs=[40], req_n_procs=[asked], user_id=["ann"], average_cpu_time=[70_000.0],
        )  # fmt: skip
        return hours(by_id(store)["cores-per-gpu"])

    assert found(18) == {}
    assert found(20) == {"ann": pytest.approx(2 * 2 * 20)}
    assert found(40) == found(None) == {"ann": pytest.approx(22 * 20)}


@pytest.mark.parametrize(
    ("jobs", "earlier", "counted", "hours"),
    [
        (10, 400, 0, 10 * 4 * 400 / 3600),
        (9, 400, 0, None),
        (10, 300, 0, None),  # a quarter, and not more
        (10, 4000, 5, 10 * 4 * 4000 / 3600),  # of others only the number is known, which says nothing
    ],
)
def test_what_runs_held_that_were_not_the_last(make_store, jobs, earlier, counted, hours):
    """Each job ran twice, the second time for 900 s on four processors."""
    rows = jobs + counted
    store = make_store(
        submit_time=[1e6 * place for place in range(rows)],
        wait_time=[0.0] * rows,
        run_time=[900.0] * rows,
        n_procs=[4] * rows,
        user_id=["ann"] * rows,
        n_requeues=[1] * rows,
        runs=[f"0/{earlier}/////preempted;5000/900/////completed"] * jobs + [None] * counted,
    )
    alert = by_id(store)["earlier-runs"]
    assert [holder.hours for holder in alert.holders] == ([] if hours is None else [pytest.approx(hours)])
    assert (alert.known, alert.about) == (jobs, rows)
    if hours:
        (holder,) = alert.holders
        assert holder.used == pytest.approx(earlier / (earlier + 900))
        assert sum(job.hours for job in jobs_of(store, alert.rule, "user", "ann")) == pytest.approx(hours)
    (row,) = held_rows(store, by_name("users"), 5)
    assert row["earlier_share"] == pytest.approx(jobs * earlier / (jobs * (earlier + 900) + counted * 900))


def test_one_large_job_that_was_interrupted_late_is_chance(make_store):
    earlier = [100] * 10 + [9000]
    store = make_store(
        submit_time=[0.0] * 11, wait_time=[0.0] * 11, run_time=[900.0] * 11, n_procs=[1] * 11,
        user_id=["ann"] * 11, runs=[f"0/{held}/////preempted;9000/900/////completed" for held in earlier],
    )  # fmt: skip
    assert not by_id(store)["earlier-runs"].holders


def test_of_earlier_runs_counts_what_lies_in_the_period(make_store):
    store = make_store(
        submit_time=[0.0] * 10, wait_time=[0.0] * 10, run_time=[900.0] * 10, n_procs=[1] * 10,
        user_id=["ann"] * 10, runs=["0/3600/////preempted;4000/900/////completed"] * 10,
    )  # fmt: skip
    (holder,) = by_id(store.filtered("true", (3000.0, 9000.0)))["earlier-runs"].holders
    assert (holder.hours, holder.used) == (pytest.approx(10 * 600 / 3600), pytest.approx(0.4))
    assert not by_id(store.filtered("true", (3400.0, 9000.0)))["earlier-runs"].holders
