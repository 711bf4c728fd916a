"""Break the jobs of a trace down by a dimension: the one builder of lists of who used how much of what."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

from gwa.breakdown.dimensions import Dimension, dimensions
from gwa.breakdown.measures import Measure, Whole, recorded, value_of
from gwa.breakdown.quantiles import quantiles
from gwa.breakdown.records import Records
from gwa.breakdown.sums import added, sums
from gwa.metrics.totals import totals
from gwa.report.document import Column
from gwa.statistics.sample import Sample
from gwa.store.engines.duckdb import literal
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
    orders = _orders(store, dimension)
    made = store.once(("breakdown", dimension.name), lambda: _rows(store, dimension))
    rows = [made[key] for key in orders[ranking] if key in made]
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
    Return what each class of a *dimension* has of a *measure* of `RANKINGS`.

    Of other measures than jobs, only classes count that have a job which ran.
    """
    condition = "true" if measure == "jobs" else "ran > 0"
    return store.sample(measure, f"(select * from {sums(store, dimension)} where {condition})")


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
    whole = Whole(totals(store), store.system.cpus)
    names = [one.name for one in added(store)]
    query = (
        f"select key, {', '.join(names)} from {sums(store, dimension)} where {measure} > 0"
        f" order by {measure} desc, key limit {store.top}"
    )
    return [
        _row(classes.name(key), dict(zip(names, values, strict=True)), known, whole)
        for key, *values in store.rows(query)
    ]


def _orders(store: Store, dimension: Dimension) -> Mapping[str, Sequence[Any]]:
    """Return the keys of the largest classes by each ranking; of a dimension with an order, of all in it."""
    classes = dimension.of(store)
    if classes is None or not dimension.is_ranked:
        return dict.fromkeys(RANKINGS, tuple((classes and classes.names) or ()))
    return store.once(("orders", dimension.name), lambda: _ranked(store, dimension))


def _ranked(store: Store, dimension: Dimension) -> Mapping[str, Sequence[Any]]:
    known = {one.name for one in recorded(store)}
    table = sums(store, dimension)
    names = [name for name, ranking in RANKINGS.items() if ranking.measure in known]
    largest = (_largest(table, name, RANKINGS[name].measure, store.top) for name in names)
    found: dict[str, list[Any]] = {name: [] for name in names}
    for name, _, key in sorted(store.rows(" union all ".join(largest))):
        found[name].append(key)
    return found


def _largest(table: str, ranking: str, measure: str, top: int) -> str:
    """Return the query of the *top* classes by a *measure*; unless complete, of those that have any."""
    amount = f"coalesce({measure}, 0)"
    condition = "true" if ranking in COMPLETE else f"{amount} > 0"
    order = f"row_number() over (order by {amount} desc, key)"
    numbered = f"select '{ranking}' as ranking, {order} as place, key from {table} where {condition}"
    return f"select * from ({numbered}) as numbered where place <= {top}"


def _listed(store: Store, dimension: Dimension) -> Sequence[Any]:
    """Return the keys of the classes of a *dimension* that any list has, in one order at all times."""
    keys = {*chain(*_orders(store, dimension).values())}
    return sorted(keys) if dimension.is_ranked else [*_orders(store, dimension)["by_jobs"]]


def _rows(store: Store, dimension: Dimension) -> Mapping[Any, dict[str, Value]]:
    """Return the row of each of the listed classes of a *dimension* that has jobs."""
    classes, keys = dimension.of(store), _listed(store, dimension)
    if not keys or classes is None:
        return {}
    known = recorded(store)
    names = [one.name for one in added(store)]
    listed = ", ".join(literal(key) if isinstance(key, str) else str(key) for key in keys)
    query = f"select key, {', '.join(names)} from {sums(store, dimension)} where key in ({listed})"
    of_values = _quantiles(store, dimension)
    whole = Whole(totals(store), store.system.cpus)
    found = {}
    for key, *values in store.rows(f"{query} order by key"):
        row = {**dict(zip(names, values, strict=True)), **of_values.get(key, {})}
        found[key] = _row(classes.name(key), row, known, whole)
    return found


def _quantiles(store: Store, dimension: Dimension) -> Mapping[Any, Mapping[str, float | None]]:
    """Return the quantiles of the listed classes of a *dimension*, which those in the cube have together."""
    wanted = [one for one in recorded(store) if one.quantile]
    together = [one for one in dimensions() if one.of(store) and (one.in_cube or not one.is_ranked)]
    if dimension not in together:
        return quantiles(store, {dimension: _listed(store, dimension)}, wanted)[dimension.name]
    found = store.once(
        "quantiles", lambda: quantiles(store, {one: _listed(store, one) for one in together}, wanted)
    )
    return found.get(dimension.name, {})


def _row(name: str, row: dict[str, Any], known: Sequence[Measure], whole: Whole) -> dict[str, Value]:
    """Return the measures of a class in their order, by name, without those that only serve others."""
    for one in known:
        row[one.name] = value_of(one, row, whole)
    return {"id": name, **{one.name: row[one.name] for one in known if not one.is_part}}
