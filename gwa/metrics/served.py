"""Whether a class of jobs waits longer than the others, and whether that is more than chance."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import comb
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gwa.metrics.waits import queued
from gwa.store.store import Store
from gwa.util.units import DAY

Ints = NDArray[np.int64]

INTERVALS: Final = 60
"""The span of the trace is compared in as many intervals, of a day each at least."""

MINIMUM_IN_INTERVAL: Final = 5
"""An interval compares a class with the others if it has as many jobs of each."""

BINNED: Final = """
select place, block, bin, count(*) as n from (
    select place, floor((submit_time - {first!r}) / {width!r}) as block,
        floor(ln({wait} + 1.0) * 8) as bin
    from {placed} as placed where wait_time >= 0 and submit_time is not null
) as waits group by place, block, bin
"""
"""Value counts of waits to an eighth of a power of e: a few thousand rows, however many jobs there are."""


@dataclass(frozen=True)
class IntervalComparison:
    """In how many *intervals* a class was compared with all others, and in how many it waited *longer*."""

    intervals: int
    longer: int

    @property
    def p_value(self) -> float:
        """The probability of as many or more longer intervals if each were a fair coin (sign test)."""
        as_long = sum(comb(self.intervals, longer) for longer in range(self.longer, self.intervals + 1))
        return as_long / (1 << self.intervals)


def compare(store: Store, placed: str) -> dict[int, IntervalComparison]:
    """
    Compare the waits of each class of jobs with those of all others, interval by interval.

    Jobs wait together: those of one day see the same queue, so a rank test over jobs finds differences
    everywhere. An interval is the unit here: in it, a class waits longer if a job of it waits longer than
    another job more often than the other way round (Mann and Whitney's U); ties count for neither.

    *placed* is SQL of a table of the jobs that ran, with the number of a job's class as ``place``. Return the
    comparison of each class by its number. Waits are compared to an eighth of a power of e.
    """
    first, last = store.once(
        "submissions of jobs that waited",
        lambda: store.row("select min(submit_time), max(submit_time) from ran where wait_time >= 0"),
    )
    if first is None:
        return {}
    width = max(float(DAY), (last - first) / INTERVALS)
    query = BINNED.format(wait=queued(store), placed=placed, first=float(first), width=width)
    columns = {name: np.asarray(values, np.int64) for name, values in store.arrays(query).items()}
    if not len(columns["n"]):
        return {}
    shape = tuple(int(columns[name].max()) + 1 for name in ("place", "block", "bin"))
    counts = np.zeros(shape, np.int64)
    np.add.at(counts, (columns["place"], columns["block"], columns["bin"]), columns["n"])
    everyone = counts.sum(axis=0)
    return {
        place: _comparison(counts[place], everyone - counts[place])
        for place in range(shape[0])
        if counts[place].any()
    }


def _comparison(jobs: Ints, others: Ints) -> IntervalComparison:
    """Compare value counts, a row for each interval and a column for each wait."""
    enough = np.minimum(jobs.sum(axis=1), others.sum(axis=1)) >= MINIMUM_IN_INTERVAL
    jobs, others = jobs[enough].astype(np.float64), others[enough].astype(np.float64)
    shorter = np.cumsum(others, axis=1) - others
    longer = others.sum(axis=1, keepdims=True) - np.cumsum(others, axis=1)
    balance = (jobs * (shorter - longer)).sum(axis=1)
    return IntervalComparison(int(np.count_nonzero(balance)), int(np.count_nonzero(balance > 0)))


def adjusted(p_values: Iterable[float]) -> list[float]:
    """
    Return *p_values* multiplied by their number, at most 1 (Bonferroni).

    >>> adjusted([0.01, 0.5])
    [0.02, 1.0]
    """
    values = list(p_values)
    return [min(value * len(values), 1.0) for value in values]
