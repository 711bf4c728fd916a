"""
Exact quantiles of many classes of jobs at once, by job and by weight.

Values are counted in bins first, and one by one only in the bins that hold a quantile: a log of millions of
jobs is read twice, and sorted never.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import accumulate, groupby
from math import ceil, floor
from typing import Any, Final, NamedTuple

import numpy as np

from gwa.metrics.timeline import decimal_sum
from gwa.metrics.totals import totals
from gwa.statistics.sample import Sample
from gwa.store.engines.duckdb import literal
from gwa.store.store import SMALL_TRACE, Store

BIN: Final = "cast(floor(ln({value} + 1.0) * 16) as bigint)"
"""Bins are 6 % wide."""

BINNED: Final = """
select key, bin, 0.0 as value, count(*) as n, {weight} as weight
from (select *, {bin} as bin from {rows} where key is not null and value >= 0) as binned
group by key, bin order by key, bin
"""

COUNTED: Final = """
select key, bin, value, count(*) as n, {weight} as weight from ({rows}) as counted
group by key, bin, value order by key, value
"""

ALL: Final = "select *, 0 as bin from {rows} where key is not null and value >= 0"

INSIDE: Final = """
select binned.* from (select *, {bin} as bin from {rows} where key is not null and value >= 0) as binned
inner join (select * from (values {wanted}) as pairs(wanted_key, wanted_bin)) as wanted
on key = wanted_key and bin = wanted_bin
"""

NOTHING: Final = Decimal(0)


@dataclass(frozen=True)
class Ranked:
    """
    The values of a class around the quantiles that are asked for, with ranks.

    *values* rise; *upto* is how many values, and *weight_upto* what weight, are at most as large, of *total*
    and *weight_total*. Others are left out.
    """

    values: Sequence[float]
    upto: Sequence[int]
    weight_upto: Sequence[Decimal]
    total: int
    weight_total: Decimal

    def quantile(self, share: float) -> float:
        """Return the quantile by number: it interpolates linearly between order statistics (type 7)."""
        counts = np.diff([0, *self.upto[:-1], self.total])
        return Sample(np.array(self.values), counts).quantile(share)

    def weighted_quantile(self, share: float) -> float | None:
        """Return the least value such that those up to it have a *share* of the weight, if there is any."""
        if not self.weight_total:
            return None
        return self.values[bisect_left(self.weight_upto, Decimal(str(share)) * self.weight_total)]


class _Counted(NamedTuple):
    """How many jobs of a class have a value in a bin, or a value, and what they weigh together."""

    bin: int
    value: float
    n: int
    weight: Decimal | None


def ranked(store: Store, rows: str, shares: Sequence[float], weight: str = "") -> Mapping[Any, Ranked]:
    """
    Return the values of each class of jobs that the quantiles for *shares* need.

    *rows* is SQL of a table of jobs with the ``key`` of a job's class, text or a number, and a ``value``, of
    which those that are not negative count. *weight* is SQL of what a job weighs; without, jobs weigh
    nothing.
    """
    sums = decimal_sum(weight) if weight else "cast(0 as decimal(38, 6))"
    if totals(store).jobs <= SMALL_TRACE:
        counted = COUNTED.format(rows=ALL.format(rows=rows), weight=sums)
        return {key: _ranked(parts, _Bins.none()) for key, parts in _by_key(store, counted)}
    of_value = BIN.format(value="value")
    query = BINNED.format(bin=of_value, weight=sums, rows=rows)
    bins = {key: _Bins.of(parts) for key, parts in _by_key(store, query)}
    wanted = [
        f"({literal(key) if isinstance(key, str) else key}, {number})"
        for key, of in bins.items()
        for number in sorted(of.around(shares))
    ]
    if not wanted:
        return {}
    inside = INSIDE.format(bin=of_value, rows=rows, wanted=", ".join(wanted))
    counted = COUNTED.format(rows=inside, weight=sums)
    return {key: _ranked(parts, bins[key]) for key, parts in _by_key(store, counted)}


def _by_key(store: Store, query: str) -> list[tuple[Any, list[_Counted]]]:
    rows = groupby(store.rows(query), lambda row: row[0])
    return [(key, [_Counted(*row[1:]) for row in members]) for key, members in rows]


@dataclass(frozen=True)
class _Bins:
    """How many values of a class, and what weight, are in each bin, added up from the least."""

    numbers: Sequence[int]
    upto: Sequence[int]
    weight_upto: Sequence[Decimal]

    @classmethod
    def of(cls, parts: Sequence[_Counted]) -> "_Bins":
        """Add up *parts*, in the order of their bins."""
        weights = accumulate(part.weight or NOTHING for part in parts)
        return cls([part.bin for part in parts], [*accumulate(part.n for part in parts)], [*weights])

    @classmethod
    def none(cls) -> "_Bins":
        """Return the bins of values that are all counted one by one."""
        return cls([0], [0], [NOTHING])

    def around(self, shares: Sequence[float]) -> set[int]:
        """Return the numbers of the bins that hold the quantiles for *shares*, by number and by weight."""
        places = set()
        for share in shares:
            rank = (self.upto[-1] - 1) * share
            places |= {bisect_right(self.upto, floor(rank)), bisect_right(self.upto, ceil(rank))}
            places.add(bisect_left(self.weight_upto, Decimal(str(share)) * self.weight_upto[-1]))
        return {self.numbers[min(place, len(self.numbers) - 1)] for place in places}

    def before(self, number: int) -> tuple[int, Decimal]:
        """Return how many values, and what weight, are in the bins before one."""
        place = bisect_left(self.numbers, number)
        return (self.upto[place - 1], self.weight_upto[place - 1]) if place else (0, NOTHING)


def _ranked(parts: Sequence[_Counted], bins: _Bins) -> Ranked:
    """Return the ranks of rising values; *bins* say how many are left out."""
    upto, weight_upto = [], []
    number, count, weight = -1, 0, NOTHING
    for part in parts:
        if part.bin != number:
            number = part.bin
            count, weight = max((count, weight), bins.before(number))
        count, weight = count + part.n, weight + (part.weight or NOTHING)
        upto.append(count)
        weight_upto.append(weight)
    values = [float(part.value) for part in parts]
    return Ranked(values, upto, weight_upto, max(count, bins.upto[-1]), max(weight, bins.weight_upto[-1]))
