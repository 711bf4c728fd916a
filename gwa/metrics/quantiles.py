"""
Exact medians and 95th percentiles of many classes of jobs at once, and quantiles by weight.

Engines compute percentiles each in its own way. So values are sorted here, and those of more jobs than fit
are ranked inside the engine (`gwa.metrics.ranked_values`): only those around a quantile leave it.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gwa.metrics.ranked_values import ranked
from gwa.metrics.sorted_values import SORTED_AT_ONCE, SortedValues
from gwa.metrics.timeline import exact_sum
from gwa.statistics.sample import Sample, type_7
from gwa.store.store import Store

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SCALE: Final = 1e9
"""Sums of ratios are made of billionths: an exact sum keeps six decimals."""

COUNTS: Final = """
select place, value, count(*) as n from {placed} as placed
where place is not null and value is not null group by place, value
"""


@dataclass(frozen=True)
class Spread:
    """How many values there are, *n*, their *median* and 95th percentile in their unit; nan without any."""

    n: int
    median: float
    p95: float


EMPTY: Final = Spread(0, float("nan"), float("nan"))
"""That of no values."""


def class_counts(store: Store, placed: str) -> str:
    """
    Count the values of each class inside the engine, and keep them; return the name of their table.

    *placed* is SQL of a table with the number of a job's class, ``place``, and a ``value``.
    """
    return store.keep_once("counts", COUNTS.format(placed=placed))


def spreads(store: Store, placed: str) -> Mapping[int, Spread]:
    """
    Return the spread of the values of each class of the table *placed*, as `class_counts` takes it.

    Quantiles interpolate linearly between order statistics (type 7), to the last bit as `Sample` does. Values
    are not negative.
    """
    if store.database.name == "duckdb" and store.known["job_id"] <= SORTED_AT_ONCE:
        return _sorted_spreads(store, placed)
    keyed = f"(select place as key, value from {placed} as placed) as keyed"
    found = ranked(store, keyed, (0.5, 0.95))
    return {int(key): Spread(one.total, one.quantile(0.5), one.quantile(0.95)) for key, one in found.items()}


def _sorted_spreads(store: Store, placed: str) -> Mapping[int, Spread]:
    """Return the spread of each class of values that are sorted in memory."""
    columns = store.arrays(
        f"select cast(place as bigint) as place, value from {placed} as placed"
        " where place is not null and value is not null"
    )
    places, values = (np.asarray(columns[name]) for name in ("place", "value"))
    of_all = SortedValues.of(values)
    return {
        place: Spread(len(rows), type_7(of_all.values[rows], 0.5), type_7(of_all.values[rows], 0.95))
        for place, rows in of_all.classes(places)
    }


def spreads_of_counts(store: Store, counts: str) -> Mapping[int, Spread]:
    """Return the spread of the values of each class of a table that `class_counts` made."""
    places, values, n = _counts(store, counts)
    return {
        place: _spread(values[places == place], n[places == place]) for place in np.unique(places).tolist()
    }


def spreads_of_others(store: Store, counts: str, places: Collection[int]) -> Mapping[int, Spread]:
    """Return for each of *places* the spread of the values of all other classes together."""
    of_all, values, n = _counts(store, counts)
    others = {place: of_all != place for place in sorted(places)}
    return {place: _spread(values[one], n[one]) for place, one in others.items() if one.any()}


def _counts(store: Store, counts: str) -> tuple[Ints, Floats, Ints]:
    """Return the places, the values and their numbers of a table that `class_counts` made, by value."""
    columns = store.arrays(f"select cast(place as bigint) as place, value, n from {counts} as counts")
    values = np.asarray(columns["value"], np.float64)
    order = np.argsort(values)
    return np.asarray(columns["place"])[order], values[order], np.asarray(columns["n"])[order]


def _spread(values: Floats, n: Ints) -> Spread:
    """Return the spread of *values*, each *n* times."""
    sample = Sample.weighted(values, n)
    return Spread(sample.n, sample.median(), sample.quantile(0.95))


def means(store: Store, counts: str) -> Mapping[int, float]:
    """Return the mean of the values of each class."""
    total = exact_sum(f"value * {SCALE!r} * n")
    rows = store.rows(
        f"select place, {total} / {SCALE!r} / sum(n) as mean from {counts} as counts group by place"
    )
    return dict(rows)
