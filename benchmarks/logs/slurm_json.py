"""
What `sacct --json` prints of a year's jobs, of any size: the same bytes for the same number of rows.

    python -m benchmarks.logs.slurm_json FILE 50000

Each job has three rows: itself, and the steps batch and extern, with all that Slurm 24.11 says of them.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from benchmarks.data import START, jobs

ROWS: Final = 3
"""Rows of a job."""

STATES: Final = {1: ("COMPLETED", "SUCCESS", 0), 0: ("FAILED", "ERROR", 1), 5: ("CANCELLED", "SIGNALED", 0)}
RESOURCES: Final = {"cpu": 1, "mem": 2, "node": 4, "billing": 5}

BEGIN: Final = '{\n  "jobs": ['
END: Final = """
  ],
  "meta": {"plugin": {"data_parser": "data_parser/v0.0.42"}, "slurm": {"release": "24.11.5"}},
  "errors": [],
  "warnings": []
}
"""

Json = dict[str, Any]


def write(path: Path, rows: int) -> None:
    """Write jobs in order of submission, indented as Slurm does; with their steps they are *rows* rows."""
    with path.open("w") as file:
        file.write(BEGIN)
        between, left = "\n", rows
        for job in _all_jobs(-(-rows // ROWS)):
            file.write(between + json.dumps(_record(job, min(left, ROWS) - 1), indent=2))
            between, left = ",\n", left - ROWS
        file.write(END)


def _all_jobs(count: int) -> Iterator[Mapping[str, int]]:
    for block in jobs(count):
        for values in zip(*(column.tolist() for column in block.values()), strict=True):
            yield dict(zip(block, values, strict=True))


def _number(value: int | None = None) -> Json:
    return {"set": value is not None, "infinite": False, "number": value or 0}


def _tres(**counts: int) -> list[Json]:
    return [
        {"type": name, "name": "", "id": RESOURCES[name], "count": count} for name, count in counts.items()
    ]


def _outcome(job: Mapping[str, int]) -> Json:
    _, status, code = STATES[job["status"]]
    signal = 15 if status == "SIGNALED" else None
    return {
        "status": [status],
        "return_code": _number(code),
        "signal": {"id": _number(signal), "name": "TERM" if signal else ""},
    }


def _spent(seconds: int) -> Json:
    return {"seconds": seconds, "microseconds": 0}


def _record(job: Mapping[str, int], steps: int) -> Json:
    """Return a job with as many *steps*."""
    submit, procs, nodes = START + job["submit"], job["procs"], -(-job["procs"] // 32)
    start, user, place = submit + job["wait"], f"user{job['user']:03}", f"node[01-{nodes:02}]"
    spent = job["cpu"] * procs
    state, _, _ = STATES[job["status"]]
    held = _tres(cpu=procs, mem=procs * 1024, node=nodes, billing=procs)
    account = f"account{job['group']}"
    return {
        "account": account,
        "comment": {"administrator": "", "job": "", "system": ""},
        "allocation_nodes": nodes,
        "array": {
            "job_id": 0,
            "limits": {"max": {"running": {"tasks": 0}}},
            "task_id": _number(),
            "task": "",
        },
        "association": {
            "account": account,
            "cluster": "tower",
            "partition": "",
            "user": user,
            "id": job["user"],
        },
        "block": "",
        "cluster": "tower",
        "constraints": "",
        "container": "",
        "derived_exit_code": _outcome(job),
        "time": {
            "elapsed": job["run"],
            "eligible": submit,
            "end": start + job["run"],
            "planned": _number(job["wait"]),
            "start": start,
            "submission": submit,
            "suspended": 0,
            "system": _spent(0),
            "limit": _number(job["req_time"] // 60),
            "total": _spent(spent),
            "user": _spent(spent),
        },
        "exit_code": _outcome(job),
        "extra": "",
        "failed_node": "",
        "flags": ["STARTED_ON_SCHEDULE", "START_RECEIVED"],
        "group": f"group{job['group']:02}",
        "het": {"job_id": 0, "job_offset": _number()},
        "job_id": job["job"],
        "name": f"run_{job['executable']}",
        "licenses": "",
        "mcs": {"label": ""},
        "nodes": place,
        "partition": f"part{job['queue']}",
        "hold": False,
        "priority": _number(181),
        "qos": "normal",
        "qosreq": "",
        "required": {"CPUs": procs, "memory_per_cpu": _number(1024), "memory_per_node": _number()},
        "kill_request_user": "",
        "restart_cnt": 0,
        "reservation": {"id": 0, "name": ""},
        "script": "",
        "stdin_expanded": "/dev/null",
        "stdout_expanded": f"/home/{user}/slurm-{job['job']}.out",
        "stderr_expanded": "",
        "stdout": f"/home/{user}/slurm-%j.out",
        "stderr": "",
        "stdin": "/dev/null",
        "state": {"current": [state], "reason": "None"},
        "steps": [_step(job, start, name, held[:3]) for name in ("batch", "extern")[:steps]],
        "submit_line": f"sbatch --ntasks {procs} run_{job['executable']}.sh",
        "tres": {"allocated": held, "requested": held},
        "used_gres": "",
        "user": user,
        "wckey": {"wckey": "", "flags": []},
        "working_directory": f"/home/{user}",
    }


def _step(job: Mapping[str, int], start: int, name: str, held: list[Json]) -> Json:
    used = [
        {**item, "node": "node01", "task": 0}
        for item in _tres(cpu=job["cpu"] * 1000, mem=job["memory"] << 10)
    ]
    state, _, _ = STATES[job["status"]]
    return {
        "time": {
            "elapsed": job["run"],
            "end": _number(start + job["run"]),
            "start": _number(start),
            "suspended": 0,
            "system": _spent(0),
            "total": _spent(job["cpu"]),
            "user": _spent(job["cpu"]),
        },
        "exit_code": _outcome(job),
        "nodes": {"count": 1, "range": "node01", "list": ["node01"]},
        "tasks": {"count": 1},
        "pid": "",
        "CPU": {"requested_frequency": {"min": _number(0), "max": _number(0)}, "governor": "0"},
        "kill_request_user": "",
        "state": [state],
        "statistics": {"CPU": {"actual_frequency": 0}, "energy": {"consumed": _number(0)}},
        "step": {"id": f"{job['job']}.{name}", "name": name},
        "task": {"distribution": "Unknown"},
        "tres": {
            "requested": {"max": used, "min": used, "average": used, "total": used},
            "consumed": {"max": [], "min": [], "average": [], "total": []},
            "allocated": held,
        },
    }


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]))
