"""
Exact medians and 95th percentiles of many classes of jobs at once, and quantiles by weight.

Engines compute percentiles each in its own way, and value counts of fine measurements are as many as jobs. So
values are counted and ranked inside the engine, and only those around a quantile leave it.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Final

import numpy as np

from gwa.metrics.timeline import exact_sum
from gwa.statistics.sample import Sample
from gwa.store.store import Store

SCALE: Final = 1e9
"""Sums of ratios are made of billionths: an exact sum keeps six decimals."""

COUNTS: Final = """
select place, value, count(*) as n from {placed} as placed
where place is not null and value is not null group by place, value
"""

OTHERS: Final = """
select {place} as place, value, sum(n) as n from {counts} as counted where place <> {place} group by value
"""

RANKED: Final = """
select place, value, upto, total from (
    select place, value, n, total, upto, (total - 1) * 0.5 as median, (total - 1) * 0.95 as p95 from (
        select place, value, n, sum(n) over (partition by place order by value) as upto,
            sum(n) over (partition by place) as total
        from ({counts}) as counted
    ) as cumulated
) as ranked
where (upto >= median - 1 and upto - n <= median + 2) or (upto >= p95 - 1 and upto - n <= p95 + 2)
order by place, value
"""
"""The values at and around the ranks of both quantiles, with how many are at most as large."""


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

    Quantiles interpolate linearly between order statistics (type 7), to the last bit as `Sample` does.
    """
    return _spreads(store, COUNTS.format(placed=placed))


def spreads_of_counts(store: Store, counts: str) -> Mapping[int, Spread]:
    """Return the spread of the values of each class of a table that `class_counts` made."""
    return _spreads(store, f"select place, value, n from {counts} as counts")


def spreads_of_others(store: Store, counts: str, places: Collection[int]) -> Mapping[int, Spread]:
    """Return for each of *places* the spread of the values of all other classes together."""
    parts = [OTHERS.format(place=place, counts=counts) for place in sorted(places)]
    return _spreads(store, " union all ".join(parts)) if parts else {}


def means(store: Store, counts: str) -> Mapping[int, float]:
    """Return the mean of the values of each class."""
    total = exact_sum(f"value * {SCALE!r} * n")
    rows = store.rows(
        f"select place, {total} / {SCALE!r} / sum(n) as mean from {counts} as counts group by place"
    )
    return dict(rows)


def _spreads(store: Store, counts: str) -> Mapping[int, Spread]:
    rows = store.rows(RANKED.format(counts=counts))
    return {int(place): _spread(list(members)) for place, members in groupby(rows, lambda row: row[0])}


def _spread(rows: list[tuple[int, float, int, int]]) -> Spread:
    """Return what the ranked values of a class say: a sample that has others in place of those in between."""
    total = int(rows[0][3])
    upto = [int(row[2]) for row in rows[:-1]]
    sample = Sample(np.array([row[1] for row in rows]), np.diff([0, *upto, total]))
    return Spread(total, sample.median(), sample.quantile(0.95))
