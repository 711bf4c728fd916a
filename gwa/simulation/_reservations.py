"""The event loop of conservative backfilling, where each job has a reservation from its submission on."""

from heapq import heappop, heappush
from typing import Final

import numpy as np

from gwa.simulation.jobs import NONE, Floats, Integers
from gwa.util.compiled import compiled, is_worth_compiling

MAXIMUM_UNCOMPILED: Final = 20_000
"""More jobs are not scheduled without numba: where many wait, each may give its place to any other."""


def from_reservations(submit: Floats, run: Floats, estimate: Floats, procs: Integers, cpus: int) -> Floats:
    """Return when each job starts."""
    if is_worth_compiling(len(submit), 0, MAXIMUM_UNCOMPILED, "jobs"):
        return compiled(_run_events)(submit, run, estimate, procs, cpus)
    return _run_events(submit, run, estimate, procs, cpus)


def _run_events(submit: Floats, run: Floats, estimate: Floats, procs: Integers, cpus: int) -> Floats:
    """
    Return when each job starts.

    The plan is a step function: from ``times[i]`` on, ``free[i]`` processors are not spoken for.
    """
    n = len(submit)
    start = np.full(n, np.nan)
    times, free = [-np.inf], [cpus]
    running = [(np.inf, NONE)]
    waiting = [NONE]
    waiting.pop()
    arrived, due = 0, np.inf
    while arrived < n or len(running) > 1 or len(waiting) > 0:
        now = min(running[0][0], due)
        if arrived < n:
            now = min(now, submit[arrived])
        early = False
        while running[0][0] <= now:
            job = heappop(running)[1]
            end = start[job] + estimate[job]
            if end > now:
                _add(times, free, now, end, procs[job])
                early = True
        _forget(times, free, now)
        if early and len(waiting) > 0:
            _move_up(times, free, waiting, start, estimate, procs, now)
        while arrived < n and submit[arrived] <= now:
            start[arrived] = _earliest(times, free, now, estimate[arrived], procs[arrived])
            _add(times, free, start[arrived], start[arrived] + estimate[arrived], -procs[arrived])
            waiting.append(arrived)
            due = min(due, start[arrived])
            arrived += 1
        if early or due <= now:
            due = _start_due(waiting, running, start, run, now)
    return start


def _start_due(
    waiting: list[int], running: list[tuple[float, int]], start: Floats, run: Floats, now: float
) -> float:
    """Let those run whose time has come, and return when the next one's comes."""
    left, due = 0, np.inf
    for job in waiting:
        if start[job] <= now:
            heappush(running, (now + run[job], job))
        else:
            waiting[left] = job
            left += 1
            due = min(due, start[job])
    while len(waiting) > left:
        waiting.pop()
    return due


def _forget(times: list[float], free: list[int], now: float) -> None:
    """Drop the steps of the plan that are past."""
    while len(times) > 1 and times[1] <= now:
        times.pop(0)
        free.pop(0)


def _move_up(
    times: list[float],
    free: list[int],
    waiting: list[int],
    start: Floats,
    estimate: Floats,
    procs: Integers,
    now: float,
) -> None:
    """Give each waiting job the earliest place that delays no other; its own is always one."""
    first = _first_free(times, free, now)
    for job in waiting:
        need, length, booked = procs[job], estimate[job], start[job]
        # Most jobs find nothing before their place that is wide enough, which is soon seen.
        if first[need] >= booked:
            continue
        begin = _earlier(times, free, first[need], booked, length, need)
        if begin < booked:
            _add(times, free, booked, booked + length, need)
            _add(times, free, begin, begin + length, -need)
            start[job] = begin
            first = _first_free(times, free, now)


def _first_free(times: list[float], free: list[int], now: float) -> Floats:
    """Return from when on 0, 1, 2, … processors are free for some time."""
    first = np.full(max(free) + 1, now)
    highest = -1
    for step in range(len(free)):
        if free[step] > highest:
            first[highest + 1 : free[step] + 1] = max(times[step], now)
            highest = free[step]
    return first


def _earlier(
    times: list[float], free: list[int], begin: float, booked: float, length: float, need: int
) -> float:
    """Return from when on a job fits that may give up its place, between *begin* and where it is *booked*."""
    for step in range(_step_at(times, begin), len(times)):
        if begin >= booked or times[step] >= begin + length:
            break
        own = need if booked <= times[step] < booked + length else 0
        if free[step] + own < need:
            begin = times[step + 1]
    return min(begin, booked)


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


def _add(times: list[float], free: list[int], begin: float, end: float, procs: int) -> None:
    """Let *procs* more processors be free from *begin* to *end*."""
    if end > begin:
        first = _split(times, free, begin)
        last = _split(times, free, end)
        for step in range(first, last):
            free[step] += procs
        _join(times, free, last)
        _join(times, free, first)


def _split(times: list[float], free: list[int], time: float) -> int:
    """Return the step that begins at *time*, made if need be."""
    step = _step_at(times, time)
    if times[step] == time:
        return step
    times.insert(step + 1, time)
    free.insert(step + 1, free[step])
    return step + 1


def _join(times: list[float], free: list[int], step: int) -> None:
    """Drop a step that changes nothing."""
    if step > 0 and free[step] == free[step - 1]:
        times.pop(step)
        free.pop(step)
