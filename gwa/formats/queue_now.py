"""What waits now: the pending jobs of ``squeue --json`` and of PBS's ``qstat -f -F json``."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from gwa.errors import TraceError
from gwa.util.durations import duration
from gwa.util.units import MINUTE


@dataclass(frozen=True)
class Pending:
    """A job that waits since *submit*, when it could have started: what it asks for, and whose it is."""

    name: str
    submit: float
    procs: int
    requested: float | None
    queue: str | None
    user: str | None


def read_queue(path: Path, zone: ZoneInfo) -> tuple[float, list[Pending]]:
    """
    Return when the queue in the file *path* was listed, and the jobs that wait in it.

    *zone* is that of times without one. Raise `TraceError` for a file of another kind.
    """
    try:
        data = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise TraceError(
            f"{path}: is not JSON ({error}), expected 'squeue --json' or 'qstat -f -F json'"
        ) from None
    is_object = isinstance(data, Mapping)
    if is_object and isinstance(data.get("jobs"), list):
        found = list(_of_slurm(data["jobs"]))
        listed = _number(data.get("last_update")) or 0.0
    elif is_object and isinstance(data.get("Jobs"), Mapping):
        found = list(_of_pbs(data["Jobs"], zone))
        listed = float(data.get("timestamp") or 0.0)
    else:
        raise TraceError(f"{path}: has no jobs, expected what 'squeue --json' or 'qstat -f -F json' prints")
    return max([listed, *(one.submit for one in found)]), found


def _number(value: Any) -> float | None:  # noqa: ANN401 - of JSON
    """Return a number that Slurm writes as such or with whether it is set; None where it is not."""
    if isinstance(value, Mapping):
        value = value.get("number") if value.get("set") and not value.get("infinite") else None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _of_slurm(jobs: list[Any]) -> Iterator[Pending]:
    for job in jobs:
        state = job.get("job_state") or ()
        if "PENDING" not in ([state] if isinstance(state, str) else state):
            continue
        submitted = _number(job.get("submit_time"))
        if not submitted:
            continue
        limit = _number(job.get("time_limit"))
        yield Pending(
            str(job.get("job_id", "")),
            max(submitted, _number(job.get("eligible_time")) or 0.0),
            int(_number(job.get("cpus")) or 1),
            limit * MINUTE if limit else None,
            job.get("partition") or None,
            job.get("user_name") or None,
        )


def _of_pbs(jobs: Mapping[str, Any], zone: ZoneInfo) -> Iterator[Pending]:
    for name, job in jobs.items():
        since = job.get("etime") or job.get("qtime")
        if job.get("job_state") != "Q" or not since:
            continue
        asked = job.get("Resource_List") or {}
        submitted = datetime.strptime(str(since), "%a %b %d %H:%M:%S %Y").replace(tzinfo=zone)
        yield Pending(
            name,
            submitted.timestamp(),
            int(asked.get("ncpus") or 1),
            duration(str(asked["walltime"])) if asked.get("walltime") else None,
            job.get("queue") or None,
            str(job.get("Job_Owner", "")).partition("@")[0] or None,
        )
