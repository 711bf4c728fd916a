"""
The event loop of conservative backfilling, where each job has a reservation from its submission on.

When a job ends early, all that wait look for earlier places. Most of them need not look far: jobs of one
shape, with the same processors and estimate, fit into the same gaps, so that one looks on from where another
has found nothing, and only what moves freed since then is looked at again.
"""

from heapq import heappop, heappush
from typing import Final, NamedTuple

import numpy as np

from gwa.simulation.jobs import NONE, UNLIMITED, Floats, Integers
from gwa.util.compiled import compiled, is_worth_compiling

MAXIMUM_UNCOMPILED: Final = 20_000
"""More jobs are not scheduled without numba: where many wait, each may give its place to any other."""


class Work(NamedTuple):
    """What the jobs are; those with the same estimate and processors are of one *shape*, a number from 0."""

    submit: Floats
    run: Floats
    estimate: Floats
    procs: Integers
    shape: Integers


class Plan(NamedTuple):
    """What is not spoken for: from ``times[i]`` on, ``free[i]`` processors."""

    times: list[float]
    free: list[int]


class Found(NamedTuple):
    """
    What jobs of each shape have found when they looked for earlier places.

    Before *until* there was no gap for a job of that shape after a number of *moves*, which are counted.
    """

    until: Floats
    moves: Integers


class Freed(NamedTuple):
    """
    From which times on *moves* up to now have freed processors, in order of both.

    A move before which another, later one has freed some is left out: it says nothing more.
    """

    moves: list[int]
    since: list[float]


def from_reservations(
    submit: Floats, run: Floats, estimate: Floats, procs: Integers, cpus: int, most_moves: int = UNLIMITED
) -> Floats:
    """Return when each job starts; NaN of all where it takes more than *most_moves* of reservations."""
    _, length = np.unique(estimate, return_inverse=True)
    _, shape = np.unique(procs * (length.max(initial=0) + 1) + length, return_inverse=True)
    work = Work(submit, run, estimate, procs, shape)
    if is_worth_compiling(len(submit), 0, MAXIMUM_UNCOMPILED, "jobs"):
        return compiled(_run_events)(work, cpus, most_moves)
    return _run_events(work, cpus, most_moves)


def _run_events(work: Work, cpus: int, most_moves: int) -> Floats:
    """Return when each job starts; NaN of all where it takes more than *most_moves*."""
    n, submit, estimate = len(work.submit), work.submit, work.estimate
    start = np.full(n, np.nan)
    plan = Plan([-np.inf], [cpus])
    found = Found(np.empty(n), np.full(n, NONE))
    running = [(np.inf, NONE)]
    waiting = [NONE]
    waiting.pop()
    arrived, moves, due = 0, 0, np.inf
    while arrived < n or len(running) > 1 or len(waiting) > 0:
        now = min(running[0][0], due)
        if arrived < n:
            now = min(now, submit[arrived])
        early = False
        while running[0][0] <= now:
            job = heappop(running)[1]
            end = start[job] + estimate[job]
            if end > now:
                _add(plan, now, end, work.procs[job])
                early = True
        _forget(plan, now)
        if early and len(waiting) > 0:
            moves = _move_up(plan, work, waiting, start, found, moves, now)
            if moves > most_moves:
                return np.full(n, np.nan)
        while arrived < n and submit[arrived] <= now:
            start[arrived] = _earliest(plan, now, estimate[arrived], work.procs[arrived])
            _add(plan, start[arrived], start[arrived] + estimate[arrived], -work.procs[arrived])
            waiting.append(arrived)
            due = min(due, start[arrived])
            arrived += 1
        if early or due <= now:
            due = _start_due(waiting, running, start, work.run, now)
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


def _forget(plan: Plan, now: float) -> None:
    """Drop the steps of the plan that are past."""
    while len(plan.times) > 1 and plan.times[1] <= now:
        plan.times.pop(0)
        plan.free.pop(0)


def _move_up(
    plan: Plan, work: Work, waiting: list[int], start: Floats, found: Found, moves: int, now: float
) -> int:
    """
    Give each waiting job the earliest place that delays no other; its own is always one.

    Return the number of *moves* up to now, which grows by one at least.
    """
    moves += 1
    first_move, freed_before = moves, np.inf
    heights, since = _rises(plan, now)
    # What is compiled tells the types of lists from their members.
    freed = Freed([0], [0.0])
    freed.moves.pop()
    freed.since.pop()
    for job in waiting:
        booked, need, length, shape = start[job], work.procs[job], work.estimate[job], work.shape[job]
        is_known = found.moves[shape] >= first_move
        begin = _nothing_before(found, freed, shape, booked, length) if is_known else now
        if begin >= booked:
            continue
        begin = max(begin, min(freed_before, _first_wide(heights, since, need)))
        begin = _earlier(plan, begin, booked, length, need)
        if begin < booked or not is_known or begin >= found.until[shape]:
            found.until[shape], found.moves[shape] = begin, moves
        if begin < booked:
            later = max(booked, begin + length)
            _add(plan, later, booked + length, need)
            _add(plan, begin, min(booked, begin + length), -need)
            start[job] = begin
            freed_before = min(freed_before, later)
            _free_from(freed, moves, later)
            moves += 1
    return moves


def _nothing_before(found: Found, freed: Freed, shape: int, booked: float, length: float) -> float:
    """
    Return before which time there is no place for a job of a *shape* that others have looked for.

    A gap that reaches its own place may be shorter than the job, and one that others did not reach so.
    """
    begin = found.until[shape] if booked >= found.until[shape] else booked - length
    return min(begin, _first_freed(freed, found.moves[shape]) - length)


def _rises(plan: Plan, now: float) -> tuple[list[int], list[float]]:
    """Return the numbers of free processors that are above all before, and since when they are free."""
    heights, since = [plan.free[0]], [now]
    for step in range(1, len(plan.free)):
        if plan.free[step] > heights[-1]:
            heights.append(plan.free[step])
            since.append(plan.times[step])
    return heights, since


def _first_wide(heights: list[int], since: list[float], need: int) -> float:
    """Return from when on *need* processors are free for some time."""
    low, high = 0, len(heights)
    while low < high:
        middle = (low + high) // 2
        if heights[middle] < need:
            low = middle + 1
        else:
            high = middle
    return since[low] if low < len(since) else np.inf


def _free_from(freed: Freed, move: int, since: float) -> None:
    """Note from when on a *move*, which is the last one, frees processors."""
    while len(freed.since) > 0 and freed.since[-1] >= since:
        freed.since.pop()
        freed.moves.pop()
    freed.since.append(since)
    freed.moves.append(move)


def _first_freed(freed: Freed, move: int) -> float:
    """Return the first time from which on that *move* or a later one has freed processors."""
    place = len(freed.moves)
    while place > 0 and freed.moves[place - 1] >= move:
        place -= 1
    return freed.since[place] if place < len(freed.moves) else np.inf


def _earlier(plan: Plan, begin: float, booked: float, length: float, need: int) -> float:
    """Return from when on a job fits that may give up its place, between *begin* and where it is *booked*."""
    times, free = plan
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


def _earliest(plan: Plan, now: float, length: float, need: int) -> float:
    """Return from when on *need* processors are free for *length* seconds."""
    times, free = plan
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


def _add(plan: Plan, begin: float, end: float, procs: int) -> None:
    """Let *procs* more processors be free from *begin* to *end*."""
    if end > begin:
        first = _split(plan, begin)
        last = _split(plan, end)
        for step in range(first, last):
            plan.free[step] += procs
        _join(plan, last)
        _join(plan, first)


def _split(plan: Plan, time: float) -> int:
    """Return the step that begins at *time*, made if need be."""
    step = _step_at(plan.times, time)
    if plan.times[step] == time:
        return step
    plan.times.insert(step + 1, time)
    plan.free.insert(step + 1, plan.free[step])
    return step + 1


def _join(plan: Plan, step: int) -> None:
    """Drop a step that changes nothing."""
    if step > 0 and plan.free[step] == plan.free[step - 1]:
        plan.times.pop(step)
        plan.free.pop(step)
