"""
One cluster whose scheduler stands outside: the loop of `gwa.simulation.backfilling`, job by job.

At one instant ends come before submissions, as there. What then starts is chosen by who drives the loop:
a choice as by EASY gives the schedule of EASY, start by start. The steps of that loop stand here once
more: as functions of both they would cost it a third more time once compiled.
"""

from collections.abc import Iterator
from heapq import heappop, heappush
from math import inf

import numpy as np

from gwa.errors import SimulationError
from gwa.simulation._queue import (
    FREE,
    LAST,
    RUNNING,
    Work,
    add_running,
    as_lists,
    empty,
    insert,
    no_ceilings,
    remove_running,
    shadow_time,
)
from gwa.simulation.jobs import NONE, Floats, Jobs


class Stepwise:
    """
    Jobs on a cluster of *cpus*, of which each is started by `start`.

    *now* is the instant, in the seconds of the jobs; -inf before the first event.
    """

    def __init__(self, jobs: Jobs, cpus: int) -> None:
        """Raise `SimulationError` for a job larger than the cluster."""
        jobs.refuse_larger(cpus)
        self.cpus = cpus
        owner, limit = no_ceilings(len(jobs))
        columns = Work(jobs.submit, jobs.run, jobs.estimate, jobs.procs, jobs.submit, owner, limit)
        self._work, self._queue = as_lists(columns), as_lists(empty(len(jobs), cpus, owner))
        self._running = [(np.inf, NONE)]
        self._arrived = 0
        self.now = -np.inf

    @property
    def free(self) -> int:
        """Processors on which no job runs."""
        return int(self._queue.counters[FREE])

    @property
    def starts(self) -> Floats:
        """When each job has started, in seconds; NaN for one that has not."""
        return np.array(self._queue.start, np.float64)

    @property
    def is_over(self) -> bool:
        """Whether all jobs have started."""
        return self._arrived == len(self._work.submit) and not self.is_waiting

    @property
    def first(self) -> int:
        """The number of the first waiting job; -1 if none waits."""
        return int(self._queue.behind[-1])

    @property
    def is_waiting(self) -> bool:
        """Whether a job waits."""
        return self.first != NONE

    @property
    def is_idle(self) -> bool:
        """Whether no job runs and none is to be submitted."""
        return len(self._running) == 1 and self._arrived == len(self._work.submit)

    def running(self) -> Iterator[tuple[int, float, float]]:
        """Yield number, start and expected end of each job that runs, in the order of the expected ends."""
        queue = self._queue
        for place in range(queue.counters[RUNNING]):
            job = int(queue.running_jobs[place])
            yield job, queue.start[job], queue.expected[place]

    def waiting(self) -> list[int]:
        """Return the numbers of the jobs that wait, in the order of submission."""
        behind, found = self._queue.behind, []
        job = behind[-1]
        while job != NONE:
            found.append(job)
            job = behind[job]
        return found

    def reservation(self) -> tuple[float, int]:
        """
        Return when the first waiting job can start by the estimates, and the processors left over then.

        A job that starts now delays it not if it ends by then or needs no more than what is left over: the
        reservation of EASY (Lifka 1995; Mu'alem and Feitelson 2001). One job at least has to wait.
        """
        need = self._work.procs[self.first]
        if need <= self.free:
            return self.now, self.free - need
        when, left = shadow_time(self._queue, self._work.procs, need)
        return float(when), int(left)

    def start(self, job: int) -> None:
        """Start a *job* now; raise `SimulationError` if it does not wait, or too few processors are free."""
        behind = self._queue.behind
        before = len(behind) - 1
        while behind[before] not in {job, NONE}:
            before = behind[before]
        if behind[before] == NONE:
            raise SimulationError(f"job {job} does not wait")
        if self._work.procs[job] > self.free:
            message = f"job {job} needs {self._work.procs[job]} processors, and {self.free} are free"
            raise SimulationError(message)
        self._start_behind(before)

    def _start_behind(self, before: int) -> None:
        work, queue = self._work, self._queue
        job = queue.behind[before]
        queue.start[job] = self.now
        queue.counters[FREE] -= work.procs[job]
        heappush(self._running, (self.now + work.run[job], job))
        add_running(queue, job, self.now + work.estimate[job])
        queue.behind[before] = queue.behind[job]
        if job == queue.counters[LAST]:
            queue.counters[LAST] = before

    def advance(self, until: float = inf) -> list[tuple[int, float]]:
        """
        Go to the next event, a job that ends or is submitted, or to a time *until* before that.

        Return the numbers of the jobs that end, and when each had started. Raise `SimulationError` if nothing
        is to happen.
        """
        work, queue, running = self._work, self._queue, self._running
        submitted = work.submit[self._arrived] if self._arrived < len(work.submit) else inf
        now = min(submitted, running[0][0], until)
        if now == inf:
            raise SimulationError("no job runs and none is to be submitted, expected a start")
        ended = []
        while running[0][0] <= now:
            job = heappop(running)[1]
            queue.counters[FREE] += work.procs[job]
            remove_running(queue, job, queue.start[job] + work.estimate[job])
            ended.append((job, queue.start[job]))
        while self._arrived < len(work.submit) and work.submit[self._arrived] <= now:
            insert(queue, work.rank, self._arrived)
            self._arrived += 1
        self.now = float(now)
        return ended
