"""
A PBS accounting file of any size: the same bytes for the same number of rows.

    python -m benchmarks.logs.pbs FILE 1000000

A job has three records: it was queued, it started, and it ended.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from time import gmtime, strftime
from typing import Final

import numpy as np

BLOCK: Final = 30_000
JOBS: Final = BLOCK // 3
START: Final = 1_293_840_000
LONG: Final = 3600
ASKED: Final = (
    "user=user%03d group=group%02d account=account%02d jobname=job_%d queue=%s ctime=%d qtime=%d etime=%d"
    " start=%d owner=user@login1.example.org exec_host=node%03d/0-%d Resource_List.mem=%dmb"
    " Resource_List.neednodes=1:ppn=%d Resource_List.nodect=1 Resource_List.nodes=1:ppn=%d"
    " Resource_List.walltime=%02d:00:00"
)
USED: Final = (
    " session=%d end=%d Exit_status=%d resources_used.cput=%02d:%02d:%02d resources_used.mem=%dkb"
    " resources_used.vmem=%dkb resources_used.walltime=%02d:%02d:%02d"
)


def write(path: Path, rows: int) -> None:
    """Write an accounting file of *rows* rows."""
    left = rows
    with path.open("w") as file:
        for first in range(0, rows, BLOCK):
            lines = list(_rows(first))[:left]
            file.writelines(lines)
            left -= len(lines)


def _rows(first: int) -> Iterator[str]:
    """Yield the rows of one block; its own seed makes a longer log begin like a shorter one."""
    rng = np.random.default_rng([2011, first])
    number = np.arange(JOBS) + first // 3
    submit = START + 30 * number
    start = submit + (rng.lognormal(4, 2, JOBS) % 100_000).astype(np.int64)
    run = np.minimum(rng.lognormal(6.5, 1.8, JOBS), 432_000).astype(np.int64)
    user = np.minimum(rng.geometric(0.02, JOBS), 400)
    ppn = 2 ** rng.binomial(5, 0.4, JOBS)
    memory = rng.integers(1_000, 4_000_000, JOBS)
    queue = np.where(run > LONG, "long", "short")
    ended = rng.choice([0, 0, 0, 0, 1, 271], JOBS)
    cpu = (run * ppn * rng.uniform(0.5, 1, JOBS)).astype(np.int64)
    asked = (
        user, user % 23, user % 11, number % 977, queue, submit, submit, submit, start, number % 200, ppn - 1,
        memory // 1000 + 1, ppn, ppn, run // LONG + 1,
    )  # fmt: skip
    used = (number % 30_000, start + run, ended, *_clock(cpu), memory, memory * 2, *_clock(run))
    columns = [column.tolist() for column in (number, submit, start, start + run, *asked, *used)]
    for job, queued, started, over, *said in zip(*columns, strict=True):
        wanted = ASKED % tuple(said[: len(asked)])
        yield f"{_stamp(queued)};Q;{job}.pbs.example.org;queue={said[4]}\n"
        yield f"{_stamp(started)};S;{job}.pbs.example.org;{wanted}\n"
        yield f"{_stamp(over)};E;{job}.pbs.example.org;{wanted}{USED % tuple(said[len(asked) :])}\n"


def _clock(seconds: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return seconds // 3600, seconds // 60 % 60, seconds % 60


def _stamp(time: int) -> str:
    return strftime("%m/%d/%Y %H:%M:%S", gmtime(time))


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]))
