"""
A Grid Engine accounting file of any size: the same bytes for the same number of rows.

    python -m benchmarks.logs.sge FILE 1000000

Of 20 rows, 14 are serial jobs, three are tasks of arrays, and one parallel job comes with two slave rows.
"""

import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

import numpy as np

BLOCK: Final = 100_000
START: Final = 1_293_840_000
HEADER: Final = "# Version: 6.2u5\n# \n# DO NOT MODIFY THIS FILE MANUALLY!\n# \n"
ROW: Final = (
    "%s.q:node%03d.example.org:group%02d:user%03d:job_%d:%d:sge:0:%d:%d:%d:%d:%d:%d:%.6f:%.6f:%d.000000:"
    "0:0:0:0:%d:0:0:0.000000:%d:0:0:0:%d:%d:NONE:defaultdepartment:%s:%d:%d:%.6f:%.6f:%.6f:"
    "-u user%03d -q %s.q -l h_rt=%d,h_vmem=%dM%s:0.000000:%s:%d.000000:0:0\n"
)
ARRAY: Final = 14
MASTER: Final = 17
"""Of 20 rows the first of an array, and the master of the two slave tasks behind it."""

LONG: Final = 3600
KILLED: Final = 100


def write(path: Path, rows: int) -> None:
    """Write an accounting file of *rows* rows, in order of their end or nearly so."""
    clock = START
    with path.open("w") as file:
        file.write(HEADER)
        for first in range(0, rows, BLOCK):
            count = min(BLOCK, rows - first)
            file.writelines(_rows(first, count, clock))
            clock += 10 * BLOCK


def _rows(first: int, count: int, clock: int) -> Iterator[str]:
    """Yield the rows of one block; its own seed makes a longer log begin like a shorter one."""
    rng = np.random.default_rng([2011, first])
    number = np.arange(first, first + BLOCK)
    place = number % 20
    is_task, is_slave, is_parallel = (place >= ARRAY) & (place < MASTER), place > MASTER, place >= MASTER
    owner = np.where(is_parallel, MASTER, np.where(is_task, ARRAY, place))
    job = number - place + owner
    submit = clock + 10 * np.arange(BLOCK)
    start = submit + (rng.lognormal(4, 2, BLOCK) % 100_000).astype(np.int64)
    run = np.minimum(rng.lognormal(6.5, 1.8, BLOCK), 432_000).astype(np.int64)
    user = np.minimum(rng.geometric(0.02, BLOCK), 400)
    for each in (start, run, user):
        # Slave tasks run beside their master.
        each[1:] = np.where(place[1:] == MASTER + 1, each[:-1], each[1:])
        each[1:] = np.where(place[1:] == MASTER + 2, each[:-1], each[1:])
    memory = rng.integers(1_000, 4_000_000, BLOCK)
    failed = rng.choice([0] * 18 + [1, KILLED], BLOCK)
    cpu = run * rng.uniform(0.5, 1, BLOCK)
    queue = np.where(run > LONG, "long", "short")
    task = np.char.add((place - MASTER).astype(str), np.char.add(".node", (number % 200).astype(str)))
    columns = (
        queue, number % 200, user % 23, user, job % 977, job,
        np.where(is_slave, 0, submit), start, start + run, failed, np.where(failed == KILLED, 137, 0), run,
        cpu * 0.9, cpu * 0.1, memory, memory // 3, memory % 977, run, run // 2,
        np.where(is_parallel, "mpi", "NONE"), np.where(is_parallel, 16, 1), np.where(is_task, place, 0),
        cpu, cpu * memory / 1e6, memory / 1e7,
        user, queue, (run // LONG + 1) * LONG, 1024 * (1 + user % 8),
        np.where(is_parallel, " -pe mpi 16", ""), np.where(is_slave, task, "NONE"), memory * 2048,
    )  # fmt: skip
    return islice(map(ROW.__mod__, zip(*(column.tolist() for column in columns), strict=True)), count)


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]))
