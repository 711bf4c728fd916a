"""Filling a ledger: which of the sessions that a model draws start when, so that work is as counted."""

from collections import deque
from collections.abc import Callable
from typing import Final

import numpy as np

from gwa.models.families.gwa.ledger import Ledger
from gwa.models.streams import Block, concatenate
from gwa.statistics.sample import Floats, Ints

BATCH: Final = 1 << 11
"""Sessions that are drawn at a time."""

CANDIDATES, LAST_CANDIDATES = 2, 8
"""Sessions to choose from, in all classes but the last, and in that."""

MAXIMUM_BATCHES: Final = 4
"""Batches that are drawn for a session of a class before another class will do."""

MAXIMUM_WAITING: Final = 256
"""Sessions of a class that are kept for later."""


class Filling:
    """
    Sessions that wait for a place in a *ledger*, by their class.

    *draw* returns the jobs of a number of sessions, submitted from second 0 of each, with their session. Of
    the two of a class that have waited longest that one is next which brings the work so far nearer to that
    of the ledger (error diffusion); the other one goes to the back. More to choose from would bend what jobs
    are like. Only in the last class, whose few sessions differ most, there are eight.
    """

    def __init__(self, ledger: Ledger, draw: Callable[[int], Block]) -> None:
        self._ledger, self._draw = ledger, draw
        self._jobs: Block = draw(0)
        self._work: Floats = np.zeros(0)
        self._waiting: list[deque[int]] = [deque() for _ in ledger.work]
        self._candidates = [*[CANDIDATES] * (len(ledger.work) - 1), LAST_CANDIDATES]
        self._excess = 0.0

    def fill(self, starts: Floats, classes: Ints) -> Block:
        """Return the jobs of sessions of these *classes* that start at *starts*."""
        filled: list[Block] = []
        chosen: list[int] = []
        begin = 0
        for number, of_class in enumerate(classes.tolist()):
            if len(self._waiting[of_class]) < self._candidates[of_class]:
                filled.append(self._lay(chosen, starts[begin:number]))
                chosen, begin = [], number
                self._refill(of_class)
            chosen.append(self._choose(of_class))
        return concatenate([*filled, self._lay(chosen, starts[begin:])])

    def _choose(self, of_class: int) -> int:
        """Choose the next session of a class, or one of the nearest work where there is none."""
        aim = self._ledger.work[of_class] - self._excess
        waiting = self._waiting[of_class]
        if not waiting:
            session = int(np.abs(self._work - aim).argmin())
        else:
            candidates = [waiting.popleft() for _ in range(min(self._candidates[of_class], len(waiting)))]
            session = min(candidates, key=lambda candidate: abs(self._work[candidate] - aim))
            waiting.extend(candidate for candidate in candidates if candidate != session)
        self._excess += float(self._work[session]) - self._ledger.work[of_class]
        return session

    def _refill(self, of_class: int) -> None:
        """Draw sessions until enough of a class wait, `MAXIMUM_BATCHES` at most; what waits is kept."""
        kept = np.sort(np.array([one for waiting in self._waiting for one in waiting], np.int64))
        numbers = np.full(self._work.size, -1)
        numbers[kept] = np.arange(kept.size)
        self._waiting = [deque(numbers[list(waiting)].tolist()) for waiting in self._waiting]
        jobs, work = [_take(self._jobs, numbers)], [self._work[kept]]
        size = kept.size
        for _ in range(MAXIMUM_BATCHES):
            batch = self._draw(BATCH)
            amounts = batch["run_time"] * batch["n_procs"]
            drawn = np.bincount(batch["session"], amounts, BATCH).astype(np.float64)
            for session, its_class in enumerate(self._ledger.classify(drawn).tolist()):
                if its_class >= 0 and len(self._waiting[its_class]) < MAXIMUM_WAITING:
                    self._waiting[its_class].append(size + session)
            jobs.append(batch | {"session": batch["session"] + size})
            work.append(drawn)
            size += BATCH
            if len(self._waiting[of_class]) >= self._candidates[of_class]:
                break
        self._jobs, self._work = concatenate(jobs), np.concatenate(work)

    def _lay(self, sessions: list[int], starts: Floats) -> Block:
        """Return the jobs of *sessions*, each submitted from its start on."""
        begins, ends = (
            np.searchsorted(self._jobs["session"], np.array(sessions, np.int64), side)
            for side in ("left", "right")
        )
        sizes = ends - begins
        before = np.cumsum(sizes) - sizes
        rows = np.arange(sizes.sum()) + np.repeat(begins - before, sizes)
        jobs = {name: column[rows] for name, column in self._jobs.items()}
        jobs["submit_time"] = np.floor(jobs["submit_time"] + np.repeat(starts, sizes))
        return jobs


def _take(jobs: Block, numbers: Ints) -> Block:
    """Return the jobs of the sessions that have a new number of at least 0, with that number."""
    session = numbers[jobs["session"]]
    return {name: column[session >= 0] for name, column in (jobs | {"session": session}).items()}
