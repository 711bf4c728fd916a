"""Worlds in which it is known why each job waits at each second: a scheduler that says so."""

import heapq
from collections import Counter
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

CPUS = 128
DAY = 86_400.0
BEGIN = 852_076_800.0
SIZES = np.array([1, 1, 2, 4, 4, 8, 8, 16, 16, 32, 64])
NOTED = {"limit": "QOSMaxCpuPerUserLimit", "held": "Dependency"}
"""What the scheduler notes of why a job waits; the last of it stays, as in Slurm's accounting."""


@dataclass(frozen=True)
class World:
    """
    What a scheduler does, and what happens to its machine.

    Jobs start in the order of submission or, where it *is_fair*, of what their users held lately; with
    *backfills*, others start early where that delays none of the first. No user holds more than
    *most_processors*, or runs more than *most_jobs*. A share *depends* of jobs waits for the one before of
    the same user. In the middle *drained* processors are out of order for days, or the machine is *down*.
    Users submit different numbers and sizes of jobs, unless all are alike (*is_equal*); what the first one
    held counts *favour* times less.
    """

    load: float = 0.9
    backfills: bool = True
    is_fair: bool = False
    most_processors: float = inf
    most_jobs: float = inf
    depends: float = 0.0
    drained: int = 0
    down: float = 0.0
    is_equal: bool = False
    favour: float = 1.0


WORLDS = {
    "in order": World(load=0.7, backfills=False),
    "backfilled": World(),
    "fair": World(is_fair=True),
    "overloaded": World(load=1.1),
    "limit of processors": World(load=0.6, most_processors=32),
    "limit of processors, fair": World(load=0.6, most_processors=32, is_fair=True),
    "limit of jobs": World(load=0.6, most_jobs=3),
    "dependencies": World(load=0.6, depends=0.5),
    "drained": World(load=0.7, drained=48),
    "down": World(load=0.7, down=1.5 * DAY),
}


class Scheduler:
    """A machine in a world, and the seconds that jobs waited by why."""

    def __init__(self, world: World, seed: int, jobs: int = 900, days: float = 20.0) -> None:
        """Draw *jobs* of a dozen users, of which some submit many."""
        self.world = world
        rng = np.random.default_rng(seed)
        weights = np.full(12, 1 / 12) if world.is_equal else rng.dirichlet(np.full(12, 0.7))
        # Half of the jobs come with the one before.
        alone = rng.random(jobs) < 0.5
        alone[0] = True
        first = np.maximum.accumulate(np.where(alone, np.arange(jobs), 0))
        self.submit = np.sort(rng.integers(0, int(days * DAY), jobs)).astype(float)[first]
        self.user = rng.choice(12, jobs, p=weights)[first]
        usual = np.full(12, len(SIZES) // 2) if world.is_equal else rng.integers(0, len(SIZES), 12)
        steps = rng.integers(-2, 3, jobs)[first]
        size = SIZES[np.clip(usual[self.user] + steps, 0, len(SIZES) - 1)]
        self.size = np.minimum(size, world.most_processors).astype(int)
        run = np.minimum(rng.lognormal(8.0, 1.2, jobs), 2 * DAY)
        run *= world.load * CPUS * days * DAY / float((run * self.size).sum())
        self.run = np.maximum(30.0, np.minimum(run, 3 * DAY)).round()
        self.after = np.full(jobs, -1)
        last: dict[int, int] = {}
        for place, user in enumerate(self.user.tolist()):
            if rng.random() < world.depends:
                self.after[place] = last.get(user, -1)
            last[user] = place
        self.start, self.end = np.full(jobs, inf), np.full(jobs, inf)
        self.running: set[int] = set()
        self.used = np.zeros(12)
        self.waited: Counter[str] = Counter()
        self.noted: list[str | None] = [None] * jobs
        self.out = (0.35 * days * DAY, 0.6 * days * DAY)
        self.off = (0.5 * days * DAY, 0.5 * days * DAY + world.down)

    def ready(self, job: int) -> float:
        """Return from when on a job could start."""
        return float(max(self.submit[job], self.end[self.after[job]] if self.after[job] >= 0 else 0.0))

    def free(self, now: float) -> tuple[int, int]:
        """Return how many processors are not busy, and how many of these can be used."""
        idle = CPUS - sum(int(self.size[job]) for job in self.running)
        return idle, idle - (self.world.drained if self.out[0] <= now < self.out[1] else 0)

    def is_limited(self, job: int) -> bool:
        """Whether a limit of its user keeps a job from starting."""
        own = [other for other in self.running if self.user[other] == self.user[job]]
        held = sum(int(self.size[other]) for other in own) + self.size[job]
        return bool(held > self.world.most_processors or len(own) + 1 > self.world.most_jobs)

    def begin(self, waiting: list[int], now: float) -> None:
        """Start those of the *waiting* that may."""
        if self.off[0] <= now < self.off[1]:
            return
        shadow, spare = inf, 0.0
        head = False
        usable = self.free(now)[1]
        for job in sorted(
            waiting, key=lambda job: (self.used[self.user[job]] if self.world.is_fair else 0.0, job)
        ):
            if head and not self.world.backfills:
                break
            if self.ready(job) > now or self.is_limited(job):
                continue
            delays = now + self.run[job] > shadow and self.size[job] > spare
            if self.size[job] <= usable and not (head and (delays or not self.world.backfills)):
                if head and now + self.run[job] > shadow:
                    spare -= self.size[job]
                self.start[job], self.end[job] = now, now + self.run[job]
                self.running.add(job)
                usable -= int(self.size[job])
                waiting.remove(job)
            elif not head:
                head = True
                shadow, spare = self.reserved(job, usable)

    def reserved(self, job: int, usable: int) -> tuple[float, float]:
        """Return when there will be room for a job, and how many processors will be left then."""
        for other in sorted(self.running, key=lambda other: self.end[other]):
            usable += int(self.size[other])
            if usable >= self.size[job]:
                return float(self.end[other]), float(usable - self.size[job])
        return inf, 0.0

    def why(self, job: int, now: float) -> str:
        """Return why a job waits on."""
        idle, usable = self.free(now)
        if self.ready(job) > now:
            return "held"
        if self.off[0] <= now < self.off[1]:
            return "down"
        if self.size[job] > idle:
            return "full"
        if self.is_limited(job):
            return "limit"
        return "drained" if self.size[job] > usable else "priority"

    def log(self) -> tuple[dict[str, list[Any]], dict[str, float]]:
        """Return the columns of the log, and the share of each reason for waiting."""
        events = [*self.submit.tolist(), *self.out, *self.off]
        heapq.heapify(events)
        waiting: list[int] = []
        coming, now = 0, 0.0
        reasons: dict[int, str] = {}
        while events:
            then, now = now, heapq.heappop(events)
            for job in waiting:
                self.waited[reasons[job]] += now - then
            self.used *= 0.5 ** ((now - then) / (2 * DAY))
            for job in self.running:
                favour = self.world.favour if self.user[job] == 0 else 1.0
                self.used[self.user[job]] += float(self.size[job]) * (now - then) / favour
            if self.off[0] <= now < self.off[1]:
                for job in self.running:
                    self.end[job] = min(self.end[job], now)
            self.running = {job for job in self.running if self.end[job] > now}
            while coming < len(self.submit) and self.submit[coming] <= now:
                waiting.append(coming)
                coming += 1
            before = set(waiting)
            self.begin(waiting, now)
            for job in before - set(waiting):
                heapq.heappush(events, float(self.end[job]))
            reasons = {job: self.why(job, now) for job in waiting}
            for job, reason in reasons.items():
                self.noted[job] = NOTED.get(reason, self.noted[job])
        return self._columns(), {name: value / self.waited.total() for name, value in self.waited.items()}

    def _columns(self) -> dict[str, list[Any]]:
        ready = np.array([self.ready(job) for job in range(len(self.submit))])
        return {
            "job_id": list(range(1, len(ready) + 1)),
            "submit_time": (BEGIN + self.submit).tolist(),
            "eligible_time": (BEGIN + ready).tolist(),
            "wait_time": (self.start - self.submit).tolist(),
            "run_time": (self.end - self.start).tolist(),
            "n_procs": self.size.tolist(),
            "req_time": (self.end - self.start).tolist(),
            "user_id": [f"u{user:02}" for user in self.user],
            "status": [1] * len(ready),
            "pending_reason": self.noted,
        }
