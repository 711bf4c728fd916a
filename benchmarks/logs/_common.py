"""What the jobs of several logs have in common: when they were submitted, how long they ran, and whose."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import numpy as np

BLOCK: Final = 10_000
START: Final = 1_293_840_000

Job = tuple[int, ...]
"""A job's number, submission, start, end, user, processors, memory in KB, and exit code."""


def jobs(count: int) -> Iterator[Job]:
    """Yield *count* jobs; each block has a seed of its own, so a longer log begins like a shorter one."""
    for first in range(0, count, BLOCK):
        rng = np.random.default_rng([2011, first])
        number = np.arange(BLOCK) + first
        submit = START + 30 * number
        start = submit + (rng.lognormal(4, 2, BLOCK) % 100_000).astype(np.int64)
        end = start + np.minimum(rng.lognormal(6.5, 1.8, BLOCK), 432_000).astype(np.int64)
        user = np.minimum(rng.geometric(0.02, BLOCK), 400)
        procs = 2 ** rng.binomial(5, 0.4, BLOCK)
        memory = rng.integers(1_000, 4_000_000, BLOCK)
        code = rng.choice([0, 0, 0, 0, 1], BLOCK)
        columns = (number, submit, start, end, user, procs, memory, code)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        yield from (row for row, _ in zip(rows, range(count - first), strict=False))


def written(path: Path, rows: int, lines: Callable[[Job], str], rows_of_a_job: int = 1) -> None:
    """Write a log of *rows* rows, as *lines* makes them of each job."""
    with path.open("w") as file:
        file.writelines(map(lines, jobs(-(-rows // rows_of_a_job))))
