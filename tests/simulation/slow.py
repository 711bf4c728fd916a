"""
A slow, obvious scheduler of parallel jobs: what the fast ones are checked against.

At each event everything is worked out anew from the list of jobs.
"""

from dataclasses import dataclass
from math import inf


@dataclass(eq=False)
class Job:
    """
    A job: *start* and *end* are infinite until it starts and ends, and *booked* until it is booked.

    Its *user* may hold *limit* processors at once.
    """

    submit: float
    run: float
    procs: int
    estimate: float
    user: str = ""
    limit: float = inf
    start: float = inf
    end: float = inf
    booked: float = inf

    @property
    def expected(self) -> float:
        """When the scheduler expects a job that runs to end."""
        return self.start + self.estimate


class Cluster:
    """Processors, and jobs in order of submission."""

    def __init__(self, jobs: list[Job], cpus: int, policy: str) -> None:
        """Nothing has happened yet."""
        self.jobs, self.cpus, self.policy = jobs, cpus, policy
        self.now = -inf
        self.early = False

    def schedule(self) -> list[float]:
        """Return the start of each job."""
        while any(job.end == inf for job in self.jobs):
            self.now = min(time for time in self.coming() if time >= self.now)
            ended = [job for job in self.running() if job.start + job.run <= self.now]
            for job in ended:
                job.end = self.now
            self.early = any(job.expected > self.now for job in ended)
            {"conservative": self.reserve}.get(self.policy, self.look)()
        return [job.start for job in self.jobs]

    def coming(self) -> list[float]:
        """Return the times of what is still to happen."""
        times = [job.submit for job in self.jobs if job.start == inf and job.submit > self.now]
        times += [job.booked for job in self.jobs if job.start == inf and job.booked < inf]
        return times + [job.start + job.run for job in self.running()]

    def running(self) -> list[Job]:
        """Return the jobs that hold processors."""
        return [job for job in self.jobs if job.start < inf and job.end == inf]

    def waiting(self) -> list[Job]:
        """Return the jobs in the queue."""
        return [job for job in self.jobs if job.start == inf and job.submit <= self.now]

    def fits(self, job: Job) -> bool:
        """Whether enough processors are free."""
        return sum(one.procs for one in [*self.running(), job]) <= self.cpus

    def may_start(self, job: Job) -> bool:
        """Whether the user of a job stays below the ceiling; a larger job runs beside none of its user."""
        own = sum(one.procs for one in self.running() if one.user == job.user)
        return not own or own + job.procs <= job.limit

    def look(self) -> None:
        """Start what the policies without reservations start."""
        queue = self.waiting()
        if self.policy in {"sjf", "sjf-backfill"}:
            queue.sort(key=lambda job: job.estimate)
        while (queue := [job for job in queue if self.may_start(job)]) and self.fits(queue[0]):
            queue.pop(0).start = self.now
        if self.policy in {"easy", "sjf-backfill"}:
            for job in queue[1:]:
                is_harmless = self.fits(job) and self.head_start(queue[0], [job]) <= self.head_start(
                    queue[0], []
                )
                if is_harmless and self.may_start(job):
                    job.start = self.now

    def head_start(self, head: Job, besides: list[Job]) -> float:
        """Return when *head* could start if all took as long as estimated and *besides* started now."""
        held = [(job.expected, job.procs) for job in self.running()]
        held += [(self.now + job.estimate, job.procs) for job in besides]
        return min(
            time
            for time, _ in [(self.now, 0), *held]
            if head.procs + sum(procs for end, procs in held if end > time) <= self.cpus
        )

    def reserve(self) -> None:
        """Book the jobs that came, move bookings up where a job ended early, start what is due."""
        for job in self.waiting():
            if job.booked == inf or self.early:
                job.booked = inf
                job.booked = self.earliest(job)
        for job in self.waiting():
            if job.booked <= self.now:
                job.start = job.booked

    def earliest(self, job: Job) -> float:
        """Return the first time from which *job* fits beside all that run or are booked."""
        taken = [(one.start, one.expected, one.procs) for one in self.running()]
        taken += [
            (one.booked, one.booked + one.estimate, one.procs) for one in self.waiting() if one.booked < inf
        ]

        def is_free(begin: float) -> bool:
            during = [first for first, _, _ in taken if begin < first < begin + job.estimate]
            return all(
                job.procs + sum(procs for first, last, procs in taken if first <= instant < last) <= self.cpus
                for instant in [begin, *during]
            )

        return min(
            begin
            for begin in [self.now, *(last for _, last, _ in taken)]
            if begin >= self.now and is_free(begin)
        )
