"""The sample in the Standard Workload Format, version 2.2."""

from collections.abc import Iterator
from typing import Final

from gwa.formats.sample.queue import CORES, NODES
from gwa.formats.sample.workload import END, KINDS, START, USERS, Job
from gwa.store.system import SYNTHETIC

QUEUES: Final = ("short", "long")
PARTITIONS: Final = tuple(NODES)
PROJECTS: Final = tuple(sorted({user.project for user in USERS}))
USER_NAMES: Final = tuple(user.name for user in USERS)
PROGRAMS: Final = tuple(KINDS)

STATUSES: Final = {"COMPLETED": 1, "CANCELLED": 5, "PENDING": -1, "RUNNING": -1}
"""The number of each state that is not a failure, which is 0."""


def lines(jobs: list[Job]) -> Iterator[str]:
    """Yield the header, and a line for each of *jobs*, in the order of submission."""
    zero = min(job.submit for job in jobs)
    header = {
        "Version": "2.2",
        "Computer": "Invented cluster",
        "Installation": "nowhere: the sample of gwa",
        "Synthetic": SYNTHETIC,
        "Model": "sample: users drawn at random, scheduled first come first served with backfilling",
        "MaxJobs": len(jobs),
        "MaxRecords": len(jobs),
        "UnixStartTime": zero,
        "TimeZoneString": "UTC",
        "StartTime": START,
        "EndTime": END,
        "MaxNodes": sum(NODES.values()),
        "MaxProcs": CORES,
        "MaxQueues": len(QUEUES),
        "MaxPartitions": len(PARTITIONS),
    }
    yield from (f"; {key}: {value}" for key, value in header.items())
    for key, names in (("Queue", QUEUES), ("Partition", PARTITIONS)):
        yield from (f"; {key}: {number} {name}" for number, name in enumerate(names, 1))
    for number, job in enumerate(jobs, 1):
        yield " ".join(map(str, (number, job.submit - zero, *_fields(job))))


def _fields(job: Job) -> Iterator[int]:
    """Yield fields 3 to 18 of *job*; -1 is missing."""
    has_run, has_ended = job.start is not None, job.end is not None
    yield -1 if job.start is None else job.start - job.submit
    yield job.elapsed if has_run and has_ended else -1
    yield job.all_cores if has_run else -1
    yield job.total_cpu // job.all_cores if has_run and has_ended else -1
    yield job.memory // job.all_cores if has_run and has_ended else -1
    yield job.all_cores
    yield job.limit
    yield job.kind.memory << 20
    yield STATUSES.get(job.state, 0)
    yield USER_NAMES.index(job.user.name) + 1
    yield PROJECTS.index(job.user.project) + 1
    yield PROGRAMS.index(job.user.kind) + 1
    yield QUEUES.index(job.qos) + 1
    yield PARTITIONS.index(job.kind.partition) + 1
    yield from (-1, -1)
