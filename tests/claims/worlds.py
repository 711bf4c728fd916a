"""
Small random traces with knobs: worlds in which a finding is true, or false.

A world is a function of a random generator under `true_of` or `false_of`; those of all modules ``worlds_*``
here are found by looking. What a short trace cannot show on its own (where it was cut) is part of the world.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

Columns = dict[str, Any]

DAY = 86_400
HOUR = 3600
MONDAY = 1_577_836_800 + 5 * DAY
"""The start of all worlds: Monday, 6 January 2020, in UTC."""


@dataclass
class World:
    """Jobs, the processors of their system, and the *known* facts, such as the window of observation."""

    jobs: Columns
    cpus: int | None = None
    known: dict[str, Any] = field(default_factory=dict)
    account: tuple[int, int] = (0, 0)
    """The rows that were rejected, and comments."""
    header: dict[str, str] = field(default_factory=dict)
    """What else is known of the system."""


Maker = Callable[[np.random.Generator], World]

WORLDS: dict[bool, dict[str, dict[str, Maker]]] = {True: defaultdict(dict), False: defaultdict(dict)}
"""Whether the finding is true, its id, the name of the world, and what makes it."""


def true_of(*findings: str) -> Callable[[Maker], Maker]:
    """Register a world in which *findings* are true."""
    return partial(_register, WORLDS[True], findings)


def false_of(*findings: str) -> Callable[[Maker], Maker]:
    """Register a world in which *findings* are false."""
    return partial(_register, WORLDS[False], findings)


def _register(worlds: dict[str, dict[str, Maker]], findings: tuple[str, ...], maker: Maker) -> Maker:
    for finding in findings:
        worlds[finding][maker.__name__] = maker
    return maker


def load() -> None:
    """Import all modules of worlds."""
    for path in sorted(Path(__file__).parent.glob("worlds_*.py")):
        import_module(f"{__package__}.{path.stem}")


def arrivals(rng: np.random.Generator, jobs: int, days: float) -> np.ndarray:
    """Return the sorted times of a homogeneous Poisson process."""
    return MONDAY + np.sort(rng.integers(0, int(days * DAY), jobs)).astype(float)


def calm(
    rng: np.random.Generator,
    jobs: int = 2500,
    days: float = 30,
    users: int = 25,
    median: float = 2000,
    **columns: Any,
) -> Columns:
    """
    Return jobs of which nothing is remarkable: independent, without cycles, well estimated, soon started.

    *median* is that of run times; *columns* replace those made here.
    """
    runs = np.maximum(np.round(rng.lognormal(np.log(median), 1.2, jobs)), 5)
    made = {
        "submit_time": arrivals(rng, jobs, days),
        "wait_time": np.round(rng.exponential(300, jobs)),
        "run_time": runs,
        "n_procs": rng.integers(1, 17, jobs),
        "req_time": np.ceil(runs * rng.uniform(1.1, 3, jobs)),
        "status": np.where(rng.random(jobs) < 0.04, 0, 1),
        "user_id": np.array([f"U{number}" for number in rng.integers(0, users, jobs)], object),
        "queue_id": np.array([f"Q{number}" for number in rng.integers(0, 3, jobs)], object),
    }
    return made | columns


def random_calm(rng: np.random.Generator) -> World:
    """Return a world of random size in which nothing is remarkable, and no job waits for processors."""
    days = float(rng.uniform(20, 60))
    jobs = calm(rng, int(days * rng.uniform(30, 120)), days, int(rng.integers(15, 60)), 40_000)
    return seen(World(jobs))


def seen(world: World, *, mean: float | None = None) -> World:
    """Add what is seen of all of it: the window is the span, levels are exact. *mean* sets the processors."""
    jobs = world.jobs
    ran = ~np.isnan(np.asarray(jobs["run_time"], float))
    start = (jobs["submit_time"] + np.nan_to_num(np.asarray(jobs["wait_time"], float)))[ran]
    end, procs = start + jobs["run_time"][ran], jobs["n_procs"][ran]
    first, last = float(np.min(jobs["submit_time"])), float(np.max(end))
    moments, changes = np.concatenate((start, end)), np.concatenate((procs, -procs))
    order = np.argsort(moments, kind="stable")
    times, busy = moments[order], np.cumsum(changes[order])
    durations = np.diff(times)
    area = float((busy[:-1] * durations).sum())
    held = busy[:-1][durations > 0]
    peak = int(held.max())
    world.cpus = world.cpus or (peak if mean is None else round(area / (last - first) / mean))
    above = float(durations[busy[:-1] > world.cpus].sum()) / (last - first)
    world.known = {
        "window.first": first,
        "window.last": last,
        "window.cut": "none",
        "utilization.mean": area / (world.cpus * (last - first)),
        "utilization.peak": peak,
        "utilization.above_capacity": above,
        "utilization.unfinished": 0,
    } | world.known
    return world
