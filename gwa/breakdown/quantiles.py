"""
The quantiles of each class of jobs, exact by number and by weight.

Values are sorted once for all dimensions. Beyond `SORTED_AT_ONCE` jobs, and where the jobs are not with an
engine on this machine, the engine counts them (`gwa.metrics.ranked_values`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gwa.breakdown.dimensions import Dimension
from gwa.breakdown.measures import VALUES, Measure, Quantile, QuantileOf, measured_jobs
from gwa.metrics.outcomes import core_seconds
from gwa.metrics.ranked_values import Ranked, ranked
from gwa.metrics.sorted_values import SORTED_AT_ONCE, SortedValues
from gwa.metrics.timeline import exact
from gwa.metrics.totals import totals
from gwa.statistics.sample import type_7
from gwa.store.engines.duckdb import literal
from gwa.store.store import Store

WEIGHT: Final = "core_seconds"

MICROSECONDS: Final = 1_000_000
"""What weights are counted in where they are not whole seconds."""

LARGEST_SUM: Final = 2.0**62
TOO_LARGE: Final = -1
"""What stands for a weight that is beyond a whole number of 64 bits."""

NO_CLASS: Final = -1

Keys = Mapping[Dimension, Sequence[Any]]
"""The classes that are wanted of each dimension."""

Wanted = Sequence[tuple[str, Quantile]]
"""The names of measures, and what they are."""

Found = Mapping[str, Mapping[Any, Mapping[str, float | None]]]
"""Quantiles by the name of the measure, by class, by the name of the dimension."""


def quantiles(store: Store, keys: Keys, wanted: Sequence[Measure]) -> Found:
    """Return the *wanted* measures, quantiles all, of the classes *keys*; of no values there is none."""
    keys = {dimension: listed for dimension, listed in keys.items() if listed}
    values = [name for name in VALUES if any(one.quantile and one.quantile.of == name for one in wanted)]
    jobs = None
    if store.database.name == "duckdb" and totals(store).jobs <= SORTED_AT_ONCE:
        jobs = _fetched(store, keys, values)
    found: dict[str, dict[Any, dict[str, float | None]]] = {one.name: {} for one in keys}
    for value in values:
        of_value = [(one.name, one.quantile) for one in wanted if one.quantile and one.quantile.of == value]
        of_classes = jobs.quantiles(value, of_value, keys) if jobs else _counted(store, keys, value, of_value)
        for dimension, classes in of_classes:
            for key in keys[dimension]:
                row = found[dimension.name].setdefault(key, {})
                row.update((name, _quantile(classes.get(key), of)) for name, of in of_value)
    return found


def _is_weighted(wanted: Wanted) -> bool:
    return any(of.is_weighted for _, of in wanted)


def _quantile(values: "Ranked | _Sorted | None", of: Quantile) -> float | None:
    if values is None:
        return None
    return values.weighted_quantile(of.share) if of.is_weighted else values.quantile(of.share)


def _counted(
    store: Store, keys: Keys, value: QuantileOf, wanted: Wanted
) -> Iterator[tuple[Dimension, Mapping[Any, Ranked]]]:
    """Yield the ranked values of the classes *keys* of each dimension, which the engine counts."""
    for dimension, listed in keys.items():
        rows = (
            f"select {_key(store, dimension)} as key, {VALUES[value]} as value, {WEIGHT}"
            f" from {measured_jobs(store)}"
        )
        texts = ", ".join(literal(key) if isinstance(key, str) else str(key) for key in listed)
        table = f"(select * from ({rows}) as keyed where key in ({texts})) as valued"
        weight = WEIGHT if _is_weighted(wanted) else ""
        yield dimension, ranked(store, table, sorted({of.share for _, of in wanted}), weight)


def _key(store: Store, dimension: Dimension) -> str:
    """Return the SQL of the class of a job; raise `LookupError` where it is not recorded."""
    classes = dimension.of(store)
    if classes is None:
        raise LookupError(dimension.name)
    return classes.key


@dataclass(frozen=True)
class _Sorted:
    """The *values* of a class in order, and what those up to each weigh: *weight_upto*, whole numbers."""

    values: NDArray[Any]
    weight_upto: NDArray[np.int64] | None

    def quantile(self, share: float) -> float:
        """Return the quantile by number: it interpolates linearly between order statistics (type 7)."""
        return type_7(self.values, share)

    def weighted_quantile(self, share: float) -> float | None:
        """Return the least value such that those up to it have a *share* of the weight, if there is any."""
        total = 0 if self.weight_upto is None else int(self.weight_upto[-1])
        if not total or self.weight_upto is None:
            return None
        least = -(-Fraction(str(share)) * total // 1)
        return float(self.values[np.searchsorted(self.weight_upto, int(least))])


class _Jobs:
    """The values of all jobs, what each weighs, and the place of its class among *keys* of each dimension."""

    def __init__(self, keys: Keys, columns: Mapping[str, NDArray[Any]]) -> None:
        self.keys, self.columns = keys, columns

    def quantiles(
        self, value: QuantileOf, wanted: Wanted, dimensions: Iterable[Dimension]
    ) -> Iterator[tuple[Dimension, Mapping[Any, _Sorted]]]:
        """Yield the values of each class of *dimensions* in order, with weights if any are *wanted*."""
        of_all = SortedValues.of(self.columns[value])
        weights = self.columns["weight"][of_all.rows] if _is_weighted(wanted) else None
        for dimension in dimensions:
            keys = self.keys[dimension]
            yield (
                dimension,
                {
                    keys[place]: _Sorted(
                        of_all.values[rows], None if weights is None else np.cumsum(weights[rows])
                    )
                    for place, rows in of_all.classes(self.columns[f"place_{dimension.name}"])
                },
            )


def _fetched(store: Store, keys: Keys, values: Iterable[QuantileOf]) -> _Jobs | None:
    """Return the jobs with what quantiles of *values* need; None where weights are too large to add up."""
    weight = WEIGHT if core_seconds(store).endswith("bigint)") else f"{exact(WEIGHT)} * {MICROSECONDS}"
    weight = f"coalesce(try_cast(coalesce({weight}, 0) as bigint), {TOO_LARGE})"
    columns = [f"coalesce({VALUES[value]}, -1.0) as {value}" for value in values]
    joins = []
    for dimension, listed in keys.items():
        column, join = _place(store, dimension, listed)
        columns.append(column)
        joins.append(join)
    found = store.arrays(
        f"select {', '.join([f'{weight} as weight', *columns])} from {measured_jobs(store)} {' '.join(joins)}"
    )
    arrays = {name: np.asarray(column) for name, column in found.items()}
    weights = arrays["weight"]
    is_exact = weights.min(initial=0) > TOO_LARGE and float(weights.astype(np.float64).sum()) < LARGEST_SUM
    return _Jobs(keys, arrays) if is_exact else None


def _place(store: Store, dimension: Dimension, keys: Sequence[Any]) -> tuple[str, str]:
    """Return the column of the place of a job's class among *keys*, and the join that it takes."""
    of_job, name = _key(store, dimension), f"place_{dimension.name}"
    if list(keys) == list(range(len(keys))):
        return f"cast(coalesce({of_job}, {NO_CLASS}) as smallint) as {name}", ""
    listed = ", ".join(
        f"({literal(key) if isinstance(key, str) else key}, cast({place} as smallint))"
        for place, key in enumerate(keys)
    )
    of_class = f"of_{dimension.name}"
    join = f"left join (values {listed}) as {of_class}(key, place) on {of_job} = {of_class}.key"
    return f"coalesce({of_class}.place, {NO_CLASS}) as {name}", join
