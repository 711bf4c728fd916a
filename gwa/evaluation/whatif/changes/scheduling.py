"""What is asked of the scheduler: other requests and limits of time, another policy, fewer users."""

from dataclasses import replace

import numpy as np

from gwa.errors import ArgumentError, SimulationError
from gwa.evaluation.touched import REPLAYED
from gwa.evaluation.whatif.change import ChangeSubject, change
from gwa.evaluation.whatif.world import NEW, World
from gwa.simulation.backfilling import POLICIES, known
from gwa.util.durations import duration

PERFECT, DOUBLED = "perfect", "doubled"

MAXIMUM_PARTS = 10_000
"""The most jobs that one job may be divided into."""


@change(ChangeSubject.REQUESTS, f"{PERFECT}|{DOUBLED}", REPLAYED)
def requests(world: World, text: str, _: np.random.Generator) -> World:
    """
    Requested times: perfect, each the run time of its job, or doubled.

    Where no time was requested, the scheduler plans with the run time, of which doubled is the double.
    """
    if text not in (PERFECT, DOUBLED):
        raise ArgumentError(f"--requests: '{text}' is no kind of request, expected {PERFECT} or {DOUBLED}")
    if text == PERFECT:
        return replace(world, requested=world.run)
    return replace(world, requested=2 * np.where(world.requested > 0, world.requested, world.run))


@change(ChangeSubject.POLICY, "|".join(POLICIES), REPLAYED)
def scheduler(world: World, text: str, _: np.random.Generator) -> World:
    """Policy of the scheduler, or one of one's own, as package:function."""
    try:
        return replace(world, policy=known(text))
    except SimulationError as error:
        raise ArgumentError(f"--scheduler: {error}") from error


@change(ChangeSubject.WORKLOAD, "24h", REPLAYED)
def walltime_cap(world: World, text: str, _: np.random.Generator) -> World:
    """
    Limit of the requested time, such as 24h; longer jobs are divided into jobs of that length.

    The work stays the same: a job that ran for longer becomes consecutive jobs, as of a user who saves the
    state of the program. Each is submitted when the one before it would have ended in the log: its recorded
    start and as many limits.
    """
    cap = duration(text)
    if cap is None or cap <= 0:
        raise ArgumentError(f"--walltime-cap: '{text}' is not a time, expected one such as 24h or 12:00:00")
    parts = np.maximum(np.ceil(world.run / cap), 1).astype(np.int64)
    if parts.max(initial=1) > MAXIMUM_PARTS:
        raise ArgumentError(
            f"--walltime-cap: {text} divides a job into more than {MAXIMUM_PARTS:,}, expected a longer time"
        )
    rows = np.repeat(np.arange(len(world)), parts)
    part = np.arange(rows.size) - np.repeat(np.cumsum(parts) - parts, parts)
    start = world.submit + np.nan_to_num(world.wait)
    submit = np.where(part == 0, world.submit[rows], start[rows] + part * cap)
    order = np.argsort(submit, kind="stable")
    rows, part = rows[order], part[order]
    divided = world.taking(rows, submit[order])
    requested = np.where(divided.requested > 0, np.minimum(divided.requested, cap), divided.requested)
    return replace(
        divided,
        run=np.clip(divided.run - part * cap, 0, cap),
        requested=requested,
        job=np.where(part == 0, divided.job, NEW),
        wait=np.where(part == 0, divided.wait, np.nan),
    )


@change(ChangeSubject.WORKLOAD, "USER", REPLAYED)
def without_user(world: World, text: str, _: np.random.Generator) -> World:
    """Leave out the jobs of a user (repeatable)."""
    own = world.user == text
    if not own.any():
        raise ArgumentError(f"--without-user: the log has no jobs of a user '{text}'")
    return world.only(~own)
