"""Jobs of Ray, in each of the documents that list them."""

import json

import pytest

from gwa.formats.open import open_trace

DONE = {
    "status": "SUCCEEDED", "entrypoint": "python t.py", "start_time": 1_761_900_000_000,
    "end_time": 1_761_900_600_000, "runtime_env": {},
}  # fmt: skip
WAITING = DONE | {"status": "PENDING", "entrypoint": "python u.py", "end_time": None}


def named(name, job):
    return {"type": "SUBMISSION", "job_id": None, "submission_id": name} | job


JOBS = [named("raysubmit_a", DONE), named("raysubmit_b", WAITING)]


@pytest.mark.parametrize(
    "document",
    [
        JOBS,
        {one["submission_id"]: one for one in JOBS},
        {"01000000": JOBS[0], "02000000": JOBS[1]},
        {"raysubmit_a": DONE, "raysubmit_b": WAITING},
        {"result": True, "msg": "", "data": {"result": {"total": 2, "result": JOBS}}},
    ],
    ids=["list", "by id", "by number", "before 2.0", "API of states"],
)
@pytest.mark.parametrize("indent", [None, 1])
def test_jobs_are_read_in_each_layout(document, indent, tmp_path):
    path = tmp_path / "jobs.json"
    path.write_text(json.dumps(document, indent=indent))
    with open_trace([path]) as store:
        store.account.check()
        rows = store.rows(
            "select source_id, run_time, state from jobs join source_ids using (job_id) order by 1"
        )
    assert rows == [("raysubmit_a", 600, "SUCCEEDED"), ("raysubmit_b", None, "PENDING")]
