"""
A Grid Engine accounting file of any size: the same bytes for the same number of rows.

    python -m benchmarks.logs.sge FILE 1000000

Of 20 rows, 14 are serial jobs, three are tasks of arrays, and one parallel job comes with two slave rows.
"""

import sys
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
ARRAY: Final = (14, 15, 16)
MASTER: Final = 17
SLAVES: Final = (18, 19)


def write(path: Path, rows: int) -> None:
    """Write an accounting file of *rows* rows, in order of their end or nearly so."""
    clock = START
    with path.open("w") as file:
        file.write(HEADER)
        for first in range(0, rows, BLOCK):
            count = min(BLOCK, rows - first)
            file.writelines(_rows(first, count, clock))
            clock += 10 * BLOCK


def _rows(first: int, count: int, clock: int) -> list[str]:
    """Return the rows of one block; each block has a seed of its own, so a longer log begins like a shorter."""
    rng = np.random.default_rng([2011, first])
    submit = clock + 10 * np.arange(BLOCK)
    start = submit + (rng.lognormal(4, 2, BLOCK) % 100_000).astype(np.int64)
    run = np.minimum(rng.lognormal(6.5, 1.8, BLOCK), 432_000).astype(np.int64)
    user = np.minimum(rng.geometric(0.02, BLOCK), 400)
    memory = rng.integers(1_000, 4_000_000, BLOCK)
    failed = rng.choice([0] * 18 + [1, 100], BLOCK)
    cpu = run * rng.uniform(0.5, 1, BLOCK)
    columns = (column.tolist() for column in (submit, start, run, user, memory, failed, cpu))
    return [_row(first + place, *values) for place, values in enumerate(zip(*columns, strict=True))][:count]


def _row(number: int, submit: int, start: int, run: int, user: int, memory: int, failed: int, cpu: float) -> str:
    place = number % 20
    job = number // 20 * 20 + (MASTER if place in SLAVES else ARRAY[0] if place in ARRAY else place)
    parallel = place >= MASTER
    queue = "long" if run > 3600 else "short"
    if place in SLAVES:
        submit = 0
    return ROW % (
        queue, number % 200, user % 23, user, job % 977, job,
        submit, start, start + run, failed, 137 if failed == 100 else 0, run, cpu * 0.9, cpu * 0.1, memory,
        memory // 3, memory % 977, run, run // 2,
        "mpi" if parallel else "NONE", 16 if parallel else 1, place if place in ARRAY else 0,
        cpu, cpu * memory / 1e6, memory / 1e7,
        user, queue, (run // 3600 + 1) * 3600, 1024 * (1 + user % 8), " -pe mpi 16" if parallel else "",
        f"{place - MASTER}.node{number % 200:03d}" if place in SLAVES else "NONE", memory * 2048,
    )  # fmt: skip


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]))
