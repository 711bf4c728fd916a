"""A real log with GPUs: what the report says of it, against its raw text and what another program printed."""

import json
from collections import defaultdict
from typing import Any

import pytest

from gwa.analysis.build import build
from gwa.formats.open import open_trace
from gwa.store.options import ReadOptions

COLUMNS = (
    "JobID,JobName,User,Partition,NodeList,NNodes,NCPUS,NTasks,State,Submit,Start,End,Timelimit,Elapsed,TotalCPU,"
    "CPUTime,UserCPU,SystemCPU,ReqMem,MaxRSS,MaxVMSize,ReqTRES,AllocTRES,TRESUsageInMax,TRESUsageInTot,"
    "TRESUsageOutTot,MaxDiskRead,MaxDiskWrite,MaxRSSNode,MaxRSSTask,MaxVMSizeNode,MaxVMSizeTask,MaxDiskReadNode,"
    "MaxDiskReadTask,MaxDiskWriteNode,MaxDiskWriteTask,Comment"
)
USER, QUEUE, STATE, START, ELAPSED, ALLOCATED = 2, 3, 8, 10, 13, 22


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


def gpu_hours(folder, owner):
    """Return the GPU hours by user or queue of the jobs that have ended, from the text."""
    found: dict[str, float] = defaultdict(float)
    for line in (folder / "sacct.txt").read_text().splitlines():
        cells = line.split("☃")
        allocated = dict(item.split("=") for item in cells[ALLOCATED].split(",") if item)
        gpus = [float(amount) for name, amount in allocated.items() if name.startswith("gres/gpu:")]
        if "." not in cells[0] and gpus and cells[START] != "None" and cells[STATE] != "RUNNING":
            found[cells[owner]] += sum(gpus) * hours(cells[ELAPSED])
    return dict(found)


@pytest.mark.logs
def test_gpu_hours_are_those_of_the_raw_text(folder, store):
    report = build(store, "gpus", only=["gpus"], strict=True)
    facts: dict[str, Any] = {fact.id: fact.value for fact in report.facts()}
    users, queues = gpu_hours(folder, USER), gpu_hours(folder, QUEUE)
    assert sum(users.values()) == pytest.approx(175.5, abs=0.1)
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
