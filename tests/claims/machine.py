"""A machine that serves jobs first come, first served, and stops when it is told to."""

import heapq
from dataclasses import dataclass
from math import exp
from typing import Any

import numpy as np

from tests.claims.worlds import DAY, HOUR, MONDAY, Columns

Interval = tuple[float, float]

RHYTHMS = ("flat", "week", "office")


@dataclass(frozen=True)
class Machine:
    """
    A machine and its users: *processors*, the *load* that they bring, and when.

    The *rhythm* of submissions is flat, that of a week with quiet nights and Sundays, or that of an office.
    Sessions have several jobs; the share *held* of jobs may only start hours after they were submitted, and
    the log does not say so.
    """

    processors: int = 128
    load: float = 0.5
    rhythm: str = "week"
    days: int = 182
    session: float = 3.0
    mean_run: float = 2.0 * HOUR
    held: float = 0.0

    def log(
        self, rng: np.random.Generator, outages: tuple[Interval, ...] = (), *, closed: bool = False
    ) -> Columns:
        """Return the jobs of a log; *outages* kill what runs; if *closed*, they are without submissions."""
        submit = self._submissions(rng)
        if closed:
            submit = submit[~np.any([(submit >= a) & (submit < b) for a, b in outages], axis=0)]
        size = len(submit)
        run = np.clip(rng.lognormal(np.log(self.mean_run) - 0.98, 1.4, size), 10, 2 * DAY).round()
        procs = rng.choice(self._sizes(), size)
        ready = submit + np.where(rng.random(size) < self.held, rng.exponential(6 * HOUR, size).round(), 0)
        start, end = served(ready, run, procs, self.processors, outages)
        return {
            "submit_time": submit,
            "wait_time": start - submit,
            "run_time": end - start,
            "n_procs": procs,
            "user_id": self._users(rng, submit),
        }

    def _sizes(self) -> Any:
        return 2 ** np.arange(int(np.log2(self.processors)) - 1)

    def _submissions(self, rng: np.random.Generator) -> Any:
        per_day = self.load * self.processors * DAY / (float(np.mean(self._sizes())) * self.mean_run)
        weights = np.array([_weight(self.rhythm, hour) for hour in range(168)])
        weights = np.tile(weights / weights.mean(), self.days // 7 + 1)[: self.days * 24]
        sessions = np.repeat(np.arange(self.days * 24), rng.poisson(weights * per_day / 24 / self.session))
        begins = (sessions + rng.random(len(sessions))) * HOUR
        sizes = rng.geometric(1 / self.session, len(begins))
        gaps = rng.exponential(120, int(sizes.sum()))
        first = np.cumsum(sizes) - sizes
        offsets = np.cumsum(gaps) - np.repeat((np.cumsum(gaps) - gaps)[first], sizes)
        return MONDAY + np.sort(np.floor(np.repeat(begins, sizes) + offsets))

    def _users(self, rng: np.random.Generator, submit: Any) -> Any:
        """Return the users, one for each session: jobs that follow each other within two minutes."""
        session = np.cumsum(np.diff(submit, prepend=submit[0]) > 120)
        users = np.minimum(rng.zipf(1.7, int(session[-1]) + 1), 40)
        return np.array([f"U{user}" for user in users[session]], object)


def _weight(rhythm: str, hour: int) -> float:
    """Return how much is submitted in an hour of the week, from Monday on."""
    day, clock = divmod(hour, 24)
    if rhythm == "flat":
        return 1.0
    if rhythm == "office":
        return float(day < 5 and 8 <= clock < 18)
    return (0.1 + 0.9 * exp(-(((clock - 14) / 5.5) ** 2))) * (0.3 if day >= 5 else 1.0)


def served(
    ready: Any, run: Any, procs: Any, processors: int, outages: tuple[Interval, ...] = ()
) -> tuple[Any, Any]:
    """Return when jobs start and end, first come, first served; *outages*, in order, kill what runs."""
    start, end = np.zeros(len(ready)), np.zeros(len(ready))
    running: list[tuple[float, int]] = []
    free, now, down = processors, 0.0, list(outages)
    for job in np.argsort(ready, kind="stable").tolist():
        now = max(now, ready[job])
        while True:
            while down and down[0][1] <= now:
                down.pop(0)
            if down and down[0][0] <= now:  # all that ran is gone
                now, running, free = down[0][1], [], processors
                continue
            while running and running[0][0] <= now:
                free += heapq.heappop(running)[1]
            if free >= procs[job]:
                break
            now = min(running[0][0], down[0][0] if down else np.inf)
        start[job], end[job] = now, now + run[job]
        for begin, _ in outages:
            if now < begin < end[job]:
                end[job] = begin
        free -= procs[job]
        heapq.heappush(running, (end[job], int(procs[job])))
    return start, end
