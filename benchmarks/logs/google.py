"""
Task events like those of Google's trace of 2011, of any number: the same bytes for the same number.

    python -m benchmarks.logs.google part-00000-of-00001.csv 1000000
    python -m benchmarks.logs.google FOLDER 10000000 200

The second makes a folder of so many parts.
Jobs of 40 tasks; four tasks in five end after one attempt, the others are evicted or fail and are
submitted again. Events are in order of time within a block, as they are in a part of the trace.
"""

import hashlib
import sys
from base64 import b64encode
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

BLOCK: Final = 100_000
"""Tasks that are made at a time; a part of the trace has about as many."""

SECOND: Final = 1_000_000
BEGIN: Final = 600 * SECOND
PAUSE: Final = 50_000
"""Microseconds from one submission to the next, on average."""

TASKS_OF_A_JOB: Final = 40
SUBMIT, SCHEDULE, EVICT, FAIL, FINISH, KILL = range(6)
AGAIN: Final = 0.2
"""How many attempts are followed by another one of the same task."""

USERS: Final = [b64encode(hashlib.sha256(b"user%03d" % number).digest()).decode() for number in range(900)]
ROW: Final = "%d,,%d,%d,%s,%d,%s,%d,%d,%.4g,%.4g,%.4g,%d\n"

Columns = list[NDArray[np.int64]]


def write(path: Path, rows: int) -> None:
    """Write *rows* task events to *path*."""
    with path.open("w") as file:
        file.writelines(_lines(rows))


def write_parts(folder: Path, rows: int, parts: int) -> None:
    """Write *rows* task events to so many *parts* in a *folder*, as the trace is published."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = _lines(rows)
    for part in range(parts):
        path = folder / f"part-{part:05}-of-{parts:05}.csv"
        with path.open("w") as file:
            file.writelines(islice(lines, rows * (part + 1) // parts - rows * part // parts))


def _lines(rows: int) -> Iterator[str]:
    for block in _blocks(rows):
        yield from map(_line, zip(*(column.tolist() for column in block), strict=True))


def _line(row: tuple[int, ...]) -> str:
    time, job, task, event = row
    size = job % 97 + 1
    machine = "" if event == SUBMIT else str(job * 31 % 12_583 + task)
    happened = (time, 6_250_000_000 + job, task, machine, event)
    request = (size / 400, size / 900, size / 1e5)
    return ROW % (*happened, USERS[job % 900], job % 4, job % 12, *request, job % 2)


def _blocks(rows: int) -> Iterator[Columns]:
    """Yield times, jobs, tasks and types of *rows* events, in order of time within a block."""
    begin, made, number = BEGIN, 0, 0
    while made < rows:
        rng = np.random.default_rng([2011, number])
        submit = begin + np.cumsum(rng.exponential(PAUSE, BLOCK)).astype(np.int64)
        attempts = list(_attempts(rng, np.arange(BLOCK) + number * BLOCK, submit))
        times, tasks, events = (np.concatenate(columns) for columns in zip(*attempts, strict=True))
        order = np.argsort(times, kind="stable")[: rows - made]
        job, index = np.divmod(tasks, TASKS_OF_A_JOB)
        yield [column[order] for column in (times, job, index, events)]
        begin, made, number = int(submit[-1]), made + len(order), number + 1


def _attempts(
    rng: np.random.Generator, tasks: NDArray[np.int64], submit: NDArray[np.int64]
) -> Iterator[Columns]:
    """Yield the events of *tasks*, attempt by attempt, until each has ended for good."""
    while len(tasks):
        start = submit + 1 + rng.exponential(5 * SECOND, len(tasks)).astype(np.int64)
        end = start + 1 + rng.exponential(600 * SECOND, len(tasks)).astype(np.int64)
        again = rng.random(len(tasks)) < AGAIN
        seldom = rng.random(len(tasks)) < AGAIN
        kind = np.where(again, np.where(seldom, FAIL, EVICT), np.where(seldom, KILL, FINISH))
        for time, event in ((submit, SUBMIT), (start, SCHEDULE), (end, kind)):
            yield [time, tasks, np.broadcast_to(event, len(tasks))]
        tasks, submit = tasks[again], end[again] + 1


if __name__ == "__main__":
    if len(sys.argv) > 3:  # noqa: PLR2004 - a file, how many rows, and in how many parts
        write_parts(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
    else:
        write(Path(sys.argv[1]), int(sys.argv[2]))
