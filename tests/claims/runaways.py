"""
How often a job that runs is called a runaway, and what is: `python -m tests.claims.runaways 400`.

A log of 3,000 jobs is cut at random, so that some still run; once as it is, and once with two jobs that were
never written off. Source of the worlds: rates of Slurm sites for time over the limit, raised limits and
exemptions.
"""

import sys
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gwa.metrics.presence import LIMITS, MAXIMUM_BEYOND, runaway
from gwa.store.store import Store
from tests.claims import Counted

Floats = NDArray[Any]

JOBS: Final = 3000
LOST: Final = 2
DAY: Final = 86_400.0


@dataclass(frozen=True)
class Limits:
    """
    A system on which a share of the jobs runs *beyond* its limit.

    They run *factor* times their limit, or by up to *grace* seconds longer, which the system allows.
    """

    beyond: float
    factor: float = 1.0
    grace: float = 0.0


WORLDS: Final = {
    "limits are enforced": Limits(0),
    "30 minutes over time are allowed, and 10 % use them": Limits(0.1, grace=1800.0),
    "limits are not enforced, 10 % run to twice theirs": Limits(0.1, factor=2.0),
    "0.3 % of the limits were raised, which the log does not have": Limits(0.003, factor=2.0),
    "0.1 % are exempt": Limits(0.001, factor=3.0),
}


@dataclass(frozen=True)
class Named(Counted):
    """
    How many logs were made, in how many a job was *wrongly* named that ran, and of how many nothing is said.

    Of the jobs that were never written off where something is said, *lost*, *found* were named.
    """

    logs: int = 0
    wrongly: int = 0
    silent: int = 0
    lost: int = 0
    found: int = 0


def made(limits: Limits, rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    """Return when jobs start, how long they run and their limits, in seconds."""
    start = np.sort(rng.integers(0, 60 * 86_400, JOBS)).astype(np.float64)
    run = np.clip(rng.lognormal(9, 1.3, JOBS), 60, 20 * DAY)
    limit = np.ceil(run * rng.choice([1.1, 1.5, 2, 4], JOBS) / 3600) * 3600
    longer = limit * rng.lognormal(np.log(limits.factor), 0.3, JOBS)
    if limits.grace:
        longer = limit + rng.uniform(0, limits.grace, JOBS)
    return start, np.where(rng.random(JOBS) < limits.beyond, longer, run), limit


def named(start: Floats, end: Floats, limit: Floats, cut: float) -> set[int] | None:
    """Return the jobs that a log until *cut* is said to have as runaways; None where nothing is said."""
    ended = end <= cut
    place = np.flatnonzero(start < cut)
    with Store.create() as store:
        store.begin(["job_id", "submit_time", "wait_time", "run_time", "n_procs", "status", "req_time"])
        store.connection.register("made", {
            "job_id": place + 1,
            "submit_time": start[place],
            "run_time": np.where(ended, end - start, 0.0)[place],
            "ended": ended[place],
            "req_time": limit[place],
        })  # fmt: skip
        columns = [row[0] for row in store.rows("describe recorded")]
        values = {
            "wait_time": "0.0",
            "run_time": "case when ended then run_time end",
            "n_procs": "1",
            "status": "case when ended then 1 end",
        }
        store.connection.execute(
            f"insert into recorded select {', '.join(values.get(name, name) for name in columns)} from made"
        )
        # The log goes on until it is cut: a job that is submitted then waits.
        store.connection.execute(
            f"insert into recorded (job_id, submit_time) values ({JOBS + 1}, {float(cut)!r})"
        )
        store.connection.unregister("made")
        jobs, beyond = store.row(LIMITS)
        if beyond >= MAXIMUM_BEYOND * jobs:
            assert runaway(store) is None
            return None
        condition = runaway(store) or "false"
        return {int(job) - 1 for (job,) in store.rows(f"select job_id from jobs where {condition}")}


def judged(limits: Limits, rng: np.random.Generator) -> Named:
    """Return what is said of a log with and without jobs that were never written off."""
    start, run, limit = made(limits, rng)
    cut, end = rng.uniform(20, 60) * DAY, start + run
    lost = {int(job) for job in rng.choice(np.flatnonzero(start < cut - 2 * limit), LOST, replace=False)}
    honest = named(start, end, limit, cut)
    never = np.where(np.isin(np.arange(JOBS), list(lost)), np.inf, end)
    given = named(start, never, limit, cut)
    return Named(
        1,
        bool(honest),
        honest is None,
        LOST if given is not None else 0,
        len(given & lost) if given is not None else 0,
    )


def rates(world: str, logs: int, seed: int = 7) -> Named:
    """Return what is said of a number of *logs* of a *world*."""
    rng = np.random.default_rng([seed, list(WORLDS).index(world)])
    return sum((judged(WORLDS[world], rng) for _ in range(logs)), Named())


if __name__ == "__main__":
    for name in WORLDS:
        all_logs = rates(name, int(sys.argv[1]))
        share = f"{100 * all_logs.wrongly / all_logs.logs:.1f} % of {all_logs.logs} logs"
        sys.stdout.write(
            f"{name}: named though it runs in {share}; found {all_logs.found} of {all_logs.lost};"
            f" silent in {all_logs.silent}\n"
        )
