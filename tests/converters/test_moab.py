"""Maui's workload traces and Moab's events."""

import pytest

from tests.written import Written

SUBMITTED = 1_741_600_000
FIELDS = {
    "id": "7.maui", "nodes": 0, "tasks": 4, "user": "user042", "group": "physics", "limit": 3600,
    "state": "Completed", "class": "[batch:1]", "submit": SUBMITTED, "dispatch": SUBMITTED + 10,
    "start": SUBMITTED + 10, "end": SUBMITTED + 70, "network": "[NONE]", "arch": "[NONE]", "system": "[NONE]",
    "memory_sign": ">=", "memory": "0M", "disk_sign": ">=", "disk": "0M", "features": "[NONE]",
    "queued": SUBMITTED + 5, "given": 4, "per_node": 0, "qos": "[NONE]:high", "flags": "[NONE]",
    "account": "proj", "executable": "/bin/run.sh", "comment": "[NONE]", "bypass": 0, "cpu": "120.00",
    "partition": "base", "procs": 2, "megabytes": "512M", "disk_each": "0M", "swap": "0M", "after": 0,
    "before": 2_140_000_000, "hosts": "n1:n2", "manager": "[NONE]", "mask": "[NONE]", "reservation": "[NONE]",
    "set": "[NONE]", "simulator": "[NONE]", "cost": "0.0",
}  # fmt: skip
READ = (
    "source_id, submit_time, wait_time, run_time, n_procs, req_n_procs, average_cpu_time, req_memory,"
    " req_time, status, user_id, group_id, executable_id, queue_id, partition_id, project_id, n_nodes,"
    " eligible_time, qos, state"
)
USUAL = (
    "7.maui", SUBMITTED, 10, 60, 8, 8, 15, 512 * 1024 / 2, 3600, 1, "user042", "physics", "run.sh", "batch",
    "base", "proj", 2, SUBMITTED + 5, "high", "Completed",
)  # fmt: skip


def line(**said):
    return " ".join(str(value) for value in (FIELDS | said).values())


def event(name, at, **said):
    return f"10:00:00 {at}:1 job {line(**said).split()[0]} {name} {' '.join(line(**said).split()[1:])}"


@pytest.fixture
def jobs(tmp_path):
    with Written(tmp_path / "maui.trace", "moab") as written:
        yield written


def test_every_field(jobs):
    assert jobs("VERSION 310", line(), fields=READ) == [USUAL]
    assert jobs.account() == (2, 1, 0, 0, 1)


def test_a_trace_of_an_old_version_has_no_comment(jobs):
    old = " ".join(str(value) for name, value in FIELDS.items() if name != "comment")
    assert jobs("VERSION 230", old, fields=READ) == [USUAL]


def test_a_moab_job_is_what_its_last_event_says(jobs):
    idle = {"start": 0, "end": 0, "dispatch": 0, "given": 0, "hosts": "-", "cpu": 0}
    rows = [
        event("JOBSUBMIT", SUBMITTED, state="Idle", **idle),
        event("JOBSTART", SUBMITTED + 10, state="Running", end=0),
        event("JOBEND", SUBMITTED + 70, hosts="n1,n2"),
    ]
    for order in (rows, rows[::-1]):
        assert jobs(*order, fields=READ) == [USUAL]
        assert jobs.account() == (3, 1, 2, 0, 0)
    fields = "wait_time, run_time, n_procs, status"
    assert jobs(*rows[:2], fields=fields) == [(10, None, 8, None)]
    assert jobs(rows[0], fields=fields) == [(None, None, None, None)]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"state": "Removed"}, (10, 60, 8, 5)),
        ({"state": "NotRun", "start": 0, "end": SUBMITTED + 5}, (None, None, None, 5)),
        ({"state": "Failed"}, (10, 60, 8, 0)),
        ({"start": 1}, (None, None, 8, 1)),
        ({"start": SUBMITTED - 9000, "state": "Removed", "cpu": 0}, (None, None, None, 5)),
        ({"given": 0}, (10, 60, 8, 1)),
    ],
)
def test_how_jobs_end(said, expected, jobs):
    assert jobs(line(**said), fields="wait_time, run_time, n_procs, status") == [expected]


def test_what_is_no_job_is_refused_with_the_reason(jobs):
    jobs(line(), "10:00:00 1741600000:3 node n1 NODEDOWN - - -", "7 8 9")
    assert jobs.rejects() == [(2, "is an event of a node, no job"), (3, "3 fields, expected 44")]
