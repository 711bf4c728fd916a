"""
When jobs began and ended, and how much each held, in memory: several levels of a log that fits share them.

Only whole seconds and whole amounts are kept so: sums of these are exact in any order.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gwa.store.store import SMALL_TRACE, Period, Store

Floats = NDArray[np.float64]

MOST_ROWS: Final = 3_000_000
"""Of more rows the engine finds levels with less memory, in as much time."""

EXACT: Final = 2.0**53
"""Whole numbers below are exact as doubles."""


@dataclass(frozen=True)
class Spans:
    """Rows that *begin* and *end* at whole seconds, with *weights* of several kinds, whole numbers."""

    begin: Floats
    end: Floats
    weights: tuple[Floats, ...]

    def within(self, period: Period) -> "Spans":
        """Return the parts of the rows in a *period*, counted from its first second."""
        first, last = period
        inside = np.flatnonzero((self.begin < last) & (self.end > first))
        return Spans(
            np.maximum(self.begin[inside] - first, 0.0),
            np.minimum(self.end[inside], last) - first,
            tuple(weight[inside] for weight in self.weights),
        )


def fits(store: Store) -> bool:
    """Whether levels are found in memory: neither of few jobs, nor of too many, nor of another engine."""
    return store.database.name == "duckdb" and SMALL_TRACE < store.known["job_id"] <= MOST_ROWS


def are_whole(*columns: Floats) -> bool:
    """Whether all values are whole, so that their sums are exact."""
    return all(np.array_equal(column, np.floor(column)) for column in columns)


def spans(store: Store, weights: Sequence[str], span: tuple[str, str], table: str) -> Spans | None:
    """
    Return the rows of *table* that have both moments of a *span*, with SQL *weights*, 0 where unknown.

    Return None where the engine must add up: of few jobs, which it does in no time, of more than `MOST_ROWS`,
    and where not all is whole.
    """
    if not fits(store):
        return None
    return store.once(("spans", tuple(weights), span, table), lambda: _spans(store, weights, span, table))


def _spans(store: Store, weights: Sequence[str], span: tuple[str, str], table: str) -> Spans | None:
    begin, end = span
    amounts = "".join(
        f", cast(coalesce({weight}, 0) as double) as weight{place}" for place, weight in enumerate(weights)
    )
    found = store.arrays(
        f"select cast({begin} as double) as begun, cast({end} as double) as ended{amounts}"
        f" from {table} as spanned where {begin} is not null and {end} is not null"
    )
    columns = [np.asarray(column, np.float64) for column in found.values()]
    if not are_whole(*columns):
        return None
    return Spans(columns[0], columns[1], tuple(columns[2:]))
