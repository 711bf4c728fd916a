"""The sample as ``sacct --parsable2`` prints it, with summaries of jobstats in AdminComment."""

import json
from base64 import b64encode
from collections.abc import Iterator
from datetime import UTC, datetime
from struct import pack
from typing import Final
from zlib import crc32

from gwa.formats.sample.workload import DAY, Job

COLUMNS: Final = (
    "JobID", "JobIDRaw", "JobName", "User", "Group", "Account", "Cluster", "Partition", "QOS", "Submit",
    "Eligible", "Start", "End", "Elapsed", "State", "ExitCode", "NNodes", "AllocCPUS", "ReqCPUS", "NTasks",
    "ReqMem", "AveRSS", "MaxRSS", "TotalCPU", "Timelimit", "AllocTRES", "ReqTRES", "TRESUsageInTot",
    "ConsumedEnergyRaw", "Reservation", "NodeList", "Reason", "AdminComment",
)  # fmt: skip

CLUSTER: Final = "synthetic-sample"
"""The name of the cluster, which is what a page says beside the name of the file."""
FIRST_UID: Final = 2000
GPU_TYPE: Final = "a100"
GPU_MEMORY: Final = 40 << 30
"""Bytes of memory of a GPU."""

BATCH_MEMORY: Final = 9_216
"""KB that the script takes which starts the processes of a job on several nodes."""

MINIMUM_ELAPSED: Final = 60
"""Seconds below which jobstats has too few samples."""

WATTS: Final = 7
"""Of a busy core; a GPU takes 55, and 250 more at full use."""

EXIT_CODES: Final = {"FAILED": "1:0", "OUT_OF_MEMORY": "0:125", "NODE_FAIL": "1:0"}

STORED: Final = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x01"
"""The beginning of a gzip file of one block that is stored as it is: compressors differ by machine."""


def lines(jobs: list[Job]) -> Iterator[str]:
    """Yield the header, and for each of *jobs* its own row and those of its steps."""
    yield "|".join(COLUMNS)
    for job in jobs:
        yield _line(_job(job))
        if job.start is not None:
            yield from map(_line, _steps(job))


def _line(cells: dict[str, object]) -> str:
    return "|".join(str(cells.get(column, "")) for column in COLUMNS)


def _job(job: Job) -> dict[str, object]:
    """Return the cells of the row of a job."""
    has_run = job.start is not None
    requested = _tres(job)
    return {
        **_times(job),
        "JobID": _id(job),
        "JobIDRaw": job.number,
        "JobName": job.user.kind,
        "User": job.user.name,
        "Group": job.user.project,
        "Account": job.user.project,
        "Cluster": CLUSTER,
        "Partition": job.kind.partition,
        "QOS": job.qos,
        "State": f"CANCELLED by {FIRST_UID + int(job.user.name[1:])}"
        if job.state == "CANCELLED"
        else job.state,
        "ExitCode": EXIT_CODES.get(job.state, "0:0"),
        "NNodes": job.nodes,
        "AllocCPUS": job.all_cores if has_run else 0,
        "ReqCPUS": job.all_cores,
        "ReqMem": f"{job.requested_memory}G",
        "TotalCPU": _duration(job.total_cpu) if job.end else "00:00:00",
        "Timelimit": _duration(job.limit),
        "AllocTRES": requested.replace("gres/gpu=", f"gres/gpu:{GPU_TYPE}={job.all_gpus},gres/gpu=")
        if has_run
        else "",
        "ReqTRES": requested,
        "ConsumedEnergyRaw": _energy(job) if has_run and job.end else 0,
        "NodeList": _hosts(job) if has_run else "None assigned",
        "Reason": "None",
        "AdminComment": _summary(job) if has_run and job.end else "",
    }


def _steps(job: Job) -> Iterator[dict[str, object]]:
    """Yield the cells of the rows of a job's steps: its script and, on several nodes, its processes."""
    yield _step(job, "batch", "batch", 1, job.memory if job.nodes == 1 else BATCH_MEMORY)
    if job.nodes > 1:
        yield _step(job, "0", job.user.kind, job.nodes, job.memory)


def _step(job: Job, step: str, name: str, tasks: int, memory: int) -> dict[str, object]:
    state = "CANCELLED" if job.state in {"TIMEOUT", "CANCELLED", "NODE_FAIL"} else job.state
    is_main = step == "0" or job.nodes == 1
    nodes = job.nodes if is_main else 1
    cells = _times(job) | {
        "JobID": f"{_id(job)}.{step}",
        "JobIDRaw": f"{job.number}.{step}",
        "JobName": name,
        "Account": job.user.project,
        "Cluster": CLUSTER,
        "State": state,
        "ExitCode": "0:15" if state == "CANCELLED" else EXIT_CODES.get(state, "0:0"),
        "NNodes": nodes,
        "AllocCPUS": nodes * job.cores,
        "ReqCPUS": nodes * job.cores,
        "NTasks": tasks,
        "AllocTRES": f"cpu={nodes * job.cores},mem={nodes * job.cores * job.kind.memory}G,node={nodes}",
        "NodeList": _hosts(job, nodes),
    }
    if job.end is None:
        return cells
    used = _duration(job.total_cpu if is_main else 1)
    return cells | {
        "AveRSS": f"{memory // tasks}K",
        "MaxRSS": f"{memory // tasks}K",
        "TotalCPU": used,
        "TRESUsageInTot": f"cpu={used},mem={memory}K",
        "ConsumedEnergyRaw": _energy(job) if is_main else 0,
    }


def _times(job: Job) -> dict[str, object]:
    return {
        "Submit": _stamp(job.submit),
        "Eligible": _stamp(job.submit),
        "Start": _stamp(job.start),
        "End": _stamp(job.end),
        "Elapsed": _duration(job.elapsed),
    }


def _id(job: Job) -> str:
    return "{}_{}".format(*job.array) if job.array else str(job.number)


def _stamp(time: int | None) -> str:
    return "Unknown" if time is None else f"{datetime.fromtimestamp(time, UTC):%Y-%m-%dT%H:%M:%S}"


def _duration(seconds: int) -> str:
    days, rest = divmod(seconds, DAY)
    clock = f"{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"
    return f"{days}-{clock}" if days else clock


def _tres(job: Job) -> str:
    gpus = f"gres/gpu={job.all_gpus}," if job.gpus else ""
    return f"billing={job.all_cores},cpu={job.all_cores},{gpus}mem={job.requested_memory}G,node={job.nodes}"


def _hosts(job: Job, number: int | None = None) -> str:
    """Return the names of the first *number* nodes of a job, or of all, as Slurm writes them."""
    numbers = [str(host + 1) for host in job.hosts[:number]]
    prefix = job.kind.partition[0]
    return f"{prefix}{numbers[0]}" if len(numbers) == 1 else f"{prefix}[{','.join(numbers)}]"


def _energy(job: Job) -> int:
    """Return the joules of a job, of its cores by their use and its GPUs by theirs."""
    cores = WATTS * job.total_cpu
    gpus = job.nodes * job.elapsed * sum(55_000 + 250 * use for use in job.gpu_use[: job.gpus]) // 1000
    return cores + gpus


def _summary(job: Job) -> str:
    """Return what jobstats notes of an ended job: of each node memory, CPU time, and the use of each GPU."""
    if job.elapsed < MINIMUM_ELAPSED:
        return "JS1:Short"
    if not job.is_measured:
        return "JS1:None"
    nodes = {f"{job.kind.partition[0]}{host + 1}": _node(job) for host in job.hosts}
    text = json.dumps(
        {"gpus": bool(job.gpus), "nodes": nodes, "total_time": job.elapsed},
        separators=(",", ":"),
        sort_keys=True,
    )
    return f"JS1:{b64encode(_stored(text.encode())).decode()}"


def _node(job: Job) -> dict[str, object]:
    node: dict[str, object] = {
        "cpus": job.cores,
        "total_memory": job.cores * job.kind.memory << 30,
        "total_time": job.total_cpu // job.nodes,
        "used_memory": (job.memory // job.nodes) << 10,
    }
    if job.gpus:
        uses = dict(enumerate(job.gpu_use))
        node["gpu_total_memory"] = {str(gpu): GPU_MEMORY for gpu in uses}
        node["gpu_used_memory"] = {
            str(gpu): GPU_MEMORY * use // 1200 + (1 << 28) for gpu, use in uses.items()
        }
        node["gpu_utilization"] = {str(gpu): use / 10 for gpu, use in uses.items()}
    return node


def _stored(content: bytes) -> bytes:
    """Return *content* as a gzip file that is not compressed (RFC 1951, 3.2.4; RFC 1952)."""
    size = len(content)
    return STORED + pack("<HH", size, size ^ 0xFFFF) + content + pack("<II", crc32(content), size)
