"""HTCondor: ads of jobs in all the layouts that its tools write."""

import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from gwa.errors import TraceError
from gwa.formats.open import open_trace
from gwa.ingest.readers.classads.values import resolve
from gwa.metrics.presence import present, unfinished
from gwa.store.schema import NAMES
from gwa.store.store import Store
from tests.written import Written

SUBMITTED = 1_704_103_200
USUAL = {
    "MyType": "Job", "ClusterId": 7, "ProcId": 0, "Owner": "user042", "QDate": SUBMITTED, "JobUniverse": 5,
    "JobStartDate": SUBMITTED + 5, "JobCurrentStartDate": SUBMITTED + 10, "CompletionDate": SUBMITTED + 70,
    "EnteredCurrentStatus": SUBMITTED + 70, "JobStatus": 4, "ExitBySignal": False, "ExitCode": 0,
    "RequestCpus": 2,
}  # fmt: skip


class Raw(str):
    """An expression, as against a text."""

    __slots__ = ()


def text(value):
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, str) and not isinstance(value, Raw):
        return '"' + value.replace('"', '\\"') + '"'
    return str(value)


def ad(**said):
    """Return an ad with some attributes changed, or without those that are None."""
    return {name: value for name, value in {**USUAL, **said}.items() if value is not None}


def long(one, end=""):
    return "".join(f"{name} = {text(value)}\n" for name, value in one.items()) + end


def quoted(one):
    return {name: f"/Expr({value})/" if isinstance(value, Raw) else value for name, value in one.items()}


LAYOUTS = {
    "long": lambda ads: "\n".join(map(long, ads)),
    "long, blank lines at both ends": lambda ads: "\n\n" + "\n\n".join(map(long, ads)) + "\n\n",
    "spool": lambda ads: "".join(long(one, '*** Offset = 5 ClusterId = 7 Owner = "a"\n') for one in ads),
    "old spool": lambda ads: "".join(long(one, "***\n") for one in ads),
    "spool without an end": lambda ads: "***\n".join(map(long, ads)).rstrip("\n"),
    "jsonl": lambda ads: "".join(json.dumps(quoted(one)) + "\n" for one in ads),
    "json": lambda ads: "[\n" + "\n,\n".join(json.dumps(quoted(one), indent=2) for one in ads) + "\n]\n",
    "json on one line": lambda ads: json.dumps([quoted(one) for one in ads]),
    "json as jq writes it": lambda ads: json.dumps([quoted(one) for one in ads], indent=2) + "\n",
    "json, objects of jq": lambda ads: "".join(json.dumps(quoted(one), indent=2) + "\n" for one in ads),
    "json under a name": lambda ads: json.dumps({"jobs": [quoted(one) for one in ads]}),
    "json under a name, indented": lambda ads: json.dumps({"jobs": [quoted(one) for one in ads]}, indent=1),
    "json by id": lambda ads: json.dumps({f"{n}.0": quoted(one) for n, one in enumerate(ads)}),
    "documents of Elasticsearch": lambda ads: "".join(
        json.dumps({"_index": "condor", "_source": quoted(one)}) + "\n" for one in ads
    ),
    "an answer of Elasticsearch": lambda ads: json.dumps(
        {"took": 3, "hits": {"total": 9, "hits": [{"_id": "1", "_source": quoted(one)} for one in ads]}}
    ),
    "json indented by tabs": lambda ads: json.dumps([quoted(one) for one in ads], indent="\t"),
    "json, a line each": lambda ads: "[\n" + ",\n".join(json.dumps(quoted(one)) for one in ads) + "\n]",
}  # fmt: skip


class Given(NamedTuple):
    """A function that reads ads and returns fields of the jobs, and the stores that it made."""

    read: Callable[..., list[tuple[Any, ...]]]
    stores: list[Store]

    def __call__(self, *ads, **said):
        return self.read(*ads, **said)


@pytest.fixture
def jobs(tmp_path):
    stores: list[Store] = []

    def given_ads(*ads, fields, layout="long", table="jobs join source_ids using (job_id)"):
        path = tmp_path / "log"
        path.write_text(LAYOUTS[layout](ads) if isinstance(ads[0], dict) else "".join(ads))
        stores.append(open_trace([path], "condor"))
        stores[-1].account.check()
        return stores[-1].rows(f"select {fields} from {table} order by job_id")

    yield Given(given_ads, stores)
    for store in stores:
        store.close()


account, rejects = Written.account, Written.rejects


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_says_the_same(layout, jobs):
    ads = [
        ad(GlobalJobId="a.example.org#7.0#1", Cmd='/bin/a "quoted" b', Args="x = 1", Env=[1, {"a": 2}]),
        ad(ClusterId=8, ExitCode=1, RequestDisk=Raw("DiskUsage"), DiskUsage=2048, RequestMemory=Raw("a + 1")),
        ad(ClusterId=9, ExitBySignal=True, AcctGroup=Raw("undefined"), Owner="<b>ünï</b>"),
    ]
    found = jobs(
        *ads,
        layout=layout,
        fields="source_id, status, user_id, executable_id, group_id, req_local_disk_space",
    )
    assert found == [
        ("8.0", 0, "user042", None, None, 2.0),
        ("9.0", 0, "<b>ünï</b>", None, None, None),
        ("a.example.org#7.0#1", 1, "user042", 'a "quoted" b', None, None),
    ]
    assert account(jobs) == (3, 3, 0, 0, 0)


def test_the_last_assignment_holds_and_names_have_no_case(jobs):
    lines = long(ad(JobStatus=1, CompletionDate=0)), 'JOBSTATUS=3\nowner   =   "user007"  \n'
    assert jobs(*lines, fields="status, user_id") == [(5, "user007")]


@pytest.mark.parametrize(
    ("value", "meaning"),
    [
        ("910.000000", "910.000000"), ("-1.5E+10", "-1.5E+10"), ("TRUE", "TRUE"), ("undefined", None),
        ("error", None), ("", None), ('"a \\"b\\" c"', 'a "b" c'), ('"C:\\x\\"', "C:\\x\\"),
        ('"a" + "b"', None),
        ("a + 1", None),
        ("y", "5"), ("MY.Y", "5"), ("TARGET.y", None), ("z", "5"), ("x", None), ("loop", None), ("(5)", None),
        ('real("NaN")', None),
    ],
)  # fmt: skip
def test_values(value, meaning):
    assert resolve({"x": value, "y": "5", "z": "Y", "loop": "loop"}, "x") == meaning


STORIES: list[tuple[dict[str, Any], tuple[int | None, ...]]] = [
    ({}, (5, 60, 2, 1)),
    ({"ExitCode": 3}, (5, 60, 2, 0)),
    ({"ExitBySignal": True, "ExitCode": None}, (5, 60, 2, 0)),
    ({"ExitCode": None}, (5, 60, 2, None)),
    ({"JobCurrentStartDate": None}, (5, 65, 2, 1)),
    ({"JobStatus": 3, "CompletionDate": 0}, (5, 60, 2, 5)),
    ({"JobStatus": 3, "CompletionDate": 0, "LastRemoteWallClockTime": 20.0}, (5, 20, 2, 5)),
    ({"JobStatus": 3, "JobStartDate": None, "JobCurrentStartDate": 0}, (None, None, None, 5)),
    ({"JobStatus": 5, "CompletionDate": 0}, (5, None, 2, None)),
    ({"JobStatus": 2, "CompletionDate": 0}, (5, None, 2, None)),
    ({"JobStatus": 4, "CompletionDate": SUBMITTED}, (5, 0, 2, 1)),
    ({"JobStatus": 4, "CompletionDate": SUBMITTED - 5000}, (5, None, 2, 1)),
    ({"CpusProvisioned": 8}, (5, 60, 8, 1)),
    ({"JobUniverse": 11, "MinHosts": 4}, (5, 60, 8, 1)),
    ({"RequestCpus": Raw("1 + 1")}, (5, 60, None, 1)),
    ({"QDate": 2**63 - 1}, (None, 60, 2, 1)),
    # Held for most of the time, and then removed.
    ({"JobStatus": 3, "LastJobStatus": 5, "CompletionDate": 0}, (5, None, 2, 5)),
    ({"JobStatus": 3, "LastJobStatus": 1, "CompletionDate": 0}, (5, None, 2, 5)),
    ({"JobStatus": 3, "LastJobStatus": 2, "CompletionDate": 0}, (5, 60, 2, 5)),
    ({"JobStatus": 3, "LastJobStatus": 5, "RemoteWallClockTime": 25.0, "NumJobStarts": 1}, (10, 25, 2, 5)),
    ({"JobStatus": 3, "LastJobStatus": 5, "RemoteWallClockTime": 25.0, "NumJobStarts": 2}, (5, 25, 2, 5)),
    # On the submit host.
    ({"JobUniverse": 7}, (5, 60, None, 1)),
    ({"JobUniverse": 12}, (5, 60, None, 1)),
    ({"QDate": -(2**63)}, (None, 60, 2, 1)),
]


def test_times_processors_and_statuses(jobs):
    ads = [ad(ClusterId=number, **said) for number, (said, _) in enumerate(STORIES, 100)]
    found = {key: said for key, *said in jobs(*ads, fields="source_id, wait_time, run_time, n_procs, status")}
    assert [tuple(found[key]) for key in sorted(found)] == [expected for _, expected in STORIES]


def test_amounts_are_of_a_processor(jobs):
    said: dict[str, float | None] = {
        "RemoteUserCpu": 90.0, "RemoteSysCpu": 10.0, "ImageSize": 5000, "ResidentSetSize": 4000,
        "RequestMemory": 2048,
        "ResidentSetSize_RAW": 3000, "DiskUsage": 2048, "RequestDisk": 4096,
    }  # fmt: skip
    fields = "average_cpu_time, used_memory, req_memory, used_local_disk_space, req_local_disk_space"
    assert jobs(ad(**said), fields=fields) == [(50, 1500, 1024**2, 2, 4)]
    said |= {
        "RemoteUserCpu": 0.0,
        "RemoteSysCpu": 0.0,
        "ResidentSetSize_RAW": None,
        "ResidentSetSize": None,
        "DiskUsage": 0,
    }
    assert jobs(ad(**said), fields=fields) == [(None, 2500, 1024**2, None, 4)]


SITES = {
    "slot1_2@node07.cs.example.org": "cs.example.org",
    "node07.example.org": "example.org",
    "slot1@NODE": "NODE",
}


def test_the_site_is_the_domain_of_the_last_host(jobs):
    ads = [ad(ClusterId=number, LastRemoteHost=host) for number, host in enumerate(SITES)]
    assert jobs(*ads, fields="last_run_site_id") == [(site,) for site in SITES.values()]


def test_several_processes_of_a_cluster_are_a_bag(jobs):
    ads = [
        ad(GlobalJobId=f"{host}#{c}.{p}#1", ClusterId=c, ProcId=p)
        for host, c, p in [("a", 1, 0), ("a", 1, 1), ("b", 1, 0)]
    ]
    found = jobs(*ads, fields="source_id, job_structure, job_structure_params")
    assert found == [("a#1.0#1", "BoT", "1"), ("a#1.1#1", "BoT", "1"), ("b#1.0#1", "UNITARY", None)]


def test_earlier_ads_of_a_job_are_folded_into_the_last(jobs):
    running = ad(JobStatus=2, CompletionDate=0, EnteredCurrentStatus=SUBMITTED + 10)
    for ads in ([running, ad()], [ad(), running], [ad(), ad()]):
        assert jobs(*ads, fields="status, run_time") == [(1, 60)]
        assert account(jobs) == (2, 1, 1, 0, 0)


def test_ads_of_other_things_are_refused(jobs):
    jobs({"MyType": "Machine", "Cpus": 8}, ad(), fields="1")
    assert account(jobs) == (2, 1, 0, 1, 0)
    assert rejects(jobs) == [(1, "is not a job: it has neither a ClusterId nor a GlobalJobId")]


def test_what_is_no_assignment_is_refused_by_itself(jobs):
    jobs(long(ad()), "oops\n", "ExitCode = 5\n", "\n   \n", long(ad(ClusterId=8)), "]\n", fields="status")
    assert account(jobs) == (4, 2, 0, 2, 0)
    assert [line for line, _ in rejects(jobs)] == [15, 33]


@pytest.mark.parametrize(
    "odd",
    ['{"a": 1', "{]}", '{"a": ' + "[" * 100_000 + "}", '{"ClusterId": ' + "9" * 5000 + "}", "{nonsense}"],
)
def test_broken_json_costs_no_other_object(odd, jobs):
    whole = json.dumps(ad())
    assert jobs(
        f"{whole}\n{odd}\n", whole.replace("7", "8") + "\n", fields="count(*)", table="jobs having 1 = 1 --"
    ) == [(2,)]
    assert account(jobs) == (3, 2, 0, 1, 0)


def test_odd_signs_in_json(jobs):
    line = json.dumps(ad(Owner="?")).replace("?", "\\ud800\\u0000 \\u2028")
    assert jobs(line + "\n", fields="length(user_id) > 3") == [(True,)]


def test_long_lines_and_endless_ads(jobs):
    lines = ['Environment = "' + "x" * (1 << 21) + '"\n', *("x = 1\n" for _ in range(200_000)), long(ad())]
    assert jobs(*lines, fields="status") == [(1,)]
    assert account(jobs) == (2, 1, 0, 1, 0)
    endless = ['{"a":\n', *('"x",\n' for _ in range(300_000))]
    with pytest.raises(TraceError):
        jobs(*endless, fields="1")
    assert jobs(*endless, json.dumps(ad()), fields="status") == [(1,)]


# The sample, read independently.


def ads_of(path):
    """Return each ad as a mapping of attributes, in lower case, to what stands there."""
    if path.suffix == ".jsonl":
        return [
            {name.lower(): str(value) for name, value in json.loads(line).items() if value is not None}
            for line in path.read_text().splitlines()
        ]
    ads: list[dict[str, str]] = [{}]
    for line in path.read_text().splitlines():
        if line.startswith("***"):
            ads.append({})
        else:
            name, value = line.split(" = ", 1)
            ads[-1][name.lower()] = value.strip('"')
    return [one for one in ads if one]


def by_hand(said, bags):
    """Return what the fields of a job are; *bags* are the clusters of several processes."""

    def number(*names):
        """Return the first of some attributes that is a number other than 0, or the name of one that is."""
        for name in names:
            value = said.get(name, "").removeprefix("/Expr(").removesuffix(")/")
            value = said.get(value.lower(), value)
            if re.fullmatch(r"[\d.]+", value) and float(value):
                return float(value)
        return None

    def each(amount, count):
        return amount / count if amount is not None else None

    submit, start = number("qdate"), number("jobcurrentstartdate", "jobstartdate")
    state, removed = said["jobstatus"], said["jobstatus"] == "3"
    end = number("enteredcurrentstatus") if removed else number("completiondate") if state == "4" else None
    hosts = (number("minhosts") or 1) if said.get("jobuniverse") == "11" else 1
    asked = number("requestcpus")
    asked = asked and asked * hosts
    is_of_pool = said.get("jobuniverse") not in {"7", "12"}
    given = ((number("cpusprovisioned") or 0) * hosts or asked) if is_of_pool else None
    cpu = sum(number(f"remote{whose}cpu") or 0 for whose in ("user", "sys")) or None
    memory = number("residentsetsize_raw", "residentsetsize", "imagesize_raw", "imagesize")
    wanted, disk = number("requestmemory"), number("requestdisk")
    is_good = said.get("exitcode") == "0" and said.get("exitbysignal", "").lower() != "true"
    bag = said["clusterid"] in bags
    ran = end - start if start and end else None
    assigned, over = said.get("assignedgpus"), state in "34"
    gpus = number("gpusprovisioned") or (len(assigned.split(",")) if assigned else number("requestgpus"))
    states = {"1": "Idle", "2": "Running", "3": "Removed", "4": "Completed", "5": "Held"}
    signal, resident = said.get("exitbysignal", "").lower() == "true", "residentsetsize"
    code = 128 + int(said["exitsignal"]) if signal and "exitsignal" in said else None
    universe = said.get("jobuniverse", "5")
    first = number("jobstartdate")
    is_again = bool(start and first and first < start)
    ran_for = (removed and start and number("lastremotewallclocktime")) or ran
    # A job that is held, or idle again, held nothing since its status changed.
    held_for = number("enteredcurrentstatus") - start if start and state in "15" else None
    waits = f"{start - submit:.0f}/{held_for:.0f}/////held" if held_for else None
    known = {
        "submit_time": submit,
        "wait_time": (first if is_again else start) - submit if start else None,
        "runs": f"{start - submit:.0f}/{ran_for:.0f}/////completed" if is_again else waits,
        "n_requeues": number("numjobstarts") - 1 if is_again else None,
        "run_time": ran_for,
        "n_procs": given if start else None,
        "average_cpu_time": each(cpu, given or 1) if is_of_pool else None,
        "used_memory": each(memory, given or 1) if start and is_of_pool else None,
        "req_n_procs": asked,
        "req_memory": each(wanted and wanted * 1024, asked or 1),
        "status": 5 if removed else int(is_good) if state == "4" else None,
        "user_id": said["owner"],
        "group_id": said.get("acctgroup"),
        "executable_id": re.split(r"[/\\]", said["cmd"])[-1] if "cmd" in said else None,
        "queue_id": {"5": "vanilla", "11": "parallel", "7": "scheduler", "9": "grid", "12": "local"}.get(
            said.get("jobuniverse", "")
        ),
        "orig_site_id": said["globaljobid"].split("#")[0],
        "last_run_site_id": said["lastremotehost"].split("@")[-1].split(".", 1)[-1]
        if "lastremotehost" in said
        else None,
        "job_structure": "BoT" if bag else "UNITARY",
        "job_structure_params": said["clusterid"] if bag else None,
        "used_local_disk_space": each(number("diskusage_raw", "diskusage"), 1024),
        "req_local_disk_space": each(disk, 1024),
        "vo_id": {"undefined": None}.get(said.get("x509userproxyvoname"), said.get("x509userproxyvoname")),
        "project_id": said.get("projectname"),
        "n_nodes": (of_nodes := {"5": 1, "11": number("minhosts")}.get(universe) if start else None),
        "node_list": said["lastremotehost"].split("@")[-1]
        if of_nodes == 1 and "lastremotehost" in said
        else None,
        "gpu_list": assigned if start and of_nodes == 1 and (assigned or "").startswith("GPU-") else None,
        "n_gpus": gpus if start else None,
        "req_gpus": number("requestgpus"),
        "gpu_type": said.get("gpus_devicename"),
        "gpu_utilization": each(number("gpusaverageusage"), gpus),
        "gpu_memory": (number("gpusmemoryusage") or 0) * 1024 or None,
        "max_memory": number(f"{resident}_raw", resident) if start else None,
        "exit_code": code if signal else int(said["exitcode"]) if over and "exitcode" in said else None,
        "state": states[state],
    }
    return tuple(known.get(name) for name in NAMES[1:])


@pytest.mark.parametrize("name", ["history", "history.815.0", "condor.jsonl"])
def test_every_field_of_the_samples_is_as_a_few_lines_of_python_read_it(name, sample):
    ads = ads_of(sample / "condor" / name)
    processes = Counter(cluster for cluster, _ in {(said["clusterid"], said["procid"]) for said in ads})
    bags = {cluster for cluster, count in processes.items() if count > 1}
    ads.sort(key=lambda said: float(said["enteredcurrentstatus"]))
    expected = {said["globaljobid"]: by_hand(said, bags) for said in ads}
    with open_trace([sample / "condor" / name]) as store:
        found = store.rows("select source_id, jobs.* exclude job_id from jobs join source_ids using (job_id)")
    assert {one: tuple(fields) for one, *fields in found} == expected


# GPUs, nodes, and what else is recorded beside the 29 fields.


@pytest.mark.parametrize(
    ("said", "gpus"),
    [
        ({"RequestGPUs": 2}, (2, 2)),
        ({"RequestGPUs": 1, "GPUsProvisioned": 2, "AssignedGPUs": "CUDA0"}, (2, 1)),
        ({"AssignedGPUs": "GPU-1a2b, GPU-3c4d"}, (2, None)),
        ({"AssignedGPUs": ""}, (None, None)),
        ({"RequestGPUs": 2, "JobUniverse": 11, "MinHosts": 3}, (6, 6)),
        ({"RequestGPUs": 0}, (0, 0)),
        ({"RequestGPUs": Raw("TARGET.GPUs - 1")}, (None, None)),
        ({"RequestGPUs": 2, "JobStartDate": None, "JobCurrentStartDate": None, "JobStatus": 3}, (None, 2)),
        ({}, (None, None)),
    ],
)
def test_gpus(said, gpus, jobs):
    assert jobs(ad(**said), fields="n_gpus, req_gpus") == [gpus]


@pytest.mark.parametrize(
    ("said", "field", "value"),
    [
        ({"RequestGPUs": 2, "GPUsAverageUsage": 1.5}, "gpu_utilization", 0.75),
        ({"RequestGPUs": 1, "GPUsUsage": 0.25}, "gpu_utilization", 0.25),
        ({"GPUsUsage": 0.25}, "gpu_utilization", None),
        ({"GPUsMemoryUsage": 300.0}, "gpu_memory", 307_200),
        ({"GPUs_DeviceName": "Tesla V100"}, "gpu_type", "Tesla V100"),
        ({"AssignedGPUs": "GPU-1a2b3c4d, GPU-5e6f7a8b"}, "gpu_list", "GPU-1a2b3c4d,GPU-5e6f7a8b"),
        ({"AssignedGPUs": "CUDA0"}, "gpu_list", None),
        ({"ResidentSetSize": 2000, "ResidentSetSize_RAW": 1900}, "max_memory", 1900),
        ({"MemoryUsage": 2}, "max_memory", 2048),
        ({"ImageSize": 2000}, "max_memory", None),
        ({"ExitCode": 3}, "exit_code", 3),
        ({"ExitBySignal": True, "ExitSignal": 9, "ExitCode": None}, "exit_code", 137),
        ({"ExitBySignal": True, "ExitCode": 0}, "exit_code", None),
        ({"JobStatus": 5}, "exit_code", None),
        ({"JobStatus": 5}, "state", "Held"),
        ({"JobStatus": 12}, "state", None),
        ({"JobUniverse": 11, "MinHosts": 3}, "n_nodes", 3),
        ({"JobUniverse": 9}, "n_nodes", None),
        ({"JobUniverse": None}, "n_nodes", 1),
    ],
)
def test_what_else_an_ad_says(said, field, value, jobs):
    assert jobs(ad(**said), fields=field) == [(value,)]


@pytest.mark.parametrize("layout", ["spool", "jsonl"])
def test_an_epoch_history_is_its_jobs(layout, jobs):
    first = ad(EpochAdType="EPOCH", NumShadowStarts=1, JobStatus=2, EnteredCurrentStatus=SUBMITTED + 20)
    last = ad(EpochAdType="EPOCH", NumShadowStarts=2)
    sent = ad(EpochAdType="INPUT", EnteredCurrentStatus=SUBMITTED + 900)
    assert jobs(sent, first, last, sent, fields="run_time, status", layout=layout) == [(60, 1)]
    assert account(jobs) == (4, 1, 1, 0, 2)


WAITS = {"JobStatus": 1, "CompletionDate": 0, "LastJobStatus": 2, "NumJobStarts": 1}


@pytest.mark.parametrize(
    ("told", "held"),
    [
        ({"LastRemoteWallClockTime": 1800.0, "RemoteWallClockTime": 1800.0}, 1800),
        ({"RemoteWallClockTime": 1800.0}, 1800),
        ({"LastVacateTime": 1_741_601_860}, 1800),
        ({"EnteredCurrentStatus": 1_741_601_860}, 1800),
        ({"EnteredCurrentStatus": 1_741_601_860, "LastJobStatus": 5}, 0),
    ],
)
@pytest.mark.parametrize("status", [1, 5])
def test_a_job_that_waits_again_holds_nothing_since(told, held, status, tmp_path):
    """It is idle or held, as condor_q prints it, and was evicted from its only run an hour and more ago."""
    path = tmp_path / "queue.json"
    start = 1_741_600_060
    others = {"LastRemoteWallClockTime": 0, "RemoteWallClockTime": 0, "EnteredCurrentStatus": start}
    first = {"QDate": start - 60, "JobStartDate": start, "JobCurrentStartDate": start}
    one = ad(**first, **(WAITS | others | told | {"JobStatus": status}))
    later = ad(QDate=start + 9000, ClusterId=99, GlobalJobId=f"ap#99.0#{start + 9000}")
    path.write_text(json.dumps([quoted(one), quoted(later)]))
    with open_trace([path]) as store:
        boxes = store.rows(
            f"select end_time - start_time from {present(store)} as present where start_time = {start}"
        )
        assert boxes == [(held,)] * (held > 0)
        assert unfinished(store) == 0


def test_the_first_start_is_known_where_an_epoch_history_lacks_the_first_run(tmp_path):
    start = 1_741_600_060
    path = tmp_path / "epochs.json"
    runs = [
        ad(
            QDate=start - 60, JobStartDate=start, JobCurrentStartDate=start + begin, NumJobStarts=number,
            JobStatus=status, CompletionDate=(start + begin + 600) * (status == 4),
            LastVacateTime=start + begin + 600,
            EpochWriteDate=start + begin + 600, EnteredCurrentStatus=start + begin + 600,
        )
        for begin, number, status in ((5000, 2, 1), (9000, 3, 4))
    ]  # fmt: skip
    path.write_text(json.dumps([quoted(run) for run in runs]))
    with open_trace([path]) as store:
        assert store.row("select wait_time, run_time, n_requeues from jobs") == (60, 600, 2)
