"""Bounds on the waits of what waits now: how often they hold, and that they know nothing of the future."""

import json
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gwa
from gwa.cli import gwa as cli
from gwa.errors import TraceError
from gwa.evaluation import queue_bounds as bounding
from gwa.evaluation.prediction import WaitingJobs
from gwa.evaluation.queue_bounds import QueueBounds, QueueRecord, queue_bounds
from gwa.formats.queue_now import read_queue
from gwa.metrics.waiting_now import WaitingNow, waiting_now

TINY = Path(__file__).parents[2] / "sample_traces" / "swf" / "tiny.swf"
NOW = 2_000_000.0
QUEUE = [
    WaitingNow("new", NOW, 1, 3600.0, "q0", "u"),
    WaitingNow("old", NOW - 1500.0, 1, 3600.0, "q0", "u"),
    WaitingNow("large", NOW - 100.0, 100, 7200.0, "q1", "u"),
    WaitingNow("of an unknown queue", NOW - 100.0, 4, None, "none", None),
]


def made(count=6000, seed=1, mean=3000.0):
    """Return jobs whose waits are drawn, half of them of more than 64 processors, until twice NOW."""
    rng = np.random.default_rng(seed)
    submit = np.sort(rng.uniform(0, 2 * NOW, count))
    return WaitingJobs(
        submit, rng.exponential(mean, count), np.full(count, 600.0), rng.choice([1, 100], count),
        rng.choice([3600.0, 7200.0], count), rng.integers(0, 2, count), np.zeros(count, np.int64), 128,
        ("q0", "q1"), ("u",), np.arange(count),
    )  # fmt: skip


def record_of(jobs, waiting, now) -> tuple[float, float, float]:
    """Return the shares that held, of all and of large jobs, and the share answered."""
    record = queue_bounds(jobs, waiting, now).record
    return record.held or 0.0, record.held_large or 0.0, record.answered or 0.0


def until(jobs, moment):
    """Return the jobs that were submitted before a *moment*."""
    kept = jobs.submit < moment
    fields = ("submit", "wait", "run", "procs", "requested", "queue", "user", "job")
    return WaitingJobs(
        **{name: getattr(jobs, name)[kept] for name in fields}, cpus=128, queues=jobs.queues, users=jobs.users
    )


def test_bounds_of_drawn_waits_hold_for_about_95_of_100_jobs():
    held, large, answered = record_of(made(), QUEUE, 2 * NOW)
    assert 0.94 <= held <= 0.99
    assert 0.94 <= large <= 0.99
    assert answered > 0.9


def test_what_is_left_of_drawn_waits_does_not_depend_on_how_long_a_job_waited():
    bounds = dict(zip([one.name for one in QUEUE], queue_bounds(made(), QUEUE, NOW).bounds, strict=True))
    # Drawn waits have no memory: what is left of 95 % of them is at most three means, 8987 s.
    assert bounds["new"] == pytest.approx(8987.0, rel=0.3)
    assert bounds["old"] - 1500.0 == pytest.approx(8987.0, rel=0.3)
    assert not np.isnan(bounds["of an unknown queue"])


def test_the_future_changes_no_bound():
    jobs = until(made(), NOW)
    rng = np.random.default_rng(5)
    redrawn = np.where(
        jobs.start > NOW, NOW - jobs.submit + rng.exponential(90_000.0, len(jobs)) + 1, jobs.wait
    )
    changed = WaitingJobs(**{**vars(jobs), "wait": redrawn})
    assert (changed.wait != jobs.wait).any()
    before, after = queue_bounds(jobs, QUEUE, NOW), queue_bounds(changed, QUEUE, NOW)
    assert before.bounds.tolist() == after.bounds.tolist()


def test_of_too_few_jobs_nothing_is_said():
    found = queue_bounds(made(40), QUEUE, NOW)
    assert np.isnan(found.bounds).all()
    assert found.record.held is None


@pytest.mark.parametrize(
    "log", ["KTH-SP2-1996-2.1-cln", "SDSC-Par-1996-3.1-cln", "HPC2N-2002-2.1-cln", "CEA-Curie-2011-2.1-cln"]
)
@pytest.mark.slow
def test_bounds_of_real_logs_hold_for_94_to_98_of_100_jobs_that_wait(logs, log):
    with gwa.open(logs / "swf" / f"{log}.swf.gz") as trace:
        jobs = WaitingJobs.of(trace.store)
    held, large, _ = record_of(jobs, [], float(jobs.submit[-1]))
    assert 0.94 <= held <= 0.98
    assert large >= (0.87 if log.startswith("HPC2N") else 0.92)


SQUEUE = {
    "last_update": {"set": True, "infinite": False, "number": 1_735_900_000},
    "jobs": [
        {
            "job_id": 7, "job_state": ["PENDING"], "user_name": "u01", "partition": "cpu",
            "submit_time": {"set": True, "infinite": False, "number": 1_735_800_000},
            "eligible_time": {"set": True, "infinite": False, "number": 1_735_800_600},
            "time_limit": {"set": True, "infinite": False, "number": 120},
            "cpus": {"set": True, "infinite": False, "number": 16},
        },
        {"job_id": 8, "job_state": ["RUNNING"], "submit_time": {"set": True, "number": 1_735_700_000}},
        {"job_id": 9, "job_state": "PENDING", "submit_time": 1_735_890_000, "cpus": 2, "partition": "gpu"},
    ],
}  # fmt: skip

QSTAT = {
    "timestamp": 1_735_900_000,
    "Jobs": {
        "1.srv": {
            "job_state": "Q", "Job_Owner": "ann@login", "queue": "batch", "qtime": "Thu Jan  2 07:00:00 2025",
            "Resource_List": {"ncpus": 8, "walltime": "02:00:00"},
        },
        "2.srv": {"job_state": "R", "qtime": "Thu Jan  2 07:00:00 2025"},
        "3.srv": {"job_state": "H", "qtime": "Thu Jan  2 07:00:00 2025"},
    },
}  # fmt: skip


def written(folder, data):
    path = folder / "queue.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    return path


def test_pending_jobs_of_slurm_wait_since_they_could_start(tmp_path):
    now, (first, second) = read_queue(written(tmp_path, SQUEUE), ZoneInfo("UTC"))
    assert now == 1_735_900_000
    assert (first.name, first.submit, first.procs, first.requested) == ("7", 1_735_800_600, 16, 7200)
    assert (first.queue, first.user) == ("cpu", "u01")
    assert (second.name, second.submit, second.procs, second.requested) == ("9", 1_735_890_000, 2, None)


def test_queued_jobs_of_pbs_have_the_time_of_the_system(tmp_path):
    now, (one,) = read_queue(written(tmp_path, QSTAT), ZoneInfo("Europe/Stockholm"))
    assert now == 1_735_900_000
    assert one.submit == datetime(2025, 1, 2, 6, tzinfo=UTC).timestamp()
    assert (one.name, one.procs, one.requested, one.queue, one.user) == ("1.srv", 8, 7200, "batch", "ann")


TABLE = """\
JOBID|PARTITION|USER|STATE|CPUS|TIME_LIMIT|SUBMIT_TIME|REASON
7|cpu|u01|PENDING|16|2:00:00|2025-01-02T06:40:00|Resources
8_[1-9%2]|gpu|u02|PENDING|1|1-06:00:00|2025-01-02T07:00:00|Priority
9|gpu|u02|RUNNING|4|30:00|2025-01-02T05:00:00|None
10|gpu|u02|PENDING|4|UNLIMITED|2025-01-02T05:00:00|Dependency
11|gpu|u02|PENDING|4|UNLIMITED|2025-01-02T06:00:00|Priority
"""


@pytest.mark.parametrize("text", [TABLE, TABLE.replace("|", "  ").replace("JOBID", "  JOBID")])
def test_a_table_of_squeue_is_read_with_when_jobs_were_submitted(tmp_path, text):
    now, (first, tasks, last) = read_queue(written(tmp_path, text), ZoneInfo("Europe/Stockholm"))
    submitted = datetime(2025, 1, 2, 5, 40, tzinfo=UTC).timestamp()
    assert (first.name, first.submit, first.procs, first.requested) == ("7", submitted, 16, 7200)
    assert (first.queue, first.user) == ("cpu", "u01")
    assert (tasks.name, tasks.requested, tasks.tasks) == ("8_[1-9%2]", 30 * 3600, 9)
    assert (first.tasks, first.reason) == (1, "Resources")
    assert (last.name, last.requested) == ("11", None)
    assert now == tasks.submit
    later = read_queue(written(tmp_path, text), ZoneInfo("Europe/Stockholm"), now + 60)
    assert later == (now + 60, [first, tasks, last])


def test_tasks_of_arrays_are_counted_and_reasons_read(tmp_path):
    task = PENDING | {"array_task_string": "4-9%2", "state_reason": "QOSMaxJobsPerUserLimit"}
    _, (one,) = read_queue(written(tmp_path, {"jobs": [task]}), ZoneInfo("UTC"))
    assert (one.tasks, one.reason) == (6, "QOSMaxJobsPerUserLimit")
    text = TABLE.replace("8_[1-9%2]", "8_[1-9,...]").replace("Priority", "(ReqNodeNotAvail, Unavailable:n1)")
    _, (_, cut, _) = read_queue(written(tmp_path, text), ZoneInfo("UTC"))
    assert (cut.tasks, cut.reason) == (None, "ReqNodeNotAvail")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("SUBMIT_TIME", "START_TIME"), "has no column SUBMIT_TIME, expected what 'squeue --json' or"),
        (("|u01|", "|u|01|"), ":2: 9 cells under 8 names"),
        (("2025-01-02T06:40:00", "N/A"), ":2: Invalid isoformat string"),
    ],
)
def test_a_table_that_says_nothing_of_waits_is_refused(tmp_path, change, says):
    with pytest.raises(TraceError) as refused:
        read_queue(written(tmp_path, TABLE.replace(*change)), ZoneInfo("UTC"))
    assert says in str(refused.value)


PODS = {
    "kind": "List",
    "items": [
        {
            "kind": "Pod",
            "metadata": {"name": name, "namespace": "team", "uid": name, "creationTimestamp": created},
            "spec": {
                "restartPolicy": "Never", "activeDeadlineSeconds": 3600,
                "containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": "4"}}}],
            },
            "status": status,
        }
        for name, created, status in (
            ("waits", "2025-01-02T06:00:00Z", {"phase": "Pending"}),
            ("runs", "2025-01-02T05:00:00Z", {
                "phase": "Running", "startTime": "2025-01-02T05:01:00Z",
                "containerStatuses": [
                    {"name": "c", "state": {"running": {"startedAt": "2025-01-02T05:01:00Z"}}}
                ],
            }),
        )
    ],
}  # fmt: skip


def test_pods_that_wait_are_read_as_a_log_of_them(tmp_path):
    now, (one,) = read_queue(written(tmp_path, PODS), ZoneInfo("UTC"))
    submitted = datetime(2025, 1, 2, 6, tzinfo=UTC).timestamp()
    assert one == WaitingNow("team/waits", submitted, 4, 3600.0, None, "team")
    assert now == submitted


@given(st.integers(0, 100), st.floats(0.05, 0.95))
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_waits_at_the_end_of_a_log_is_what_had_not_started_then(make_store, seed, share):
    rng = np.random.default_rng(seed)
    submit = np.sort(rng.integers(0, 10_000, 50)).astype(float) + 1e9
    wait, run = rng.integers(0, 3000, 50).astype(float), rng.integers(1, 3000, 50).astype(float)
    held = rng.random(50) < 0.2
    wait[0], end = 0.0, submit[0] + 13_000 * share
    rows = np.flatnonzero(submit <= end)
    started, ended = submit + wait <= end, submit + wait + run <= end

    def where(known, values):
        return [value if is_known else None for value, is_known in zip(values, known[rows], strict=True)]

    store = make_store(
        job_id=rows.tolist(),
        submit_time=submit[rows].tolist(),
        eligible_time=where(~held | started, submit[rows].tolist()),
        wait_time=where(started, wait[rows].tolist()),
        run_time=where(ended, run[rows].tolist()),
        n_procs=where(started, [2] * len(rows)),
        req_n_procs=[2] * len(rows),
        status=where(ended, [1] * len(rows)),
        state=["COMPLETED" if is_over else "RUNNING" for is_over in ended[rows]],
        user_id=["u"] * len(rows),
    )
    expected = [number for number in rows.tolist() if not (started | held)[number]]
    _, found = waiting_now(store)
    assert sorted(int(one.name) for one in found) == expected
    assert all(one.submit == submit[int(one.name)] and one.procs == 2 for one in found)


def test_a_log_without_states_of_its_source_does_not_tell_what_waits(make_store):
    store = make_store(job_id=[1, 2], submit_time=[1e9, 1e9], run_time=[5.0, None], status=[1, None])
    with pytest.raises(TraceError, match="does not say which jobs wait"):
        waiting_now(store)


def test_the_dash_of_other_commands_is_no_queue(slurm_sample):
    done = CliRunner().invoke(cli, ["wait", str(slurm_sample), "--queue-now", "-"], input=json.dumps(SQUEUE))
    assert done.exit_code == 2
    assert "'-' does not exist" in done.stderr


def test_the_command_bounds_the_jobs_that_wait_at_the_end_of_the_log(slurm_sample):
    done = CliRunner().invoke(cli, ["wait", str(slurm_sample), "--queue-now", "--json"])
    found = json.loads(done.stdout)
    with gwa.open(slurm_sample) as trace:
        pending = trace.store.rows("select count(*) from jobs where state = 'PENDING'")[0][0]
        now, waiting = waiting_now(trace.store)
    assert len(found["jobs"]) == len(waiting) == pending > 0
    assert found["now"] == now
    assert all(one["left"] > 0 for one in found["jobs"])


@pytest.mark.parametrize(
    ("held", "large", "is_weak"),
    [
        (0.96, None, False), (0.96, 0.96, False), (0.96, 0.9, True), (0.96, 0.0, True), (0.9, 0.96, True),
        (0.0, None, True),
    ],
)  # fmt: skip
def test_what_holds_for_too_few_of_all_or_of_large_jobs_is_not_to_be_relied_on(
    held, large, is_weak, monkeypatch
):
    record = QueueRecord(100, 1.0, held, large)
    monkeypatch.setattr(bounding, "queue_bounds", lambda *_: QueueBounds(NOW, np.empty(0), record))
    monkeypatch.setattr("gwa.metrics.waiting_now.waiting_now", lambda _: (NOW, []))
    said = CliRunner().invoke(cli, ["wait", str(TINY), "--queue-now"]).stderr
    assert f"such bounds held for {100 * held:g} % of 100 jobs" in said
    assert ("of more than 64 processors" in said) == (large is not None)
    assert ("do not rely on it" in said) == is_weak


@pytest.mark.parametrize("text", ["", "JOBID PARTITION", "[]", "{}", '{"jobs": 1}'])
def test_what_is_no_queue_is_named(tmp_path, text):
    with pytest.raises(TraceError, match=r"queue\.json: .*expected.*squeue --json"):
        read_queue(written(tmp_path, text), ZoneInfo("UTC"))


PENDING = {"job_id": 1, "job_state": "PENDING", "submit_time": 1_735_890_000}
QUEUED = {"job_state": "Q", "qtime": "Thu Jan  2 07:00:00 2025"}


@pytest.mark.parametrize(
    "job",
    [
        7, None, PENDING | {"cpus": -1}, PENDING | {"partition": ["a", "b"]}, PENDING | {"user_name": [1]},
        PENDING | {"submit_time": "today"}, PENDING | {"submit_time": float("nan")},
    ],
)  # fmt: skip
def test_a_job_of_slurm_that_cannot_be_read_is_named(tmp_path, job):
    with pytest.raises(TraceError, match=r"queue\.json: job 2 cannot be read .*expected 'squeue --json'"):
        read_queue(written(tmp_path, {"jobs": [PENDING, job]}), ZoneInfo("UTC"))


@pytest.mark.parametrize(
    "job",
    [
        7, None, QUEUED | {"qtime": "2025-01-02T07:00:00"}, QUEUED | {"qtime": 1_735_890_000},
        QUEUED | {"Resource_List": {"ncpus": "many"}}, QUEUED | {"Resource_List": "ncpus=1"},
    ],
)  # fmt: skip
def test_a_job_of_pbs_that_cannot_be_read_is_named(tmp_path, job):
    with pytest.raises(TraceError, match=r"queue\.json: job 2\.srv cannot be read .*expected"):
        read_queue(
            written(tmp_path, {"timestamp": "?", "Jobs": {"1.srv": QUEUED, "2.srv": job}}), ZoneInfo("UTC")
        )


def test_a_list_of_no_pods_is_an_empty_queue(tmp_path):
    empty = {"apiVersion": "v1", "kind": "List", "items": []}
    assert read_queue(written(tmp_path, empty), ZoneInfo("UTC"), 5.0) == (5.0, [])


def test_blank_lines_and_marks_of_windows_are_no_jobs(tmp_path):
    path = tmp_path / "queue.txt"
    text = "\r\n" + TABLE.replace("\n", "\r\n") + "\r\n\r\n"
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert read_queue(path, ZoneInfo("UTC")) == read_queue(written(tmp_path, TABLE), ZoneInfo("UTC"))


def test_the_command_prints_a_row_for_each_job_that_waits_and_the_record(tmp_path, slurm_sample):
    # The sample is of the year 2025: by its end jobs have waited.
    at_the_end = (
        json.dumps(SQUEUE).replace("17357", "17667").replace("17358", "17668").replace("17359", "17669")
    )
    queue = str(written(tmp_path, at_the_end))
    done = CliRunner().invoke(cli, ["wait", str(slurm_sample), "--queue-now", queue, "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert [one["job"] for one in found["jobs"]] == ["7", "9"]
    assert found["jobs"][0]["waited"] == 99_400
    assert set(found["record"]) == {"jobs", "answered", "held", "held_large"}
    listed = CliRunner().invoke(cli, ["wait", str(slurm_sample), "--queue-now", queue])
    assert listed.stdout.startswith(
        "job,tasks,queue,user,procs,reason,waited,left,starts by\n7,1,cpu,u01,16,,99400,"
    )
    assert "In this log, such bounds held for" in listed.stderr
    both = CliRunner().invoke(cli, ["wait", str(slurm_sample), "--queue-now", queue, "--list"])
    assert both.exit_code == 2
