"""
Regulation of arrivals: users hold back while the system is loaded, so that work arrives evenly.

The sessions of a log in random order give waits that are many times longer, for users react to the load:
E. Shmueli and D. G. Feitelson, Uncovering the effect of system performance on user behavior from traces of
parallel systems (2007).
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from gwa.statistics.sample import Floats, Ints
from gwa.util.compiled import compiled
from gwa.util.units import WEEK

WAITING_SESSIONS: Final = 512
"""Sessions waiting to start, from which the next one is chosen."""

MAXIMUM_LAG: Final = 2 * WAITING_SESSIONS
"""Later sessions in the queue after which a waiting one is next whatever its work: none waits for ever."""

EXCESS_TIME_CONSTANT: Final = float(WEEK)
"""Time constant in seconds with which excess work is forgotten."""

FREQUENCY_TIME_CONSTANT: Final = 8 * EXCESS_TIME_CONSTANT
"""Time constant in seconds of the mean frequency of recent sessions."""

LOAD: Final = 0.6
"""Load for which the backlog is measured."""

CANDIDATES: Final = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 1.0)
"""Shares of regulated sessions that a fit tries."""


def initial_state(gap: float) -> Floats:
    """Return the state of `choose_sessions`: the last time, excess work, and recent sessions per second."""
    return np.array([0.0, 0.0, 1 / gap])


def choose_sessions(times: Floats, work: Floats, mean: float, state: Floats, regulated: Ints) -> Ints:
    """
    Choose the session that starts at each of *times* among the first `WAITING_SESSIONS` of a queue.

    *work* is that of each session in the queue, which has at least as many sessions as there are times, and
    *mean* the mean work of all sessions. Where *regulated* is 1, the chosen session brings the excess nearest
    to 0: the submitted work beyond that of mean sessions at the recent frequency. Otherwise, and if that is
    `MAXIMUM_LAG` sessions behind the queue's last, it is the session that has waited longest. The *state* is
    updated for the next call.
    """
    return compiled(_choose)(times, work, mean, state, regulated)


def _choose(times: Floats, work: Floats, mean: float, state: Floats, regulated: Ints) -> Ints:
    """Choose as `choose_sessions` does, number by number."""
    waiting = np.arange(min(WAITING_SESSIONS, len(work)))
    following = len(waiting)
    chosen = np.empty(len(times), np.int64)
    last, excess, frequency = state
    for i in range(len(times)):
        elapsed = times[i] - last
        last = times[i]
        excess = (excess - mean * frequency * elapsed) * np.exp(-elapsed / EXCESS_TIME_CONSTANT)
        frequency = frequency * np.exp(-elapsed / FREQUENCY_TIME_CONSTANT) + 1 / FREQUENCY_TIME_CONSTANT
        if regulated[i] and following - waiting.min() < MAXIMUM_LAG:
            best = np.abs(excess + work[waiting]).argmin()
        else:
            best = waiting.argmin()
        chosen[i] = waiting[best]
        excess += work[waiting[best]]
        if following < len(work):
            waiting[best] = following
            following += 1
        else:
            waiting[best] = waiting[-1]
            waiting = waiting[:-1]
    state[:] = last, excess, frequency
    return chosen


def mean_backlog(times: Floats, work: Floats) -> float:
    """
    Return the mean backlog in seconds, if *work* is submitted at *times* and done at a constant rate.

    At that rate the load is `LOAD`. The backlog is what a scheduler is faced with, whatever its policy.
    """
    rate = work.sum() / (LOAD * max(times[-1] - times[0], 1.0))
    balance = np.concatenate(([0.0], np.cumsum(work[:-1] - rate * np.diff(times))))
    backlog = balance - np.minimum.accumulate(balance)
    return float(backlog.mean() / rate) if rate > 0 else 0.0


def is_regulated(uniform: Floats, share: float) -> Ints:
    """Return 1 for the *share* of sessions whose *uniform* draw is below it, and 0 for the rest."""
    return (uniform < share).astype(np.int64)


def fit_regulation(draws: Sequence[tuple[Floats, Floats]], target: float, rng: np.random.Generator) -> float:
    """
    Fit the share of regulated sessions whose mean backlog is nearest to *target*.

    *draws* are the times and the work of sessions; several draws, for the largest sessions dominate the mean.
    """
    uniforms = [rng.random(times.size) for times, _ in draws]
    errors = []
    for share in CANDIDATES:
        backlogs = []
        for (times, work), uniform in zip(draws, uniforms, strict=True):
            state = initial_state((times[-1] - times[0] + 1) / times.size)
            order = choose_sessions(times, work, float(work.mean()), state, is_regulated(uniform, share))
            backlogs.append(np.log(mean_backlog(times, work[order]) + 1))
        errors.append(abs(np.mean(backlogs) - np.log(target + 1)))
    return CANDIDATES[int(np.argmin(errors))]
