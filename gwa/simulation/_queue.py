"""The event loop of policies that keep a queue and look at its head: FCFS, SJF, EASY."""

from heapq import heappop, heappush
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np

from gwa.simulation.jobs import NONE, UNLIMITED, Ceilings, Floats, Integers
from gwa.util.compiled import compiled, is_worth_compiling

FREE, RUNNING, LAST = 0, 1, 2

Columns = TypeVar("Columns", bound=tuple[Any, ...])

MINIMUM_COMPILED: Final = 4_000
"""Up to this many jobs, the loop ends before its compiled form is loaded, which takes .9 s and 150 MB."""

MAXIMUM_UNCOMPILED: Final = 100_000
"""More jobs are not scheduled without numba: at each event, the loop may look at all that wait."""


class Work(NamedTuple):
    """
    What the jobs are, and in which order they stand.

    *owner* is the number of the user of each, and *limit* the processors that this user may hold at once.
    """

    submit: Floats
    run: Floats
    estimate: Floats
    procs: Integers
    rank: Floats
    owner: Integers
    limit: Integers


class QueueState(NamedTuple):
    """
    The jobs that wait and the jobs that run.

    The queue is a list linked by *behind*, in which the place after the last job stands for its front.
    *running_jobs* are in order of their *expected* ends. *counters* are the number of free processors, the
    number of running jobs, and the last job in the queue; *held* are the processors that each owner holds.
    """

    start: Floats
    counters: Integers
    behind: Integers
    expected: Floats
    running_jobs: Integers
    held: Integers


def from_queue(  # noqa: PLR0913 - what numba takes are arrays
    submit: Floats,
    run: Floats,
    estimate: Floats,
    procs: Integers,
    cpus: int,
    rank: Floats,
    backfills: bool,  # noqa: FBT001
    *,
    ceilings: Ceilings | None = None,
) -> Floats:
    """
    Return when each job starts; the job of lowest *rank* is at the head of the queue.

    A job whose user would go above its ceiling is passed over: it is no head, and others start.
    """
    n = len(submit)
    owner, limit = ceilings or no_ceilings(n)
    work, queue = Work(submit, run, estimate, procs, rank, owner, limit), empty(n, cpus, owner)
    if is_worth_compiling(n, MINIMUM_COMPILED, MAXIMUM_UNCOMPILED, "jobs"):
        compiled(_run_events)(work, queue, backfills)
        return queue.start
    queue = as_lists(queue)
    _run_events(as_lists(work), queue, backfills)
    return np.array(queue.start, np.float64)


def no_ceilings(jobs: int) -> Ceilings:
    """Return the owners and limits of a number of *jobs* without limits."""
    return np.zeros(jobs, np.int64), np.full(jobs, UNLIMITED)


def empty(jobs: int, cpus: int, owner: Integers) -> QueueState:
    """Return the state before any of a number of *jobs* is submitted to a cluster of *cpus*."""
    capacity = min(jobs, cpus) + 1
    return QueueState(
        np.full(jobs, np.nan),
        np.array([cpus, 0, jobs]),
        np.full(jobs + 1, NONE),
        np.empty(capacity),
        np.empty(capacity, np.int64),
        np.zeros(owner.max(initial=0) + 1, np.int64),
    )


def as_lists(columns: Columns) -> Columns:
    """Return *columns* as lists, of which Python reads single numbers sooner than of arrays."""
    return type(columns)(*(column.tolist() for column in columns))


def _run_events(work: Work, queue: QueueState, backfills: bool) -> None:  # noqa: FBT001
    """Process all events: jobs end, are submitted, and start."""
    n, submit, procs = len(work.submit), work.submit, work.procs
    running = [(np.inf, NONE)]
    arrived = 0
    while arrived < n or len(running) > 1:
        now = running[0][0] if arrived == n else min(submit[arrived], running[0][0])
        while running[0][0] <= now:
            job = heappop(running)[1]
            queue.counters[FREE] += procs[job]
            queue.held[work.owner[job]] -= procs[job]
            remove_running(queue, job, queue.start[job] + work.estimate[job])
        while arrived < n and submit[arrived] <= now:
            insert(queue, work.rank, arrived)
            arrived += 1
        _schedule(work, queue, running, now, backfills)


def _schedule(
    work: Work,
    queue: QueueState,
    running: list[tuple[float, int]],
    now: float,
    backfills: bool,  # noqa: FBT001
) -> None:
    """Start the queued jobs that the policy lets start now."""
    counters, front = queue.counters, len(queue.start)
    shadow, spare, is_first = -np.inf, 0, True
    before, job = front, queue.behind[front]
    while job != NONE and counters[FREE] > 0:
        need, end, owner = work.procs[job], now + work.estimate[job], work.owner[job]
        if queue.held[owner] + need > work.limit[job]:
            before = job
        elif need <= counters[FREE] and (is_first or end <= shadow or need <= spare):
            if not is_first and end > shadow:
                spare -= need
            queue.start[job] = now
            counters[FREE] -= need
            queue.held[owner] += need
            heappush(running, (now + work.run[job], job))
            add_running(queue, job, end)
            queue.behind[before] = queue.behind[job]
            counters[LAST] = before if job == counters[LAST] else counters[LAST]
        elif not backfills:
            break
        else:
            if is_first:
                shadow, spare = shadow_time(queue, work.procs, need)
                is_first = False
            before = job
        job = queue.behind[before]


def insert(queue: QueueState, rank: Floats, job: int) -> None:
    """Put *job* behind all that have no higher rank."""
    behind, front, last = queue.behind, len(rank), queue.counters[LAST]
    before = last if last != front and rank[last] <= rank[job] else front
    while behind[before] != NONE and rank[behind[before]] <= rank[job]:
        before = behind[before]
    behind[job] = behind[before]
    behind[before] = job
    if behind[job] == NONE:
        queue.counters[LAST] = job


def add_running(queue: QueueState, job: int, end: float) -> None:
    """Add *job*, which is expected to end at *end*, to the running jobs."""
    expected, running_jobs, count = queue.expected, queue.running_jobs, queue.counters[RUNNING]
    place = _count_until(expected, count, end)
    expected[place + 1 : count + 1] = expected[place:count]
    running_jobs[place + 1 : count + 1] = running_jobs[place:count]
    expected[place] = end
    running_jobs[place] = job
    queue.counters[RUNNING] += 1


def remove_running(queue: QueueState, job: int, end: float) -> None:
    """Remove a running *job*, which was expected to end at *end*."""
    expected, running_jobs, count = queue.expected, queue.running_jobs, queue.counters[RUNNING]
    place = _count_until(expected, count, end) - 1
    while running_jobs[place] != job:
        place -= 1
    expected[place : count - 1] = expected[place + 1 : count]
    running_jobs[place : count - 1] = running_jobs[place + 1 : count]
    queue.counters[RUNNING] -= 1


def _count_until(expected: Floats, count: int, end: float) -> int:
    """Return how many of the first *count* ends, which are in order, are no later than *end*."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if expected[middle] <= end:
            low = middle + 1
        else:
            high = middle
    return low


def shadow_time(queue: QueueState, procs: Integers, need: int) -> tuple[float, int]:
    """Return when *need* processors will be free, by the estimates, and how many are left over then."""
    expected, free, count = queue.expected, queue.counters[FREE], queue.counters[RUNNING]
    place = 0
    while free < need or (0 < place < count and expected[place] == expected[place - 1]):
        free += procs[queue.running_jobs[place]]
        place += 1
    return expected[place - 1], free - need
