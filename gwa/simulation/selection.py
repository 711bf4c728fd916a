"""
Which tasks come next: the task selection policies.

Whenever its eligible set is empty and a processor could be given away, a resource manager selects the next
eligible set from its queue: a policy says whose tasks, and which of them. The thesis generates a new set
"only after all the tasks in the schedule are completed". Here that is when they have all been started: else
S-B would run one bag at a time, and one straggler would stop a grid of thousands of processors. S-T differs:
tasks join its eligible set as they arrive.

Consumption is the processor time that a user's tasks, replicas included, have spent so far under the manager.
Source: the thesis, section 5.2.3.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from gwa.errors import SimulationError
from gwa.simulation.jobs import Floats, Integers
from gwa.util.compiled import jit


class Whose(IntEnum):
    """Whose tasks are selected."""

    ANYBODY = 0
    HIGHEST = 1
    POOREST = 2
    NEXT = 3


class Which(IntEnum):
    """Which of them."""

    EVER = 0
    ALL = 1
    BAG = 2
    ONE = 3


@dataclass(frozen=True)
class Selection:
    """Whose tasks are selected, and which of them."""

    meaning: str
    whose: Whose
    which: Which


_SELECTIONS: Final = {
    "S-T": Selection("all tasks, as they arrive", Whose.ANYBODY, Which.EVER),
    "S-B": Selection("bag by bag, in order of arrival", Whose.ANYBODY, Which.BAG),
    "S-U-Prio": Selection("all tasks of the user of highest priority", Whose.HIGHEST, Which.ALL),
    "S-U-T": Selection("all tasks of the user who consumed least", Whose.POOREST, Which.ALL),
    "S-U-B": Selection("the first bag of the user who consumed least", Whose.POOREST, Which.BAG),
    "S-U-GRR": Selection("all tasks of the next user, in turn", Whose.NEXT, Which.ALL),
    "S-U-RR": Selection("one task of the next user, in turn", Whose.NEXT, Which.ONE),
}

SELECTIONS: Final = {name: policy.meaning for name, policy in _SELECTIONS.items()}
"""What each policy selects, by name."""


def selection(name: str) -> Selection:
    """Return a policy; raise `SimulationError` for an unknown *name*."""
    if name not in _SELECTIONS:
        raise SimulationError(f"'{name}' is not a task selection, expected one of {', '.join(SELECTIONS)}")
    return _SELECTIONS[name]


@jit()
def choose(whose: int, waiting: Integers, priority: Integers, consumed: Floats, last: int) -> int:
    """Return the place, in a list of users with *waiting* tasks, of the one whose turn it is."""
    if whose == Whose.HIGHEST:
        return _highest(waiting, priority)
    if whose == Whose.POOREST:
        return _poorest(waiting, consumed)
    if whose == Whose.NEXT:
        return _next(waiting, last)
    return 0


@jit()
def _highest(waiting: Integers, priority: Integers) -> int:
    """Return who has the highest priority, which is the lowest number; no two have the same."""
    best = 0
    for place in range(1, len(waiting)):
        if priority[waiting[place]] < priority[waiting[best]]:
            best = place
    return best


@jit()
def _poorest(waiting: Integers, consumed: Floats) -> int:
    """Return who has consumed least; of equals, the one with the lowest number."""
    best = 0
    for place in range(1, len(waiting)):
        less = consumed[place] - consumed[best]
        if less < 0 or (less == 0 and waiting[place] < waiting[best]):
            best = place
    return best


@jit()
def _next(waiting: Integers, last: int) -> int:
    """Return who comes after user *last*; after the highest number comes the lowest."""
    best = 0
    for place in range(1, len(waiting)):
        after, wins = waiting[place] > last, waiting[best] > last
        if (after and not wins) or (after == wins and waiting[place] < waiting[best]):
            best = place
    return best
