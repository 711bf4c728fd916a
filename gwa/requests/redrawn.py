"""
What the hours of a log itself give, drawn again: how far chance alone takes an index of dispersion.

A trace of the same length is made of whole hours of the log, each from the same hour of the day, or of the
week from two weeks on. It has no other requests than the log, only other hours together.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from gwa.requests.ledger import Cells
from gwa.requests.measured import PHASED, PHASES, SubmissionSpan, index_of_dispersion
from gwa.statistics.sample import Floats
from gwa.store.store import Store
from gwa.util.units import HOUR

DRAWS: Final = 500
SEED: Final = 1
CONFIDENCE: Final = 0.95

BY_HOUR: Final = f"""
select
    phase, cast(floor(place / {{inside}}.0) as bigint) as hour, sum(requests)::bigint as total,
    sum(requests * requests)::bigint as squares
from {PHASED} group by phase, hour
"""  # noqa: S608 - a constant of another constant
"""The requests in an hour, and the sum of squares of their numbers in the intervals in it, by phase."""


def floor(store: Store, length: int) -> float | None:
    """
    Return the |ln| of indices of dispersion that 95 of 100 traces of redrawn hours do not exceed.

    Intervals have a *length* in seconds, of which an hour has a whole number. None for a log shorter than two
    days, of which no hour comes twice.
    """
    extent = SubmissionSpan.of(store)
    cells = Cells.of(extent)
    hours = cells.total - 1  # intervals of later phases reach into the next hour
    if cells.length != HOUR or hours < cells.cycle:
        return None
    totals, squares = _by_hour(store, cells, length, hours)
    rng = np.random.default_rng(SEED)
    drawn = np.empty((DRAWS, hours), np.int64)
    for place in range(cells.cycle):
        at = np.arange(place, hours, cells.cycle)
        drawn[:, at] = rng.choice(at, (DRAWS, at.size))
    intervals = hours * (HOUR // length)
    own = _index(totals, squares, np.arange(hours)[np.newaxis], intervals)
    redrawn = _index(totals, squares, drawn, intervals)
    if not own[0] > 0 or not (redrawn > 0).all():
        return None
    return float(np.quantile(np.abs(np.log(redrawn / own[0])), CONFIDENCE))


def _by_hour(
    store: Store, cells: Cells, length: int, hours: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the requests of each hour, and the squares of those in its intervals, by phase and hour."""
    totals, squares = (np.zeros((PHASES, hours), np.int64) for _ in range(2))
    query = BY_HOUR.format(first=cells.origin, length=length, inside=HOUR // length)
    for phase, hour, total, square in store.rows(query):
        if 0 <= hour < hours:
            totals[phase, hour], squares[phase, hour] = total, square
    return totals, squares


def _index(
    totals: NDArray[np.int64], squares: NDArray[np.int64], drawn: NDArray[np.int64], intervals: int
) -> Floats:
    """Return the index of dispersion of each row of *drawn* hours, averaged over phases."""
    sums = totals[:, drawn].sum(axis=2).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = index_of_dispersion(sums, squares[:, drawn].sum(axis=2), intervals)
    mean: Floats = np.asarray(found).mean(axis=0)
    return mean
