"""Three hundred jobs written as each tool would write them are read back as they were."""

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gwa.formats.open import open_trace
from tests.converters import slurm_encodings as slurm
from tests.converters.ways import WAYS as OF_FORMATS

JOBS, BEGIN = 300, 1_772_438_400


@dataclass(frozen=True)
class Job:
    """A job in seconds; one that has never started has neither a wait nor a run time."""

    number: int
    submitted: int
    wait: int
    run: int
    procs: int
    memory: int
    """In MB for the whole job."""
    outcome: int
    has_run: bool

    @property
    def started(self) -> int:
        """When it started."""
        return self.submitted + self.wait

    @property
    def ended(self) -> int:
        """When it ended."""
        return self.started + self.run


def some_jobs() -> list[Job]:
    chance = random.Random(58)
    return [
        Job(
            number,
            BEGIN + number * 60,
            chance.choice([0, 1, 59, 61, 3600, 90_061]),
            chance.choice([1, 9, 60, 61, 3599, 3661, 86_400, 180_001]),
            chance.choice([1, 2, 8, 48]),
            chance.choice([1, 512, 1024, 65_536]),
            chance.choice([0, 1]),
            chance.random() < 0.9,
        )
        for number in range(1, JOBS + 1)
    ]


def spoken(seconds: int) -> str:
    """Return a duration as Nextflow writes it."""
    parts = {"d": seconds // 86_400, "h": seconds // 3600 % 24, "m": seconds // 60 % 60, "s": seconds % 60}
    return " ".join(f"{number}{unit}" for unit, number in parts.items() if number) or "0ms"


def stamp(seconds: int) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S}.000"


def iso(seconds: int) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"


def nextflow(job: Job, *, is_raw: bool = False) -> str:
    when, length = (lambda s: str(s * 1000), lambda s: str(s * 1000)) if is_raw else (stamp, spoken)
    memory = str(job.memory << 20) if is_raw else f"{job.memory} MB"
    status = ("FAILED", "COMPLETED")[job.outcome] if job.has_run else "SUBMITTED"
    times = [length(job.wait + job.run), length(job.run)] if job.has_run else ["-", "-"]
    cells = [job.number, f"3f/{job.number:06x}", 9000 + job.number, f"STEP (s{job.number})", status, "-"]
    return "\t".join(map(str, [*cells, when(job.submitted), *times, job.procs, memory]))


NEXTFLOW = "task_id\thash\tnative_id\tname\tstatus\texit\tsubmit\tduration\trealtime\tcpus\tmemory\n"


def aws_batch(job: Job) -> Mapping[str, Any]:
    asked = [{"type": "VCPU", "value": str(job.procs)}, {"type": "MEMORY", "value": str(job.memory)}]
    ran = {"startedAt": job.started * 1000, "stoppedAt": job.ended * 1000} if job.has_run else {}
    return {
        "jobName": "sim",
        "jobId": f"{job.number:08x}-0000-4000-8000-000000000000",
        "jobQueue": "arn:aws:batch:eu-central-1:111122223333:job-queue/hpc",
        "status": ("FAILED", "SUCCEEDED")[job.outcome] if job.has_run else "RUNNABLE",
        "attempts": [{"container": {"exitCode": 1 - job.outcome}, **ran}] if ran else [],
        "createdAt": job.submitted * 1000,
        **ran,
        "container": {"image": "sim", "resourceRequirements": asked},
    }


def yarn(job: Job) -> Mapping[str, Any]:
    seconds = job.run if job.has_run else 0
    return {
        "id": f"application_1772000000000_{job.number:04}",
        "user": f"user{job.number % 7}",
        "queue": "root.default",
        "state": ("FAILED", "FINISHED")[job.outcome] if job.has_run else "ACCEPTED",
        "finalStatus": ("FAILED", "SUCCEEDED")[job.outcome] if job.has_run else "UNDEFINED",
        "trackingUI": "History",
        "applicationType": "SPARK",
        "startedTime": job.submitted * 1000,
        "launchTime": job.started * 1000 if job.has_run else 0,
        "finishedTime": job.ended * 1000 if job.has_run else 0,
        "vcoreSeconds": seconds * job.procs,
        "memorySeconds": seconds * job.memory,
    }


def lsf_stream(job: Job) -> Mapping[str, Any]:
    return {
        "event_type": "JOB_FINISH",
        "version": "10.1",
        "event_time_utc": job.ended,
        "job_id": job.number,
        "job_arr_idx": 0,
        "user_name": f"user{job.number % 7}",
        "job_status_code": 64 if job.outcome and job.has_run else 32,
        "job_status": "DONE" if job.outcome and job.has_run else "EXIT",
        "submit_time": job.submitted,
        "begin_time": 0,
        "term_time": 0,
        "start_time": job.started if job.has_run else 0,
        "end_time": job.ended,
        "queue_name": "normal",
        "num_processors": job.procs,
        "req_num_procs_max": job.procs,
        "exec_hosts": ["h1"] * job.procs if job.has_run else [],
        "exit_status": 0 if job.outcome else 256,
        "exit_info": 0,
    }


def usage_record(job: Job) -> str:
    return (
        f"<UsageRecord><RecordIdentityBlock><RecordId>r{job.number}</RecordId><CreateTime>{iso(job.ended)}"
        "</CreateTime></RecordIdentityBlock><SubjectIdentityBlock><LocalUserId>u</LocalUserId>"
        "</SubjectIdentityBlock><ComputeUsageBlock>"
        f"<WallDuration>PT{job.run}S</WallDuration><StartTime>{iso(job.started)}</StartTime>"
        f"<EndTime>{iso(job.ended)}</EndTime><Processors>{job.procs}</Processors></ComputeUsageBlock>"
        f"<JobUsageBlock><LocalJobId>{job.number}</LocalJobId>"
        f"<Status>{('failed', 'completed')[job.outcome]}</Status></JobUsageBlock></UsageRecord>"
    )


def apel(job: Job) -> str:
    return (
        f"Site: SITE-A\nLocalJobId: {job.number}.ce\nLocalUserId: u\nWallDuration: {job.run}\n"
        f"CpuDuration: {job.run}\nProcessors: {job.procs}\nStartTime: {job.started}\nEndTime: {job.ended}\n%%"
    )


def ray(job: Job) -> Mapping[str, Any]:
    return {
        "type": "SUBMISSION",
        "job_id": f"{job.number:08}",
        "submission_id": f"raysubmit_{job.number}",
        "status": ("FAILED", "SUCCEEDED")[job.outcome] if job.has_run else "PENDING",
        "entrypoint": "python train.py",
        "start_time": job.submitted * 1000,
        "end_time": (job.submitted + job.run) * 1000 if job.has_run else None,
        "entrypoint_num_cpus": job.procs,
    }


def listed(record: Callable[[Job], Mapping[str, Any]], *path: str) -> Callable[[Sequence[Job]], str]:
    """Return what writes jobs as a list of JSON, or as a document that holds one at a *path*."""

    def written(jobs: Sequence[Job]) -> str:
        document: Any = [*map(record, jobs)]
        for key in reversed(path):
            document = {key: document}
        return json.dumps(document)

    return written


def lined(
    record: Callable[[Job], str], head: str = "", foot: str = "", *, all_run: bool = False
) -> Callable[[Sequence[Job]], str]:
    """Return what writes jobs one after the other; of some tools only those that have run."""
    return lambda jobs: (
        head + "\n".join(record(job) for job in jobs if job.has_run or not all_run) + f"\n{foot}"
    )


WAITED, RAN, HELD, ASKED, MEMORY, OUTCOME = (
    "wait_time",
    "run_time",
    "n_procs",
    "req_n_procs",
    "req_memory",
    "status",
)
WAYS: Mapping[str, tuple[str, Callable[[Sequence[Job]], str], set[str]]] = {
    "nextflow": ("trace.txt", lined(nextflow, NEXTFLOW), set()),
    "nextflow, raw": ("trace.txt", lined(lambda job: nextflow(job, is_raw=True), NEXTFLOW), set()),
    "aws-batch": ("jobs.json", listed(aws_batch, "jobs"), set()),
    "aws-batch, lines": ("jobs.jsonl", lined(lambda job: json.dumps(aws_batch(job))), set()),
    "yarn": ("apps.json", listed(yarn, "apps", "app"), {ASKED}),
    "lsf-stream": ("lsb.stream", lined(lambda job: json.dumps(lsf_stream(job))), {MEMORY}),
    "usagerecord": (
        "ur.xml",
        lined(
            usage_record,
            '<UsageRecords xmlns="http://schema.ogf.org/urf/2013/04/urf">',
            "</UsageRecords>",
            all_run=True,
        ),
        {WAITED, MEMORY},
    ),
    "apel": (
        "messages",
        lined(apel, "APEL-individual-job-message: v0.3\n", all_run=True),
        {WAITED, ASKED, MEMORY, OUTCOME},
    ),
    "ray": ("jobs.json", listed(ray), {WAITED, MEMORY}),
}
"""What writes the jobs of each format, into which file, and the fields that it does not record."""


def wanted(job: Job, name: str) -> Mapping[str, float | None]:
    """Return the fields of a job as far as a format can tell them."""
    cancelled = 5 if name == "lsf-stream" else None
    return {
        "submit_time": job.started if name in {"usagerecord", "apel"} else job.submitted,
        WAITED: job.wait if job.has_run else None,
        RAN: job.run if job.has_run else None,
        HELD: job.procs if job.has_run else None,
        ASKED: job.procs,
        MEMORY: job.memory * 1024 / job.procs if job.has_run or name != "yarn" else None,
        OUTCOME: job.outcome if job.has_run else cancelled,
    }


@pytest.mark.parametrize("way", WAYS)
def test_what_a_tool_writes_is_read_as_it_was(way: str, tmp_path: Path) -> None:
    file, write, unrecorded = WAYS[way]
    name, jobs = way.partition(",")[0], some_jobs()
    (tmp_path / file).write_text(write(jobs))
    kept = [job for job in jobs if job.has_run or name not in {"usagerecord", "apel"}]
    fields = [field for field in wanted(jobs[0], name) if field not in unrecorded]
    with open_trace([tmp_path / file]) as store:
        assert store.provenance["format"] == name
        assert store.account.jobs == len(kept)
        rows = store.rows(
            f"select {', '.join(fields)} from jobs join source_ids using (job_id)"
            r" order by cast(regexp_extract(source_id, '_?0*(\d+)\D*$', 1) as bigint)"
            if name != "aws-batch"
            else f"select {', '.join(fields)} from jobs join source_ids using (job_id) order by source_id"
        )
    assert rows == [tuple(wanted(job, name)[field] for field in fields) for job in kept]


def test_one_application_of_yarn_is_read_as_a_list_of_them(tmp_path: Path) -> None:
    (job, *_) = (job for job in some_jobs() if job.has_run)
    path = tmp_path / "app.json"
    path.write_text(json.dumps({"app": yarn(job)}))
    with open_trace([path]) as store:
        assert store.rows("select wait_time, run_time, n_procs from jobs") == [(job.wait, job.run, job.procs)]


@pytest.mark.parametrize("lacks", ["pe_taskid", "usage", "category", "department"])
def test_a_record_of_grid_engine_9_is_known_whatever_it_lacks(lacks, tmp_path: Path) -> None:
    record = {
        "job_number": 7, "qname": "all.q", "owner": "ada", "account": "sge", "granted_pe": "mpi", "slots": 4,
        "submission_time": 1_772_438_400_000_000, "start_time": 1_772_438_460_000_000, "failed": 0,
        "end_time": 1_772_442_060_000_000, "exit_status": 0, "pe_taskid": None, "category": "",
        "department": "",
        "usage": {"rusage": {"ru_wallclock": 3600}},
    }  # fmt: skip
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps({name: value for name, value in record.items() if name != lacks}) + "\n")
    with open_trace([path]) as store:
        assert store.provenance["format"] == "sge-json"
        assert store.row("select project_id, n_procs, run_time from jobs") == (None, 4, 3600)


def test_a_record_of_grid_engine_9_without_a_parallel_environment_is_known(tmp_path: Path) -> None:
    """As 9.0.0 writes it, which leaves out what is none."""
    record = {
        "job_number": 10,
        "task_number": 1,
        "submission_time": 1_730_532_912_874_519,
        "start_time": 1_730_532_913_429_415,
        "end_time": 1_730_532_973_429_415,
        "owner": "ada",
        "account": "sge",
        "qname": "all.q",
        "slots": 1,
        "failed": 0,
        "exit_status": 0,
        "usage": {"rusage": {"ru_wallclock": 60}, "usage": {"cpu": 58.5}},
    }
    path = tmp_path / "accounting.jsonl"
    path.write_text(json.dumps(record) + "\n")
    with open_trace([path]) as store:
        assert store.provenance["format"] == "sge-json"
        assert store.rows("select run_time, project_id, status from jobs") == [(60, None, 1)]


# The exports of one source are told apart by their form only: the same jobs in each are the same trace.

SOURCES = {
    "Slurm": ("slurm", "slurm-json", "slurm-dump", "slurm-jobcomp", "slurm-filetxt"),
    "Grid Engine": ("sge", "sge-json", "sge-qacct"),
    "PBS": ("pbs", "pbs-json", "pbs-qstat"),
    "LSF": ("lsf", "lsf-bjobs", "lsf-stream"),
}
COMMON = "submit_time, wait_time, run_time, n_procs, req_n_procs, status, exit_code"


@pytest.mark.parametrize("source", SOURCES)
def test_the_exports_of_a_source_are_one_trace(source: str, tmp_path: Path) -> None:
    """In the order of submission, a minute apart."""
    jobs = [(job.number + 1000, job.submitted, job.started, job.ended) for job in some_jobs()]
    found = {}
    for way in OF_FORMATS:
        if way.name not in SOURCES[source]:
            continue
        measured = [(*times, times[3] - times[2]) for times in jobs] if way.is_measured else jobs
        path = tmp_path / way.file
        path.write_text(way.written(measured)[way.file])
        with open_trace([path], way.name) as store:
            assert store.account.jobs == JOBS
            found[way.name] = store.rows(f"select {COMMON} from jobs order by submit_time")
    assert found.keys() == set(SOURCES[source])
    (first, *others) = found.values()
    assert [row[:3] for row in first] == [(job.submitted, job.wait, job.run) for job in some_jobs()]
    columns = [tuple(zip(*rows, strict=True)) for rows in (first, *others)]
    for field in zip(*columns, strict=True):
        recorded = {values for values in field if set(values) != {None}}  # the ways do not write every field
        assert len(recorded) <= 1


@pytest.mark.parametrize("version", [37, 40, 45])
def test_the_jobs_of_slurm_are_the_same_in_text_json_and_database(version: int, tmp_path: Path) -> None:
    """With arrays, GPUs, steps and restarts, as versions from 21.08 to 25.11 write them."""
    chance = random.Random(version)
    made = []
    for job in some_jobs():
        tres = {"cpu": job.procs, "mem": job.memory, "node": 1, "billing": job.procs}
        tres |= {"gres/gpu": 2, "gres/gpu:a100": 2} if chance.random() < 0.3 else {}
        step = slurm.Step("batch", job.started, job.ended, cpu=job.run, memory=(job.memory << 18,) * 3)
        ran = {"start": job.started, "end": job.ended, "had": tres, "steps": (step,)}
        made.append(
            slurm.Job(
                job.number,
                job.submitted,
                job.submitted,
                **(ran if job.has_run else {"start": None, "end": job.submitted + 9}),
                state=("TIMEOUT", "COMPLETED")[job.outcome] if job.has_run else "CANCELLED",
                limit=chance.choice([None, 60, 1440]),
                array=(900_000, job.number) if chance.random() < 0.3 else None,
                asked=tres,
                restarts=chance.choice([0, 0, 2]),
            )
        )
    texts = {
        "jobs.sacct": slurm.as_text(made),
        "jobs.json": slurm.as_json(made, version),
        "slurm.sql": slurm.as_dump(made),
    }
    found = []
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        with open_trace([tmp_path / name]) as store:
            found.append(
                store.rows(
                    "select submit_time, wait_time, run_time, n_procs, req_n_procs, req_time, req_memory,"
                    " max_memory, average_cpu_time, n_gpus, req_gpus, gpu_type, n_nodes, status, state,"
                    " n_requeues, job_structure, job_structure_params, user_id, qos from jobs"
                    " order by submit_time, job_id"
                )
            )
    assert len(found[0]) == JOBS
    assert found[1] == found[0]
    assert found[2] == found[0]


def test_a_range_of_array_tasks_is_the_same_jobs_in_text_json_and_database(tmp_path: Path) -> None:
    waits = slurm.Job(12, BEGIN, BEGIN, None, None, state="PENDING", array=(12, 3))
    document, dump = json.loads(slurm.as_json([waits])), slurm.as_dump([waits])
    document["jobs"][0]["array"] |= {"task_id": slurm.number(None, 42), "task": "3-5,9%2"}
    texts = {
        "jobs.sacct": slurm.as_text([waits]).replace("12_3|", "12_[3-5,9%2]|"),
        "jobs.json": json.dumps(document),
        "slurm.sql": dump.replace(",12,3,NULL,12,", f",12,{slurm.NO_VAL},'3-5,9%2',12,"),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        with open_trace([tmp_path / name]) as store:
            query = (
                "select source_id, job_structure_params, run_time from jobs join source_ids using (job_id)"
            )
            assert store.rows(f"{query} order by 1") == [(f"12_{n}", "12", None) for n in (3, 4, 5, 9)]
            store.account.check()


def ad(job: Job) -> Mapping[str, Any]:
    """Return what HTCondor's history says of a job."""
    started, ended = job.has_run, job.ended if job.has_run else job.submitted + 9
    ran = (
        {"JobStartDate": job.started, "JobCurrentStartDate": job.started, "NumJobStarts": 1}
        if started
        else {}
    )
    length = {"RemoteWallClockTime": float(job.run), "LastRemoteWallClockTime": float(job.run)} if ran else {}
    exited = {"ExitCode": 1 - job.outcome, "ExitBySignal": False, "CompletionDate": ended} if ran else {}
    return {
        "ClusterId": job.number,
        "ProcId": 0,
        "GlobalJobId": f"ap#{job.number}.0#{job.submitted}",
        "Owner": f"user{job.number % 7}",
        "QDate": job.submitted,
        "JobUniverse": 5,
        "JobStatus": 4 if ran else 3,
        "EnteredCurrentStatus": ended,
        "RequestCpus": job.procs,
        "RequestMemory": job.memory,
        **ran,
        **length,
        **exited,
    }


def classad(job: Job, end: str) -> str:
    values = ((key, f'"{value}"' if isinstance(value, str) else value) for key, value in ad(job).items())
    return "".join(f"{key} = {value}\n" for key, value in values) + end


def test_the_jobs_of_condor_are_the_same_in_text_json_and_epochs(tmp_path: Path) -> None:
    """An epoch is a run, so that its history has the jobs that ran."""
    jobs = some_jobs()
    texts = {
        "history": "".join(classad(job, "***\n") for job in jobs),
        "history.jsonl": "".join(json.dumps(ad(job)) + "\n" for job in jobs),
        "history.json": json.dumps([ad(job) for job in jobs], indent=1),
        "epochs": "".join(classad(job, "*** EPOCH\n") for job in jobs if job.has_run),
    }
    fields = f"{WAITED}, {RAN}, {HELD}, {ASKED}, {MEMORY}, {OUTCOME}"
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        with open_trace([tmp_path / name]) as store:
            assert store.provenance["format"] == "condor"
            rows = store.rows(f"select submit_time, {fields} from jobs order by submit_time")
        assert rows == [
            (
                job.submitted,
                *((job.wait, job.run, job.procs) if job.has_run else (None, None, None)),
                job.procs,
                job.memory * 1024 / job.procs,
                job.outcome if job.has_run else 5,
            )
            for job in jobs
            if job.has_run or name != "epochs"
        ]


def test_what_sacct_before_21_08_printed_is_the_same_jobs(tmp_path: Path) -> None:
    """GRES stood in columns of their own, memory with a letter for of what it is, and nothing on restarts."""
    chance = random.Random(19)
    made, rows = [], []
    for job in some_jobs():
        gpus, nodes = chance.choice([0, 1, 2]), chance.choice([1, 2]) if job.procs > 1 else 1
        tres = {"cpu": job.procs, "mem": job.memory * job.procs, "node": nodes, "billing": job.procs}
        with_gpus = tres | ({"gres/gpu": gpus * nodes} if gpus else {})
        ran = {"start": job.started, "end": job.ended, "had": with_gpus}
        ends = ran if job.has_run else {"start": None, "end": job.submitted + 9}
        state = ("TIMEOUT", "COMPLETED")[job.outcome] if job.has_run else "CANCELLED"
        one = slurm.Job(
            job.number, job.submitted, job.submitted, **ends, state=state, asked=with_gpus, limit=60
        )
        made.append(one)
        held = f"billing={job.procs},cpu={job.procs},mem={tres['mem']}M,node={nodes}" if job.has_run else ""
        gres = f"gpu:{gpus}" if gpus else ""
        rows.append(
            f"{job.number}|{one.user}|{one.submit}|{one.start or 'None'}|{one.end}|{one.elapsed}|{state}|0:0"
            f"|{nodes}|{job.procs if job.has_run else 0}|{job.procs}|{job.memory}Mc|60|{held}|{gres}"
            f"|{f'gpu:{gpus * nodes}' if gpus and job.has_run else ''}"
        )
    head = (
        "JobID|User|Submit|Start|End|ElapsedRaw|State|ExitCode|NNodes|AllocCPUS|ReqCPUS|ReqMem|TimelimitRaw"
        "|AllocTRES|ReqGRES|AllocGRES"
    )
    (tmp_path / "new.sacct").write_text(slurm.as_text(made))
    (tmp_path / "old.sacct").write_text("\n".join([head, *rows, ""]))
    found = []
    for name in ("new.sacct", "old.sacct"):
        with open_trace([tmp_path / name]) as store:
            fields = f"submit_time, {WAITED}, {RAN}, {HELD}, {ASKED}, req_time, {MEMORY}, {OUTCOME}, state"
            found.append(store.rows(f"select {fields}, n_nodes, n_gpus, req_gpus from jobs order by 1"))
    assert len(found[0]) == JOBS
    without_gpus = {None, 0}
    assert [row[:-2] for row in found[0]] == [row[:-2] for row in found[1]]
    for new, old in zip(*found, strict=True):
        assert new[-2:] == old[-2:] or {*new[-2:], *old[-2:]} <= without_gpus
