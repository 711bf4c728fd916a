"""Break the jobs of a trace down by a dimension: the one builder of lists of who used how much of what."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from gwa.breakdown.dimensions import Dimension, dimensions
from gwa.breakdown.measures import Measure, Whole, recorded, value_of
from gwa.breakdown.quantiles import quantiles
from gwa.breakdown.records import Records
from gwa.breakdown.sums import added, sums
from gwa.metrics.totals import totals
from gwa.report.document import Column
from gwa.statistics.sample import Sample
from gwa.store.store import Store
from gwa.words.message import message
from gwa.words.unit import Value


@dataclass(frozen=True)
class Ranking:
    """An order of classes: by a measure, the largest first, in lists called *title*."""

    measure: str
    title: str


RANKINGS: Final[Mapping[str, Ranking]] = {
    "by_cpu": Ranking("cpu_seconds", message("CPU time")),
    "by_jobs": Ranking("jobs", message("number of jobs")),
    "by_gpu": Ranking("gpu_seconds", message("GPU time")),
    "by_gpu_idle": Ranking("gpu_idle_seconds", message("GPU time of idle GPUs")),
    "by_gpu_waste": Ranking("wasted_gpu_seconds", message("GPU time not used")),
    "by_nodes": Ranking("node_seconds", message("node time")),
    "by_energy": Ranking("energy", message("energy")),
    "by_cost": Ranking("cost", message("cost")),
    "by_waste": Ranking("wasted_cpu_seconds", message("CPU time not used")),
    "by_wait": Ranking("wait_seconds", message("time waited")),
}
"""By the last part of the id of a fact. Those of measures that the log does not record are left out."""

COMPLETE: Final = ("by_cpu", "by_jobs")
"""Rankings whose lists have classes with nothing of the measure, too, where there are not enough others."""


def breakdown(store: Store, dimension: Dimension, ranking: str) -> Records | None:
    """
    Return the classes of a *dimension*, each with every measure that the log records.

    *ranking*, one of `RANKINGS`, is the order of a ranked dimension, of which the ``store.top`` largest
    classes are returned. One that is not ranked has all its classes in its own order. The fact is called
    ``<dimension>.<ranking>``. Return None where the log does not record the dimension, or what the ranking is
    by.
    """
    classes = dimension.of(store)
    if classes is None or RANKINGS[ranking].measure not in {one.name for one in recorded(store)}:
        return None
    order = _listed(store, dimension).orders[ranking]
    made = store.once(("breakdown", dimension.name), lambda: _rows(store, dimension))
    rows = [made[key] for key in order if key in made]
    title = message("Top {family} by {title}", family=dimension.title, title=RANKINGS[ranking].title)
    return Records(f"{dimension.name}.{ranking}", title, columns(store, dimension), rows)


def columns(store: Store, dimension: Dimension) -> list[Column]:
    """Return the columns of the tables of a *dimension*: its classes, and the measures that are recorded."""
    shown = [one for one in recorded(store) if not one.is_part]
    return [
        Column("id", dimension.heading),
        *(Column(one.name, one.heading, one.unit, minor=one.minor) for one in shown),
    ]


def consumed(store: Store, dimension: Dimension, measure: str) -> Sample:
    """
    Return what each class of a *dimension* has of a *measure*: ``jobs`` or ``cpu_seconds``.

    Of CPU time, only classes count that have a job which ran.
    """
    of_classes = store.once(
        ("consumed", dimension.name),
        lambda: store.arrays(f"select jobs, cpu_seconds, ran from {sums(store, dimension)}"),
    )
    values = np.ma.filled(np.ma.asarray(of_classes[measure]).astype(np.float64), np.nan)
    return Sample.of(values if measure == "jobs" else values[np.asarray(of_classes["ran"]) > 0])


def largest(store: Store, dimension: Dimension, measure: str) -> list[dict[str, Value]]:
    """
    Return the ``store.top`` classes of a *dimension* that have most of a *measure*, and any of it.

    Each has the measures that the log records but quantiles, which would take the values of all jobs. Return
    none where the log does not record the dimension.
    """
    classes = dimension.of(store)
    if classes is None:
        return []
    known = [one for one in recorded(store) if not one.quantile]
    whole = Whole(totals(store), store.system)
    names = [one.name for one in added(store)]
    query = (
        f"select key, {', '.join(names)} from {sums(store, dimension)} where {measure} > 0"
        f" order by {measure} desc, key limit {store.top}"
    )
    return [
        _row(classes.name(key), dict(zip(names, values, strict=True)), known, whole)
        for key, *values in store.rows(query)
    ]


@dataclass(frozen=True)
class _Listed:
    """The classes that any list has: their keys in the *orders* of rankings, and the *sums* of each."""

    orders: Mapping[str, Sequence[Any]]
    sums: Mapping[Any, dict[str, Any]]


def _listed(store: Store, dimension: Dimension) -> _Listed:
    """Return the largest classes of a *dimension* by any ranking; of one with an order of its own, all."""
    return store.once(("listed", dimension.name), lambda: _list(store, dimension))


def _list(store: Store, dimension: Dimension) -> _Listed:
    classes = dimension.of(store)
    if classes is None:
        return _Listed(dict.fromkeys(RANKINGS, ()), {})
    known = {one.name for one in recorded(store)}
    ranked = {name: ranking.measure for name, ranking in RANKINGS.items() if ranking.measure in known}
    names = ["key", *(one.name for one in added(store))]
    table = sums(store, dimension)
    if not dimension.is_ranked:
        rows = store.rows(f"select {', '.join(names)} from {table}")
        of_all = {row[0]: dict(zip(names, row, strict=True)) for row in rows}
        return _Listed(dict.fromkeys(ranked, tuple(classes.names or ())), of_all)
    places = ", ".join(f"{_place(measure)} as place_{name}" for name, measure in ranked.items())
    listed = " or ".join(f"place_{name} <= {store.top}{_and_has_any(name)}" for name in ranked)
    columns = [*names, *(f"place_{name}" for name in ranked)]
    query = f"select {', '.join(columns)} from (select *, {places} from {table}) as placed where {listed}"
    found = [dict(zip(columns, row, strict=True)) for row in store.rows(f"{query} order by key")]
    orders = {name: _order(found, name, store.top) for name in ranked}
    return _Listed(orders, {row["key"]: {name: row[name] for name in names} for row in found})


def _place(measure: str) -> str:
    """Return the SQL of the place of a class by a *measure*, the largest first."""
    return f"row_number() over (order by coalesce({measure}, 0) desc, key)"


def _and_has_any(ranking: str) -> str:
    """Return the SQL of whether a class has any of what a *ranking* is by; empty for complete lists."""
    return "" if ranking in COMPLETE else f" and {RANKINGS[ranking].measure} > 0"


def _order(rows: Sequence[Mapping[str, Any]], ranking: str, top: int) -> list[Any]:
    """Return the keys of the *top* classes of a *ranking*."""
    measure, place = RANKINGS[ranking].measure, f"place_{ranking}"
    kept = [row for row in rows if row[place] <= top and (ranking in COMPLETE or (row[measure] or 0) > 0)]
    return [row["key"] for row in sorted(kept, key=lambda row: int(row[place]))]


def _keys(store: Store, dimension: Dimension) -> Sequence[Any]:
    """Return the keys of the classes of a *dimension* that any list has, in one order at all times."""
    listed = _listed(store, dimension)
    return list(listed.sums) if dimension.is_ranked else [*listed.orders["by_jobs"]]


def _rows(store: Store, dimension: Dimension) -> Mapping[Any, dict[str, Value]]:
    """Return the row of each of the listed classes of a *dimension* that has jobs."""
    classes = dimension.of(store)
    if classes is None:
        return {}
    known, of_values = recorded(store), _quantiles(store, dimension)
    whole = Whole(totals(store), store.system)
    return {
        key: _row(classes.name(key), {**row, **of_values.get(key, {})}, known, whole)
        for key, row in _listed(store, dimension).sums.items()
    }


def _quantiles(store: Store, dimension: Dimension) -> Mapping[Any, Mapping[str, float | None]]:
    """Return the quantiles of the listed classes of a *dimension*, which those in the cube have together."""
    wanted = [one for one in recorded(store) if one.quantile]
    together = [one for one in dimensions() if one.of(store) and (one.in_cube or not one.is_ranked)]
    if dimension not in together:
        return quantiles(store, {dimension: _keys(store, dimension)}, wanted)[dimension.name]
    found = store.once(
        "quantiles", lambda: quantiles(store, {one: _keys(store, one) for one in together}, wanted)
    )
    return found.get(dimension.name, {})


def _row(name: str, row: dict[str, Any], known: Sequence[Measure], whole: Whole) -> dict[str, Value]:
    """Return the measures of a class in their order, by name, without those that only serve others."""
    for one in known:
        row[one.name] = value_of(one, row, whole)
    return {"id": name, **{one.name: row[one.name] for one in known if not one.is_part}}
