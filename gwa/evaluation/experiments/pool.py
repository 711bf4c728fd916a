"""
Runs in processes of their own.

A process is a plain command, not one of a `multiprocessing` pool, so that a script without a ``__main__``
guard is not run twice. It is told names of runs, a piece of work at a time, and says each that is done.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from math import ceil
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import IO, Final, TypeAlias, cast

from gwa.errors import SimulationError
from gwa.evaluation.experiments.plan import Plan, PlannedRun
from gwa.evaluation.experiments.run_cache import RunCache

PIECES: Final = 4
"""So many pieces of work for each process, at least, so that none is idle for long at the end."""

FAILED: Final = "! "
"""How a process says that it could not do a run; the reason follows."""

ENDED: Final = f"{FAILED}a process that simulates has ended; with --jobs 1 there is none"

Process: TypeAlias = "subprocess.Popen[bytes]"


def spread(plan: Plan, left: Sequence[PlannedRun], shelf: RunCache, jobs: int) -> Iterator[str]:
    """Yield the names of the runs *left* as they are done; raise `SimulationError` where one cannot be."""
    work: SimpleQueue[list[str]] = SimpleQueue()
    for piece in pieces(left, jobs):
        work.put([run.name for run in piece])
    said: SimpleQueue[str] = SimpleQueue()
    processes = [_started(plan, shelf) for _ in range(min(jobs, work.qsize()))]
    threads = [Thread(target=_lead, args=(process, work, said), daemon=True) for process in processes]
    try:
        for thread in threads:
            thread.start()
        for _ in left:
            name = said.get()
            if name.startswith(FAILED):
                raise SimulationError(name.removeprefix(FAILED))
            yield name
    finally:
        for process, thread in zip(processes, threads, strict=True):
            process.kill()
            thread.join()
            with suppress(OSError), process:
                pass


def pieces(runs: Sequence[PlannedRun], jobs: int) -> Iterator[Sequence[PlannedRun]]:
    """Yield *runs* in pieces of one workload each; shorter ones where there are few workloads."""
    groups = [list(same) for _, same in groupby(runs, key=lambda run: run.variant)]
    parts = ceil(PIECES * jobs / max(1, len(groups)))
    for group in groups:
        size = max(1, ceil(len(group) / parts))
        yield from (group[start : start + size] for start in range(0, len(group), size))


def _started(plan: Plan, shelf: RunCache) -> Process:
    """Start a Python with the import path of this one; it ends when its standard input does."""
    path = os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path)
    told = json.dumps(
        [str(plan.stated.path), plan.stated.experiment.repetitions, str(shelf.folder), shelf.schedules]
    )
    return subprocess.Popen(  # noqa: S603 - our own interpreter and module
        [sys.executable, "-m", "gwa.evaluation.experiments._worker", told],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": path},
    )


def _lead(process: Process, work: "SimpleQueue[list[str]]", said: "SimpleQueue[str]") -> None:
    """Hand pieces of *work* to a process until none is left, and pass on what it says."""
    orders, answers = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)
    while True:
        try:
            names = work.get_nowait()
        except Empty:
            return
        try:
            orders.write(json.dumps(names).encode() + b"\n")
            orders.flush()
        except OSError:
            said.put(ENDED)
            return
        for _ in names:
            line = answers.readline().decode().rstrip("\n")
            said.put(line or ENDED)
            if not line or line.startswith(FAILED):
                return
