"""
Policies to compare with, as functions from an observation and its info to an action.

Those of the simulator give its schedules, start by start; `gwa.simulation.backfilling` is the reference.
"""

from collections.abc import Callable
from typing import Any, Final

import gymnasium
import numpy as np

from gwa.gym.window import Observation

Info = dict[str, Any]
Policy = Callable[[Observation, Info], int]


def fcfs(observation: Observation, info: Info) -> int:
    """First come, first served: wait for the first job until it fits."""
    del observation, info
    return 0


def sjf(observation: Observation, info: Info) -> int:
    """
    Shortest job first, by requested time; when the shortest does not fit, all wait.

    For ``gwa/Schedule-v0``, with a window that holds all that wait; see `sjbf` for the other.
    """
    del observation
    return int(np.where(info["action_mask"], info["requested"], np.inf).argmin())


def easy(observation: Observation, info: Info) -> int:
    """EASY backfilling: the first job that does not delay the first one's reservation (Lifka 1995)."""
    del observation
    return int(info["may_start"].argmax())


def sjbf(observation: Observation, info: Info) -> int:
    """EASY, but the shortest such job: EASY-SJBF (Tsafrir, Etsion and Feitelson 2007)."""
    del observation
    may_start = info["may_start"]
    if may_start[0] or not may_start.any():
        return 0
    return int(np.where(may_start, info["requested"], np.inf).argmin())


POLICIES: Final[dict[str, Policy]] = {"fcfs": fcfs, "sjf": sjf, "easy": easy, "sjbf": sjbf}
"""The policies, by name."""


def play(env: gymnasium.Env[Observation, Any], policy: Policy | str, seed: int | None = None) -> Info:
    """
    Play an episode, that of a *seed* if one is given, and return the info of its last step.

    A *policy* that is a name, such as ``conservative`` or ``package:function``, is one of the simulator, see
    `gwa.simulation.policy`. It has no choices to make, and schedules all jobs of the episode; then only
    ``first_job`` and what an episode has at its end are returned.
    """
    observation, info = env.reset(seed=seed)
    if isinstance(policy, str):
        played: Info = env.get_wrapper_attr("scheduled")(policy)
        return played
    over = False
    while not over:
        observation, _, terminated, truncated, info = env.step(policy(observation, info))
        over = terminated or truncated
    return info
