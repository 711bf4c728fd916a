"""
Synthetic logs of any size: the same bytes for the same number of jobs, made once and kept.

    python -m benchmarks.data FOLDER swf 1000000

They are not model of a real cluster, only as wide, as varied and as busy as a published log: about a
million jobs a year on 1024 processors, at two thirds of their capacity, by 400 users.
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

BLOCK: Final = 100_000
START: Final = 1_293_840_000
PROCESSORS: Final = 1024
SECONDS_PER_JOB: Final = 30
"""On average, from one submission to the next."""

LONG_RUN: Final = 3600
WIDE: Final = 4
"""What goes to the second queue and to the third."""

SWF_HEADER: Final = f"""\
; Version: 2.2
; Computer: Made-up cluster
; Installation: Benchmarks of gwa
; UnixStartTime: {START}
; TimeZoneString: Europe/Amsterdam
; MaxProcs: {PROCESSORS}
; MaxQueues: 3
; Queue: 1 short
; Queue: 2 long
; Queue: 3 parallel
"""
SWF_ROW: Final = (
    "%7d %9d %6d %6d %4d %6d %8d %4d %6d       -1 %2d %3d %2d %3d %2d  1 -1 -1\n"  # 18 columns, padded
)
GWF_HEADER: Final = f"# GWF, 29 columns\n# Processors: {PROCESSORS}\n"
GWF_ROW: Final = "\t".join(
    (
        "%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t-1\t%d\tU%d\tG%d\tapp%d\tqueue%d",
        "cluster\tsite%d\tsite%d\tUNITARY",
        *["-1"] * 8,
        "vo%d\t-1\n",
    )
)

Jobs = dict[str, NDArray[np.int64]]


def jobs(rows: int) -> Iterator[Jobs]:
    """Yield *rows* jobs in blocks, in order of submission."""
    clock = 0
    for first in range(0, rows, BLOCK):
        block = _block(first, min(BLOCK, rows - first), clock)
        clock = int(block["submit"][-1])
        yield block


def _block(first: int, count: int, clock: int) -> Jobs:
    """Return *count* jobs; each block has a seed of its own, so a longer log begins like a shorter one."""
    rng = np.random.default_rng([2011, first])
    submit = clock + np.cumsum(rng.exponential(SECONDS_PER_JOB, BLOCK))[:count]
    run = run_times(rng, BLOCK)[:count]
    procs = 2 ** rng.binomial(6, 0.3, BLOCK)[:count]
    user = np.minimum(rng.geometric(0.02, BLOCK), 400)[:count]
    status = rng.choice([1, 1, 1, 1, 1, 1, 1, 0, 0, 5], BLOCK)[:count]
    return {
        "job": np.arange(first + 1, first + count + 1),
        "submit": submit.astype(np.int64),
        "wait": (rng.lognormal(4, 3, BLOCK)[:count] % 200_000).astype(np.int64),
        "run": run,
        "procs": procs,
        "cpu": (run * rng.uniform(0.5, 1, BLOCK)[:count]).astype(np.int64),
        "memory": rng.integers(1_000, 16_000_000, BLOCK)[:count],
        "req_procs": procs,
        "req_time": (run // 3600 + 1) * 3600,
        "status": status,
        "user": user,
        "group": user % 23 + 1,
        "executable": (user * 7 + rng.integers(0, 5, BLOCK)[:count]) % 900,
        "queue": 1 + (run > LONG_RUN) + (procs > WIDE),
    }


def run_times(rng: np.random.Generator, count: int) -> NDArray[np.int64]:
    """Return run times in whole seconds: from none to five days, half an hour in the middle."""
    times: NDArray[np.int64] = np.minimum(rng.lognormal(7, 1.8, count), 432_000).astype(np.int64)
    return times


def write_swf(path: Path, rows: int) -> None:
    """Write *rows* jobs in the Standard Workload Format, padded as published logs are."""
    with path.open("w") as file:
        file.write(SWF_HEADER)
        for block in jobs(rows):
            file.writelines(map(SWF_ROW.__mod__, _tuples(block)))


def write_gwf(path: Path, rows: int) -> None:
    """Write *rows* jobs in the Grid Workload Format: 29 columns, parted by tabs."""
    with path.open("w") as file:
        file.write(GWF_HEADER)
        for block in jobs(rows):
            block["submit"] += START
            block |= {"site": block["user"] % 12, "ran_at": block["job"] % 12, "vo": block["group"] % 5}
            file.writelines(map(GWF_ROW.__mod__, _tuples(block)))


def write_seconds(path: Path, rows: int) -> None:
    """Write *rows* run times in whole seconds, above 0, as a NumPy file: what a trace records."""
    np.save(path, np.maximum(run_times(np.random.default_rng(2011), rows), 1).astype(np.float64))


def write_reals(path: Path, rows: int) -> None:
    """Write *rows* values no two of which are equal, as a NumPy file."""
    np.save(path, 3600 * np.random.default_rng(2011).weibull(0.6, rows) + 1e-9)


def write_tasks(path: Path, rows: int) -> None:
    """Write submissions and run times of *rows* tasks in bags, as a NumPy file: 4,800 processors' work."""
    rng = np.random.default_rng(2011)
    run = np.maximum(run_times(rng, rows), 1).astype(np.float64)
    size = np.maximum(rng.lognormal(1, 1.2, rows), 1).astype(np.int64)
    bag = np.repeat(np.arange(rows), size)[:rows]
    submit = np.sort(rng.uniform(0, run.sum() / 4800, rows))[bag]
    np.save(path, np.stack([submit, run]))


def _tuples(block: Jobs) -> Iterator[tuple[int, ...]]:
    return zip(*(column.tolist() for column in block.values()), strict=True)


MAKERS: Final[dict[str, Callable[[Path, int], None]]] = {
    "swf": write_swf,
    "gwf": write_gwf,
    "seconds.npy": write_seconds,
    "reals.npy": write_reals,
    "tasks.npy": write_tasks,
}
"""What writes each kind of file, by suffix; accounting logs stand in `benchmarks.logs`."""


def made(folder: Path, kind: str, rows: int) -> Path:
    """Return the file of that *kind* and size in *folder*; it is made if need be, whole or not at all."""
    path = folder / f"{rows}.{kind}"
    if not path.exists():
        from benchmarks.logs import MAKERS as LOGS

        folder.mkdir(parents=True, exist_ok=True)
        part = folder / f"part-{path.name}"
        (MAKERS | LOGS)[kind](part, rows)
        part.replace(path)
    return path


if __name__ == "__main__":
    made(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
