"""
What waits now: the pending jobs of ``squeue``, of PBS's ``qstat -f -F json``, and of any log.

``squeue`` is read as JSON, and as a table that has when jobs were submitted. Of other files, such as what
``kubectl get pods -o json`` printed, what waits is what the log has as submitted and not as started.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

from gwa.errors import TraceError
from gwa.formats.open import open_trace
from gwa.ingest.array_ranges import tasks_of
from gwa.metrics.waiting_now import WaitingNow, waiting_now
from gwa.store.options import ReadOptions
from gwa.util.durations import duration
from gwa.util.units import DAY, HOUR, MINUTE

KINDS: Final = "'squeue --json', a table of squeue, 'qstat -f -F json' or 'kubectl get pods -A -o json'"

COMMAND: Final = "'squeue --json' or \"squeue -t PD -o '%i|%P|%u|%T|%C|%l|%V|%r'\""
"""What lists a queue of Slurm with what is needed."""

NEEDED: Final = ("JOBID", "SUBMIT_TIME")
"""The columns without which a table of squeue says nothing of waits."""

PENDING: Final = ("PENDING", "PD")

HELD: Final = frozenset(
    {"BeginTime", "Dependency", "DependencyNeverSatisfied", "JobHeldAdmin", "JobHeldUser"}
)
"""Slurm's reasons of jobs that cannot start, whatever is free."""

LIMIT: Final = re.compile(r"(?:(\d{1,5})-)?(?:(\d{1,4}):)?(\d{1,4}):(\d\d)")
"""How Slurm writes limits of time: 1-12:00:00, 12:00:00 or 30:00."""


def read_queue(path: Path, zone: ZoneInfo, log_end: float = 0.0) -> tuple[float, list[WaitingNow]]:
    """
    Return when the queue in the file *path* was listed, and the jobs that wait in it.

    *zone* is that of times without one. A file that does not say when it was written is as old as its last
    submission, or as the end of the log (*log_end*), where that is later. Raise `TraceError` for a file of
    another kind.
    """
    text = _text(path)
    if re.match(r"\s*JOBID\b", text):
        listed, found = log_end, list(_of_table(path, text, zone))
    elif (data := _object(text)) is not None and isinstance(data.get("jobs"), list):
        jobs = enumerate(data["jobs"], 1)
        listed, found = _number(data.get("last_update")) or log_end, list(_each(path, jobs, _of_slurm))
    elif data is not None and isinstance(data.get("Jobs"), Mapping):
        listed = _number(data.get("timestamp")) or log_end
        found = list(_each(path, data["Jobs"].items(), partial(_of_pbs, zone)))
    elif data is not None and "kind" in data and data.get("items") == []:
        listed, found = log_end, []
    else:
        listed, found = _of_log(path, log_end)
    return max([listed, *(one.submit for one in found)]), found


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError):
        return ""


def _each(
    path: Path, jobs: Iterable[tuple[Any, Any]], read: Callable[[Any, Any], WaitingNow | None]
) -> Iterator[WaitingNow]:
    """Yield those of *jobs*, each with its name or number, that wait."""
    for name, job in jobs:
        try:
            found = read(name, job)
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
            raise TraceError(f"{path}: job {name} cannot be read ({error}), expected {KINDS}") from None
        if found is not None:
            yield found


def _object(text: str) -> Mapping[str, Any] | None:
    """Return the object that *text* has as JSON; None where it has none."""
    try:
        data = json.loads(text)
    except ValueError:
        return None
    return data if isinstance(data, Mapping) else None


def _of_log(path: Path, log_end: float) -> tuple[float, list[WaitingNow]]:
    """Return what waits at the end of a log in a file of its own."""
    try:
        store = open_trace([path], options=ReadOptions())
    except TraceError as error:
        raise TraceError(f"{path}: has no jobs, expected {KINDS} ({error})") from None
    with store:
        end, found = waiting_now(store)
    return max(end, log_end), found


def _of_table(path: Path, text: str, zone: ZoneInfo) -> Iterator[WaitingNow]:
    """Yield the pending jobs of a table of squeue, in columns parted by ``|`` or by blanks."""
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    (_, head), *rows = lines
    mark = "|" if "|" in head else None
    names = [name.strip() for name in head.split(mark)]
    if missing := [name for name in NEEDED if name not in names]:
        raise TraceError(f"{path}: has no column {missing[0]}, expected what {COMMAND} prints")
    for number, line in rows:
        cells = [cell.strip() for cell in line.split(mark)]
        if len(cells) != len(names):
            raise TraceError(
                f"{path}:{number}: {len(cells)} cells under {len(names)} names, expected what {COMMAND}"
                " prints"
            )
        job = dict(zip(names, cells, strict=True))
        state, reason = job.get("STATE") or job.get("ST"), job.get("REASON") or job.get("NODELIST(REASON)")
        if state not in {*PENDING, None} or _is_held(reason):
            continue
        try:
            submitted = datetime.fromisoformat(job["SUBMIT_TIME"]).replace(tzinfo=zone).timestamp()
            procs = _procs(job.get("CPUS"))
        except ValueError as error:
            raise TraceError(f"{path}:{number}: {error}, expected what {COMMAND} prints") from None
        yield WaitingNow(
            job["JOBID"],
            submitted,
            procs,
            _limit(job.get("TIME_LIMIT", "")),
            job.get("PARTITION") or None,
            job.get("USER") or None,
            _tasks(job["JOBID"]),
            _reason(reason),
        )


def _procs(text: object) -> int:
    """Return a number of processors, 1 where none is stated; raise `ValueError` for what is none."""
    procs = int(text or 1)  # type: ignore[call-overload]
    if procs < 1:
        raise ValueError(f"{procs} processors")
    return int(procs)


def _tasks(name: str) -> int | None:
    """Return how many tasks a name such as 12_[3-9%2] stands for; None where the list of them was cut."""
    return tasks_of(name) or (None if name.endswith("]") else 1)


def _reason(text: object) -> str | None:
    """Return the word of a reason, such as (ReqNodeNotAvail, UnavailableNodes:n1); None for none."""
    word = re.match(r"\(?(\w+)", str(text or ""))
    return word[1] if word and word[1] != "None" else None


def _is_held(reason: object) -> bool:
    return _reason(reason) in HELD


def _limit(text: str) -> float | None:
    """Return the seconds of a limit of Slurm, None for none."""
    match = LIMIT.fullmatch(text)
    if not match:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return float(days * DAY + hours * HOUR + minutes * MINUTE + seconds)


def _number(value: Any) -> float | None:  # noqa: ANN401 - of JSON
    """Return a number that Slurm writes as such or with whether it is set; None where it is not."""
    if isinstance(value, Mapping):
        value = value.get("number") if value.get("set") and not value.get("infinite") else None
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if is_number else None


def _of_slurm(number: int, job: Mapping[str, Any]) -> WaitingNow | None:
    state = job.get("job_state") or ()
    if "PENDING" not in ([state] if isinstance(state, str) else state) or _is_held(job.get("state_reason")):
        return None
    submitted = _number(job.get("submit_time"))
    if not submitted:
        raise ValueError("no time of its submission")
    limit = _number(job.get("time_limit"))
    listed = _text_of(job.get("array_task_string"))
    return WaitingNow(
        str(job.get("job_id", number)),
        max(submitted, _number(job.get("eligible_time")) or 0.0),
        _procs(_number(job.get("cpus"))),
        limit * MINUTE if limit else None,
        _text_of(job.get("partition")),
        _text_of(job.get("user_name")),
        _tasks(f"0_[{listed}]") if listed else 1,
        _reason(job.get("state_reason")),
    )


def _of_pbs(zone: ZoneInfo, name: str, job: Mapping[str, Any]) -> WaitingNow | None:
    since = job.get("etime") or job.get("qtime")
    if job.get("job_state") != "Q" or not since:
        return None
    asked = job.get("Resource_List") or {}
    submitted = datetime.strptime(str(since), "%a %b %d %H:%M:%S %Y").replace(tzinfo=zone)
    return WaitingNow(
        name,
        submitted.timestamp(),
        _procs(asked.get("ncpus")),
        duration(str(asked["walltime"])) if asked.get("walltime") else None,
        _text_of(job.get("queue")),
        str(job.get("Job_Owner", "")).partition("@")[0] or None,
    )


def _text_of(value: object) -> str | None:
    """Return a name, None where there is none; raise `TypeError` for what is no text."""
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{value!r} is not a name")
    return value or None
