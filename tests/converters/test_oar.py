"""OAR: oarstat -J and its REST API."""

import json

import pytest

from gwa.formats.open import open_trace

SUBMITTED = 1_741_600_000
JOB = {
    "Job_Id": 7, "array_id": 7, "owner": "user042", "project": "p", "queue": "default", "state": "Terminated",
    "name": "mesh", "exit_code": 0, "submissionTime": SUBMITTED, "startTime": SUBMITTED + 10,
    "stopTime": SUBMITTED + 70, "walltime": 7200, "assigned_resources": [4, 5, 6],
    "assigned_network_address": ["n1", "n2"],
    "wanted_resources": "-l \"{type = 'default'}/host=2/core=4,walltime=2:0:0\" ",
    "launchingDirectory": "/home/u",
}  # fmt: skip
LATER = {
    "id": 7, "array_id": 7, "user": "user042", "project": "p", "queue_name": "default", "state": "Terminated",
    "job_name": "mesh", "exit_code": 0, "submission_time": SUBMITTED, "start_time": SUBMITTED + 10,
    "stop_time": SUBMITTED + 70, "walltime": "2:00:00", "assigned_resources": [4, 5, 6],
    "assigned_network_address": ["n1", "n2"], "initial_request": "oarsub -l /host=2/core=4,walltime=2:0:0 x",
}  # fmt: skip
FIELDS = (
    "submit_time, wait_time, run_time, n_procs, req_n_procs, req_time, status, user_id, executable_id,"
    " queue_id, n_nodes, exit_code"
)
USUAL = (SUBMITTED, 10, 60, 3, 8, 7200, 1, "user042", "mesh", "default", 2, 0)


def read(path, document, fields=FIELDS):
    path.write_text(json.dumps(document))
    with open_trace([path]) as store:
        store.account.check()
        assert store.provenance["format"] == "oar"
        return store.rows(f"select {fields} from jobs order by job_id"), store.account


@pytest.mark.parametrize("job", [JOB, LATER], ids=["OAR 2", "OAR 3"])
def test_an_object_by_numbers_and_a_list_say_the_same(job, tmp_path):
    other = job | {key: 8 for key in ("Job_Id", "id", "array_id") if key in job}
    for document in ({"7": job, "8": other}, {"items": [job, other], "total": 2}, [job, other]):
        found, account = read(tmp_path / "jobs.json", document)
        assert found == [USUAL, USUAL]
        assert (account.rows, account.jobs, account.rejected) == (2, 2, 0)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"exit_code": 256}, (10, 60, 3, 0, 1)),
        ({"exit_code": 9, "state": "Error"}, (10, 60, 3, 0, 137)),
        ({"state": "Error", "events": [{"type": "FRAG_JOB_REQUEST"}]}, (10, 60, 3, 5, 0)),
        ({"state": "Error", "message": "Job killed by Leon directly"}, (10, 60, 3, 5, 0)),
        ({"state": "Waiting", "startTime": 0, "stopTime": 0}, (None, None, None, None, None)),
        ({"state": "Running", "stopTime": 0, "exit_code": None}, (10, None, 3, None, None)),
        ({"state": "Error", "startTime": 1}, (None, None, None, 0, None)),
        ({"assigned_resources": []}, (10, 60, None, 1, 0)),
    ],
)
def test_how_jobs_end(said, expected, tmp_path):
    found, _ = read(
        tmp_path / "jobs.json", {"7": JOB | said}, "wait_time, run_time, n_procs, status, exit_code"
    )
    assert found == [expected]


def test_jobs_of_an_array_are_a_bag(tmp_path):
    jobs = {"7": JOB, "8": JOB | {"Job_Id": 8}, "9": JOB | {"Job_Id": 9, "array_id": 9}}
    found, _ = read(tmp_path / "jobs.json", jobs, "job_structure, job_structure_params")
    assert found == [("BoT", "7"), ("BoT", "7"), ("UNITARY", None)]
