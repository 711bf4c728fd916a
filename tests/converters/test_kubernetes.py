"""Kubernetes, Kueue and Volcano: what kubectl prints."""

import json
from datetime import datetime
from math import ceil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gwa.formats.open import open_trace
from gwa.store.options import ReadOptions
from tests.conftest import HOME

SAMPLE = HOME / "sample_traces" / "kubernetes"


def moment(clock):
    return datetime.fromisoformat(f"2025-08-01T{clock}:00+00:00").timestamp()


def read(path, fields, options=None):
    with open_trace([path], None, ReadOptions(format_options=options or {})) as store:
        store.account.check()
        assert store.provenance["format"] == "kubernetes"
        rows = store.rows(f"select source_id, {fields} from jobs join source_ids using (job_id)")
        return (
            {key: tuple(values) for key, *values in rows},
            store.account,
            store.rows("select reason from rejects"),
        )


TIMES = "submit_time, wait_time, run_time, n_procs, n_gpus, n_nodes, status, state, exit_code"
AMOUNTS = (
    "req_n_procs, req_memory, req_gpus, gpu_type, req_time, user_id, project_id, executable_id, queue_id, qos"
)


def test_jobs_and_pods():
    found, account, rejects = read(SAMPLE / "jobs.json", TIMES)
    assert found == {
        "climate/mesh-28": (moment("08:00"), 360, 5040, 4, 2, 2, 1, "Complete", 0),
        "bio/fit-3": (moment("10:00"), 0, 2700, 4, None, None, 0, "Failed", None),
        "bio/nightly": (moment("11:00"), None, None, None, None, None, None, "Suspended", None),
        "bio/probe": (moment("12:00"), 120, 1800, 2, 2, 1, 0, "Failed", 137),
        "climate/tail-1": (moment("13:00"), 60, None, 1, None, 1, None, "Running", None),
    }
    assert (account.rows, account.jobs, account.folded, account.rejected) == (8, 5, 2, 1)
    assert rejects == [("belongs to a ReplicaSet: a service, no job",)]


def test_what_jobs_ask_for():
    found, *_ = read(SAMPLE / "jobs.json", AMOUNTS)
    megabyte = 1024.0
    assert found == {
        "climate/mesh-28": (
            4,
            1024 * megabyte,
            2,
            None,
            7200,
            "climate",
            "climate",
            "mesh",
            None,
            "batch-high",
        ),
        "bio/fit-3": (4, 1e9 / 1024 / 4, None, None, None, "bio", "bio", "fit", None, None),
        "bio/nightly": (2, 4 * 128 * megabyte / 2, None, None, None, "bio", "bio", "nightly", None, None),
        "bio/probe": (2, 512 * megabyte / 2, 2, "mig-1g.5gb", None, "bio", "bio", "probe", None, None),
        "climate/tail-1": (1, 1e9 / 1024, None, None, None, "climate", "climate", "tail", None, None),
    }


def test_workloads_of_kueue():
    found, *_ = read(SAMPLE / "workloads.json", f"{TIMES}, gpu_type, queue_id, partition_id, req_time")
    assert found == {
        "ml/job-train-1": (
            moment("14:00"), 1860, 14_400, 32, 8, None, 1, "Succeeded", None, "a100", "team-a", "gpus", 86_400
        ),
        "ml/job-train-2": (
            moment("14:10"), None, None, None, None, None, None, "Pending", None, None, "team-b", None, None
        ),
    }  # fmt: skip


def test_jobs_of_volcano():
    found, *_ = read(SAMPLE / "volcano.json", f"{TIMES}, queue_id, req_n_procs")
    assert found == {
        "mpi/lammps": (moment("15:00"), 1200, 3600, 33, None, None, 1, "Completed", None, "research", 33),
        "mpi/abandoned": (moment("15:30"), None, None, None, None, None, 5, "Aborted", None, "research", 64),
    }


def test_a_label_holds_the_users_where_one_is_named():
    found, *_ = read(SAMPLE / "jobs.json", "user_id", {"user_label": "owner"})
    assert found["climate/mesh-28"] == ("user011",)
    assert found["bio/fit-3"] == ("bio",)


def test_a_workload_and_its_job_are_one_job_with_its_queue(tmp_path):
    job, workload = (
        json.loads((SAMPLE / name).read_text())["items"][place]
        for name, place in (("jobs.json", 0), ("workloads.json", 0))
    )
    workload["metadata"]["ownerReferences"][0]["uid"] = job["metadata"]["uid"]
    (tmp_path / "both.json").write_text(json.dumps({"kind": "List", "items": [job, workload]}))
    found, account, _ = read(tmp_path / "both.json", "queue_id, partition_id, run_time")
    assert found == {"climate/mesh-28": ("team-a", "gpus", 5460)}
    assert (account.jobs, account.folded) == (1, 1)


def test_an_object_that_was_exported_twice_is_the_later_one(tmp_path):
    job = json.loads((SAMPLE / "jobs.json").read_text())["items"][0]
    early = json.loads(json.dumps(job))
    early["status"] = {"startTime": "2025-08-01T08:00:00Z", "active": 2}
    (tmp_path / "twice.json").write_text("\n".join(map(json.dumps, (early, job))))
    found, account, _ = read(tmp_path / "twice.json", "state, run_time")
    assert found == {"climate/mesh-28": ("Complete", 5460)}
    assert (account.rows, account.jobs, account.folded) == (2, 1, 1)


def pod(requests, limits=None, inits=()):
    return {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "p", "namespace": "n", "creationTimestamp": "2025-08-01T00:00:00Z"},
        "spec": {
            "containers": [{"image": "i", "resources": {"requests": requests, "limits": limits or {}}}],
            "initContainers": [{"image": "i", "resources": {"requests": one}} for one in inits],
        },
        "status": {"phase": "Pending"},
    }  # fmt: skip


QUANTITIES = {
    "500m": 0.5, "2": 2, "1e3": 1000, "1E3": 1000, "0.1": 0.1, "3k": 3000, "1Ki": 1024, "x": None, "": None,
    "-1": None,
}  # fmt: skip


@pytest.mark.parametrize("text", QUANTITIES)
def test_quantities(text, tmp_path):
    (tmp_path / "pod.json").write_text(json.dumps({"items": [pod({"cpu": text})]}))
    found, *_ = read(tmp_path / "pod.json", "req_n_procs")
    value = QUANTITIES[text]
    assert found == {"n/p": (ceil(value) if value else None,)}


@pytest.mark.parametrize(
    ("requests", "limits", "inits", "cpus", "gpus"),
    [
        ({"cpu": "2"}, {"cpu": "4"}, (), 2, None),
        ({}, {"cpu": "4", "amd.com/gpu": "1"}, (), 4, 1),
        ({"cpu": "1"}, {}, ({"cpu": "6"}, {"cpu": "3"}), 6, None),
        ({"cpu": "1", "nvidia.com/gpu.shared": "4"}, {}, (), 1, None),
        ({"cpu": "1", "nvidia.com/gpu": "2", "example.org/gpu": "1"}, {}, (), 1, 3),
    ],
)
def test_what_a_pod_asks_for(requests, limits, inits, cpus, gpus, tmp_path):
    (tmp_path / "pod.json").write_text(json.dumps({"items": [pod(requests, limits, inits)]}))
    assert read(tmp_path / "pod.json", "req_n_procs, req_gpus")[0] == {"n/p": (cpus, gpus)}


NAMES = st.sampled_from(["name", "state", "cpu"])
ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
PLACES = (
    ("spec", "containers"), ("spec", "initContainers"), ("metadata", "ownerReferences"),
    ("metadata", "labels"),
    ("status", "conditions"), ("status", "containerStatuses"), ("spec", "podSets"), ("spec", "tasks"),
    ("spec", "nodeName"),
)  # fmt: skip


@settings(max_examples=30)
@given(value=ODD, place=st.sampled_from(PLACES), kind=st.sampled_from(["Pod", "Job", "Workload"]))
def test_anything_anywhere_is_a_job_or_refused(value, place, kind, tmp_path_factory):
    odd = pod({"cpu": "1"}) | {"kind": kind}
    odd[place[0]][place[1]] = value
    path = tmp_path_factory.mktemp("odd") / "odd.json"
    path.write_text(
        json.dumps({"items": [odd, pod({"cpu": "2"}) | {"metadata": {**pod({})["metadata"], "name": "q"}}]})
    )
    found, account, _ = read(path, "req_n_procs")
    assert found["n/q"] == (2,)
    assert account.rows == 2
