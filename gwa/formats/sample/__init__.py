"""
A small log of an invented cluster, made on the spot: the same bytes on every machine.

`workload` draws what the users submit, `queue` is the machine that runs it, first come first served with
backfilling, so that waits, load and the outage agree with each other; `slurm` and `swf` write what its
accounting says. The log shows everything that a report answers: 64 weeks of three projects, two QoS and two
partitions; all outcomes; requests, memory, energy and the use of GPUs, some of them wasted; one project that
triples its work, an outage of a day, and ten days whose rows are missing.

`requests` is another sample, of requests to language models.

The numbers come from ``random.Random.random`` alone, which Python keeps the same for the same seed, and from
tables; logarithms differ by machine.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from gwa.formats.sample import requests, slurm, swf
from gwa.formats.sample.queue import CORES, GPUS, run
from gwa.formats.sample.workload import Job, submissions
from gwa.formats.sample.workload import is_recorded as is_recorded
from gwa.util.atomic import compressing, whole, write_whole

KINDS: Final[dict[str, Callable[[list[Job]], Iterator[str]]]] = {"slurm": slurm.lines, "swf": swf.lines}
"""What writes the lines of each kind of log; the first is the default."""


def jobs() -> list[Job]:
    """Return all jobs of the log, by their numbers; those whose rows are missing are left out."""
    return [job for job in run(submissions()) if is_recorded(job)]


REQUESTS: Final = "requests"
"""The kind of sample that has requests to language models, and no jobs."""


SYSTEM: Final = f"""\
# The system that sample.sacct is the log of: gwa takes what lies beside a log under its name.
name = "Sample cluster"
cpus = {CORES}
gpus = {GPUS}
description = "Invented: no system ran these jobs."
"""
"""What a file says of the invented cluster, which sacct does not."""


def write_system(path: Path) -> None:
    """Write what is known of the invented cluster to *path*."""
    write_whole(path, SYSTEM)


def write(kind: str, path: Path) -> int:
    """Write the log as *kind* to *path*, whole or not at all; return the number of its jobs or requests."""
    made = jobs() if kind != REQUESTS else []
    written = list(KINDS[kind](made) if made else requests.lines())
    with whole(path) as part, compressing(part, path) as file:
        for line in written:
            file.write(f"{line}\n".encode())
    return len(made) or len(written) - requests.LINES_BEFORE
