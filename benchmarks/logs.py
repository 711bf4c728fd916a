"""
Accounting logs of any size, of the jobs of `benchmarks.data`: the same bytes for the same number of rows.

A log is a `Log`: the rows of a job, and what stands before and behind all.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from time import gmtime, strftime
from typing import Any, Final

from benchmarks import make_big
from benchmarks.data import START, jobs, write_swf

Job = dict[str, Any]

LONG: Final = 3600
QUEUES: Final = ("short", "long")
CODES: Final = {1: 0, 0: 1, 5: 271}
"""Exit codes, by status."""


def _jobs(count: int) -> Iterator[Job]:
    """Yield *count* jobs with what many logs say of them, times in seconds since 1970."""
    for block in jobs(count):
        for values in zip(*(column.tolist() for column in block.values()), strict=True):
            job: Job = dict(zip(block, values, strict=True))
            submit, number, user = START + job["submit"], job["job"], job["user"]
            start = submit + job["wait"]
            yield job | {
                "submit": submit, "start": start, "end": start + job["run"], "code": CODES[job["status"]],
                "spent": job["cpu"] * job["procs"], "vo": user % 11, "node": number % 200,
                "nodes": -(-job["procs"] // 32), "length": QUEUES[job["run"] > LONG],
                "hours": job["req_time"] // 3600, "megabytes": job["memory"] // 1000 + 1,
            }  # fmt: skip


@dataclass(frozen=True)
class Log:
    """How a job is written, in one row or several, and what stands before and behind all."""

    rows: Callable[[Job], list[str]]
    head: str = ""
    tail: str = ""
    of_a_job: int = 1

    def write(self, path: Path, rows: int) -> None:
        """Write *rows* rows; if need be, the last job has not all of its own."""
        found = (row for job in _jobs(-(-rows // self.of_a_job)) for row in self.rows(job))
        with path.open("w") as file:
            file.write(self.head)
            file.writelines(islice(found, rows))
            file.write(self.tail)


def _stamped(job: Job, form: str, *, names: tuple[str, ...] = ("submit", "start", "end")) -> Job:
    """Return *job* with times in that *form*."""
    return job | {name: strftime(form, gmtime(job[name])) for name in names}


def _duration(seconds: int) -> str:
    days, rest = divmod(seconds, 86_400)
    return f"{days}-{_clock(rest)}" if days else _clock(rest)


def _clock(seconds: int) -> str:
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


CONDOR: Final = """\
MyType = "Job"
ClusterId = %(job)d
ProcId = 0
GlobalJobId = "submit.example.org#%(job)d.0#%(submit)d"
Owner = "user%(user)03d"
AcctGroup = "group%(group)02d"
Cmd = "/opt/apps/bin/app%(executable)d"
Args = "--steps %(job)d"
JobUniverse = 5
QDate = %(submit)d
JobStartDate = %(start)d
JobCurrentStartDate = %(start)d
CompletionDate = %(end)d
EnteredCurrentStatus = %(end)d
JobStatus = 4
ExitBySignal = FALSE
ExitCode = %(code)d
RemoteUserCpu = %(spent)d.000000
RemoteSysCpu = 27.000000
ImageSize_RAW = %(memory)d
ImageSize = %(memory)d
RequestCpus = %(procs)d
RequestMemory = ifThenElse(MemoryUsage =!= undefined,MemoryUsage,( ImageSize + 1023 ) / 1024)
RequestDisk = DiskUsage
DiskUsage = 2048
LastRemoteHost = "slot1@node%(node)02d.example.org"
*** Offset = 0 ClusterId = %(job)d ProcId = 0 Owner = "user%(user)03d" CompletionDate = %(end)d
"""

LSF: Final = (
    '"JOB_FINISH" "10.1" %(end)d %(job)d 1%(user)03d 33554434 %(procs)d %(submit)d 0 0 %(start)d'
    ' "user%(user)03d" "normal" "select[type == any]" "" "" "login1.example.org" "/home/user%(user)03d" ""'
    ' "out.%%J" "" "%(submit)d.%(job)d" 0 1 "%(procs)d*host%(node)03d.example.org" %(state)d 60.0 ""'
    ' "/opt/apps/bin/app%(executable)d -n ""%(job)d""" %(spent)d.000000 12.000000 3748 0 -1 0 0 436 4 0 928 0'
    ' -1 0 0 0 19 2 -1 "" "default" %(exit)d %(procs)d "" "" 0 %(memory)d %(swap)d "" "" "" "" 0 "" 0 "" -1'
    ' "" "" "" "" -1 "" "" 5136 "" %(start)d "" "" 0 0 3600 0 1024 "select[type == any] order[r15s:pg] " ""'
    ' -1 "" -1 0 "" 0 0 "" 600 "/home" 0\n'
)


def _lsf(job: Job) -> list[str]:
    code = job["code"]
    said = {"state": 32 if code else 64, "exit": (code % 256) * 256, "swap": 4 * job["memory"]}
    return [LSF % (job | said)]


GATEKEEPER: Final = (
    ("submit", "for /DC=org/DC=example/CN=user%(user)03d on 192.0.2.%(node)d"),
    ("submit", "mapped to grid%(user)03d (5%(user)03d, 10%(group)02d)"),
    ("start", "has GRAM_SCRIPT_JOB_ID %(job)d.batch manager type pbs"),
    ("end", "JM exiting"),
)


def _gatekeeper(job: Job) -> list[str]:
    time = strftime("%Y-%m-%d.%H:%M:%S", gmtime(job["submit"]))
    manager = f"{time}.{job['job'] % 32768:010}.{job['job'] // 32768:010}"
    stamps = _stamped(job, "%Y/%m/%d %H:%M:%S")
    return [f"JMA {stamps[name]} GATEKEEPER_JM_ID {manager} {text % job}\n" for name, text in GATEKEEPER]


GRAM_AUDIT: Final = (
    '"https://ce.example.org:2119/%(job)d/%(node)d/","%(job)d.batch","/DC=org/DC=example/CN=user%(user)03d",'
    '"grid%(user)03d","NULL","%(submit)s","%(start)s","NULL","NULL","NULL","5.0.1","pbs",'
    '"&(executable=/opt/bin/app%(executable)d)(count=%(procs)d)(maxWallTime=%(req_time)d)(maxMemory=%(megabytes)d)'
    '(queue=long)(project=p%(group)02d)","%(works)s","true"\n'
)


def _gram_audit(job: Job) -> list[str]:
    said = job | {"start": job["submit"] + 3, "works": "false" if job["code"] else "true"}
    return [GRAM_AUDIT % _stamped(said, "%a %b %e %H:%M:%S UTC %Y", names=("submit", "start"))]


GOOGLE2019: Final = (
    '{"time":"%(time)d","type":"%(kind)d","collection_id":"%(collection)d","scheduling_class":"%(class)d",'
    '"collection_type":"0","priority":"%(user)d","alloc_collection_id":"0","instance_index":"%(instance)d",'
    '"machine_id":"%(node)d","alloc_instance_index":"0",'
    '"resource_request":{"cpus":%(cpus).4f,"memory":%(ram).4f},"constraint":[]}\n'
)


def _google2019(job: Job) -> list[str]:
    """Return the three events of an instance, of which a collection has forty."""
    collection, instance = divmod(job["job"], 40)
    said = {"collection": 330_587_000_000 + collection, "instance": instance, "class": job["user"] % 4}
    asked = {"cpus": job["procs"] / 400, "ram": job["user"] / 4000, "user": job["user"] % 360}
    times = ((job["submit"], 0), (job["start"], 3), (job["end"], 5 if job["code"] else 6))
    return [
        GOOGLE2019 % (job | said | asked | {"time": (600 + time - START) * make_big.SECOND, "kind": kind})
        for time, kind in times
    ]


def _seg(job: Job) -> list[str]:
    events = (("submit", 1, 0), ("start", 2, 0), ("end", 4 if job["code"] else 8, job["code"]))
    return [f"001;{job[name]};{job['job']}.batch.example.org;{kind};{code}\n" for name, kind, code in events]


PBS: Final = (
    "user=user%(user)03d group=group%(group)02d account=account%(vo)02d jobname=job_%(executable)d"
    " queue=%(length)s ctime=%(submit)d qtime=%(submit)d etime=%(submit)d start=%(start)d"
    " owner=user@login1.example.org exec_host=node%(node)03d/0-%(last)d Resource_List.mem=%(megabytes)dmb"
    " Resource_List.neednodes=1:ppn=%(procs)d Resource_List.nodect=1 Resource_List.nodes=1:ppn=%(procs)d"
    " Resource_List.walltime=%(hours)02d:00:00"
)
PBS_USED: Final = (
    " session=%(job)d end=%(end)d Exit_status=%(code)d resources_used.cput=%(cput)s"
    " resources_used.mem=%(memory)dkb resources_used.vmem=%(memory)dkb resources_used.walltime=%(walltime)s"
)


def _pbs(job: Job) -> list[str]:
    """Return three records of a job: it was queued, it started, and it ended."""
    job |= {"last": job["procs"] - 1, "cput": _clock(job["spent"]), "walltime": _clock(job["run"])}
    asked = PBS % job
    texts = (
        ("submit", "Q", f"queue={job['length']}"),
        ("start", "S", asked),
        ("end", "E", asked + PBS_USED % job),
    )
    stamps = _stamped(job, "%m/%d/%Y %H:%M:%S")
    return [f"{stamps[name]};{kind};{job['job']}.pbs.example.org;{text}\n" for name, kind, text in texts]


SGE_HEAD: Final = "# Version: 6.2u5\n# \n# DO NOT MODIFY THIS FILE MANUALLY!\n# \n"
SGE: Final = (
    "%(length)s.q:node%(node)03d.example.org:group%(group)02d:user%(user)03d:job_%(executable)d:%(id)d:sge:0:"
    "%(submit)d:%(start)d:%(end)d:%(failed)d:%(code)d:%(run)d:%(most).6f:%(rest).6f:%(memory)d.000000:0:0:0:0:"
    "%(node)d:0:0:0.000000:%(user)d:0:0:0:%(run)d:%(cpu)d:NONE:default:%(kind)s:%(slots)d:%(task)d:"
    "%(cpu).6f:%(integral).6f:%(io).6f:-u user%(user)03d -q %(length)s.q -l h_rt=%(req_time)d,"
    "h_vmem=%(vmem)dM%(asked)s:0.000000:%(slave)s:%(space)d.000000:0:0\n"
)
TASKS: Final = (14, 17)
"""Of 18 jobs the first that is a task of an array, and the parallel one, which has two slave rows."""


def _sge(job: Job) -> list[str]:
    first, parallel = TASKS
    place, cpu, memory = job["job"] % 18, job["cpu"], job["memory"]
    is_task, is_parallel = first <= place < parallel, place == parallel
    job |= {
        "id": job["job"] - place + first if is_task else job["job"], "task": place if is_task else 0,
        "slots": 16 if is_parallel else 1, "kind": "mpi" if is_parallel else "NONE",
        "asked": " -pe mpi 16" if is_parallel else "", "slave": "NONE", "vmem": 1024 * (1 + job["user"] % 8),
        "failed": 100 if job["status"] == 5 else 0, "code": 137 if job["status"] == 5 else job["code"],  # noqa: PLR2004 - cancelled
        "most": cpu * 0.9, "rest": cpu * 0.1, "integral": cpu * memory / 1e6, "io": memory / 1e7,
        "space": memory * 2048,
    }  # fmt: skip
    slaves = [job | {"submit": 0, "slave": f"{number}.node{job['node']}"} for number in (1, 2)]
    return [SGE % row for row in (job, *slaves[: 2 * is_parallel])]


SLURM_STATES: Final = {1: "COMPLETED", 0: "FAILED", 5: "CANCELLED by 1000"}
SLURM_CODES: Final = {1: "0:0", 0: "1:0", 5: "0:15"}
SLURM_HEAD: Final = (
    "JobID|JobIDRaw|Cluster|Partition|QOS|Account|Group|User|Submit|Eligible|Start|End|Elapsed|TotalCPU|"
    "ExitCode|State|NNodes|NTasks|AllocCPUS|ReqCPUS|ReqMem|MaxRSS|ReqTRES|AllocTRES|Timelimit|NodeList|JobName\n"
)
SLURM: Final = (
    "%(id)s|%(job)d|tower|part%(queue)d|normal|account%(group)d|group%(group)02d|user%(user)03d|%(submit)s|"
    "%(submit)s|%(start)s|%(end)s|%(elapsed)s|%(total)s|%(code)s|%(state)s|%(nodes)d||%(procs)d|%(procs)d|"
    "%(procs)dG||billing=%(procs)d,cpu=%(procs)d,mem=%(procs)dG,node=%(nodes)d|"
    "billing=%(procs)d,cpu=%(procs)d,mem=%(procs)dG,node=%(nodes)d|%(limit)s|node[01-%(nodes)02d]|run_%(executable)d\n"
)
SLURM_STEP: Final = (
    "%(id)s.%(step)s|%(job)d.%(step)s|tower|||account%(group)d|||%(start)s|%(start)s|%(start)s|%(end)s|"
    "%(elapsed)s|%(total)s|%(code)s|%(state)s|1|1|%(procs)d|%(procs)d||%(memory)dK||"
    "cpu=%(procs)d,mem=%(procs)dG,node=1||node01|%(step)s\n"
)


def _slurm(job: Job) -> list[str]:
    """Return the rows of a job, its allocation and two steps; one job in eight is a task of an array."""
    array, task = divmod(job["job"], 8)
    job = _stamped(job, "%Y-%m-%dT%H:%M:%S") | {
        "id": f"{array * 8}_{task}" if array % 8 == 0 else str(job["job"]),
        "elapsed": _duration(job["run"]),
        "total": _duration(job["spent"]),
        "limit": _duration(job["req_time"]),
        "state": SLURM_STATES[job["status"]],
        "code": SLURM_CODES[job["status"]],
    }
    return [SLURM % job, *(SLURM_STEP % (job | {"step": step}) for step in ("batch", "extern"))]


JSON_STATES: Final = {
    1: {"state": "COMPLETED", "status": "SUCCESS", "code": 0, "signal": '"#"', "called": ""},
    0: {"state": "FAILED", "status": "ERROR", "code": 1, "signal": '"#"', "called": ""},
    5: {"state": "CANCELLED", "status": "SIGNALED", "code": 0, "signal": '"#15"', "called": "TERM"},
}
JSON_TAIL: Final = """
  ],
  "meta": {"plugin": {"data_parser": "data_parser/v0.0.42"}, "slurm": {"release": "24.11.5"}},
  "errors": [],
  "warnings": []
}
"""
JSON_PARTS: Final = {
    "<ended>": (
        '{"status": ["%(status)s"], "return_code": "#%(code)d",'
        ' "signal": {"id": %(signal)s, "name": "%(called)s"}}'
    ),
    "<ran>": '"elapsed": %(run)d, "suspended": 0, "system": {"seconds": 0, "microseconds": 0}',
    "<spent>": '{"seconds": %(spent)d, "microseconds": 0}',
    "<cpu>": '{"seconds": %(cpu)d, "microseconds": 0}',
    "<held>": (
        '{"type": "cpu", "name": "", "id": 1, "count": %(procs)d},'
        ' {"type": "mem", "name": "", "id": 2, "count": %(held)d},'
        ' {"type": "node", "name": "", "id": 4, "count": %(nodes)d}'
    ),
    "<billed>": '[<held>, {"type": "billing", "name": "", "id": 5, "count": %(procs)d}]',
    "<used>": (
        '[{"type": "cpu", "name": "", "id": 1, "count": %(spent_ms)d, "node": "node01", "task": 0},'
        ' {"type": "mem", "name": "", "id": 2, "count": %(bytes)d, "node": "node01", "task": 0}]'
    ),
}
"""What stands in several places of a record."""

JSON_JOB: Final = """{
"block": "", "constraints": "", "container": "", "extra": "", "failed_node": "", "licenses": "", "qosreq": "",
"script": "", "stderr": "", "kill_request_user": "", "stderr_expanded": "", "used_gres": "",
"account": "account%(group)d", "allocation_nodes": %(nodes)d,
"comment": {"administrator": "", "job": "", "system": ""},
"array": {"job_id": 0, "limits": {"max": {"running": {"tasks": 0}}}, "task_id": "#", "task": ""},
"association": {"account": "account%(group)d", "cluster": "tower", "partition": "", "id": %(user)d,
  "user": "user%(user)03d"},
"cluster": "tower", "derived_exit_code": <ended>,
"time": {<ran>, "end": %(end)d, "start": %(start)d, "total": <spent>, "user": <spent>,
  "eligible": %(submit)d, "planned": "#%(wait)d", "submission": %(submit)d, "limit": "#%(minutes)d"},
"exit_code": <ended>, "flags": ["STARTED_ON_SCHEDULE", "START_RECEIVED"], "group": "group%(group)02d",
"het": {"job_id": 0, "job_offset": "#"}, "job_id": %(job)d, "name": "run_%(executable)d",
"mcs": {"label": ""},
"nodes": "node[01-%(nodes)02d]", "partition": "part%(queue)d", "hold": false, "priority": "#181",
"qos": "normal",
"required": {"CPUs": %(procs)d, "memory_per_cpu": "#1024", "memory_per_node": "#"},
"restart_cnt": 0, "reservation": {"id": 0, "name": ""}, "stdin_expanded": "/dev/null",
"stdout_expanded": "/home/user%(user)03d/slurm-%(job)d.out", "stdout": "/home/user%(user)03d/slurm-%%j.out",
"stdin": "/dev/null", "state": {"current": ["%(state)s"], "reason": "None"},
"submit_line": "sbatch --ntasks %(procs)d run_%(executable)d.sh",
"tres": {"allocated": <billed>, "requested": <billed>}, "user": "user%(user)03d",
"wckey": {"wckey": "", "flags": []}, "working_directory": "/home/user%(user)03d", "steps": [%(steps)s]}"""
JSON_STEP: Final = """{
"time": {<ran>, "end": "#%(end)d", "start": "#%(start)d", "total": <cpu>, "user": <cpu>},
"exit_code": <ended>,
"nodes": {"count": 1, "range": "node01", "list": ["node01"]}, "tasks": {"count": 1}, "pid": "",
"CPU": {"requested_frequency": {"min": "#0", "max": "#0"}, "governor": "0"}, "kill_request_user": "",
"state": ["%(state)s"], "statistics": {"CPU": {"actual_frequency": 0}, "energy": {"consumed": "#0"}},
"step": {"id": "%(job)d.%(step)s", "name": "%(step)s"}, "task": {"distribution": "Unknown"},
"tres": {"requested": {"max": <used>, "min": <used>, "average": <used>, "total": <used>},
  "consumed": {"max": [], "min": [], "average": [], "total": []}, "allocated": [<held>]}}"""
"""All that Slurm 24.11 says of a job and of a step; ``#`` and a number, or none, is such as it writes one."""


def write_slurm_json(path: Path, rows: int) -> None:
    """Write what `sacct --json` prints, indented as Slurm does; jobs with their steps are *rows* rows."""
    with path.open("w") as file:
        file.write('{\n  "jobs": [\n')
        for number, each in enumerate(_jobs(-(-rows // 3))):
            steps = ("batch", "extern")[: rows - 3 * number - 1]
            file.write(",\n" * bool(number) + json.dumps(_record(each, steps), indent=2))
        file.write(JSON_TAIL)


def _record(job: Job, names: Sequence[str]) -> object:
    """Return a job with steps of these *names*."""
    sizes = {"held": job["procs"] * 1024, "bytes": job["memory"] << 10, "minutes": job["req_time"] // 60}
    job |= sizes | JSON_STATES[job["status"]] | {"spent_ms": job["cpu"] * 1000}
    steps = ", ".join(_in_full(JSON_STEP) % (job | {"step": name}) for name in names)
    text = _in_full(JSON_JOB) % (job | {"steps": steps})
    return json.loads(re.sub(r'"#(\d*)"', _number, text))


@cache
def _in_full(template: str) -> str:
    """Return a *template* with its parts."""
    for name, part in (*JSON_PARTS.items(), ("<held>", JSON_PARTS["<held>"])):
        template = template.replace(name, part)
    return template


def _number(found: re.Match[str]) -> str:
    return json.dumps({"set": bool(found[1]), "infinite": False, "number": int(found[1] or 0)})


USAGE_HEAD: Final = """\
<?xml version="1.0" encoding="UTF-8"?>
<ur:UsageRecords xmlns:ur="http://schema.ogf.org/urf/2003/09/urf">
"""
USAGE: Final = """\
  <ur:JobUsageRecord>
    <ur:RecordIdentity ur:recordId="ce7.example.net-%(job)d" ur:createTime="%(end)s"/>
    <ur:JobIdentity>
      <ur:GlobalJobId>gsiftp://ce7.example.net:2811/jobs/%(job)d</ur:GlobalJobId>
      <ur:LocalJobId>%(job)d</ur:LocalJobId>
    </ur:JobIdentity>
    <ur:UserIdentity>
      <ur:LocalUserId>grid%(user)03d</ur:LocalUserId>
      <ur:GlobalUserName>/DC=net/DC=example/CN=user%(user)03d</ur:GlobalUserName>
    </ur:UserIdentity>
    <ur:JobName>app%(executable)d</ur:JobName>
    <ur:Status>%(state)s</ur:Status>
    <ur:WallDuration>PT%(run)dS</ur:WallDuration>
    <ur:CpuDuration ur:usageType="user">PT%(cpu)dS</ur:CpuDuration>
    <ur:CpuDuration ur:usageType="system">PT1.5S</ur:CpuDuration>
    <ur:StartTime>%(start)s</ur:StartTime>
    <ur:EndTime>%(end)s</ur:EndTime>
    <ur:MachineName>ce7.example.net</ur:MachineName>
    <ur:Queue>queue%(queue)d</ur:Queue>
    <ur:NodeCount>1</ur:NodeCount>
    <ur:Processors>%(procs)d</ur:Processors>
    <ur:Memory ur:storageUnit="KB" ur:metric="max" ur:type="physical">%(memory)d</ur:Memory>
    <d:SubmitTime xmlns:d="http://rmis.deisa.org/acct">%(submit)s</d:SubmitTime>
  </ur:JobUsageRecord>
"""
USAGE_STATES: Final = {1: "completed", 0: "failed", 5: "aborted"}


def _usagerecord(job: Job) -> list[str]:
    return [USAGE % (_stamped(job, "%Y-%m-%dT%H:%M:%SZ") | {"state": USAGE_STATES[job["status"]]})]


def write_google(path: Path, rows: int) -> None:
    """Write *rows* task events like those of Google's trace of 2011, none of what was before it."""
    (blocks,) = make_big.portions(make_big.in_order(make_big.events(0)), rows, 1)
    make_big.write(path, blocks, make_big.GOOGLE_ROW)


SITE: Final = '[archive]\ntitle = "Twenty"\nabout = "Traces to measure a build with."\n'
SITE_TRACE: Final = """
[[trace]]
id = "trace-{number:02}"
title = "Trace {number:02} of twenty"
system = "A cluster that nobody built."
provider = "An institute of invented measurements"
licence = "CC0-1.0"
citation = "Nobody, Traces that no system ran (2009)."
source = "{number:02}.swf"
"""


def write_site(folder: Path, rows: int) -> None:
    """Write twenty traces of about *rows* jobs together, no two of the same length, and their catalogue."""
    folder.mkdir(exist_ok=True)
    (folder / "archive.toml").write_text(SITE + "".join(SITE_TRACE.format(number=each) for each in range(20)))
    for number in range(20):
        write_swf(folder / f"{number:02}.swf", rows // 20 + 1 + number)


MAKERS: Final[dict[str, Callable[[Path, int], None]]] = {
    "condor": Log(lambda job: [CONDOR % job]).write,
    "gatekeeper": Log(_gatekeeper, of_a_job=4).write,
    "google": write_google,
    "google2019": Log(_google2019, of_a_job=3).write,
    "gram_audit": Log(_gram_audit).write,
    "lsf": Log(_lsf).write,
    "pbs": Log(_pbs, of_a_job=3).write,
    "seg": Log(_seg, of_a_job=3).write,
    "sge": Log(_sge, SGE_HEAD).write,
    "site": write_site,
    "slurm": Log(_slurm, SLURM_HEAD, of_a_job=3).write,
    "slurm_json": write_slurm_json,
    "usagerecord": Log(_usagerecord, USAGE_HEAD, tail="</ur:UsageRecords>\n").write,
}
"""What writes a log of each kind."""
