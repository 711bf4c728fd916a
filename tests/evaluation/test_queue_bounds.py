"""Bounds on the waits of what waits now: how often they hold, and that they know nothing of the future."""

import json
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from click.testing import CliRunner

import gwa
from gwa.cli import gwa as cli
from gwa.errors import TraceError
from gwa.evaluation.prediction import WaitingJobs
from gwa.evaluation.queue_bounds import WaitingNow, queue_bounds
from gwa.formats.queue_now import read_queue

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


@pytest.mark.parametrize("text", ["", "JOBID PARTITION", "[]", "{}", '{"jobs": 1}'])
def test_what_is_no_queue_is_named(tmp_path, text):
    with pytest.raises(TraceError, match=r"queue\.json: .*expected.*squeue --json"):
        read_queue(written(tmp_path, text), ZoneInfo("UTC"))


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
    assert listed.stdout.startswith("job,queue,user,procs,waited,left,starts by\n7,cpu,u01,16,99400,")
    assert "In this log, such bounds held for" in listed.stderr
    both = CliRunner().invoke(cli, ["wait", str(slurm_sample), "--queue-now", queue, "--list"])
    assert both.exit_code == 2
