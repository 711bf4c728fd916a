"""More or fewer jobs of the same users."""

import re
from dataclasses import replace

import numpy as np

from gwa.errors import ArgumentError
from gwa.evaluation.touched import REPLAYED
from gwa.evaluation.whatif.change import ChangeSubject, change
from gwa.evaluation.whatif.world import NEW, World
from gwa.statistics.sample import Floats, Ints
from gwa.util.units import WEEK

MAXIMUM = 10.0


@change(ChangeSubject.WORKLOAD, "1.1", REPLAYED)
def load(world: World, text: str, rng: np.random.Generator) -> World:
    """
    Work submitted, relative to today's; users' weeks are left out, or repeated in other weeks, at random.

    A user's week stays whole, and its hours stay what they are, so that sessions and daily cycles do. Source:
    resampling of workloads by users (Zakay and Feitelson 2014); a fitted model would compare a synthetic
    workload with the recorded one.
    """
    factor = _factor(text)
    weeks = np.floor((world.submit - world.submit[:1]) / WEEK).astype(np.int64)
    _, unit = np.unique(np.stack([np.unique(world.user, return_inverse=True)[1], weeks]), axis=1,
                        return_inverse=True)  # fmt: skip
    unit = unit.reshape(-1)
    work = np.bincount(unit, world.run * world.size).astype(np.float64)
    if factor <= 1:
        return world.only(~np.isin(unit, _drawn(work, (1 - factor) * work.sum(), rng)))
    copies = _drawn(np.tile(work, int(np.ceil(factor - 1))), (factor - 1) * work.sum(), rng) % work.size
    return _with_copies(world, unit, copies, rng)


def _factor(text: str) -> float:
    if not re.fullmatch(r"\d{1,2}(\.\d{1,4})?", text) or not 0 < float(text) <= MAXIMUM:
        raise ArgumentError(f"--load: '{text}' is not a load, expected a factor such as 1.1 or 0.9")
    return float(text)


def _drawn(work: Floats, wanted: float, rng: np.random.Generator) -> Ints:
    """Return units drawn without replacement until they have the *wanted* work, as nearly as they can."""
    order = rng.permutation(work.size)
    total = np.cumsum(work[order])
    count = int(np.searchsorted(total, wanted))
    before = total[count - 1] if count else 0.0
    if count < work.size and total[count] - wanted < wanted - before:
        count += 1
    return order[:count].astype(np.int64)


def _with_copies(world: World, unit: Ints, copies: Ints, rng: np.random.Generator) -> World:
    """Return *world* and a copy of each of the units in *copies*, moved by whole weeks within the log."""
    by_unit = np.split(np.argsort(unit, kind="stable"), np.cumsum(np.bincount(unit))[:-1])
    weeks = int(np.floor(world.span / WEEK)) + 1
    rows, times = [np.arange(len(world))], [world.submit]
    for copied in (by_unit[number] for number in copies):
        rows.append(copied)
        times.append(_moved(world, world.submit[copied], int(rng.integers(weeks)), weeks))
    row, submit = np.concatenate(rows), np.concatenate(times)
    is_new = np.arange(row.size) >= len(world)
    order = np.argsort(submit, kind="stable")
    is_new = is_new[order]
    grown = world.taking(row[order], submit[order])
    return replace(
        grown,
        job=np.where(is_new, NEW, grown.job),
        wait=np.where(is_new, np.nan, grown.wait),
    )


def _moved(world: World, submit: Floats, by: int, weeks: int) -> Floats:
    """Return times moved *by* whole weeks, where the log's first week follows its last."""
    first, last = float(world.submit[0]), float(world.submit[-1])
    moved = submit + by * WEEK
    moved = np.where(moved > last, moved - weeks * WEEK, moved)
    moved = np.where(moved < first, moved + WEEK, moved)
    return np.where(moved > last, submit, moved)
