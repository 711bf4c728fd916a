"""The event loop of conservative backfilling, where each job has a reservation from its submission on."""

from heapq import heappop, heappush

import numpy as np
from numba import njit

from gwa.simulation.jobs import Floats, Integers

NOBODY = -1


@njit(cache=True)
def from_reservations(submit: Floats, run: Floats, estimate: Floats, procs: Integers, cpus: int) -> Floats:
    """
    Return when each job starts.

    The plan is a step function: from ``times[i]`` on, ``free[i]`` processors are not spoken for.
    """
    n = len(submit)
    start = np.full(n, np.nan)
    times, free = [-np.inf], [cpus]
    running = [(np.inf, NOBODY)]
    waiting = [NOBODY]
    waiting.pop()
    arrived = 0
    while arrived < n or len(running) > 1 or len(waiting) > 0:
        now = running[0][0] if arrived == n else min(submit[arrived], running[0][0])
        for job in waiting:
            now = min(now, start[job])
        early = False
        while running[0][0] <= now:
            job = heappop(running)[1]
            end = start[job] + estimate[job]
            if end > now:
                _add(times, free, now, end, procs[job])
                early = True
        _forget(times, free, now)
        if early:
            _move_up(times, free, waiting, start, estimate, procs, now)
        while arrived < n and submit[arrived] <= now:
            start[arrived] = _earliest(times, free, now, estimate[arrived], procs[arrived])
            _add(times, free, start[arrived], start[arrived] + estimate[arrived], -procs[arrived])
            waiting.append(arrived)
            arrived += 1
        _start_due(waiting, running, start, run, now)
    return start


@njit(cache=True)
def _start_due(
    waiting: list[int], running: list[tuple[float, int]], start: Floats, run: Floats, now: float
) -> None:
    """Let those run whose time has come."""
    left = 0
    for job in waiting:
        if start[job] <= now:
            heappush(running, (now + run[job], job))
        else:
            waiting[left] = job
            left += 1
    while len(waiting) > left:
        waiting.pop()


@njit(cache=True)
def _forget(times: list[float], free: list[int], now: float) -> None:
    """Drop the steps of the plan that are past."""
    while len(times) > 1 and times[1] <= now:
        times.pop(0)
        free.pop(0)


@njit(cache=True)
def _move_up(
    times: list[float],
    free: list[int],
    waiting: list[int],
    start: Floats,
    estimate: Floats,
    procs: Integers,
    now: float,
) -> None:
    """Give each waiting job the earliest place that delays nobody; its own is always one."""
    most = _most_free(free)
    for job in waiting:
        # Most jobs find nothing before their place that is wide enough, which is soon seen.
        if most[max(0, _step_at(times, start[job]) - 1)] < procs[job]:
            continue
        before = start[job]
        _add(times, free, before, before + estimate[job], procs[job])
        start[job] = _earliest(times, free, now, estimate[job], procs[job])
        _add(times, free, start[job], start[job] + estimate[job], -procs[job])
        if start[job] < before:
            most = _most_free(free)


@njit(cache=True)
def _most_free(free: list[int]) -> Integers:
    """Return the most processors that are free up to each step."""
    most = np.empty(len(free), np.int64)
    most[0] = free[0]
    for step in range(1, len(free)):
        most[step] = max(most[step - 1], free[step])
    return most


@njit(cache=True)
def _step_at(times: list[float], time: float) -> int:
    """Return the step in which *time* lies."""
    low, high = 0, len(times)
    while high - low > 1:
        middle = (low + high) // 2
        if times[middle] <= time:
            low = middle
        else:
            high = middle
    return low


@njit(cache=True)
def _earliest(times: list[float], free: list[int], now: float, length: float, need: int) -> float:
    """Return from when on *need* processors are free for *length* seconds."""
    begin = now
    for step in range(len(times)):
        end = times[step + 1] if step + 1 < len(times) else np.inf
        if end <= begin and step + 1 < len(times):
            continue
        if free[step] < need:
            begin = end
        elif end >= begin + length:
            break
    return begin


@njit(cache=True)
def _add(times: list[float], free: list[int], begin: float, end: float, procs: int) -> None:
    """Let *procs* more processors be free from *begin* to *end*."""
    if end > begin:
        first = _split(times, free, begin)
        for step in range(first, _split(times, free, end)):
            free[step] += procs


@njit(cache=True)
def _split(times: list[float], free: list[int], time: float) -> int:
    """Return the step that begins at *time*, made if need be."""
    step = _step_at(times, time)
    if times[step] == time:
        return step
    times.insert(step + 1, time)
    free.insert(step + 1, free[step])
    return step + 1
