"""Tests of `gwa.ingest.contradictions`: a job is judged as a whole, by one rule for all formats."""

import json

import pytest

import gwa
from gwa.formats.open import open_trace
from gwa.ingest.contradictions import FALSE_START, FALSE_SUBMISSION, TAKEN

SUBMITTED = 1_700_000_000
NO_VAL = 2**32 - 2
"""2106-02-07T06:28:14, which Slurm writes for no value."""


def converted(path, fields, name=None):
    """Return *fields* of the jobs of a file, and its repairs as counts by meaning."""
    with open_trace([path], name) as store:
        repairs = {meaning: jobs for _, meaning, jobs in store.rows("from repairs")}
        return store.rows(f"select {fields} from jobs order by job_id"), repairs


def table(tmp_path, *rows, columns="job_id,user,submit_time,start_time,end_time,cores,state"):
    """Return a CSV file of some sound jobs and then *rows*."""
    path = tmp_path / "jobs.csv"
    width = columns.count(",") + 1
    sound = [
        ("1", "u", SUBMITTED, SUBMITTED + 10, SUBMITTED + 110, 2, "COMPLETED", 100)[:width],
        ("2", "u", SUBMITTED, SUBMITTED + 20, SUBMITTED + 420, 2, "FAILED", 400)[:width],
        ("3", "v", SUBMITTED, SUBMITTED + 30, SUBMITTED + 230, 2, "COMPLETED", 200)[:width],
    ]
    lines = [columns, *(",".join(map(str, row)) for row in [*sound, *rows])]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(
    "start", [1, 3600, 86_400, NO_VAL - 3600, NO_VAL + 7200, SUBMITTED - 3901, SUBMITTED - 10**6]
)
def test_a_start_that_cannot_be_one_is_missing(start, tmp_path):
    path = table(tmp_path, (4, "u", SUBMITTED, start, SUBMITTED + 110, 2, "CANCELLED"))

    rows, repairs = converted(path, "submit_time, wait_time, run_time, n_procs, status")

    assert rows[-1] == (SUBMITTED, None, None, None, 5)
    assert repairs[FALSE_START] == 1


@pytest.mark.parametrize("early", [1, 3900])
def test_clocks_that_differ_a_little_are_no_contradiction(early, tmp_path):
    path = table(tmp_path, (4, "u", SUBMITTED, SUBMITTED - early, SUBMITTED + 110, 2, "FAILED"))

    rows, repairs = converted(path, "wait_time, run_time, n_procs")

    assert rows[-1] == (0, 110 + early, 2)
    assert FALSE_START not in repairs


def test_a_job_that_completed_ran_though_its_start_is_unknown(tmp_path):
    path = table(tmp_path, (4, "u", SUBMITTED, 1, SUBMITTED + 110, 2, "COMPLETED"))

    rows, _ = converted(path, "wait_time, run_time, n_procs, status")

    assert rows[-1] == (None, None, 2, 1)


def test_a_measured_run_time_is_believed_over_a_start_of_1970(tmp_path):
    columns = "job_id,user,submit_time,start_time,end_time,cores,state,run_time"
    path = table(
        tmp_path,
        (4, "u", SUBMITTED, 1, SUBMITTED + 110, 2, "FAILED", 90),
        (5, "u", SUBMITTED, 1, SUBMITTED + 110, 2, "CANCELLED", 0),
        columns=columns,
    )

    rows, repairs = converted(path, "wait_time, run_time, n_procs, status")

    assert rows[-2:] == [(None, 90, 2, 0), (None, None, None, 5)]
    assert repairs[FALSE_START] == 2
    assert repairs[TAKEN] == 1


@pytest.mark.parametrize("submitted", [1, 86_400, NO_VAL - 3600])
def test_a_submission_that_is_no_time_is_missing(submitted, tmp_path):
    path = table(tmp_path, (4, "u", submitted, SUBMITTED, SUBMITTED + 110, 2, "FAILED"))

    rows, repairs = converted(path, "submit_time, wait_time, run_time, n_procs")

    assert (None, None, 110, 2) in rows
    assert repairs[FALSE_SUBMISSION] == 1


def test_a_row_of_the_year_1_is_a_job(tmp_path):
    path = tmp_path / "jobs.csv"
    times = ("2023-11-14T22:13:20", "2023-11-14T22:13:30", "2023-11-14T22:15:10")
    never = "0001-01-01T00:00:00"
    lines = [",".join(("u", *times, "2", "COMPLETED"))] * 30
    lines += [f"u,{times[0]},{never},{never},2,FAILED", f"u,{never},{times[1]},{times[2]},2,COMPLETED"]
    path.write_text("\n".join(["user,submit_time,start_time,end_time,cores,state", *lines]) + "\n")

    with gwa.open(path) as trace:
        assert trace.account.jobs == 32
        assert trace.account.rejected == 0
    rows, _ = converted(path, "submit_time, wait_time, run_time, n_procs, status")
    assert (SUBMITTED, None, None, None, 0) in rows
    assert (None, None, 100, 2, 1) in rows


def test_times_from_the_beginning_of_a_trace_are_times(tmp_path):
    path = tmp_path / "jobs.csv"
    rows = [f"u,{n},{n + 5},{n + 65},2" for n in range(0, 3000, 100)]
    path.write_text("\n".join(["user,submit_time,start_time,end_time,cores", *rows]) + "\n")

    found, repairs = converted(path, "submit_time, wait_time, run_time, n_procs")

    assert found == [(n, 5, 60, 2) for n in range(0, 3000, 100)]
    assert not {FALSE_START, FALSE_SUBMISSION} & set(repairs)


def test_one_record_of_1970_moves_no_fact(tmp_path):
    """Whatever says so: text of GWF, whose times are durations, and a format that knows the start."""
    sound = [f"{n}\t{SUBMITTED + n}\t5\t60\t2" + "\t-1" * 24 for n in range(1, 200)]
    clean, odd = tmp_path / "clean.gwf", tmp_path / "odd.gwf"
    clean.write_text("\n".join(sound) + "\n")
    wrong = [
        f"200\t{SUBMITTED + 5}\t-1\t{SUBMITTED}\t-1" + "\t-1" * 24,
        "201\t0\t-1\t-1\t-1" + "\t-1" * 24,
        f"202\t{NO_VAL}\t-1\t-1\t-1" + "\t-1" * 24,
        f"203\t{SUBMITTED + 5}\t{NO_VAL - SUBMITTED}\t-1\t-1" + "\t-1" * 24,
    ]
    odd.write_text("\n".join([*sound, *wrong]) + "\n")

    facts = []
    for path in (clean, odd):
        with gwa.open(path) as trace:
            found = {fact.id: fact.value for fact in trace.report(only=("overview", "utilization")).facts()}
            facts.append([found[name] for name in FACTS])
    assert facts[0] == facts[1]


FACTS = (
    "trace.span_seconds",
    "trace.first_submit",
    "trace.last_end",
    "trace.cpu_seconds",
    "utilization.mean",
)


def test_a_pod_that_never_started_and_one_of_the_year_1_ran_for_no_time(tmp_path):
    """Kubernetes #120331: the start of what could not be started is 1970."""

    def pod(number, start, end):
        ended = {"exitCode": 128, "reason": "StartError", "startedAt": start, "finishedAt": end}
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": f"p{number}", "namespace": "lab", "uid": f"u{number}",
                "creationTimestamp": "2023-11-14T22:13:20Z",
            },
            "spec": {
                "nodeName": "n1", "containers": [{"name": "a", "resources": {"requests": {"cpu": "2"}}}]
            },
            "status": {
                "phase": "Failed",
                "startTime": "2023-11-14T22:13:25Z",
                "containerStatuses": [{"name": "a", "state": {"terminated": ended}}],
            },
        }  # fmt: skip

    path = tmp_path / "pods.json"
    pods = [
        pod(1, "1970-01-01T00:00:00Z", "2023-11-14T22:13:30Z"),
        pod(2, "0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
    ]
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": pods}))

    rows, _ = converted(path, "wait_time, run_time, n_procs, n_nodes, status, exit_code")

    assert rows == [(None, None, None, None, 0, 128)] * 2


@pytest.mark.parametrize(
    ("walltime", "expected"), [("00:30:00", (None, 1800, 8)), ("00:00:00", (None, None, None))]
)
def test_what_pbs_measured_is_believed_over_its_start(walltime, expected, tmp_path):
    path = tmp_path / "20171115"
    path.write_text(
        "11/15/2017 03:00:00;E;6.pbs;user=u2 queue=q ctime=1510714800 start=1 exec_host=n1/0*8"
        f" end=1510718400 Exit_status=1 resources_used.walltime={walltime} run_count=1\n"
    )

    rows, _ = converted(path, "wait_time, run_time, n_procs")

    assert rows == [expected]
