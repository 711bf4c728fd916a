"""
Which eligible task goes where: the task scheduling policies.

A policy orders the eligible set by what it believes of run times, and places one task after another by
what it believes of speeds. Both come as arrays, and a policy never sees others than it may: the truth where
the information is known (K), what history tells where it is historical (H), and the same for all where it is
unknown (U). History knows a run time as `Tasks` predicts it, and a speed as what the last task to end in a
cluster got there; clusters without history come last. Of equals the task submitted first and the cluster
with the lowest number come first.

A policy with replicas starts further copies of running tasks while no task waits, in round-robin order: the
task whose last copy is oldest first. The first copy to end cancels the others. "After finishing all tasks
in the eligible set", says the thesis; but what has finished needs no replica, so all have been started.
Source: the thesis, section 5.2.4 and table 5.1.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum, IntEnum
from typing import Final

import numpy as np

from gwa.errors import SimulationError
from gwa.simulation.jobs import Floats, Integers
from gwa.util.compiled import jit

NOWHERE = -1


class Information(Enum):
    """How a policy knows something."""

    KNOWN = "K"
    HISTORICAL = "H"
    UNKNOWN = "U"


K, H, U = Information


class Placement(IntEnum):
    """Where the next task goes."""

    FASTEST = 0
    IN_TURN = 1
    EARLIEST = 2


def as_submitted(times: Floats) -> Floats:
    """Keep the order of the eligible set."""
    return np.zeros(len(times))


def largest_first(times: Floats) -> Floats:
    """Order by falling run time."""
    return -times


def shortest_first(times: Floats) -> Floats:
    """Order by rising run time."""
    return times


@dataclass(frozen=True)
class Scheduler:
    """What a policy knows of resources and tasks, in which order it takes tasks, and where it places them."""

    meaning: str
    resources: Information
    tasks: Information
    order: Callable[[Floats], Floats]
    place: Placement
    replicas: int = 0


_SCHEDULERS: Final = {
    "ECT": Scheduler(
        "each task where it completes earliest, queues included", K, K, as_submitted, Placement.EARLIEST
    ),
    "FPLT": Scheduler(
        "the largest task to the fastest idle processor", K, K, largest_first, Placement.FASTEST
    ),
    "RR": Scheduler("tasks as they come, and a replica of each", U, U, as_submitted, Placement.IN_TURN, 1),
    "WQR-x": Scheduler("tasks as they come, and x replicas of each", U, U, as_submitted, Placement.IN_TURN),
    "DFPLT": Scheduler(
        "the largest task to the processor that was fastest", H, K, largest_first, Placement.FASTEST
    ),
    "ECT-P": Scheduler("ECT, by predicted run times", K, H, as_submitted, Placement.EARLIEST),
    "STFR": Scheduler(
        "the shortest task first, and a replica of each", U, K, shortest_first, Placement.IN_TURN, 1
    ),
    "FPF": Scheduler(
        "tasks as they come, to the fastest idle processor", K, U, as_submitted, Placement.FASTEST
    ),
}

SCHEDULERS: Final = {
    name: f"{policy.meaning} (resources {policy.resources.value}, tasks {policy.tasks.value})"
    for name, policy in _SCHEDULERS.items()
}
"""What each policy does, by name, and what it knows; for WQR-x, write a number for x."""


def scheduler(name: str) -> Scheduler:
    """Return a policy, such as FPLT or WQR-4; raise `SimulationError` for an unknown *name*."""
    if replicating := re.fullmatch(r"WQR-([1-9]\d{0,3})", name):
        return replace(_SCHEDULERS["WQR-x"], replicas=int(replicating[1]))
    if name not in _SCHEDULERS or name == "WQR-x":
        raise SimulationError(f"'{name}' is not a task scheduling, expected one of {', '.join(SCHEDULERS)}")
    return _SCHEDULERS[name]


@jit()
def fastest(idle: Integers, speeds: Floats) -> int:
    """Return the fastest cluster with an idle processor."""
    best = NOWHERE
    for cluster in range(len(idle)):
        if idle[cluster] > 0 and (best == NOWHERE or speeds[cluster] > speeds[best]):
            best = cluster
    return best


@jit()
def in_turn(idle: Integers, last: int) -> int:
    """Return the first cluster with an idle processor after the *last* one that got a task."""
    for step in range(1, len(idle) + 1):
        cluster = (last + step) % len(idle)
        if idle[cluster] > 0:
            return cluster
    return NOWHERE


@jit()
def earliest(ready: Floats, time: float, speeds: Floats) -> int:
    """Return where a task that takes *time* completes first if it starts when the cluster is *ready*."""
    best = 0
    for cluster in range(1, len(ready)):
        if ready[cluster] + time / speeds[cluster] < ready[best] + time / speeds[best]:
            best = cluster
    return best
