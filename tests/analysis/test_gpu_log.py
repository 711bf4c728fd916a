"""A real log with GPUs: what the report says of it, against its raw text and what another program printed."""

import csv
import json
from collections import defaultdict
from datetime import datetime
from typing import Any

import pandas as pd
import pytest

from gwa.analysis.build import build
from gwa.breakdown.breakdown import breakdown
from gwa.breakdown.dimensions import by_name
from gwa.formats.open import open_trace
from gwa.store.options import ReadOptions

COLUMNS = (
    "JobID,JobName,User,Partition,NodeList,NNodes,NCPUS,NTasks,State,Submit,Start,End,Timelimit,Elapsed,TotalCPU,"
    "CPUTime,UserCPU,SystemCPU,ReqMem,MaxRSS,MaxVMSize,ReqTRES,AllocTRES,TRESUsageInMax,TRESUsageInTot,"
    "TRESUsageOutTot,MaxDiskRead,MaxDiskWrite,MaxRSSNode,MaxRSSTask,MaxVMSizeNode,MaxVMSizeTask,MaxDiskReadNode,"
    "MaxDiskReadTask,MaxDiskWriteNode,MaxDiskWriteTask,Comment"
)
USER, QUEUE, STATE, SUBMIT, START, END, ELAPSED, ALLOCATED = 2, 3, 8, 9, 10, 11, 13, 22


@pytest.fixture
def folder(logs):
    return logs / "today" / "hb-jobinfo"


@pytest.fixture
def store(folder):
    options = ReadOptions(format_options={"columns": COLUMNS})
    with open_trace([folder / "sacct.txt"], "slurm", options) as store:
        yield store


def hours(text):
    days, _, clock = text.rpartition("-")
    hour, minute, second = map(int, clock.split(":"))
    return int(days or 0) * 24 + hour + minute / 60 + second / 3600


def moment(text):
    return datetime.fromisoformat(text).timestamp() if text[:1].isdigit() else 0.0


def gpu_hours(folder, owner, *, running=True):
    """Return the GPU hours by user or queue from the text: running jobs count to the last time of any job."""
    rows = [line.split("☃") for line in (folder / "sacct.txt").read_text().splitlines()]
    jobs = [cells for cells in rows if "." not in cells[0]]
    last = max(moment(cells[column]) for cells in jobs for column in (SUBMIT, START, END))
    found: dict[str, float] = defaultdict(float)
    for cells in jobs:
        allocated = dict(item.split("=") for item in cells[ALLOCATED].split(",") if item)
        gpus = [float(amount) for name, amount in allocated.items() if name.startswith("gres/gpu:")]
        if not gpus or cells[START] == "None":
            continue
        if cells[STATE] != "RUNNING":
            found[cells[owner]] += sum(gpus) * hours(cells[ELAPSED])
        elif running:
            found[cells[owner]] += sum(gpus) * (last - moment(cells[START])) / 3600
    return dict(found)


@pytest.mark.logs
def test_gpu_hours_are_those_of_the_raw_text(folder, store):
    report = build(store, "gpus", only=["gpus"], strict=True)
    facts: dict[str, Any] = {fact.id: fact.value for fact in report.facts()}
    users, queues = gpu_hours(folder, USER), gpu_hours(folder, QUEUE)
    assert sum(gpu_hours(folder, USER, running=False).values()) == pytest.approx(175.5, abs=0.1)
    assert sum(users.values()) == pytest.approx(218.1, abs=0.1)
    assert facts["gpu.unfinished"] == 2
    assert facts["gpu.hours"] == pytest.approx(sum(users.values()), rel=1e-9)
    for name, expected in (("users", users), ("queues", queues)):
        assert {row["id"]: row["hours"] for row in facts[f"gpu.{name}.by_hours"]} == pytest.approx(expected)


@pytest.mark.logs
def test_the_efficiency_of_each_job_is_what_another_program_printed(folder, store):
    expected = json.loads((folder / "oracle_hb.json").read_text())["jobs"]
    known = {key: job for key, job in expected.items() if job["cpu_efficiency"]}
    rows = store.rows(
        "select source_id, average_cpu_time / run_time, run_time from jobs join source_ids using (job_id)"
        " where run_time > 0 and average_cpu_time is not null"
    )
    found = {key: fields for key, *fields in rows}
    assert len(known) > 30
    assert set(known) <= set(found)
    # The program divides by the longest Elapsed of all rows of a job: its steps end some seconds later.
    same = {key: job["cpu_efficiency"] * job["run_time_s"] / found[key][1] for key, job in known.items()}
    assert {key: found[key][0] for key in known} == pytest.approx(same, rel=0.01)
    printed = [found[key][0] == pytest.approx(job["cpu_efficiency"], rel=0.01) for key, job in known.items()]
    assert sum(printed) >= len(printed) - 1


def facts_of(path):
    with open_trace([path]) as store:
        report = build(store, "gpus", only=["gpus"], strict=True)
        found: dict[str, Any] = {fact.id: fact.value for fact in report.facts()}
        (held,) = store.row("select count(*) from jobs where n_gpus > 0")
        return found, held


@pytest.mark.logs
def test_gpu_facts_of_pods_are_those_of_the_raw_table(logs):
    """A pod holds shares of a GPU from when it was scheduled until it was deleted, or until the log ends."""
    path = logs / "today" / "alibaba-gpu2023" / "openb_pod_list_default.csv"
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    over = {"Succeeded", "Failed"}
    last = max(
        float(row[name])
        for row in rows
        for name in ("creation_time", "scheduled_time", "deletion_time")
        if row[name] and (name != "deletion_time" or row["pod_phase"] in over)
    )
    hours: dict[str, float] = defaultdict(float)
    pods = running = 0
    edges = []
    for row in rows:
        held = int(row["gpu_milli"]) / 1000 if row["num_gpu"] == "1" else float(row["num_gpu"])
        if not held or not row["scheduled_time"]:
            continue
        begin, end = float(row["scheduled_time"]), float(row["deletion_time"] or 0)
        pods += 1
        if row["pod_phase"] not in over:
            running += 1
            end = last
        hours[row["gpu_spec"] or "unknown"] += held * (end - begin) / 3600
        edges += [(begin, held), (end, -held)]
    facts, held = facts_of(path)
    assert (facts["gpu.jobs"], held, facts["gpu.unfinished"]) == (pods, pods, running) == (6203, 6203, 4149)
    assert facts["gpu.hours"] == pytest.approx(sum(hours.values()), rel=1e-9)
    sizes = {row["size"]: row["hours"] for row in facts["gpu.sizes"]}
    assert sum(sizes.values()) == pytest.approx(facts["gpu.hours"])
    # No pod asks for a model in this table.
    assert (set(hours), facts.get("gpu.types")) == ({"unknown"}, None)
    # Nothing states how many there are: the most held at once, where an end frees what a start takes.
    level = peak = 0.0
    for _, change in sorted(edges):
        level += change
        peak = max(peak, level)
    assert facts["gpu.total"] == pytest.approx(peak)
    # There are neither users nor queues in the table, nor is recorded how busy GPUs were.
    assert not {"gpu.users.by_hours", "gpu.queues.by_hours", "gpu.measured_jobs"} & set(facts)


def gpus_of(job, kind="allocated"):
    """Return the GPUs of a job by type: where there are counts by type, the total says the same again."""
    items = {item["name"]: item["count"] for item in job["tres"][kind] if item["type"] == "gres"}
    typed = {name.removeprefix("gpu:"): count for name, count in items.items() if name.startswith("gpu:")}
    return typed or ({"unknown": items["gpu"]} if "gpu" in items else {})


@pytest.mark.logs
@pytest.mark.parametrize("doubled", [False, True])
def test_gpu_facts_of_sacct_json_are_those_of_the_raw_document(doubled, logs, tmp_path):
    document = json.loads((logs / "today" / "sacct-json" / "sarc" / "mila_1714003200.json").read_text())
    wanted: dict[str, dict[str, float]] = {name: defaultdict(float) for name in ("user", "partition", "type")}
    total, jobs, running = 0.0, 0, 0
    last = max(job["time"][name] for job in document["jobs"] for name in ("submission", "start", "end"))
    for job in document["jobs"]:
        count = sum(gpus_of(job).values())
        if not count:
            continue
        limit = 60 * job["time"]["limit"]["number"]
        if not job["time"]["end"] and last - job["time"]["start"] > limit + max(limit, 86_400) + 600:
            continue  # it is recorded as running weeks beyond its limit: what it held is unknown
        jobs += 1
        running += not job["time"]["end"]
        lasted = job["time"]["elapsed"] if job["time"]["end"] else last - job["time"]["start"]
        amount = count * lasted / 3600
        total += amount
        wanted["user"][job["user"]] += amount
        wanted["partition"][job["partition"]] += amount
        for name, part in gpus_of(job).items():
            wanted["type"][name] += amount * part / count
    if doubled:
        # Slurm that accounts for gres/gpu, too, states the total beside the counts by type.
        for job in document["jobs"]:
            for kind in ("allocated", "requested"):
                if count := sum(gpus_of(job, kind).values()):
                    job["tres"][kind].append({"type": "gres", "name": "gpu", "id": 1000, "count": count})
    path = tmp_path / "jobs.json"
    path.write_text(json.dumps(document))
    facts, found = facts_of(path)
    assert (facts["gpu.jobs"], found, facts["gpu.unfinished"]) == (jobs, 5, running) == (2, 5, 0)
    assert facts["gpu.hours"] == pytest.approx(total, rel=1e-9)
    assert {row["id"]: row["hours"] for row in facts["gpu.users.by_hours"]} == pytest.approx(wanted["user"])
    queues = {row["id"]: row["hours"] for row in facts["gpu.queues.by_hours"]}
    assert queues == pytest.approx(wanted["partition"])
    assert {row["type"]: row["hours"] for row in facts["gpu.types"]} == pytest.approx(wanted["type"])
    # No step states how busy its GPUs were.
    assert "gpu.measured_jobs" not in facts


@pytest.mark.logs
def test_a_peak_of_the_use_of_gpus_is_no_mean(logs, tmp_path):
    """Slurm's gres/gpuutil of a step is the highest seen: no job is called idle or busy by it."""
    document = json.loads((logs / "today" / "sacct-json" / "sarc" / "mila_1714003200.json").read_text())
    item = {"type": "gres", "name": "gpuutil", "id": 1009, "count": 0}
    for job in document["jobs"]:
        for step in job["steps"]:
            step["tres"]["requested"]["total"] = [item]
    path = tmp_path / "jobs.json"
    path.write_text(json.dumps(document))
    facts, _ = facts_of(path)
    assert not {"gpu.measured_jobs", "gpu.idle_jobs"} & set(facts)


def measures_of(store, name):
    """Return what is known of the use of GPUs by a dimension, by class."""
    records = breakdown(store, by_name(name), "by_gpu")
    assert records is not None
    keys = ("gpu_seconds", "gpu_used_seconds", "gpu_idle_seconds", "gpu_known_share", "gpu_idle_known_share")
    return {row["id"]: {key: row.get(key) for key in keys} for row in records.rows}


def peaks_of(folder):
    """Return a frame of the jobs in the raw text that ended, with what the peaks of steps tell of use."""
    rows = [line.split("☃") for line in (folder / "sacct.txt").read_text().splitlines()]
    table = pd.DataFrame(rows).rename(columns={USER: "users", QUEUE: "queues", STATE: "state"})
    table["job"] = table[0].str.split(".").str[0]
    table["is_step"] = table[0].str.contains(".", regex=False)
    table["peak"] = table[24].str.extract(r"gres/gpuutil=(\d+)")[0].astype(float)
    steps = table[table.is_step].groupby("job").peak
    jobs = table[~table.is_step].set_index("job")
    jobs["peak"] = steps.max().where(steps.count() == steps.size())
    jobs["gpus"] = jobs[ALLOCATED].str.extract(r"gres/gpu=(\d+)")[0].astype(float)
    jobs = jobs[(jobs.gpus > 0) & (jobs.state != "RUNNING") & (jobs[START] != "None")].copy()
    jobs["seconds"] = jobs[ELAPSED].map(hours) * 3600 * jobs.gpus
    assert table.peak.max() > 0
    # A peak is no mean; but what never was more than 0 was idle, since the counter of this log is alive, and
    # one GPU that ever was more was not.
    jobs["idle"] = jobs.seconds.where(
        jobs.peak == 0, (0 * jobs.seconds).where((jobs.peak > 0) & (jobs.gpus == 1))
    )
    return jobs


@pytest.mark.logs
@pytest.mark.parametrize("name", ["users", "queues"])
def test_peaks_tell_no_mean_and_those_of_zero_what_was_idle(name, folder, store):
    jobs = peaks_of(folder)
    expected = {}
    for key, part in jobs.groupby(name):
        idle, known = part.idle.sum(min_count=1), part.seconds.where(part.idle.notna()).sum()
        expected[key] = {
            "gpu_seconds": part.seconds.sum(),
            "gpu_used_seconds": None,
            "gpu_idle_seconds": None if pd.isna(idle) else idle,
            "gpu_known_share": None,
            "gpu_idle_known_share": known / part.seconds.sum() if part.seconds.sum() else None,
        }
    found = measures_of(store, name)
    assert 0 < jobs.idle.count() < len(jobs)
    assert found == {key: pytest.approx(row) for key, row in expected.items() if row["gpu_seconds"]}


@pytest.mark.logs
@pytest.mark.parametrize("name", ["qos", "sizes"])
def test_of_pods_gpu_time_is_held_and_its_use_unknown(name, logs):
    path = logs / "today" / "alibaba-gpu2023" / "openb_pod_list_default.csv"
    pods = pd.read_csv(path)
    held = (pods.gpu_milli / 1000).where(pods.num_gpu == 1, pods.num_gpu)
    lasted = (pods.deletion_time - pods.scheduled_time).where(pods.pod_phase.isin(["Succeeded", "Failed"]))
    seconds = (held * lasted).fillna(0.0)
    with open_trace([path]) as opened:
        found = measures_of(opened, name)
    unknown = {"gpu_used_seconds", "gpu_idle_seconds", "gpu_known_share", "gpu_idle_known_share"}
    assert all(row[key] is None for row in found.values() for key in unknown)
    assert sum(row["gpu_seconds"] for row in found.values()) == pytest.approx(seconds.sum())
    if name == "qos":
        expected = seconds.groupby(pods.qos).sum()
        assert {key: row["gpu_seconds"] for key, row in found.items()} == pytest.approx(
            {key: value for key, value in expected.items() if value}
        )
