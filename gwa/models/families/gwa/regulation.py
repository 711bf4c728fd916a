"""
Who comes next: users hold back while the system is full, so that work arrives more evenly than by chance.

Sessions of a log in another order give waits that are many times longer. Users see the load and react to it:
E. Shmueli and D. G. Feitelson, Uncovering the effect of system performance on user behavior from traces of
parallel systems (2007).
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numba import njit

from gwa.statistics.sample import Floats, Ints
from gwa.util.units import WEEK

CROWD: Final = 512
"""Sessions that wait to come."""

MEMORY: Final = WEEK
"""Seconds after which what was too much or too little is forgotten."""

LATE: Final = 8 * MEMORY
"""Seconds over which sessions count as those of late."""

LOAD: Final = 0.6
"""Load at which the backlog is measured."""

STRENGTHS: Final = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 1.0)
"""Strengths of regulation that a fit tries."""


def beginning(gap: float) -> Floats:
    """Return what `picked` needs to know: the last time, excess work, and sessions per second of late."""
    return np.array([0.0, 0.0, 1 / gap])


@njit(cache=True)
def picked(times: Floats, work: Floats, mean: float, known: Floats, regulated: Ints) -> Ints:
    """
    Return which session comes at each of *times*, in a line of which `CROWD` wait at a time.

    *work* is that of the sessions in line, of which there are at least as many as times, *mean* that of all.
    Where *regulated* is 1, it is the session that brings the excess nearest to nothing: the work submitted
    beyond that of mean sessions as frequent as of late. Else it is the one that has waited longest. What is
    *known* goes on.
    """
    crowd = np.arange(min(CROWD, len(work)))
    following = len(crowd)
    found = np.empty(len(times), np.int64)
    last, excess, frequency = known
    for place in range(len(times)):
        passed = times[place] - last
        last = times[place]
        excess = (excess - mean * frequency * passed) * np.exp(-passed / MEMORY)
        frequency = frequency * np.exp(-passed / LATE) + 1 / LATE
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
    known[:] = last, excess, frequency
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


def by_fit(chance: Floats, part: float) -> Ints:
    """Return 1 for that *part* of sessions whose *chance* is below it, and 0 for the others."""
    found: Ints = (chance < part).astype(np.int64)
    return found


def strength(lines: Sequence[tuple[Floats, Floats]], target: float, rng: np.random.Generator) -> float:
    """
    Return how often the next session is a regulated one, so that the backlog is nearest to *target*.

    *lines* are draws of sessions, their times and their work; several, for the greatest of them decide much.
    """
    chances = [rng.random(times.size) for times, _ in lines]
    found = []
    for one in STRENGTHS:
        backlogs = []
        for (times, work), chance in zip(lines, chances, strict=True):
            known = beginning((times[-1] - times[0] + 1) / times.size)
            order = picked(times, work, float(work.mean()), known, by_fit(chance, one))
            backlogs.append(np.log(backlog(times, work[order]) + 1))
        found.append(abs(np.mean(backlogs) - np.log(target + 1)))
    return STRENGTHS[int(np.argmin(found))]
