"""
Logs as large as the largest there are: the same bytes for the same numbers, streamed in flat memory.

    python -m benchmarks.make_big google build/big/google --rows 100000000 --parts 500
    python -m benchmarks.make_big decade build/big/decade --rows 44000000 --parts 10

``google`` are task events with the shape of those of Google's trace of 2011: gzipped parts in order of
time, of which the first tells what there was when the trace began; three jobs in four have one task and
few have thousands; some tasks are evicted or fail and start again, and a few do so without end. ``decade``
is a log of ten years in the Standard Workload Format, of the jobs of `benchmarks.data`.
"""

import argparse
import gzip
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Final

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchmarks.data import SWF_HEADER, jobs

SECOND: Final = 1_000_000
BEGIN: Final = 600 * SECOND
WINDOW: Final = 5011 * SECOND
"""A part of the trace tells of about so long."""

TASKS: Final = 50_000
"""Tasks that are submitted in a window."""

STATE: Final = 120_000
"""Tasks that existed when the trace began."""

LARGEST: Final = 20_000
LONGEST: Final = 10 * 86_400
SUBMIT, SCHEDULE, EVICT, FAIL, FINISH, KILL = range(6)
AGAIN: Final = (0.15, 0.97)
"""How many attempts are followed by another one, of most tasks and of those that fail over and over."""

HOPELESS: Final = 0.002
ALONE: Final = 0.75
"""How many jobs have one task only."""

SELDOM: Final = 0.3

TEN_YEARS: Final = 10 * 365.25 * 86_400
PROCESSORS: Final = 5632

GOOGLE_ROW: Final = """
select
    time, null, 6250000000 + job, task, case when event > 0 then job * 31 % 12583 + task % 7 end, event,
    md5((job % 509)::varchar) || 'AAAAAAAAAAA=', job % 4,
    case when job % 16 < 8 then 0 when job % 16 < 14 then 2 else job % 16 - 5 end,
    (job % 97 + 1) / 400, round((job % 89 + 1) / 900, 5), round((job % 11 + 1) / 1e5, 6),
    (job % 5 = 0)::integer
from events order by time, job, task, event
"""
SWF_ROW: Final = """
select
    job, submit, wait, run, procs, cpu, memory, req_procs, req_time, -1, status, "user", "group",
    executable, queue, 1, -1, -1
from events order by job
"""

Events = dict[str, NDArray[np.int64]]


def sizes(rng: np.random.Generator, tasks: int) -> NDArray[np.int64]:
    """Return how many tasks each job has, of *tasks* together."""
    drawn = np.minimum(3 * (1 + rng.pareto(0.7, tasks)), LARGEST).astype(np.int64)
    drawn[rng.random(tasks) < ALONE] = 1
    ends = np.cumsum(drawn)
    last = int(np.searchsorted(ends, tasks))
    drawn = drawn[: last + 1]
    drawn[last] -= ends[last] - tasks
    return drawn


def _attempts(rng: np.random.Generator, tasks: Events) -> Iterator[Events]:
    """Yield the events of *tasks*, attempt by attempt, until each has ended for good."""
    hopeless = rng.random(len(tasks["time"])) < HOPELESS
    while len(tasks["time"]):
        submit, size = tasks["time"], len(tasks["time"])
        start = submit + 1 + rng.exponential(5 * SECOND, size).astype(np.int64)
        run = np.minimum(rng.lognormal(6.0, 1.5, size), LONGEST)
        end = start + SECOND + (np.where(hopeless, 30.0, run) * SECOND).astype(np.int64)
        again = rng.random(size) < np.where(hopeless, AGAIN[1], AGAIN[0])
        seldom = rng.random(size) < SELDOM
        kind = np.where(again, np.where(seldom, FAIL, EVICT), np.where(seldom, KILL, FINISH))
        for time, event in ((submit, SUBMIT), (start, SCHEDULE), (end, kind)):
            yield {**tasks, "time": time, "event": np.broadcast_to(event, size).astype(np.int64)}
        tasks = {name: column[again] for name, column in (tasks | {"time": end + 1}).items()}
        hopeless = hopeless[again]


def _submitted(rng: np.random.Generator, number: int, begin: int) -> Events:
    """Return the tasks that are submitted in a window: those of a job one shortly after the other."""
    size = sizes(rng, TASKS)
    job = np.repeat(np.arange(len(size)), size)
    task = np.arange(TASKS) - np.repeat(np.cumsum(size) - size, size)
    submit = begin + np.sort(rng.integers(0, WINDOW, len(size)))
    return {"time": submit[job] + task * 500, "job": job + (number + 1) * TASKS, "task": task}


def _state(rng: np.random.Generator, tasks: int) -> Iterator[Events]:
    """Yield what is told of the tasks that ran when the trace began, and how those end that do."""
    zero = np.zeros(tasks, np.int64)
    known = {"job": np.arange(tasks) // 30, "task": np.arange(tasks) % 30}
    yield {"time": zero, **known, "event": zero}
    yield {"time": zero, **known, "event": zero + SCHEDULE}
    end = BEGIN + (rng.lognormal(11, 2, tasks) * SECOND).astype(np.int64)
    yield {"time": end, **known, "event": zero + FINISH}


def events(state: int = STATE) -> Iterator[Events]:
    """Yield events without end, in order of time from block to block."""
    waiting = _joined(list(_state(np.random.default_rng(2011), state)))
    for number in count():
        rng, begin = np.random.default_rng([2011, number]), BEGIN + number * WINDOW
        waiting = _joined([waiting, *_attempts(rng, _submitted(rng, number, begin))])
        now = waiting["time"] < begin + WINDOW
        yield {name: column[now] for name, column in waiting.items()}
        waiting = {name: column[~now] for name, column in waiting.items()}


def _joined(parts: list[Events]) -> Events:
    return {name: np.concatenate([part[name] for part in parts]) for name in ("time", "job", "task", "event")}


def decade(rows: int) -> Iterator[Events]:
    """Yield so many *rows*, spread over ten years."""
    pace = TEN_YEARS / (rows * 30)
    for block in jobs(rows):
        yield block | {"submit": (block["submit"] * pace).astype(np.int64)}


def portions(blocks: Iterator[Events], rows: int, parts: int) -> Iterator[Iterator[Events]]:
    """Cut *blocks* into so many *parts* of *rows* together."""
    rest: Events = {}

    def portion(wanted: int) -> Iterator[Events]:
        nonlocal rest
        while wanted:
            block = rest or next(blocks)
            size = min(wanted, len(next(iter(block.values()))))
            yield {name: column[:size] for name, column in block.items()}
            rest = {name: column[size:] for name, column in block.items()}
            rest = rest if len(next(iter(rest.values()))) else {}
            wanted -= size

    for part in range(parts):
        yield portion(rows * (part + 1) // parts - rows * part // parts)


def in_order(blocks: Iterator[Events]) -> Iterator[Events]:
    """Sort the events of each block by time."""
    for block in blocks:
        order = np.lexsort((block["event"], block["task"], block["job"], block["time"]))
        yield {name: column[order] for name, column in block.items()}


def write(path: Path, blocks: Iterator[Events], row: str, begin: str = "", delimiter: str = ",") -> None:
    """Write *blocks* as text, a line for each; the engine prints faster than Python does."""
    part, text = path.with_name(f"part-of-{path.name}"), path.with_name(f"text-of-{path.stem}")
    zipped = path.suffix == ".gz"
    with gzip.GzipFile(part, "wb", compresslevel=1, mtime=0) if zipped else part.open("wb") as file:
        file.write(begin.encode())
        for block in blocks:
            with duckdb.connect(config={"threads": 1}) as database:
                database.register("events", pa.table({name: pa.array(block[name]) for name in block}))
                database.execute(
                    f"copy ({row}) to '{text}' (header false, delimiter '{delimiter}', quote '')"
                )
            file.write(text.read_bytes())
    text.unlink(missing_ok=True)
    part.replace(path)


def google(folder: Path, rows: int, parts: int) -> None:
    """Write *rows* task events to so many *parts*, as the trace is published."""
    stream = portions(in_order(events(min(STATE, rows // 20))), rows, parts)
    for number, blocks in enumerate(stream):
        write(folder / f"part-{number:05}-of-{parts:05}.csv.gz", blocks, GOOGLE_ROW)


def swf(folder: Path, rows: int, parts: int) -> None:
    """Write *rows* jobs of ten years to so many *parts*."""
    header = SWF_HEADER.replace("MaxProcs: 1024", f"MaxProcs: {PROCESSORS}")
    for number, blocks in enumerate(portions(decade(rows), rows, parts)):
        write(folder / f"decade-{number:03}.swf", blocks, SWF_ROW, header, " ")


KINDS: Final = {"google": google, "decade": swf}


def main(words: list[str] | None = None) -> None:
    """Make what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.make_big", description=__doc__.split("\n")[1])
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--parts", type=int, default=1)
    asked = parser.parse_args(words)
    asked.folder.mkdir(parents=True, exist_ok=True)
    KINDS[asked.kind](asked.folder, asked.rows, asked.parts)


if __name__ == "__main__":
    main()
