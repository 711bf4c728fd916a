"""
What `sacct --parsable2` prints of a year's jobs, of any size: the same bytes for the same number of rows.

    python -m benchmarks.logs.slurm FILE 1000000

Each job has three rows: its allocation, and the steps batch and extern. One job in eight is a task
of an array.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import START, Jobs, jobs

ROWS: Final = 3
"""Rows of a job."""

STATES: Final = {1: "COMPLETED", 0: "FAILED", 5: "CANCELLED by 1000"}
CODES: Final = {1: "0:0", 0: "1:0", 5: "0:15"}

HEADER: Final = (
    "JobID|JobIDRaw|Cluster|Partition|QOS|Account|Group|User|Submit|Eligible|Start|End|Elapsed|TotalCPU|"
    "ExitCode|State|NNodes|NTasks|AllocCPUS|ReqCPUS|ReqMem|MaxRSS|ReqTRES|AllocTRES|Timelimit|NodeList|JobName\n"
)
JOB: Final = (
    "%(id)s|%(job)d|tower|part%(queue)d|normal|account%(group)d|group%(group)02d|user%(user)03d|%(submit)s|"
    "%(submit)s|%(start)s|%(end)s|%(elapsed)s|%(total)s|%(code)s|%(state)s|%(nodes)d||%(procs)d|%(procs)d|"
    "%(procs)dG||billing=%(procs)d,cpu=%(procs)d,mem=%(procs)dG,node=%(nodes)d|"
    "billing=%(procs)d,cpu=%(procs)d,mem=%(procs)dG,node=%(nodes)d|%(limit)s|node[01-%(nodes)02d]|run_%(executable)d\n"
)
STEP: Final = (
    "%(id)s.%(step)s|%(job)d.%(step)s|tower|||account%(group)d|||%(start)s|%(start)s|%(start)s|%(end)s|"
    "%(elapsed)s|%(total)s|%(code)s|%(state)s|1|1|%(procs)d|%(procs)d||%(memory)dK||"
    "cpu=%(procs)d,mem=%(procs)dG,node=1||node01|%(step)s\n"
)


def write(path: Path, rows: int) -> None:
    """Write *rows* rows below a header, in order of submission."""
    with path.open("w") as file:
        file.write(HEADER)
        left = rows
        for block in jobs(-(-rows // ROWS)):
            lines = [line for job in _columns(block) for line in _rows(job)]
            file.writelines(lines[:left])
            left -= len(lines)


def _columns(block: Jobs) -> Iterator[dict[str, Any]]:
    """Yield the jobs of a block, each with what its rows say."""
    submit = START + block["submit"]
    start = submit + block["wait"]
    columns: dict[str, list[Any]] = {name: column.tolist() for name, column in block.items()}
    columns |= {"submit": _stamps(submit), "start": _stamps(start), "end": _stamps(start + block["run"])}
    for values in zip(*columns.values(), strict=True):
        yield dict(zip(columns, values, strict=True))


def _rows(job: dict[str, Any]) -> list[str]:
    number = job["job"]
    job |= {
        "id": f"{number // 8 * 8}_{number % 8}" if number // 8 % 8 == 0 else str(number),
        "elapsed": _duration(job["run"]),
        "total": _duration(job["cpu"] * job["procs"]),
        "limit": _duration(job["req_time"]),
        "nodes": -(-job["procs"] // 32),
        "state": STATES[job["status"]],
        "code": CODES[job["status"]],
    }
    return [JOB % job, STEP % (job | {"step": "batch"}), STEP % (job | {"step": "extern"})]


def _stamps(seconds: NDArray[np.int64]) -> list[str]:
    return [str(stamp) for stamp in seconds.astype("datetime64[s]")]


def _duration(seconds: int) -> str:
    days, rest = divmod(seconds, 86_400)
    clock = f"{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
    return f"{days}-{clock}" if days else clock


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]))
