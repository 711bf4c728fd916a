"""The event loop of policies that keep a queue and look at its head: FCFS, SJF, EASY."""

from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
from numba import njit

from gwa.simulation.jobs import Floats, Integers

NOBODY = -1
FREE, HELD, LAST = 0, 1, 2


class Work(NamedTuple):
    """What the jobs are, and in which order they stand."""

    run: Floats
    estimate: Floats
    procs: Integers
    rank: Floats


class Books(NamedTuple):
    """
    What the scheduler writes down.

    The queue is a list linked by *behind*, in which the place after the last job stands for its front.
    The jobs that run are *holders*, in order of their *expected* ends. *tally* has the number of
    processors that are free, the number of jobs that run, and who is the last in the queue.
    """

    start: Floats
    tally: Integers
    behind: Integers
    expected: Floats
    holders: Integers


@njit(cache=True)
def from_queue(
    submit: Floats,
    run: Floats,
    estimate: Floats,
    procs: Integers,
    cpus: int,
    rank: Floats,
    backfills: bool,  # noqa: FBT001 - numba knows no keywords
) -> Floats:
    """Return when each job starts; who has the lowest *rank* stands at the head of the queue."""
    n = len(submit)
    most = min(n, cpus) + 1
    work = Work(run, estimate, procs, rank)
    books = Books(
        np.full(n, np.nan),
        np.array([cpus, 0, n]),
        np.full(n + 1, NOBODY),
        np.empty(most),
        np.empty(most, np.int64),
    )
    running = [(np.inf, NOBODY)]
    arrived = 0
    while arrived < n or len(running) > 1:
        now = running[0][0] if arrived == n else min(submit[arrived], running[0][0])
        while running[0][0] <= now:
            job = heappop(running)[1]
            books.tally[FREE] += procs[job]
            _release(books, job, books.start[job] + estimate[job])
        while arrived < n and submit[arrived] <= now:
            _enqueue(books, rank, arrived)
            arrived += 1
        _look(work, books, running, now, backfills)
    return books.start


@njit(cache=True)
def _look(
    work: Work,
    books: Books,
    running: list[tuple[float, int]],
    now: float,
    backfills: bool,  # noqa: FBT001
) -> None:
    """Start whom the policy lets start."""
    tally, front = books.tally, len(books.start)
    shadow, spare = -np.inf, 0
    before, job = front, books.behind[front]
    while job != NOBODY and tally[FREE] > 0:
        need, end = work.procs[job], now + work.estimate[job]
        if need <= tally[FREE] and (before == front or end <= shadow or need <= spare):
            if before != front and end > shadow:
                spare -= need
            books.start[job] = now
            tally[FREE] -= need
            heappush(running, (now + work.run[job], job))
            _hold(books, job, end)
            books.behind[before] = books.behind[job]
            tally[LAST] = before if job == tally[LAST] else tally[LAST]
        elif not backfills:
            break
        else:
            if before == front:
                shadow, spare = _shadow(books, work.procs, need)
            before = job
        job = books.behind[before]


@njit(cache=True)
def _enqueue(books: Books, rank: Floats, job: int) -> None:
    """Put *job* behind all that have no higher rank."""
    behind, front, last = books.behind, len(rank), books.tally[LAST]
    before = last if last != front and rank[last] <= rank[job] else front
    while behind[before] != NOBODY and rank[behind[before]] <= rank[job]:
        before = behind[before]
    behind[job] = behind[before]
    behind[before] = job
    if behind[job] == NOBODY:
        books.tally[LAST] = job


@njit(cache=True)
def _hold(books: Books, job: int, end: float) -> None:
    """Note that *job* runs and is expected to end at *end*."""
    expected, holders = books.expected, books.holders
    place = books.tally[HELD]
    while place > 0 and expected[place - 1] > end:
        expected[place] = expected[place - 1]
        holders[place] = holders[place - 1]
        place -= 1
    expected[place] = end
    holders[place] = job
    books.tally[HELD] += 1


@njit(cache=True)
def _release(books: Books, job: int, end: float) -> None:
    """Forget a *job* that was expected to end at *end*."""
    expected, holders, held = books.expected, books.holders, books.tally[HELD]
    place = np.searchsorted(expected[:held], end)
    while holders[place] != job:
        place += 1
    for later in range(place, held - 1):
        expected[later] = expected[later + 1]
        holders[later] = holders[later + 1]
    books.tally[HELD] -= 1


@njit(cache=True)
def _shadow(books: Books, procs: Integers, need: int) -> tuple[float, int]:
    """Return when *need* processors will be free, by the estimates, and how many are left over then."""
    expected, free, held = books.expected, books.tally[FREE], books.tally[HELD]
    place = 0
    while free < need or (0 < place < held and expected[place] == expected[place - 1]):
        free += procs[books.holders[place]]
        place += 1
    return expected[place - 1], free - need
