# mypy: disable-error-code="no-untyped-call"
"""
Public traces: each field of each row against a second reading in plain Python.

The samples are read so, and the real files beside the checkout; special cases follow, one by one.
"""

import csv
import gzip
import json
import math
from collections import Counter, defaultdict
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from gwa.errors import TraceError, UnknownFormat
from gwa.formats.open import open_trace, recognise
from gwa.ingest.source.head import FileHead
from gwa.store.options import ReadOptions
from tests.conftest import HOME, LOGS

SAMPLES = HOME / "sample_traces"
TODAY = LOGS / "today"


def lines_of(path):
    text = (gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()).decode()
    return text.splitlines()


def read(paths, format_=None, **options):
    """Return the jobs of a trace by their ids in the source, each a dictionary of what is not missing."""
    with open_trace(paths, format_, options=ReadOptions(format_options=options)) as store:
        store.account.check()
        names = [name for (name,) in store.rows("select column_name from (describe jobs)")]
        rows = store.rows("select source_id, jobs.* from jobs join source_ids using (job_id) order by job_id")
        links = store.rows(
            "select child.source_id, parent.source_id from dependencies"
            " join source_ids as child using (job_id)"
            " join source_ids as parent on parent.job_id = preceding_job order by all"
        )
        jobs = defaultdict(list)
        for source_id, *values in rows:
            row = dict(zip(names, values, strict=True))
            del row["job_id"]
            jobs[source_id].append({name: value for name, value in row.items() if value is not None})
        return jobs, store.account, links


def number(text):
    return float(text) if text not in {"", None} else None


def agrees(jobs, expected):
    """Check that jobs are those *expected*: pairs of an id and its fields, where None is missing."""
    wanted = defaultdict(list)
    for source_id, fields in expected:
        wanted[source_id].append({name: value for name, value in fields.items() if value is not None})
    assert jobs.keys() == wanted.keys()
    for source_id, rows in wanted.items():
        found = sorted(jobs[source_id], key=str)
        for one, other in zip(found, sorted(rows, key=str), strict=True):
            assert one.keys() == other.keys(), source_id
            for name, value in other.items():
                same = (
                    math.isclose(one[name], value, rel_tol=1e-9)
                    if isinstance(value, float)
                    else one[name] == value
                )
                assert same, (source_id, name, one[name], value)


def real(*names):
    """Return the parameter for a real file, which may not be there."""
    path = TODAY.joinpath(*names)
    missing = pytest.mark.skipif(not path.exists(), reason="there are no real logs beside the checkout")
    return pytest.param(path, marks=[pytest.mark.logs, missing], id=names[-1])


def duration(begin, end):
    """Return a duration as gwa does: a little less than 0 is 0, much less is missing."""
    if begin is None or end is None or end < begin - 3600:
        return None
    return max(end - begin, 0)


# Azure.


@pytest.mark.parametrize(
    "path", [SAMPLES / "azure-vm" / "vmtable.csv", real("azure", "vmtable-sample-opendc.csv.gz")]
)
def test_azure_virtual_machines(path):
    def bucket(text):
        return None if text.startswith(">") else float(text)

    expected = []
    for row in csv.reader(lines_of(path)):
        begin, end, over = float(row[3]), float(row[4]), float(row[4]) < 2591700
        cores, memory, use = bucket(row[9]), bucket(row[10]), number(row[6])
        short = [row[n].replace("+", "-").replace("/", "_")[:12] for n in range(3)]
        fields = {
            "submit_time": begin,
            "wait_time": 0.0,
            "run_time": end - begin if over else None,
            "n_procs": cores and int(cores),
            "req_n_procs": cores and int(cores),
            "average_cpu_time": use / 100 * (end - begin) if over and use is not None else None,
            "req_memory": memory * 1024 * 1024 / cores if cores and memory else None,
            "state": "deleted" if over else "alive at the end",
            "user_id": f"U{short[1]}",
            "queue_id": {"Unkown": "Unknown"}.get(row[8], row[8]),
            "job_structure": "BoT",
            "job_structure_params": short[2],
        }
        expected.append((short[0], fields))
    jobs, account, _ = read([path])
    agrees(jobs, expected)
    assert (account.rows, account.jobs, account.rejected) == (len(expected), len(expected), 0)


def test_the_last_bucket_of_azure_is_taken_if_that_is_asked_for():
    jobs, *_ = read([SAMPLES / "azure-vm" / "vmtable.csv"], open_buckets="take")
    (row,) = jobs["dB-_dEfGhIjK"]
    assert (row["n_procs"], row["req_memory"]) == (24, pytest.approx(64 * 1024**2 / 24))


# Alibaba.


def alibaba2017(tasks, instances):
    lives = defaultdict(list)
    for row in instances:
        lives[row[2], row[3]].append((float(row[0]), number(row[1])))
    rows = [row for row in tasks if row[2].isdigit()]
    several = Counter(job for job, _ in {(row[2], row[3]) for row in rows})
    for begun, ended, job, task, number_of, status, cpu, memory in rows:
        life = lives.get((job, task), [])
        starts = [start for start, _ in life if start > 0]
        ends = [float(ended), *(end for _, end in life if end is not None)]
        start = min(starts) if starts and min(starts) >= float(begun) else None
        is_over = status in {"Terminated", "Failed", "Cancelled"}
        cpus = number(cpu)
        parts = [f"inst:{number_of}"]
        parts += [f"cpu:{cpus}"] if cpu else []
        parts += [f"ram:{float(memory)}"] if memory else []
        yield (
            f"{job}/{task}",
            {
                "submit_time": float(begun) if float(begun) >= 0 else None,
                "wait_time": None if start is None else start - float(begun),
                "run_time": duration(float(begun) if start is None else start, max(ends))
                if is_over
                else None,
                "req_n_procs": math.ceil(int(number_of) * cpus / 100) if cpus else None,
                "status": {"Terminated": 1, "Failed": 0, "Cancelled": 5}.get(status),
                "state": status,
                "job_structure": "BoT" if several[job] > 1 else "UNITARY",
                "job_structure_params": job if several[job] > 1 else None,
                "req_resources": ",".join(parts),
            },
        )


def test_alibaba_tasks_of_2017_with_their_instances():
    folder = SAMPLES / "alibaba2017"
    tasks, instances = (
        list(csv.reader(lines_of(folder / f"batch_{name}.csv"))) for name in ("task", "instance")
    )
    jobs, account, _ = read([folder / "batch_task.csv", folder / "batch_instance.csv"])
    agrees(jobs, alibaba2017(tasks, instances))
    assert (account.rows, account.jobs, account.folded, account.comments) == (13, 7, 5, 1)
    assert jobs["1/1"] == [
        {
            "submit_time": 100,
            "wait_time": 20,
            "run_time": 280,
            "req_n_procs": 2,
            "status": 1,
            "state": "Terminated",
            "job_structure": "BoT",
            "job_structure_params": "1",
            "req_resources": "inst:3,cpu:50.0,ram:0.0079",
        }
    ]


@pytest.mark.parametrize("path", [real("alibaba2017", "batch_task.csv.gz")])
def test_alibaba_tasks_of_2017(path):
    jobs, account, _ = read([path])
    agrees(jobs, alibaba2017(csv.reader(lines_of(path)), ()))
    assert (account.jobs, account.comments, account.rejected) == (80_553, 1, 0)


@pytest.mark.parametrize("name", ["alibaba2017", "alibaba2018"])
def test_instances_run_at_once_if_that_is_said(name):
    jobs, *_ = read(sorted((SAMPLES / name).glob("batch*.csv")), at_once="true")
    assert all(row.get("n_procs") == row.get("req_n_procs") for rows in jobs.values() for row in rows)
    if name == "alibaba2018":
        (row,) = jobs["j_1/M1"]
        assert row["average_cpu_time"] == pytest.approx((0.8 * 100 + 1.0 * 80) / 2)


def test_alibaba_tasks_of_2018():
    folder = SAMPLES / "alibaba2018"
    rows = list(csv.reader(lines_of(folder / "batch_task.csv")))
    several = Counter(row[2] for row in rows)
    expected = []
    for task, instances, job, kind, status, begun, ended, cpu, memory in rows:
        begin, end = float(begun), float(ended)
        parts = [f"inst:{instances}"]
        parts += [f"cpu:{float(cpu)}"] if cpu else []
        parts += [f"ram:{float(memory)}"] if memory else []
        fields = {
            "submit_time": begin or None,
            "run_time": end - begin
            if begin and end >= begin and status not in {"Running", "Waiting"}
            else None,
            "req_n_procs": math.ceil(int(instances) * float(cpu) / 100) if cpu else None,
            "status": {"Terminated": 1, "Failed": 0, "Interrupted": 5}.get(status),
            "state": status,
            "queue_id": f"Q{kind}",
            "job_structure": "BoT" if several[job] > 1 else "UNITARY",
            "job_structure_params": job if several[job] > 1 else None,
            "req_resources": ",".join(parts),
        }
        expected.append((f"{job}/{task}", fields))
    jobs, account, links = read([folder / "batch_task.csv", folder / "batch_instance.csv"])
    agrees(jobs, expected)
    assert (account.rows, account.folded) == (10, 3)
    assert links == [("j_1/R3_1_2", "j_1/M1"), ("j_1/R3_1_2", "j_1/M2"), ("j_3/R2_1", "j_3/M1")]


def test_alibaba_gpu_jobs_of_2020():
    folder = SAMPLES / "alibaba-gpu2020"
    tasks = defaultdict(list)
    for row in csv.reader(lines_of(folder / "pai_task_table.csv")):
        tasks[row[0]].append([*row[1:2], *map(number, row[2:3]), row[3], *map(number, row[4:9]), row[9]])
    expected = []
    for job, _, user, status, begun, _ in csv.reader(lines_of(folder / "pai_job_table.csv")):
        own = tasks[job]
        submit, procs, gpus, memory = float(begun), None, None, None
        if own:
            procs = max(math.ceil(sum(task[1] * task[5] for task in own) / 100), 1)
            gpus = sum(task[1] * (task[7] or 0) for task in own) / 100
            memory = sum(task[1] * task[6] for task in own) * 1024 * 1024 / procs
        is_over = status in {"Terminated", "Failed"}
        fields = {
            "submit_time": submit,
            "wait_time": min(task[3] for task in own) - submit if own else None,
            "run_time": max(task[4] for task in own) - min(task[3] for task in own)
            if own and is_over
            else None,
            "n_procs": procs,
            "req_n_procs": procs,
            "req_memory": memory,
            "status": {"Terminated": 1, "Failed": 0}.get(status),
            "state": status,
            "user_id": user,
            "n_gpus": gpus,
            "req_gpus": gpus,
            "gpu_type": "+".join(sorted({task[8] for task in own if task[7]})) or None,
            "job_structure": "UNITARY",
        }
        expected.append((job, fields))
    jobs, account, _ = read(sorted(folder.glob("*.csv")))
    agrees(jobs, expected)
    assert (account.rows, account.jobs, account.folded) == (13, 9, 4)


@pytest.mark.parametrize(
    "path",
    [
        SAMPLES / "alibaba-gpu2023" / "openb_pod_list_sample.csv",
        real("alibaba-gpu2023", "openb_pod_list_default.csv"),
    ],
)
def test_alibaba_pods_of_2023(path):
    expected = []
    for row in csv.DictReader(lines_of(path)):
        begin, end, start = map(number, (row["creation_time"], row["deletion_time"], row["scheduled_time"]))
        procs = max(math.ceil(int(row["cpu_milli"]) / 1000), 1)
        gpus = int(row["gpu_milli"]) / 1000 if row["num_gpu"] == "1" else float(row["num_gpu"])
        ended = row["pod_phase"] in {"Succeeded", "Failed"}
        fields = {
            "submit_time": begin,
            "wait_time": None if start is None else start - begin,
            "run_time": end - start if ended else None,
            "n_procs": None if start is None else procs,
            "req_n_procs": procs,
            "req_memory": int(row["memory_mib"]) * 1024 / procs,
            "status": {"Succeeded": 1, "Failed": 0}.get(row["pod_phase"]),
            "state": row["pod_phase"],
            "n_gpus": None if start is None else gpus,
            "req_gpus": gpus,
            "gpu_type": row["gpu_spec"] or None,
            "qos": row["qos"],
            "job_structure": "UNITARY",
        }
        expected.append((row["name"], fields))
    jobs, account, _ = read([path])
    agrees(jobs, expected)
    assert (account.jobs, account.comments, account.rejected) == (len(expected), 1, 0)


def test_alibaba_instances_of_2025():
    path = SAMPLES / "alibaba-gpu2025" / "disaggregated_DLRM_trace.csv"
    expected = []
    for row in csv.DictReader(lines_of(path)):
        begin, start, end = (number(row[f"{name}_time"]) for name in ("creation", "scheduled", "deletion"))
        procs, ran = int(row["cpu_request"]), start is not None or begin is None
        fields = {
            "submit_time": begin,
            "wait_time": start - begin if start is not None else None,
            "run_time": end - start if start is not None and end is not None else None,
            "n_procs": procs if ran else None,
            "req_n_procs": procs,
            "req_memory": float(row["memory_request"]) * 1024**2 / procs,
            "req_local_disk_space": float(row["disk_request"]) * 1024,
            "executable_id": row["app_name"],
            "queue_id": row["role"],
            "n_gpus": float(row["gpu_request"]) if ran else None,
            "req_gpus": float(row["gpu_request"]),
            "job_structure": "UNITARY",
        }
        expected.append((row["instance_sn"], fields))
    agrees(read([path])[0], expected)


def test_alibaba_jobs_of_2026():
    path = SAMPLES / "alibaba-spot2026" / "job_info_df.csv"
    expected = []
    for row in csv.DictReader(lines_of(path)):
        workers = int(row["worker_num"])
        fields = {
            "submit_time": float(row["submit_time"]),
            "run_time": float(row["duration"]),
            "n_procs": math.ceil(float(row["cpu_request"]) * workers),
            "req_n_procs": math.ceil(float(row["cpu_request"]) * workers),
            "group_id": row["organization"],
            "n_gpus": float(row["gpu_request"]) * workers,
            "req_gpus": float(row["gpu_request"]) * workers,
            "gpu_type": row["gpu_model"] or None,
            "qos": row["job_type"],
            "job_structure": "UNITARY",
        }
        expected.append((row["job_name"], fields))
    agrees(read([path])[0], expected)


# Philly.


def philly_time(text):
    if text in {None, "None"}:
        return None
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo("America/Los_Angeles")).timestamp()


def philly(records):
    for record in records:
        tries = [(philly_time(one["start_time"]), philly_time(one["end_time"])) for one in record["attempts"]]
        places = [one["detail"] for one in record["attempts"] if any(node["gpus"] for node in one["detail"])]
        starts = [start for start, _ in tries if start is not None]
        last = None if not tries or None in tries[-1] else tries[-1][1] - tries[-1][0]
        over = not tries or tries[-1][1] is not None
        submit = philly_time(record["submitted_time"])
        yield (
            record["jobid"],
            {
                "submit_time": submit,
                "wait_time": min(starts) - submit if starts else None,
                "run_time": last,
                "runs": philly_runs(submit, tries, record["attempts"]) if len(tries) > 1 else None,
                "n_requeues": len(starts) - (tries[-1][0] is not None) or None if tries else None,
                "status": {"Pass": 1, "Killed": 5, "Failed": 0}[record["status"]] if over else None,
                "state": record["status"],
                "user_id": record["user"],
                "partition_id": record["vc"],
                "used_resources": f"attempts:{len(tries)}" if tries else None,
                "n_nodes": len(places[-1]) if places else None,
                "n_gpus": float(sum(len(node["gpus"]) for node in places[-1])) if places else None,
                "job_structure": "UNITARY",
            },
        )


def philly_runs(submit, tries, attempts):
    """Return the boxes of a job of several attempts, all of which have a start."""
    return ";".join(
        f"{begun - submit:.0f}/{'' if ended is None else f'{ended - begun:.0f}'}//"
        f"/{sum(len(node['gpus']) for node in one['detail'])}/{len(one['detail'])}"
        f"/{'running' if ended is None else 'ended'}"
        for (begun, ended), one in zip(tries, attempts, strict=True)
    )


def philly_records():
    return [json.loads(line) for line in lines_of(SAMPLES / "philly" / "cluster_job_log")]


@pytest.mark.parametrize("indent", [None, 4])
def test_philly_jobs(indent, tmp_path):
    """In the form of the trace, a list, and as lines."""
    records = philly_records()
    path = tmp_path / "cluster_job_log"
    path.write_text(json.dumps(records, indent=indent))
    assert recognise(FileHead.of(path)).name == "philly"
    for source in (path, SAMPLES / "philly" / "cluster_job_log"):
        jobs, account, _ = read([source])
        agrees(jobs, philly(records))
        assert (account.rows, account.jobs) == (5, 5)


def test_an_hour_that_autumn_repeats_is_in_the_run_time_of_philly():
    """The third job of the sample begins before clocks were put back: it ran an hour longer than shown."""
    (row,) = read([SAMPLES / "philly" / "cluster_job_log"])[0]["application_1_0003"]
    assert row["run_time"] == 5 * 3600


def test_cpus_of_philly_are_those_that_are_stated():
    jobs, *_ = read([SAMPLES / "philly" / "cluster_job_log"], cpus_per_gpu="5.5")
    assert [row.get("n_procs") for (row,) in jobs.values()].count(22) == 1


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"jobid": None}, "its jobid is missing"),
        ({"submitted_time": "soon"}, "its submitted_time is not a time"),
    ],
)
def test_a_job_of_philly_that_cannot_be_placed_is_refused(change, reason, tmp_path):
    path = tmp_path / "log"
    path.write_text(json.dumps([*philly_records(), {**philly_records()[0], **change}]))
    with open_trace([path]) as store:
        assert [row[0] for row in store.rows("select reason from rejects")] == [reason]


@pytest.mark.parametrize(
    "attempts", [None, "None", 7, {}, [None], [[]], [{"detail": None}], [{"detail": [{"gpus": 1}]}]]
)
def test_odd_attempts_of_philly_are_none(attempts, tmp_path):
    path = tmp_path / "log"
    path.write_text(json.dumps([{**philly_records()[0], "attempts": attempts}]))
    ((row,),) = read(
        [path],
    )[0].values()
    assert not {"run_time", "wait_time", "n_gpus"} & row.keys()


# Batsim.


def batsim(documents):
    for document in documents:
        for job in document["jobs"]:
            profile = document["profiles"].get(job["profile"], {})
            ran = float(profile["delay"]) if profile.get("type") == "delay" else None
            if job["id"] == 424242:
                continue
            yield (
                str(job["id"]),
                {
                    "submit_time": float(job["subtime"]),
                    "run_time": ran,
                    "n_procs": None if ran is None else job["res"],
                    "req_n_procs": job["res"],
                    "req_time": float(job["walltime"]) if job["walltime"] >= 0 else None,
                    "user_id": job.get("user"),
                    "executable_id": job["profile"],
                    "job_structure": "UNITARY",
                },
            )


def test_batsim_jobs():
    path = SAMPLES / "batsim" / "workload.json"
    jobs, account, _ = read([path])
    agrees(jobs, batsim(map(json.loads, lines_of(path))))
    assert (account.rows, account.jobs, account.folded, account.rejected) == (9, 5, 4, 0)


@pytest.mark.parametrize("path", [real("batsim", "medium_late.json")])
def test_a_workload_for_batsim(path):
    document = json.loads(path.read_text())
    jobs, account, _ = read([path])
    agrees(jobs, batsim([document]))
    assert account.jobs == len(document["jobs"]) - 1
    assert account.folded == len(document["profiles"])
    assert account.rejected == 1


# WfCommons.


def wfcommons(documents):
    for document in documents:
        flow = document["workflow"]
        old = flow.get("jobs", [])
        new = {task["id"]: dict(task) for task in flow.get("specification", {}).get("tasks", [])}
        for task in flow.get("execution", {}).get("tasks", []):
            new[task["id"]].update(task)
        for task in [*old, *new.values()]:
            whole = flow.get("executedAt") or flow.get("execution", {}).get("executedAt")
            executed = task.get("executedAt") or whole
            cores = math.ceil(task.get("coreCount", task.get("cores")))
            seconds = float(task.get("runtimeInSeconds", task.get("runtime")))
            in_bytes = task.get("memoryInBytes")
            memory = task.get("memory") if in_bytes is None else in_bytes / 1024
            use, energy = task.get("avgCPU"), task.get("energyInKWh")
            fields = {
                "submit_time": datetime.fromisoformat(executed).astimezone(UTC).timestamp()
                if executed
                else None,
                "run_time": seconds,
                "n_procs": cores,
                "req_n_procs": cores,
                "average_cpu_time": None if use is None else use / 100 * seconds / cores,
                "executable_id": task.get("category") or task["name"].rpartition("_")[0],
                "job_structure": "BoT",
                "job_structure_params": document["name"],
                "energy": None if energy is None else energy * 3.6e6,
                "max_memory": None if memory is None else float(memory),
            }
            parents = [f"{document['name']}/{parent}" for parent in task["parents"]]
            yield f"{document['name']}/{task['id']}", f"{document['name']}/{task['name']}", parents, fields


@pytest.mark.parametrize(
    "path", [SAMPLES / "wfcommons" / "workflows.json", real("opendc-testres", "trace.json")]
)
def test_tasks_of_wfcommons(path):
    text = path.read_text()
    documents = (
        [json.loads(line) for line in text.splitlines()]
        if path.parent.name == "wfcommons"
        else [json.loads(text)]
    )
    tasks = list(wfcommons(documents))
    ids = {key: source_id for source_id, name, *_ in tasks for key in (source_id, name)}
    jobs, account, links = read([path])

    agrees(jobs, [(source_id, fields) for source_id, *_, fields in tasks])
    assert links == sorted(
        (source_id, ids[parent]) for source_id, _, parents, _ in tasks for parent in parents
    )
    assert (account.jobs, account.rejected) == (len(tasks), 0)


# What is not a trace of these.


@pytest.mark.parametrize(
    "path",
    [
        real("alibaba-gpu2023", "openb_node_list_all_node.csv"),
        real("alibaba-spot2026", "node_info_df.csv"),
        real("alibaba2017", "schema.csv"),
        real("fdata", "croissant.json"),
    ],
)
def test_what_lies_beside_traces_is_refused(path):
    with pytest.raises(UnknownFormat):
        recognise(FileHead.of(path))


def test_pods_without_times_are_refused(tmp_path):
    path = tmp_path / "openb_pod_list_cpu050.csv"
    path.write_text("name,cpu_milli,memory_mib,num_gpu,gpu_milli\nopenb-pod-0001,1000,1024,0,0\n" * 20)
    with pytest.raises(
        TraceError, match=r"no job in it: 20 of 40 lines were refused, .* 5 columns, expected 11"
    ):
        read([path], "alibaba-gpu2023")


def test_profiles_of_batsim_that_no_job_uses_are_named(tmp_path):
    document = {
        "nb_res": 4,
        "profiles": {name: {"type": "delay", "delay": 5} for name in ("five", "spare", "other")},
        "jobs": [{"id": n, "subtime": n, "res": 1, "profile": "five"} for n in range(3)],
    }
    path = tmp_path / "batsim.json"
    path.write_text(json.dumps(document))
    with open_trace([path]) as store:
        assert (store.account.jobs, store.account.folded, store.account.rejected) == (3, 3, 0)
        assert store.rows("select meaning from repairs where name = 'unused profiles'") == [
            ("no job uses other, spare",)
        ]
