"""
Rewards: what waiting costs, less than before the step.

The cost of an episode is the mean, over its jobs, of what the wait of each has cost so far. A step is
rewarded with minus the cost that came up since the step before, so that the return of an episode,
undiscounted, is minus its whole cost.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from gwa.errors import ArgumentError
from gwa.simulation import metrics
from gwa.simulation.jobs import Floats, Jobs

Cost = Callable[[Jobs, Floats], Floats]
"""Returns what each job costs that starts, or would start, at a time in seconds."""


@dataclass(frozen=True)
class Reward:
    """What a reward adds up to, and the *cost* of each job of which it is made."""

    meaning: str
    cost: Cost


def _slowed(jobs: Jobs, start: Floats) -> Floats:
    """Return by how much the bounded slowdown of each job is above 1, the least."""
    return metrics.bounded_slowdown(jobs, start) - 1.0


REWARDS: Final = {
    "bounded_slowdown": Reward(
        "the return is 1 less the mean bounded slowdown: (wait + run time) / run time, of at least "
        f"{metrics.TAU:g} s, never below 1 (Feitelson 2001)",
        _slowed,
    ),
    "wait": Reward("the return is minus the mean wait, in seconds", metrics.wait),
}
"""The rewards, by name."""


def reward_called(name: str) -> Reward:
    """Return a reward; raise `ArgumentError` for an unknown *name*."""
    if name not in REWARDS:
        raise ArgumentError(f"there is no reward '{name}', expected one of {', '.join(REWARDS)}")
    return REWARDS[name]
