"""Kubernetes, Kueue and Volcano: what kubectl prints."""

import json
from datetime import datetime
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.formats.open import open_trace
from gwa.store.options import ReadOptions
from tests.conftest import HOME, examples

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


@pytest.mark.parametrize(
    ("spec", "allocated", "actual", "cpus"),
    [("2", "8", "8", 8), ("8", "2", "2", 8), ("2", "2", "8", 8), ("2", "8", None, 8), ("2", None, "8", 8)],
)
def test_a_pod_that_was_resized_has_the_most_of_what_is_asked_allocated_and_in_effect(
    spec, allocated, actual, cpus, tmp_path
):
    one = pod({"cpu": spec})
    one["spec"]["containers"].append({"name": "b", "image": "i", "resources": {"requests": {"cpu": "1"}}})
    one["spec"]["containers"][0]["name"] = "a"
    told = {
        "name": "a",
        "state": {"terminated": {"startedAt": "2025-08-01T00:01:00Z", "finishedAt": "2025-08-01T01:00:00Z"}},
    }
    told |= {"allocatedResources": {"cpu": allocated}} if allocated else {}
    told |= {"resources": {"requests": {"cpu": actual}}} if actual else {}
    one["status"] = {"phase": "Succeeded", "containerStatuses": [{"name": "b", "resources": {}}, told]}
    (tmp_path / "pod.json").write_text(json.dumps({"items": [one]}))
    assert read(tmp_path / "pod.json", "n_procs, runs")[0] == {"n/p": (cpus + 1, None)}


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


@examples(30)
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


# As the scheduler counts.


def asked(cpu, **more):
    return {"image": "i", "resources": {"requests": {"cpu": cpu}}, **more}


def sidecar(cpu):
    return asked(cpu, restartPolicy="Always")


@pytest.mark.parametrize(
    ("spec", "cpus"),
    [
        ({"containers": [asked("2"), asked("1")]}, 3),
        ({"containers": [asked("2")], "initContainers": [asked("5")]}, 5),
        ({"containers": [asked("2")], "initContainers": [sidecar("5")]}, 7),
        # An init container runs beside the sidecars before it, not beside those after it.
        ({"containers": [asked("1")], "initContainers": [sidecar("2"), asked("4"), sidecar("1")]}, 6),
        ({"containers": [asked("1")], "initContainers": [asked("4"), sidecar("2")]}, 4),
        ({"containers": [asked("2")], "overhead": {"cpu": "1"}}, 3),
        ({"containers": [asked("2")], "resources": {"requests": {"cpu": "6"}}, "overhead": {"cpu": "1"}}, 7),
        ({"containers": [{"image": "i", "resources": {"limits": {"cpu": "3"}}}]}, 3),
    ],
)
def test_effective_requests_of_a_pod(spec, cpus, tmp_path):
    (tmp_path / "pod.json").write_text(json.dumps({"items": [pod({}) | {"spec": spec}]}))
    found, *_ = read(tmp_path / "pod.json", "req_n_procs")
    assert found == {"n/p": (cpus,)}


@pytest.mark.parametrize(
    ("counts", "cpus"),
    [
        ({"parallelism": 10, "completions": 3}, 6),
        ({"parallelism": 2, "completions": 30}, 4),
        ({"completions": 5}, 2),
        ({"parallelism": 4}, 8),
        ({}, 2),
    ],
)
def test_a_job_has_no_more_pods_than_it_needs(counts, cpus, tmp_path):
    job = {
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": "j", "namespace": "n", "creationTimestamp": "2025-08-01T00:00:00Z"},
        "spec": {**counts, "template": {"spec": {"containers": [asked("2")]}}},
        "status": {"startTime": "2025-08-01T00:00:10Z", "active": 1},
    }  # fmt: skip
    (tmp_path / "job.json").write_text(json.dumps(job))
    found, *_ = read(tmp_path / "job.json", "n_procs, req_n_procs")
    assert found == {"n/j": (cpus, cpus)}


def ended(start, end, code=0):
    return {"terminated": {"exitCode": code, "startedAt": start, "finishedAt": end}}


def at(clock):
    return f"2025-08-01T{clock}Z"


LIVES = {
    "once": ({"phase": "Succeeded"}, [{"state": ended(at("00:01:00"), at("00:03:00"))}], (60, 120, 1)),
    "twice": (
        {"phase": "Succeeded", "startTime": at("00:00:30")},
        [
            {
                "restartCount": 1,
                "state": ended(at("00:02:00"), at("00:03:00")),
                "lastState": ended(at("00:01:00"), at("00:01:30"), 1),
            }
        ],
        (60, 120, 1),
    ),
    "many times": (
        {"phase": "Failed", "startTime": at("00:00:30")},
        [
            {
                "restartCount": 7,
                "state": ended(at("00:02:00"), at("00:03:00"), 1),
                "lastState": ended(at("00:01:00"), at("00:01:30"), 1),
            }
        ],
        (30, 150, 1),
    ),
    "between two runs": (
        {"phase": "Running"},
        [
            {
                "restartCount": 1,
                "state": {"waiting": {}},
                "lastState": ended(at("00:01:00"), at("00:02:00"), 1),
            }
        ],
        (60, None, 1),
    ),
    "evicted": (
        {"phase": "Failed", "reason": "Evicted", "startTime": at("00:00:30")},
        [],
        (None, None, None),
    ),
    "rejected": (
        {"phase": "Failed", "reason": "OutOfcpu", "startTime": at("00:00:30")},
        [{"state": {"waiting": {"reason": "ContainerCreating"}}}],
        (None, None, None),
    ),
}


@pytest.mark.parametrize("life", LIVES)
def test_when_a_pod_ran(life, tmp_path):
    status, containers, expected = LIVES[life]
    one = pod({"cpu": "2"})
    one["spec"]["nodeName"] = "n1"
    one["status"] = {**status, "containerStatuses": containers}
    (tmp_path / "pod.json").write_text(json.dumps({"items": [one]}))
    found, *_ = read(tmp_path / "pod.json", "wait_time, run_time, n_nodes, n_procs")
    assert found == {"n/p": (*expected, 2 if expected[0] else None)}


def test_what_an_init_container_did_counts_where_nothing_else_started(tmp_path):
    one = pod({"cpu": "2"})
    one["status"] = {
        "phase": "Failed",
        "containerStatuses": [{"state": {"waiting": {"reason": "PodInitializing"}}}],
        "initContainerStatuses": [{"state": ended(at("00:01:00"), at("00:03:00"), 3)}],
    }
    (tmp_path / "pod.json").write_text(json.dumps({"items": [one]}))
    found, *_ = read(tmp_path / "pod.json", "wait_time, run_time, exit_code")
    assert found == {"n/p": (60, 120, 3)}


def without(one, *names):
    return {key: value for key, value in one.items() if key not in names}


@pytest.mark.parametrize("order", [("kind", "items"), ("items", "kind")])
def test_items_have_the_kind_of_their_list(order, tmp_path):
    document = {
        "kind": "PodList",
        "apiVersion": "v1",
        "items": [without(pod({"cpu": "2"}), "kind", "apiVersion")],
    }
    path = tmp_path / "pods.json"
    path.write_text(json.dumps({key: document[key] for key in ("apiVersion", *order)}))
    found, account, _ = read(path, "req_n_procs, state")
    assert found == {"n/p": (2, "Pending")}
    assert account.rejected == 0


def test_the_python_client_s_dictionaries_are_read(tmp_path):
    one = {
        "api_version": None, "kind": None,
        "metadata": {
            "name": "p", "namespace": "n", "uid": "u", "creation_timestamp": "2025-08-01 00:00:00+00:00"
        },
        "spec": {
            "node_name": "n1", "containers": [asked("2")],
            "init_containers": [asked("1", restart_policy="Always")],
        },
        "status": {
            "phase": "Succeeded", "start_time": "2025-08-01 00:00:10+00:00",
            "container_statuses": [
                {"restart_count": 0, "last_state": {"terminated": None}, "state": {"terminated": {
                    "exit_code": 0, "started_at": "2025-08-01 00:01:00+00:00",
                    "finished_at": "2025-08-01 00:03:00+00:00"}}}
            ],
        },
    }  # fmt: skip
    path = tmp_path / "pods.json"
    path.write_text(json.dumps({"api_version": "v1", "items": [one], "kind": "PodList", "metadata": {}}))
    found, *_ = read(path, "wait_time, run_time, n_procs, n_nodes, exit_code, status")
    assert found == {"n/p": (60, 120, 3, 1, 0, 1)}


def workload(*conditions, **status):
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Workload",
        "metadata": {"name": "w", "namespace": "n", "uid": "w", "creationTimestamp": at("00:00:00")},
        "spec": {"podSets": [{"name": "main", "count": 8, "minCount": 2,
                              "template": {"spec": {"containers": [asked("2")]}}}]},
        "status": {**status, "conditions": [
            {"type": name, "status": holds, "lastTransitionTime": at(clock), "reason": why, "message": said}
            for name, holds, clock, why, said in conditions
        ]},
    }  # fmt: skip


ADMITTED = ("Admitted", "True", "00:10:00", "Admitted", "")
WORKLOADS = {
    "partially admitted": (
        workload(
            ADMITTED,
            ("Finished", "True", "00:20:00", "Succeeded", ""),
            admission={"podSetAssignments": [{"name": "main", "count": 3}]},
        ),
        (600, 600, 6, 16, 1),
    ),
    "evicted, and not admitted again": (
        workload(
            ("QuotaReserved", "False", "00:30:00", "Pending", ""),
            ("Admitted", "False", "00:30:00", "NoReservation", ""),
            ("Evicted", "True", "00:30:00", "Preempted", ""),
        ),
        (None, None, None, 16, None),
    ),
    "evicted, and admitted again": (
        workload(
            ("Evicted", "True", "00:30:00", "Preempted", ""),
            ("Admitted", "True", "00:40:00", "Admitted", ""),
            ("Finished", "True", "00:50:00", "Failed", ""),
        ),
        (2400, 600, 16, 16, 0),
    ),
    "of an old version, completed": (
        workload(ADMITTED, ("Finished", "True", "00:20:00", "JobFinished", "Job finished successfully")),
        (600, 600, 16, 16, 1),
    ),
    "of an old version, failed": (
        workload(
            ADMITTED, ("Finished", "True", "00:20:00", "JobFinished", "Job has reached the failed state")
        ),
        (600, 600, 16, 16, 0),
    ),
}


@pytest.mark.parametrize("kind", WORKLOADS)
def test_workloads_by_their_conditions(kind, tmp_path):
    one, expected = WORKLOADS[kind]
    (tmp_path / "w.json").write_text(json.dumps(one))
    found, *_ = read(tmp_path / "w.json", "wait_time, run_time, n_procs, req_n_procs, status")
    assert found == {"n/w": expected}


# Sets of Jobs and Pods.


CREATED = "2025-08-01T08:00:00Z"


def thing(kind, name, *, owner=None, api="batch/v1", **parts):
    owners = [{"kind": owner[0], "name": owner[1], "uid": f"uid-{owner[1]}"}] if owner else []
    metadata = {
        "name": name,
        "namespace": "lab",
        "uid": f"uid-{name}",
        "creationTimestamp": "2025-08-01T08:00:00Z",
    }
    return {"apiVersion": api, "kind": kind, "metadata": {**metadata, "ownerReferences": owners}, **parts}


SPEC = {
    "containers": [
        {
            "name": "c",
            "image": "i",
            "resources": {"requests": {"cpu": "8"}, "limits": {"nvidia.com/gpu": "1"}},
        }
    ]
}
CONTENT = {"parallelism": 2, "completions": 2, "template": {"spec": SPEC}}


def pod_of(owner, name, begin="08:10", end="09:10", code=0):
    ran = {"exitCode": code, "startedAt": f"2025-08-01T{begin}:00Z", "finishedAt": f"2025-08-01T{end}:00Z"}
    phase = "Failed" if code else "Succeeded"
    status = {"phase": phase, "containerStatuses": [{"state": {"terminated": ran}}]}
    return thing("Pod", name, owner=owner, api="v1", spec={"nodeName": f"n-{name}", **SPEC}, status=status)


def jobs_of(owner, *, started="08:05", completed="09:20"):
    times = {"startTime": f"2025-08-01T{started}:00Z", "completionTime": f"2025-08-01T{completed}:00Z"}
    return [
        thing(
            "Job",
            f"w-{place}",
            owner=owner,
            spec=CONTENT,
            status={**times, "conditions": [{"type": "Complete", "status": "True"}]},
        )
        for place in range(2)
    ]


def holds(condition):
    return {"conditions": [{"type": condition, "status": "True"}]}


JOB_SET = thing("JobSet", "train", api="jobset.x-k8s.io/v1alpha2", status=holds("Completed"))
OWNED_SET = thing("JobSet", "train", owner=("TrainJob", "tune"), api="jobset.x-k8s.io/v1alpha2")
TRAIN_JOB = thing("TrainJob", "tune", api="trainer.kubeflow.org/v1alpha1", status=holds("Complete"))
RAY_JOB = thing(
    "RayJob", "ray", api="ray.io/v1", status={"jobStatus": "FAILED", "startTime": "2025-08-01T08:01:00Z"}
)
RAY_CLUSTER = thing("RayCluster", "c1", owner=("RayJob", "ray"), api="ray.io/v1")
WORKERS = jobs_of(("JobSet", "train"))
PODS = [pod_of(("Job", f"w-{number % 2}"), f"p{number}") for number in range(4)]
REPLACED = pod_of(("Job", "w-0"), "p9", code=1)
SETS = {
    "a JobSet and its Jobs": ([JOB_SET, *WORKERS], (300, 4500, 32, 4, 1, "Completed", None)),
    "its Pods, too": ([JOB_SET, *WORKERS, REPLACED, *PODS], (600, 3600, 32, 4, 1, "Completed", 0)),
    "a TrainJob": ([TRAIN_JOB, OWNED_SET, *WORKERS, PODS[0]], (600, 3600, 32, 4, 1, "Complete", 0)),
    "a RayJob": (
        [RAY_JOB, RAY_CLUSTER, *(pod_of(("RayCluster", "c1"), f"p{number}", code=1) for number in range(3))],
        (600, 3600, 24, 3, 0, "Failed", 1),
    ),
}


@pytest.mark.parametrize("name", SETS)
def test_a_set_is_one_job_of_what_it_owns(name, tmp_path):
    items, expected = SETS[name]
    path = tmp_path / "all.json"
    path.write_text(json.dumps({"kind": "List", "items": items}))
    found, account, rejects = read(path, "wait_time, run_time, n_procs, n_gpus, status, state, exit_code")
    assert list(found.values()) == [expected]
    assert (account.folded, rejects) == (len(items) - 1, [])


def test_a_set_without_its_jobs_is_refused_beside_others(tmp_path):
    path = tmp_path / "all.json"
    path.write_text(json.dumps({"kind": "List", "items": [JOB_SET, *jobs_of(("JobSet", "other"))]}))
    found, _, rejects = read(path, "run_time")
    assert len(found) == 2
    assert rejects == [("is a JobSet whose Jobs and Pods are not here: export them, too",)]


def test_a_job_that_completed_has_the_exit_code_of_what_succeeded(tmp_path):
    job = jobs_of(None)[0]
    pods = [pod_of(("Job", "w-0"), "p0", "08:10", "08:20", 137), pod_of(("Job", "w-0"), "p1")]
    path = tmp_path / "all.json"
    path.write_text(json.dumps({"kind": "List", "items": [job, *pods]}))
    assert read(path, "state, exit_code, run_time")[0] == {"lab/w-0": ("Complete", 0, 3600)}
