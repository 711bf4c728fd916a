"""
Four-week windows of a log: the 95 % quantile of their waits, and what is known of their load.

Three numbers describe the load of a window: the work submitted relative to the capacity, the backlog that the
jobs would find on a fluid machine, which drains work at a share of its capacity, and the waits of a replay.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from gwa.errors import ArgumentError
from gwa.evaluation.whatif.validation import OFFSET
from gwa.evaluation.whatif.world import World
from gwa.statistics.sample import Floats, Ints
from gwa.util.units import WEEK

WINDOW: Final = 4 * WEEK
"""The length of a window in s, called a month in sentences."""

QUANTILE: Final = 0.95
"""The only quantile of waits that held-out windows bear out: medians cannot be predicted."""

MINIMUM_JOBS: Final = 100
"""Jobs of a class with a recorded wait that a window must have."""

DRAINS: Final = (0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""The shares of its capacity at which a fluid machine may drain work; the log chooses one."""

LARGE: Final = 0.75
"""The quantile of sizes from which jobs are large."""

SEVERAL: Final = 2
"""The least size of a large job."""


@dataclass(frozen=True)
class ProcessorRange:
    """Jobs of *least* to *most* processors; None for no limit."""

    least: int = 1
    most: int | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """
        Return the class that *text* says: ``16`` for 16 processors or more, ``4..8``, or ``all``.

        Raise `ArgumentError` for another text.

        >>> [ProcessorRange.parse(text) for text in ("16", "all")]
        [ProcessorRange(least=16, most=None), ProcessorRange(least=1, most=None)]
        """
        match = re.fullmatch(r"(\d{1,9})(?:\.\.(\d{1,9}))?", text)
        if text == "all":
            return cls()
        least, most = (int(match[1]), int(match[2]) if match[2] else None) if match else (0, None)
        if least < 1 or (most is not None and most < least):
            raise ArgumentError(
                f"--size: '{text}' is no class of sizes, expected one such as 16, 4..8 or all"
            )
        return cls(least, most)

    def rows(self, world: World) -> NDArray[np.bool_]:
        """Return which jobs of a *world* are of this class."""
        rows: NDArray[np.bool_] = world.size >= self.least
        return rows if self.most is None else rows & (world.size <= self.most)


EVERY: Final = ProcessorRange()
"""All jobs."""


def large(world: World) -> ProcessorRange:
    """Return the class of the large jobs: a quarter of the jobs, or more if many have the same size."""
    quantile = float(np.quantile(world.size, LARGE)) if len(world) else 0.0
    return ProcessorRange(max(ceil(quantile), SEVERAL))


def places(world: World, among: ProcessorRange) -> list[tuple[Ints, Ints]]:
    """
    Return the jobs of each window: those of the class with a recorded wait, and all.

    Windows with fewer than `MINIMUM_JOBS` of the first are left out. So are the first and the last one: at
    its beginning a log knows no queue, and at its end it has not the waits of all jobs.
    """
    if not len(world):
        return []
    number = np.floor((world.submit - world.submit[0]) / WINDOW).astype(np.int64)
    _, first = np.unique(number, return_index=True)
    wanted = among.rows(world) & np.isfinite(world.wait)
    every = np.split(np.arange(number.size), first[1:])[1:-1]
    found = [(rows[wanted[rows]], rows) for rows in every]
    return [(own, rows) for own, rows in found if own.size >= MINIMUM_JOBS]


def whole(world: World) -> int:
    """Return how many whole windows a *world* has, those included that `places` leaves out."""
    return floor(world.span / WINDOW)


def median_month(wait: Floats) -> float:
    """
    Return the wait in the median window, in s: of an even number, the mean of the two in the middle.

    *wait* is the logarithm of the wait of each window, in s, plus `OFFSET`, as `Windows` has it. The median
    is taken of seconds: of logarithms, that of an even number of windows is another one.

    >>> round(median_month(np.log(np.array([60.0, 160.0, 460.0, 1060.0]))))
    250
    """
    return max(float(np.median(np.exp(wait))) - OFFSET, 0.0)


@dataclass(frozen=True, eq=False)
class Windows:
    """
    What is known of each window, as arrays of equal length.

    *wait* is the logarithm of the 95 % quantile of the recorded waits of a class, in s, plus `OFFSET`;
    *replay* is that of the waits that a replay of the log gives, *backlog* that of the time in which a fluid
    machine would be done with what it has left when a job is submitted, a row for each of `DRAINS`. *load* is
    the work of all jobs submitted in the window, relative to what the machine can do in it.
    """

    wait: Floats
    load: Floats
    replay: Floats
    backlog: Floats

    @classmethod
    def of(cls, world: World, start: Floats, jobs: Sequence[tuple[Ints, Ints]]) -> Self:
        """Return the windows with the *jobs* that `places` gives, of which *start* are replayed starts."""
        work = world.run * world.size
        own = [rows for rows, _ in jobs]
        load = [float(work[rows].sum()) / (world.capacity * WINDOW) for _, rows in jobs]
        rows_of = tuple(_tails(backlog(world.submit, work, drain * world.capacity), own) for drain in DRAINS)
        return cls(
            _tails(world.wait, own), np.array(load), _tails(start - world.submit, own), np.array(rows_of)
        )

    def __len__(self) -> int:
        """Return the number of windows."""
        return self.wait.size


def _tails(times: Floats, jobs: Sequence[Ints]) -> Floats:
    return np.array([np.log(np.quantile(times[rows], QUANTILE) + OFFSET) for rows in jobs])


def backlog(submit: Floats, work: Floats, rate: float) -> Floats:
    """
    Return the seconds in which a fluid machine would be done with what it has left, at each submission.

    The machine drains *work*, in processor seconds, at a constant *rate*; a job does not find its own work.
    This is the waiting time of Lindley (1952): what has come less what could have been drained, above its
    least value so far.

    >>> backlog(np.array([0.0, 10.0, 60.0]), np.array([40.0, 20.0, 5.0]), 1.0).tolist()
    [0.0, 30.0, 0.0]
    """
    if not submit.size:
        return submit
    come = np.concatenate([[0.0], np.cumsum(work[:-1])])
    net = come - (submit - submit[0]) * rate
    left: Floats = (net - np.minimum.accumulate(net)) / rate
    return left
