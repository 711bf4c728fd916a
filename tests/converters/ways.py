"""How each format writes a job: when it was submitted, started and ended, and how long it ran."""

import json
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from pyarrow import Table, parquet

SUBMITTED = 1_741_600_000
STARTED = SUBMITTED + 10
ENDED = SUBMITTED + 70

Stamp = Callable[[int], Any]
Record = Callable[..., str]


@dataclass(frozen=True, eq=False)
class Way:
    """
    How the format *name* writes jobs into a file called *file*, of a *head*, records and a *foot*.

    A *record* is of a number, of a submission, start and end as *stamp* writes them, and of a run time
    that the source measured, which may be missing. *never* are the ways to say that there was no start.
    """

    name: str
    file: str
    record: Record
    head: str = ""
    joint: str = "\n"
    foot: str = "\n"
    stamp: Stamp = int
    never: tuple[Any, ...] = (0,)
    held: str | None = "n_procs"
    """The field of what the job held while it ran, 2 of them; none is recorded in some formats."""
    beside: Mapping[str, Record] = field(default_factory=dict)
    """Records of other files."""
    origin: int = 0
    """What times are counted from, where that is the beginning of the trace."""
    is_measured: bool = False
    has_submission: bool = True
    """Whether a submission is recorded beside the start."""
    is_allocated: bool = False
    """Whether what a job held is said apart from when it ran."""
    unstarted_run: float | None = None
    """The run time, counted as such, of a job of which no start is known."""

    def written(self, jobs: Any) -> dict[str, str]:
        """Return the texts of the files of *jobs*: a number, submission, start, end and measured run time."""
        rows = [(number, *map(self.said, times[:3]), *times[3:]) for number, *times in jobs]
        texts = {self.file: self.head + self.joint.join(self.record(*row) for row in rows) + self.foot}
        for name, record in self.beside.items():
            texts[name] = "\n".join(record(*row) for row in rows) + "\n"
        return texts

    def said(self, time: Any) -> Any:
        """Return a time as the format writes it; what is none as it is."""
        return self.stamp(time - self.origin) if isinstance(time, int) and time else time


def clock(seconds: int) -> datetime:
    """Return the local time of UTC, from the year 1 on."""
    return datetime(1970, 1, 1) + timedelta(seconds=seconds)  # noqa: DTZ001 - logs write local times


def iso(seconds: int) -> str:
    return clock(seconds).isoformat()


def iso_utc(seconds: int) -> str:
    return f"{clock(seconds).isoformat()}Z"


def spaced(seconds: int) -> str:
    return iso(seconds).replace("T", " ")


def ctime(seconds: int) -> str:
    return f"{clock(seconds):%a %b %d %H:%M:%S} {clock(seconds).year:04}"


def of_bjobs(seconds: int) -> str:
    return f"{clock(seconds):%b %d %H:%M:%S} {clock(seconds).year:04}"


def us(seconds: int) -> str:
    return f"{seconds}000000"


def told(**pairs: Any) -> str:
    """Return a JSON object of what is known."""
    return json.dumps({key: value for key, value in pairs.items() if value is not None})


def lines(*rows: str | None) -> str:
    return "\n".join(row for row in rows if row is not None)


def said(text: str, value: Any) -> str:
    """Return *text* with a *value* that is known, else nothing."""
    return "" if value is None else text.format(value)


def flux(n: int, s: Any, b: Any, e: Any) -> str:
    return told(id=n, userid=n, ncores=2, nnodes=1, result="FAILED", state="INACTIVE",
                t_submit=s, t_run=b, t_cleanup=e)  # fmt: skip


def pod(n: int, s: Any, b: Any, e: Any) -> str:
    ran = {"exitCode": 1, "startedAt": b, "finishedAt": e}
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"p{n}", "namespace": f"u{n}", "creationTimestamp": s},
            "spec": {"nodeName": "n", "containers": [{"resources": {"requests": {"cpu": "2"}}}]},
            "status": {"phase": "Failed", "containerStatuses": [{"state": {"terminated": ran}}]},
        }
    )


def pbs(n: int, s: Any, b: Any, e: Any, measured: int | None = None) -> str:
    return (
        f"03/10/2025 09:47:50;E;{n}.s;user=u{n} queue=q ctime={s}{said(' start={}', b)}{said(' end={}', e)}"
        f" exec_host=n1/0*2 Exit_status=1{said(' resources_used.walltime={}', duration(measured))}"
    )


def duration(seconds: int | None) -> str | None:
    return None if seconds is None else f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def qstat_json(n: int, s: Any, b: Any, e: Any, measured: int | None = None) -> str:
    used = {} if measured is None else {"walltime": duration(measured)}
    return f'"{n}.s": ' + told(
        Job_Owner=f"u{n}@h", job_state="F", queue="q", ctime=s, stime=b, obittime=e, exec_host="n1/0*2",
        Exit_status=1, resources_used=used,
    )  # fmt: skip


def qstat_text(n: int, s: Any, b: Any, e: Any, measured: int | None = None) -> str:
    pairs = {
        "Job_Owner": f"u{n}@h", "resources_used.walltime": duration(measured), "job_state": "F", "queue": "q",
        "ctime": s, "exec_host": "n1/0*2", "stime": b, "obittime": e, "Exit_status": 1,
    }  # fmt: skip
    return lines(
        f"Job Id: {n}.s", *(said(f"    {key} = {{}}", value) or None for key, value in pairs.items()), ""
    )


def condor(n: int, s: Any, b: Any, e: Any, measured: int | None = None) -> str:
    return lines(
        f"ClusterId = {n}", "ProcId = 0", f"QDate = {s}", "JobStatus = 4", "ExitCode = 1", "RequestCpus = 2",
        f'Owner = "u{n}"', f"CompletionDate = {e or 0}", said("JobCurrentStartDate = {}", b) or None,
        said("RemoteWallClockTime = {}", measured) or None,
    )  # fmt: skip


def condor_events(n: int, s: Any, b: Any, e: Any) -> str:
    def event(kind: int, at: Any, what: str, *details: str) -> str | None:
        return None if at is None else lines(f"{kind:03} ({n}.000.000) {at} {what}", *details, "...")

    return lines(
        event(0, s, "Job submitted from host: <192.0.2.1:9618>"),
        event(1, b, "Job executing on host: <192.0.2.2:9618>"),
        event(
            5, e, "Job terminated.", "\t(1) Normal termination (return value 1)",
            "\tPartitionable Resources :    Usage  Request Allocated",
            "\t   Cpus                 :                 2         2",
        ),
    )  # fmt: skip


def maui(n: int, s: Any, b: Any, e: Any) -> str:
    return (
        f"{n} 0 2 u{n} g 3600 Removed [q:1] {s} {b} {b} {e}"
        f" - - - >= 0M >= 0M - {s} 2 0 - - - - - 0 0.0 DEFAULT 1 0M 0M 0M 0 0 - - - - - - 0.0"
    )


def oar(n: int, s: Any, b: Any, e: Any) -> str:
    return json.dumps(
        {"id": n, "owner": f"u{n}", "state": "Error", "submissionTime": s, "startTime": b, "stopTime": e,
         "assigned_resources": [1, 2], "launchingDirectory": "/"}
    )  # fmt: skip


def qacct(n: int, s: Any, b: Any, e: Any, measured: int = 0) -> str:
    return lines(
        "=" * 62, "qname        all.q", "hostname     n1", "group        g", f"owner        u{n}",
        "project      NONE", "jobname      x", f"jobnumber    {n}", "taskid       undefined",
        f"qsub_time    {s}", f"start_time   {b}", f"end_time     {e}", "granted_pe   smp", "slots        2",
        "failed       1", "exit_status  1", f"ru_wallclock {measured}", "cpu          0", "mem          0",
        "io           0", "maxvmem      0",
    )  # fmt: skip


def grid_engine(n: int, s: Any, b: Any, e: Any, measured: int = 0) -> str:
    return (
        f"all.q:n1:g:u{n}:x:{n}:sge:0:{s}:{b}:{e}:1:1:{measured}:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0"
        ":NONE:d:smp:2:0:0:0:0:NONE:0:NONE:0:0:0"
    )


def grid_engine_json(n: int, s: Any, b: Any, e: Any, measured: int = 0) -> str:
    return json.dumps(
        {
            "job_number": n, "task_number": 0, "submission_time": s, "start_time": b, "end_time": e,
            "owner": f"u{n}", "group": "g", "granted_pe": "smp", "slots": 2, "pe_taskid": "NONE",
            "category": "NONE", "failed": 1, "exit_status": 1,
            "usage": {"rusage": {"ru_wallclock": measured}},
        }
    )  # fmt: skip


def micros(seconds: int) -> int:
    """Return a time as Grid Engine 9 writes it."""
    return seconds * 1_000_000


def lsf(n: int, s: Any, b: Any, e: Any) -> str:
    return (
        f'"JOB_FINISH" "10.1" {e} {n} 1 2 2 {s} 0 0 {b} "u{n}" "normal" "" "" "" "h" "/" "" "out" "" "f"'
        ' 0 1 "2*h1" 32 60.0 "j" "./run" -1.0 -1.0 0 0 -1 0 0 0 4 0 0 0 -1 0 0 0 0 0 -1 "" "default" 256 2'
        ' "" "" 0 0 0'
    )


def bjobs(n: int, s: Any, b: Any, e: Any, measured: int | None = None) -> str:
    return told(
        JOBID=str(n), STAT="EXIT", USER=f"u{n}", SLOTS="2", NREQ_SLOT="2", EXEC_HOST="2*h1", SUBMIT_TIME=s,
        START_TIME=b, FINISH_TIME=e, JOBINDEX="0", QUEUE="q", EXIT_CODE="1",
        RUN_TIME=said("{} second(s)", measured),
    )  # fmt: skip


def bhist(n: int, s: Any, b: Any, e: Any) -> str:
    return lines(
        f"Job <{n}>, User <u{n}>, Project <p>, Command <run>",
        f"{s}: Submitted from host <h>, to Queue <q>, CWD <$HOME>, 2 Task(s);",
        said("{}: Dispatched 2 Task(s) on Host(s) <2*h1>, Allocated 2 Slot(s) on Host(s) <2*h1>;", b) or None,
        said("{}: Exited with exit code 1. The CPU time used is unknown;", e) or None,
        "",
    )


def philly(n: int, s: Any, b: Any, e: Any) -> str:
    detail = [{"ip": "m1", "gpus": ["gpu0", "gpu1"]}]
    attempts = [{"start_time": b, "end_time": e, "detail": detail}]
    return told(status="Failed", vc="v", jobid=f"a_{n}", attempts=attempts, submitted_time=s, user=f"u{n}")


def seg(n: int, s: Any, b: Any, e: Any) -> str:
    return lines(*(f"001;{t};{n}.b;{code};1" for t, code in ((s, 1), (b, 2), (e, 4)) if t is not None))


def sacct(n: int, s: Any, b: Any, e: Any, measured: int | None = None) -> str:
    return f"{n}|u{n}|{s}|{b}|{e}|{said('{}', measured)}|FAILED|2"


def slurm_json(n: int, s: Any, b: Any, e: Any, measured: int | None = None) -> str:
    cpus = [{"type": "cpu", "name": "", "id": 1, "count": 2}]
    times = {"submission": s, "start": b, "end": e, "elapsed": measured}
    return told(
        job_id=n, user=f"u{n}", time={key: value for key, value in times.items() if value is not None},
        state={"current": ["FAILED"]}, tres={"allocated": cpus, "requested": cpus}, steps=[], association={},
    )  # fmt: skip


def jobcomp(n: int, s: Any, b: Any, e: Any, measured: int | None = None) -> str:
    pairs = {"jobid": n, "username": f"u{n}", "@submit": s, "@start": b, "@end": e, "elapsed": measured,
             "total_cpus": 2, "state": "FAILED", "cluster": "c"}  # fmt: skip
    return told(**pairs)


def filetxt(n: int, s: Any, b: Any, e: Any) -> str:
    return (
        f"JobId={n} UserId=u{n}(1) GroupId=g(2) Name=x JobState=FAILED Partition=p TimeLimit=60 StartTime={b}"
        f" EndTime={e} NodeList=n1 NodeCnt=1 ProcCnt=2 WorkDir=/ ReservationName= Tres=cpu=2,node=1 Account=a"
        f" QOS=q WcKey= Cluster=c SubmitTime={s} EligibleTime={s} DerivedExitCode=0:0 ExitCode=1:0 "
    )


DUMPED = (
    "job_db_inx", "cpus_req", "exit_code", "job_name", "id_assoc", "id_array_job", "id_array_task", "id_job",
    "id_qos", "id_user", "id_group", "nodelist", "nodes_alloc", "partition", "state", "timelimit",
    "time_submit", "time_eligible", "time_start", "time_end", "time_suspended", "tres_alloc", "tres_req",
)  # fmt: skip
DUMP = "\n".join(
    [
        "-- MySQL dump 10.19",
        "CREATE TABLE `c_job_table` (",
        *(f"  `{name}` int(10) NOT NULL," for name in DUMPED),
        "  PRIMARY KEY (`a`)\n) ENGINE=InnoDB;",
        "INSERT INTO `c_job_table` VALUES ",
    ]
)


def dump(n: int, s: Any, b: Any, e: Any) -> str:
    return f"({n},2,256,'x',0,0,4294967294,{n},1,{n},1,'n1',1,'p',5,60,{s},{s},{b},{e},0,'1=2,4=1','1=2,4=1')"


def millis(seconds: int) -> int:
    """Return a time in milliseconds."""
    return seconds * 1000


def lsf_stream(n: int, s: Any, b: Any, e: Any) -> str:
    return told(
        event_type="JOB_FINISH", job_id=n, user_name=f"u{n}", num_processors=2, exec_hosts=["h1", "h1"],
        job_status="EXIT", submit_time=s, start_time=b, end_time=e, queue_name="q", exit_status=256,
    )  # fmt: skip


def aws_batch(n: int, s: Any, b: Any, e: Any) -> str:
    return told(
        jobId=str(n), jobName="x", jobQueue="arn:aws:batch:r:1:job-queue/q", status="FAILED", attempts=[],
        createdAt=s, startedAt=b, stoppedAt=e, container={"vcpus": 2, "memory": 1024},
    )  # fmt: skip


def yarn(n: int, s: Any, b: Any, e: Any) -> str:
    return told(
        id=f"application_1_{n}", user=f"u{n}", queue="q", state="FAILED", finalStatus="FAILED",
        trackingUI="History", startedTime=s, launchTime=b, finishedTime=e,
        vcoreSeconds=2 * max(e - b, 0) // 1000 if b else 0,
    )  # fmt: skip


def nextflow(n: int, s: Any, b: Any, e: Any, measured: int | None = None) -> str:
    realtime = "-" if measured is None else f"{measured}s"
    return f"{n}\ta/{n}\t{n}\tp ({n})\tFAILED\t1\t{s}\t{b}\t{e}\t{realtime}\t2"


def usage_record(n: int, s: Any, b: Any, e: Any, measured: int | None = None) -> str:
    times = said("<StartTime>{}</StartTime>", b) + said("<EndTime>{}</EndTime>", e)
    return (
        f'<JobUsageRecord><RecordIdentity recordId="r{n}-{b}"/>'
        f"<JobIdentity><LocalJobId>{n}</LocalJobId></JobIdentity><UserIdentity><LocalUserId>u{n}</LocalUserId></UserIdentity><Status>failed</Status>{times}"
        f"{said('<WallDuration>PT{}S</WallDuration>', measured)}<Processors>2</Processors>"
        f'<SubmitTime xmlns="http://rmis.deisa.org/acct">{s}</SubmitTime></JobUsageRecord>'
    )


def google2011(n: int, s: Any, b: Any, e: Any) -> str:
    events = ((s, 0), (b, 1), (e, 3))
    return lines(*(f"{t},,{n},0,1,{code},u,0,0,2,0.1,0.1,0" for t, code in events if t is not None))


def google2019_csv(n: int, s: Any, b: Any, e: Any) -> str:
    events = ((s, 0), (b, 3), (e, 5))
    return lines(*(f"{t},{code},{n},0,0,0,0,0,0,1,2,0.1" for t, code in events if t is not None))


def google2019(n: int, s: Any, b: Any, e: Any) -> str:
    events = ((s, "0"), (b, "3"), (e, "5"))
    return lines(
        *(
            told(time=t, type=code, collection_id=str(n), instance_index="0", machine_id="1", priority="0",
                 resource_request={"cpus": 2, "memory": 0.1})
            for t, code in events
            if t is not None
        )
    )  # fmt: skip


ALIBABA_2025 = (
    "instance_sn,role,app_name,cpu_request,cpu_limit,gpu_request,gpu_limit,rdma_request,rdma_limit,"
    "memory_request,memory_limit,disk_request,disk_limit,max_instance_per_node,creation_time,scheduled_time,deletion_time\n"
)
RELATIVE = SUBMITTED - 1_000_000

WAYS = (
    Way(
        "table",
        "jobs.csv",
        lambda n, s, b, e: f"{n},u{n},{s},{b},{e},2,FAILED",
        head="job_id,user,submit_time,start_time,end_time,cores,state\n",
        never=("", 0),
    ),
    Way("flux", "jobs.json", flux, never=(0, None)),
    Way(
        "kubernetes",
        "pods.json",
        pod,
        '{"items": [',
        ",",
        "]}",
        stamp=iso_utc,
        never=(None,),
    ),
    Way("pbs", "20250310", pbs, never=(0, None), is_measured=True),
    Way(
        "pbs-json",
        "jobs.json",
        qstat_json,
        '{"pbs_version": "1", "Jobs": {',
        ",",
        "}}",
        stamp=ctime,
        never=(None,),
        is_measured=True,
    ),
    Way("pbs-qstat", "jobs.qstat", qstat_text, stamp=ctime, never=(None,), is_measured=True),
    Way("condor", "history", condor, joint="\n\n", never=(0, None), is_measured=True),
    Way("condor-events", "events.log", condor_events, stamp=spaced, never=(None,)),
    Way("moab", "maui.trace", maui),
    Way("oar", "jobs.json", oar, '{"items": [', ",", "]}", never=(0, None)),
    Way("sge-qacct", "qacct.txt", qacct, stamp=ctime, never=("-/-",), is_measured=True),
    Way("sge", "accounting", grid_engine, is_measured=True),
    Way("sge-json", "accounting.jsonl", grid_engine_json, stamp=micros, is_measured=True),
    Way("lsf", "lsb.acct", lsf),
    Way(
        "lsf-bjobs",
        "jobs.json",
        bjobs,
        '{"COMMAND": "bjobs", "RECORDS": [',
        ",",
        "]}",
        stamp=of_bjobs,
        never=("-", "", None),
        is_measured=True,
    ),
    Way("lsf-history", "bhist.txt", bhist, stamp=ctime, never=(None,)),
    Way(
        "philly",
        "cluster_job_log",
        philly,
        stamp=spaced,
        never=("None", None),
        held="n_gpus",
        is_allocated=True,
    ),
    Way("seg", "jobs.seg", seg, never=(None,), held=None),
    Way(
        "slurm",
        "jobs.sacct",
        sacct,
        "JobID|User|Submit|Start|End|ElapsedRaw|State|AllocCPUS\n",
        stamp=iso,
        never=("Unknown", "None"),
        is_measured=True,
        is_allocated=True,
    ),
    Way(
        "slurm-json",
        "jobs.json",
        slurm_json,
        '{"jobs": [',
        ",",
        "]}",
        never=(0, None),
        is_measured=True,
        is_allocated=True,
    ),
    Way(
        "slurm-jobcomp",
        "jobcomp.json",
        jobcomp,
        stamp=iso,
        never=(None, "Unknown"),
        is_measured=True,
        is_allocated=True,
    ),
    Way(
        "slurm-filetxt", "slurm_jobcomp.log", filetxt, stamp=iso, never=("Unknown", "None"), is_allocated=True
    ),
    Way("slurm-dump", "slurm.sql", dump, DUMP, ",", ";\n", is_allocated=True),
    Way("lsf-stream", "lsb.stream.jsonl", lsf_stream, never=(0, None)),
    Way("aws-batch", "jobs.json", aws_batch, '{"jobs": [', ",", "]}", stamp=millis, never=(0, None)),
    Way("yarn", "apps.json", yarn, '{"apps": {"app": [', ",", "]}}", stamp=millis, never=(0, None)),
    Way(
        "nextflow",
        "trace.txt",
        nextflow,
        "task_id\thash\tnative_id\tname\tstatus\texit\tsubmit\tstart\tcomplete\trealtime\tcpus\n",
        stamp=spaced,
        never=("-", ""),
        is_measured=True,
    ),
    Way(
        "usagerecord",
        "records.xml",
        usage_record,
        "<UsageRecords>\n",
        foot="\n</UsageRecords>\n",
        stamp=iso_utc,
        never=(None,),
        is_measured=True,
    ),
    Way(
        "alibaba-gpu2020",
        "pai_job_table.csv",
        lambda n, s, _b, e: f"{n},i{n},u{n},Failed,{s},{e}",
        never=("",),
        beside={"pai_task_table.csv": lambda n, _s, b, e: f"{n},w,1.0,Failed,{b},{e},200.0,1.0,100.0,T4"},
        origin=RELATIVE,
    ),
    Way(
        "alibaba-gpu2023",
        "openb_pod_list_x.csv",
        lambda n, s, b, e: f"p{n},2000,1024,1,1000,,LS,Failed,{s},{e},{b}",
        "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,"
        "scheduled_time\n",
        never=("",),
        origin=RELATIVE,
    ),
    Way(
        "alibaba-gpu2025",
        "disaggregated_DLRM_trace.csv",
        lambda n, s, b, e: f"i{n},HN,a,2,2,1,1,25,25,1,1,1,1,8,{s},{b},{e}",
        ALIBABA_2025,
        never=("",),
        origin=RELATIVE,
    ),
    Way(
        "alibaba2017",
        "batch_task.csv",
        lambda n, s, _b, e: f"{s},{e},{n},1,1,Failed,200,0.1",
        never=("", 0),
        beside={"batch_instance.csv": lambda n, _s, b, e: f"{b},{e},{n},1,10,Failed,1,1,0.5,0.2,0.1,0.1"},
        origin=RELATIVE,
        held=None,
        unstarted_run=ENDED - SUBMITTED,
    ),
    Way(
        "alibaba2018",
        "batch_task.csv",
        lambda n, _s, b, e: f"M1,1,j_{n},1,Failed,{b},{e},200,0.1",
        origin=RELATIVE,
        held=None,
        has_submission=False,
    ),
    Way(
        "google2011",
        "task_events-part-00000-of-00001.csv",
        google2011,
        stamp=us,
        never=(None,),
        origin=RELATIVE,
    ),
    Way(
        "google2019-csv",
        "instance_events.csv",
        google2019_csv,
        "time,type,collection_id,scheduling_class,missing_type,collection_type,priority,alloc_collection_id,"
        "instance_index,machine_id,resource_request_cpus,resource_request_memory\n",
        stamp=us,
        never=(None,),
        origin=RELATIVE,
    ),
    Way(
        "google2019",
        "instance_events-000000000000.json",
        google2019,
        stamp=us,
        never=(None,),
        origin=RELATIVE,
    ),
)
"""The formats that say when a job started."""


@dataclass(frozen=True)
class Lasting:
    """How the format *name*, which says durations, writes a submission, a wait and a run time."""

    name: str
    file: str
    record: Callable[..., Any]
    head: str = ""
    joint: str = "\n"
    foot: str = "\n"
    has_wait: bool = True
    is_absolute: bool = True
    pack: Callable[[Path, list[Any]], object] | None = None
    """What writes records that are no text."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """What has to be said of the format."""

    def write(self, path: Path, jobs: Any) -> None:
        """Write *jobs*: tuples of a submission, wait and run time."""
        records = [self.record(700 + n, *times) for n, times in enumerate(jobs, 1)]
        if self.pack:
            self.pack(path, records)
        else:
            path.write_text(self.head + self.joint.join(records) + self.foot)


def wfcommons(n: int, s: Any, _w: Any, r: Any) -> str:
    return f'{{"id": "t{n}", "name": "t_{n}", "runtime": {r}, "cores": 2, "executedAt": "{iso_utc(s)}"}}'


def ms(seconds: int) -> int:
    """Return a duration in milliseconds; -1 is none."""
    return -1 if seconds == -1 else seconds * 1000


def sqlite(path: Path, tables: Mapping[str, list[Any]]) -> None:
    """Write a file of *tables*: their rows by names with columns."""
    with closing(sqlite3.connect(path)) as database, database:
        for table, rows in tables.items():
            database.execute(f"create table {table}")
            marks = ", ".join("?" * len(rows[0]))
            database.executemany(f"insert into {table.split()[0]} values ({marks})", rows)


def archived(path: Path, rows: list[Any]) -> None:
    """Write the SQLite edition of the Grid Workloads Archive."""
    sqlite(
        path,
        {"Jobs (JobID int, SubmitTime int, WaitTime int, RunTime int, NProc int, UserID text)": rows},
    )


def cockpit(path: Path, rows: list[Any]) -> None:
    """Write the database of ClusterCockpit."""
    columns = "job_id, submit_time, start_time, duration, num_nodes, num_hwthreads, hpc_user, job_state"
    sqlite(path, {f"job ({columns})": rows})


def packing(path: Path, rows: list[Any]) -> None:
    """Write virtual machines as Azure's trace for packing has them, of one type."""
    sqlite(
        path,
        {
            "vm (vmId, tenantId, vmTypeId, priority, starttime, endtime)": rows,
            "vmType (id, vmTypeId, machineId, core, memory)": [(1, 10, 0, 0.5, 0.5)],
        },
    )


LASTING = (
    Lasting("sqlite", "jobs.db3", lambda n, s, w, r: (n, s, w, r, 2, f"u{n}"), pack=archived),
    Lasting(
        "wta",
        "task.parquet",
        lambda n, s, w, r: {
            "id": n,
            "workflow_id": 1,
            "user_id": n,
            "ts_submit": s * 1000,
            "wait_time": ms(w),
            "runtime": ms(r),
            "resource_amount_requested": 2.0,
        },
        pack=lambda path, rows: parquet.write_table(Table.from_pylist(rows), path),
    ),
    Lasting(
        "clustercockpit-db",
        "job.db",
        lambda n, s, _w, r: (n, 0, s, r, 1, 2, f"u{n}", "completed"),
        has_wait=False,
        pack=cockpit,
    ),
    Lasting(
        "azure-packing",
        "packing.sqlite",
        lambda n, s, _w, r: (n, f"u{n}", 10, 0, s / 86_400, (s + r) / 86_400),
        has_wait=False,
        is_absolute=False,
        pack=packing,
        options={"machine_cores": 4},
    ),
    Lasting("swf", "log.swf", lambda n, s, w, r: f"{n} {s} {w} {r} 2 -1 -1 2 -1 -1 1 {n} 1 1 1 1 -1 -1"),
    Lasting(
        "gwf",
        "log.gwf",
        lambda n, s, w, r: "\t".join(map(str, (n, s, w, r, 2, *[-1] * 6, f"u{n}", *[-1] * 17))),
    ),
    Lasting(
        "table",
        "jobs.csv",
        lambda n, s, w, r: f"{n},u{n},{s},{w},{r},2",
        "job_id,user,submit_time,wait_seconds,runtime_seconds,cores\n",
    ),
    Lasting(
        "clustercockpit",
        "jobs.json",
        lambda n, s, _w, r: told(jobId=n, user=f"u{n}", cluster="c", numHwthreads=2, startTime=s, duration=r),
        has_wait=False,
    ),
    Lasting(
        "apel",
        "messages.apel",
        lambda n, s, _w, r: (
            f"APEL-individual-job-message: v0.3\nLocalJobId: {n}\nLocalUserId: u{n}\nWallDuration: {r}\n"
            f"Processors: 2\nStartTime: {s}\n%%"
        ),
        has_wait=False,
    ),
    Lasting(
        "ray",
        "jobs.json",
        lambda n, s, _w, r: told(
            type="SUBMISSION",
            submission_id=f"raysubmit_{n}",
            status="FAILED",
            entrypoint="./x",
            entrypoint_num_cpus=2,
            start_time=s * 1000,
            end_time=(s + r) * 1000,
        ),
        has_wait=False,
    ),
    Lasting(
        "alibaba-spot2026",
        "job_info_df.csv",
        lambda n, s, _w, r: f"j{n},o,A10,2,1,1,{s},{r},HP",
        "job_name,organization,gpu_model,cpu_request,gpu_request,worker_num,submit_time,duration,job_type\n",
        has_wait=False,
        is_absolute=False,
    ),
    Lasting(
        "azure-vm",
        "vmtable.csv",
        lambda n, s, _w, r: f"vm{n}aaaaaaaa,s{n},d,{s},{s + r},9,5,9,Interactive,2,4",
        has_wait=False,
        is_absolute=False,
    ),
    Lasting(
        "batsim",
        "batsim.json",
        lambda n, s, _w, _r: f'{{"id": "{n}", "subtime": {s}, "res": 2, "profile": "p{n}"}}',
        '{"nb_res": 4, "jobs": [',
        ",",
        "]}",
        has_wait=False,
        is_absolute=False,
    ),
    Lasting(
        "wfcommons",
        "flow.json",
        wfcommons,
        '{"name": "w", "schemaVersion": "1.2", "workflow": {"jobs": [',
        ",",
        "]}}",
        has_wait=False,
    ),
)
"""Formats that say how long jobs waited or ran."""
