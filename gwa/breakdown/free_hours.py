"""
The parts of the week in which processors are free more often than in others.

A week has 28 parts of six hours, by the clock of the log's time zone. Each first, third, … whole week that is
known chooses those in which enough processors were free most often; whether they are is counted in the
second, fourth, … week, and compared with these weeks turned at random, each by its own number of hours:
without a rhythm of the week, turned weeks look the same.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from gwa.breakdown.maintenance import hourly, hours_and_weeks
from gwa.metrics.clock import HOURS_OF_WEEK
from gwa.metrics.timeline import Floats
from gwa.metrics.window import window
from gwa.store.store import Store
from gwa.util.units import HOUR

HOURS: Final = 6
"""The length of a part of the week."""

CHOSEN: Final = 3
"""As many parts are looked at in the other weeks."""

MINIMUM_WEEKS: Final = 8
"""Of fewer weeks that count nothing is said."""

MORE_OFTEN: Final = 0.1
"""Processors must be free in so much more of the time than in all of the week."""

TURNS: Final = 999
ALPHA: Final = 0.05


@dataclass(frozen=True)
class FreePart:
    """
    The six hours from an *hour* of the week on, 0 being Monday at midnight, in which processors were free.

    They were in the *share* of these hours in the *weeks* that count, and in *usual* of all hours of these.
    """

    hour: int
    share: float
    usual: float
    weeks: int


def free_parts(store: Store, capacity: float, processors: float) -> list[FreePart]:
    """
    Return the parts of the week in which *processors* of a *capacity* were free more often than in others.

    They were free in an hour if they were on average. Nothing is returned where too few weeks are known.
    """
    held: Floats = store.once("held by weeks", lambda: _by_week(store))
    return list(parts_of((capacity - held >= processors).astype(np.float64)))


def _by_week(store: Store) -> Floats:
    """Return the processors held in each hour of each whole week, a row for a week."""
    known = window(store).period
    begins, held = hourly(store, known, 1) if known else (np.empty(0), np.empty(0))
    if not len(begins):
        return np.empty((0, HOURS_OF_WEEK))
    hours, weeks = hours_and_weeks(store, begins)
    table = np.full((int(weeks[-1] - weeks[0]) + 1, HOURS_OF_WEEK), np.nan)
    table[weeks - weeks[0], hours] = held / HOUR
    whole: Floats = table[np.isfinite(table).all(axis=1)]
    return whole


def parts_of(is_free: Floats) -> Iterator[FreePart]:
    """
    Yield the parts in which it *is_free* more often, the best first; of it each row is a week, 1 is free.

    >>> quiet = np.zeros((40, 168))
    >>> quiet[:, 120:126] = 1.0
    >>> [(part.hour, part.share, part.weeks) for part in parts_of(quiet)]
    [(120, 1.0, 20)]
    """
    chooses, counts = is_free[::2], is_free[1::2]
    if len(counts) < MINIMUM_WEEKS:
        return
    begins = np.arange(0, HOURS_OF_WEEK, HOURS)
    means = chooses.mean(axis=0).reshape(-1, HOURS).mean(axis=1)
    usual = float(counts.mean())
    # The mean of the six hours from each hour on, of each week.
    wide = np.concatenate([counts, counts[:, : HOURS - 1]], axis=1)
    of_hours = np.lib.stride_tricks.sliding_window_view(wide, HOURS, axis=1).mean(axis=2)
    turned = _turned(of_hours)
    for begin in begins[np.argsort(-means, kind="stable")[:CHOSEN]].tolist():
        share = float(of_hours[:, begin].mean())
        p_value = (1 + int((turned >= share).sum())) / (1 + TURNS)
        if share >= usual + MORE_OFTEN and p_value <= ALPHA / CHOSEN:
            yield FreePart(begin, share, usual, len(counts))


def _turned(of_hours: Floats) -> Floats:
    """Return the mean over weeks of six hours each, where each week is turned by chance."""
    weeks, hours = of_hours.shape
    drawn = np.random.default_rng(1).integers(0, hours, (TURNS, weeks))
    turned: Floats = of_hours[np.arange(weeks), drawn].mean(axis=1)
    return turned
