"""Flux: what flux jobs --json prints."""

import json

import pytest

from gwa.formats.open import open_trace
from gwa.store.schema import NAMES
from tests.conftest import HOME

SAMPLE = HOME / "sample_traces" / "flux" / "jobs.json"
STATUS = {"COMPLETED": 1, "FAILED": 0, "TIMEOUT": 0, "CANCELED": 5}


def by_hand(job):
    """Return the fields that a job of Flux says."""
    start, end, code = job.get("t_run"), job.get("t_cleanup"), job.get("returncode")
    ended = start is not None and end is not None
    known = {
        "submit_time": job["t_submit"],
        "wait_time": start - job["t_submit"] if start is not None else None,
        "run_time": end - start if ended else None,
        "n_procs": job.get("ncores") if start is not None else None,
        "req_n_procs": job.get("ncores"),
        "req_time": job.get("duration"),
        "status": STATUS.get(job.get("result", "")),
        "user_id": job.get("username", str(job["userid"])),
        "executable_id": job["name"],
        "queue_id": job["queue"],
        "project_id": job.get("bank", job.get("project")),
        "job_structure": "UNITARY",
        "n_nodes": job.get("nnodes") if start is not None else None,
        "eligible_time": job.get("t_sched"),
        "state": job.get("result", job["state"]),
        "exit_code": (code if code >= 0 else 128 - code) if ended and code != -128 else None,
    }
    return str(job["id"]), tuple(
        pytest.approx(value) if isinstance(value := known.get(name), float) else value for name in NAMES[1:]
    )


def read(path):
    with open_trace([path]) as store:
        store.account.check()
        assert store.provenance["format"] == "flux"
        rows = store.rows("select source_id, jobs.* exclude job_id from jobs join source_ids using (job_id)")
        return {key: tuple(fields) for key, *fields in rows}, store.account


def test_every_field_is_as_a_few_lines_of_python_read_it():
    jobs = json.loads(SAMPLE.read_text())["jobs"]
    found, account = read(SAMPLE)
    assert found == dict(map(by_hand, jobs))
    assert (account.rows, account.jobs, account.rejected) == (len(jobs), len(jobs), 0)


@pytest.mark.parametrize("indent", [None, 2])
def test_a_list_lines_and_an_indented_document_are_the_same(indent, tmp_path):
    jobs = json.loads(SAMPLE.read_text())["jobs"]
    texts = [
        json.dumps({"jobs": jobs}, indent=indent), json.dumps(jobs, indent=indent),
        "\n".join(json.dumps(job) for job in jobs),
    ]  # fmt: skip
    for number, text in enumerate(texts):
        path = tmp_path / f"{number}.json"
        path.write_text(text)
        assert read(path)[0] == read(SAMPLE)[0]


def test_jobs_within_a_job_are_not_read(tmp_path):
    jobs = json.loads(SAMPLE.read_text())["jobs"]
    jobs[4]["jobs"] = [jobs[0], jobs[1]]
    (tmp_path / "nested.json").write_text(json.dumps({"jobs": jobs[2:]}))
    assert len(read(tmp_path / "nested.json")[0]) == len(jobs) - 2


@pytest.mark.parametrize(
    ("code", "expected"), [(0, 0), (1, 1), (137, 137), (-9, 137), (-128, None), (None, None)]
)
def test_return_codes(code, expected, tmp_path):
    job = {
        "id": 1,
        "t_submit": 1.7e9,
        "t_run": 1.7e9,
        "t_cleanup": 1.7e9 + 5,
        "userid": 1,
        "state": "INACTIVE",
    }
    (tmp_path / "one.json").write_text(
        json.dumps({"jobs": [job | ({"returncode": code} if code is not None else {})]})
    )
    with open_trace([tmp_path / "one.json"]) as store:
        assert store.rows("select exit_code from jobs") == [(expected,)]
