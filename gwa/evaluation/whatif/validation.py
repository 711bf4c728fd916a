"""
How far a replay is to be trusted: the simulated waits of the machine as it was, beside those recorded.

A replay knows processors, requests and one policy; a machine also has priorities, limits, reservations and
outages. What a replay says of a change rests on how well it follows the changes that the log itself records.
On public logs, the logarithm of a change from one half-year to another has an rms error of about 0.34, which
is the least error that any answer states.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import log, sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gwa.evaluation.whatif.world import World
from gwa.statistics.sample import Floats, Ints
from gwa.util.units import MINUTE, WEEK

OFFSET: Final = float(MINUTE)
"""Seconds added to mean waits before ratios are taken: below a minute, no wait is longer than another."""

HALF_YEAR: Final = 26
"""Weeks of a block of the log, within which a replay is compared with what is recorded."""

MINIMUM_ERROR: Final = 0.34
"""The least error of the logarithm of a ratio: the pooled error of changes between half-years, eight logs."""

MINIMUM_OF_WEEK: Final = 10
"""Jobs that a week must have for its mean wait to be compared."""

SIZES: Final = (0.01, 0.05, 0.25)
SIZE_NAMES: Final = (
    "1 % of the machine or less", "1 % to 5 %", "5 % to 25 %", "more than 25 % of the machine",
)  # fmt: skip


def size_class(size: Ints, capacity: int) -> Ints:
    """Return the number of the class of each *size*, by its share of the machine's *capacity*."""
    return np.searchsorted(SIZES, size / capacity).astype(np.int64)


@dataclass(frozen=True)
class WaitLevel:
    """The mean *recorded* and *simulated* waits, in seconds, of the *jobs* of a class."""

    name: str
    jobs: int
    recorded: float
    simulated: float

    @property
    def ratio(self) -> float:
        """The simulated mean wait relative to the recorded one; nan where no job waited."""
        return self.simulated / self.recorded if self.recorded > 0 else float("nan")


@dataclass(frozen=True, eq=False)
class Validation:
    """
    The replay of the machine as it was, against the log.

    *level* is that of all jobs with a recorded wait, *sizes* those by class of size. *weeks* are the numbers,
    from 0, of weeks of the log that have enough jobs to be compared, with their mean *recorded* and
    *simulated* waits in seconds. *span* is the length of the log in weeks. *error* is that of the logarithm
    of a ratio of mean waits, of all jobs; it rests on a number of *blocks*, half-years of the log.
    *requested* is the share of the jobs with a requested time. *capacity_is_stated* says whether the size of
    the machine is stated, not the most that was busy at once.
    """

    level: WaitLevel
    sizes: tuple[WaitLevel, ...]
    weeks: Ints
    recorded: Floats
    simulated: Floats
    span: float
    blocks: int
    error: float
    requested: float
    capacity_is_stated: bool

    @property
    def gaps(self) -> tuple[str, ...]:
        """What the log does not say, so that the replay rests on something else."""
        return gaps(self.level.jobs, self.requested, capacity_is_stated=self.capacity_is_stated)


def gaps(waits: float, requested: float, *, capacity_is_stated: bool) -> tuple[str, ...]:
    """
    Return what a log does not say, in sentences.

    *waits* is how many jobs have a known wait, *requested* the share of them with a requested time.
    """
    known = {
        "The log records no waits that the replay could be compared with.": waits,
        "No job records a requested time, so the replayed scheduler knows run times.": requested,
        "The size of the machine is not stated; it is taken as the most that was ever busy.": (
            capacity_is_stated
        ),
    }
    return tuple(text for text, is_known in known.items() if not is_known)


def validate(world: World, start: Floats, *, capacity_is_stated: bool) -> Validation:
    """Compare the simulated *start* of each job of the *world* as it was with what is recorded."""
    simulated = start - world.submit
    known = np.isfinite(world.wait)
    week = np.floor((world.submit - world.submit[:1]) / WEEK).astype(np.int64)
    size = size_class(world.size, world.capacity)
    weeks, by_week, by_week_simulated = _weekly(week[known], world.wait[known], simulated[known])
    blocks = half_years(world, start, known)
    return Validation(
        _level("all", world.wait, simulated, known),
        tuple(
            _level(name, world.wait, simulated, known & (size == number))
            for number, name in enumerate(SIZE_NAMES)
            if (known & (size == number)).any()
        ),
        weeks,
        by_week,
        by_week_simulated,
        world.span / WEEK,
        len(blocks),
        error_of(blocks),
        float((world.requested > 0).mean()) if len(world) else 0.0,
        capacity_is_stated,
    )


def _level(name: str, recorded: Floats, simulated: Floats, rows: NDArray[np.bool_]) -> WaitLevel:
    count = int(rows.sum())
    means = (float(recorded[rows].mean()), float(simulated[rows].mean())) if count else (0.0, 0.0)
    return WaitLevel(name, count, *means)


def _weekly(week: Ints, recorded: Floats, simulated: Floats) -> tuple[Ints, Floats, Floats]:
    """Return the weeks with enough jobs, and the means of both waits in each."""
    if not week.size:
        return week, recorded, simulated
    count = np.bincount(week)
    enough = np.flatnonzero(count >= MINIMUM_OF_WEEK)
    return (
        enough.astype(np.int64),
        np.bincount(week, recorded)[enough] / count[enough],
        np.bincount(week, simulated)[enough] / count[enough],
    )


def half_years(
    world: World, start: Floats, rows: NDArray[np.bool_], quantile: float | None = None
) -> list[float]:
    """
    Return the log of simulated over recorded waits of *rows*, for each whole half-year with some.

    They are mean waits, or a *quantile* of waits: its error is another one.
    """
    rows = rows & np.isfinite(world.wait)
    week = np.floor((world.submit - world.submit[:1]) / WEEK)[rows]
    recorded, simulated = world.wait[rows], (start - world.submit)[rows]
    whole = int(world.span / WEEK) // HALF_YEAR
    edges = np.searchsorted(week, np.arange(whole + 1) * HALF_YEAR)
    return [
        log(
            (_summed(simulated[first:last], quantile) + OFFSET)
            / (_summed(recorded[first:last], quantile) + OFFSET)
        )
        for first, last in pairwise(edges.tolist())
        if last > first
    ]


def _summed(waits: Floats, quantile: float | None) -> float:
    return float(waits.mean() if quantile is None else np.quantile(waits, quantile))


def error_of(blocks: list[float]) -> float:
    """
    Return the error of the logarithm of a change that a replay states, from how it errs in half-years.

    A change is the ratio of two waits, each with the error of one block: the square root of 2 times the
    standard deviation of the *blocks*, and never below `MINIMUM_ERROR`.

    >>> round(error_of([0.0, 1.0]), 3), error_of([0.3])
    (1.0, 0.34)
    """
    deviation = float(np.std(blocks, ddof=1)) if len(blocks) > 1 else 0.0
    return max(MINIMUM_ERROR, sqrt(2) * deviation)


def as_plain(validation: Validation) -> Mapping[str, object]:
    """Return what JSON holds of a validation; times in seconds, None for what is unknown."""
    return {
        "gaps": list(validation.gaps),
        "level": _plain(validation.level.ratio),
        "weeks": validation.span,
        "half_years": validation.blocks,
        "log_error": validation.error,
        "requested": validation.requested,
        "sizes": [
            {
                "size": level.name,
                "jobs": level.jobs,
                "recorded": level.recorded,
                "simulated": level.simulated,
                "level": _plain(level.ratio),
            }
            for level in validation.sizes
        ],
    }


def _plain(value: float) -> float | None:
    return None if np.isnan(value) else value
