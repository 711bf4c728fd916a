"""
Who comes next: users hold back while the system is full, so that work arrives more evenly than by chance.

Sessions of a log in another order give waits that are many times longer. Users see the load and react to it:
E. Shmueli and D. G. Feitelson, Uncovering the effect of system performance on user behavior from traces of
parallel systems (2007).
"""

from typing import Final

import numpy as np
from numba import njit

from gwa.statistics.sample import Floats, Ints

CROWD: Final = 512
"""Sessions that wait to come."""

MEMORY: Final = 604_800.0
"""Seconds after which what was too much or too little is forgotten."""

LOAD: Final = 0.6
"""Load at which the backlog is measured."""

STRENGTHS: Final = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
"""Strengths of regulation that a fit tries."""


@njit(cache=True)
def picked(times: Floats, work: Floats, rate: float, excess: float, regulated: Ints) -> Ints:
    """
    Return which session comes at each of *times*, in a line of which `CROWD` wait at a time.

    *work* is that of the sessions in line, of which there are at least as many as times. Where *regulated*
    is 1, it is the one that brings what was submitted beyond *rate* per second, at first *excess*, nearest to
    nothing; else the one that has waited longest.
    """
    crowd = np.arange(min(CROWD, len(work)))
    following = len(crowd)
    found = np.empty(len(times), np.int64)
    for place in range(len(times)):
        if place:
            passed = times[place] - times[place - 1]
            excess = (excess - rate * passed) * np.exp(-passed / MEMORY)
        best = 0
        for one in range(1, len(crowd)):
            if regulated[place]:
                if abs(excess + work[crowd[one]]) < abs(excess + work[crowd[best]]):
                    best = one
            elif crowd[one] < crowd[best]:
                best = one
        found[place] = crowd[best]
        excess += work[crowd[best]]
        if following < len(work):
            crowd[best] = following
            following += 1
        else:
            crowd[best] = crowd[-1]
            crowd = crowd[:-1]
    return found


def backlog(times: Floats, work: Floats) -> float:
    """
    Return the mean seconds of work that is not done yet, where *work* comes at *times* and is done evenly.

    The pace is such that the load is `LOAD`. It is what a scheduler has before it, whatever its policy.
    """
    pace = work.sum() / (LOAD * max(times[-1] - times[0], 1.0))
    net = np.concatenate(([0.0], np.cumsum(work[:-1] - pace * np.diff(times))))
    waiting = net - np.minimum.accumulate(net)
    return float(waiting.mean() / pace) if pace > 0 else 0.0


def strength(times: Floats, work: Floats, target: float, rng: np.random.Generator) -> float:
    """Return how often the next session is a regulated one, so that the backlog is nearest to *target*."""
    rate = work.sum() / max(times[-1] - times[0], 1.0)
    chance = rng.random(times.size)
    found = []
    for one in STRENGTHS:
        order = picked(times, work, rate, 0.0, (chance < one).astype(np.int64))
        found.append(abs(np.log((backlog(times, work[order]) + 1) / (target + 1))))
    return STRENGTHS[int(np.argmin(found))]
