"""The machine of the sample: nodes, a queue in order of QoS and submission, and backfilling (EASY)."""

import heapq
from typing import Final

from gwa.formats.sample.workload import END, OUTAGE, Job

NODES: Final = {"cpu": 8, "gpu": 8}
"""Nodes of each partition."""

NODE: Final = {"cpu": (32, 0), "gpu": (32, 4)}
"""Cores and GPUs of a node of each partition."""

CORES: Final = sum(NODES[name] * NODE[name][0] for name in NODES)
GPUS: Final = sum(NODES[name] * NODE[name][1] for name in NODES)

CYCLE: Final = 30
"""Seconds from one pass of the scheduler over the queue to the next."""

SLACK: Final = 29
"""Seconds, at most, after which the scheduler notices that a job is over its time limit."""

STATES: Final = {
    "failed": "FAILED",
    "cancelled": "CANCELLED",
    "out of memory": "OUT_OF_MEMORY",
    "node failure": "NODE_FAIL",
}
"""The states of jobs that do not end as they should."""

Free = list[list[int]]
"""Free cores and GPUs of each node."""


def run(jobs: list[Job]) -> list[Job]:
    """Run *jobs*, in the order of submission, until the end of the log; return them with what they became."""
    for name in NODES:
        _Partition(name).run([job for job in jobs if job.kind.partition == name])
    return jobs


class _Partition:
    """Nodes, the jobs that run on them, and those that wait for them."""

    def __init__(self, name: str) -> None:
        self.free: Free = [list(NODE[name]) for _ in range(NODES[name])]
        self.running: list[Job] = []
        self.waiting: list[Job] = []
        self.is_up = True

    def run(self, jobs: list[Job]) -> None:
        """Run *jobs* until the end of the log."""
        arriving = iter(jobs)
        coming = next(arriving, None)
        self.moments = list(OUTAGE)
        heapq.heapify(self.moments)
        while True:
            moments = ([coming.submit] if coming else []) + self.moments[:1]
            if not moments or (now := min(moments)) >= END:
                return
            while self.moments and self.moments[0] <= now:
                heapq.heappop(self.moments)
            self._end_jobs(now)
            while coming and coming.submit <= now:
                self._queue(coming)
                coming = next(arriving, None)
            self._withdraw(now)
            if now % CYCLE:
                heapq.heappush(self.moments, now + CYCLE - now % CYCLE)
            elif self.is_up:
                self._start_jobs(now)

    def _queue(self, job: Job) -> None:
        """Put *job* into the queue."""
        self.waiting.append(job)
        self.waiting.sort(key=lambda one: (one.qos != "short", one.submit, one.number))
        if job.patience is not None:
            heapq.heappush(self.moments, job.submit + job.patience)

    def _withdraw(self, now: int) -> None:
        """Cancel the waiting jobs of users whose patience has ended."""
        for job in [
            job for job in self.waiting if job.patience is not None and job.submit + job.patience <= now
        ]:
            self.waiting.remove(job)
            job.end, job.state = now, "CANCELLED"

    def _end_jobs(self, now: int) -> None:
        """End the jobs that are over, and all when the outage begins."""
        begin, end = OUTAGE
        self.is_up = not begin <= now < end
        for job in list(self.running):
            if not self.is_up or _end(job) <= now:
                job.end = min(now, _end(job))
                job.state = _state(job) if job.end == _end(job) else "NODE_FAIL"
                self.running.remove(job)
                _release(self.free, job)

    def _start_jobs(self, now: int) -> None:
        """Start what fits, in order; behind the first that does not, what ends before it could start."""
        latest = None
        for job in list(self.waiting):
            if latest is not None and now + job.limit > latest:
                continue
            if hosts := _fitting(self.free, job):
                self._start(job, hosts, now)
            elif latest is None:
                latest = self._expected_start(job, now)

    def _start(self, job: Job, hosts: list[int], now: int) -> None:
        job.start, job.state, job.hosts = now, "RUNNING", hosts
        for host in hosts:
            self.free[host][0] -= job.cores
            self.free[host][1] -= job.gpus
        self.waiting.remove(job)
        self.running.append(job)
        heapq.heappush(self.moments, _end(job))

    def _expected_start(self, waiting: Job, now: int) -> int:
        """Return when *waiting* could start if every running job took all of the time that it requests."""
        free = [list(node) for node in self.free]
        expected = now
        for job in sorted(self.running, key=lambda one: ((one.start or 0) + one.limit, one.number)):
            _release(free, job)
            expected = max(now, (job.start or 0) + job.limit)
            if _fitting(free, waiting):
                break
        return expected


def _fitting(free: Free, job: Job) -> list[int]:
    """Return the nodes on which *job* fits, the fullest first; none where there are too few."""
    able = [host for host, (cores, gpus) in enumerate(free) if cores >= job.cores and gpus >= job.gpus]
    able.sort(key=lambda host: (free[host], host))
    return sorted(able[: job.nodes]) if len(able) >= job.nodes else []


def _release(free: Free, job: Job) -> None:
    """Give the cores and GPUs of *job* back."""
    for host in job.hosts:
        free[host][0] += job.cores
        free[host][1] += job.gpus


def _end(job: Job) -> int:
    """Return when a running *job* ends: by itself, or at its time limit."""
    assert job.start is not None  # noqa: S101 - it runs
    return job.start + (job.run if job.run < job.limit else job.limit + job.number % (SLACK + 1))


def _state(job: Job) -> str:
    """Return the state in which a *job* ends that nothing interrupts."""
    return "TIMEOUT" if job.run >= job.limit else STATES.get(job.fate, "COMPLETED")
