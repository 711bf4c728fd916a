"""Break the jobs of a trace down by a dimension: the one builder of lists of who used how much of what."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

from gwa.breakdown.dimensions import Classes, Dimension, dimensions
from gwa.breakdown.measures import VALUES, Measure, Quantile, Whole, measured_jobs, recorded, value_of
from gwa.breakdown.records import Records
from gwa.metrics.ranked_values import Ranked, ranked
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

KEYED: Final = "(select {key}, {values} from {jobs}) as keyed"

SUMS: Final = "select key, {sums} from {keyed} where {where} group by key order by key"

SUMS_OF_EACH: Final = """
select case {names} end as dimension, {keys}, {sums} from {keyed} group by grouping sets ({sets})
"""
"""One scan for several dimensions: what jobs add is computed once for all of them."""

WEIGHT: Final = "core_seconds"


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
    orders = store.once(("orders", dimension.name), lambda: _orders(store, dimension, classes))
    made = store.once(
        ("breakdown", dimension.name), lambda: _rows(store, dimension, {*chain(*orders.values())})
    )
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


def ranks(store: Store, dimension: Dimension) -> str:
    """
    Return the name of the table of all classes of a recorded *dimension*; raise `LookupError` for another.

    It has the ``key`` of each class, how many of its jobs ran (``ran``), and what `RANKINGS` are by.
    """
    classes = dimension.of(store)
    if classes is None:
        raise LookupError(dimension.name)
    of_rankings = {ranking.measure for ranking in RANKINGS.values()}
    sums = [one for one in recorded(store) if one.name in of_rankings or one.name == "ran"]
    return store.keep(f"ranks_of_{dimension.name}", _sums(store, classes, sums, "key is not null"))


def consumed(store: Store, dimension: Dimension, measure: str) -> Sample:
    """
    Return what each class of a *dimension* has of a *measure* of `RANKINGS`.

    Of other measures than jobs, only classes count that have a job which ran.
    """
    condition = "true" if measure == "jobs" else "ran > 0"
    return store.sample(measure, f"(select * from {ranks(store, dimension)} where {condition})")


def _orders(store: Store, dimension: Dimension, classes: Classes) -> Mapping[str, Sequence[Any]]:
    """Return the keys of the largest classes by each ranking; of a dimension with an order, of all in it."""
    if not dimension.is_ranked:
        return dict.fromkeys(RANKINGS, tuple(classes.names or ()))
    table = ranks(store, dimension)
    known = {one.name for one in recorded(store)}
    return {
        name: _largest(store, table, ranking.measure, is_complete=name in COMPLETE)
        for name, ranking in RANKINGS.items()
        if ranking.measure in known
    }


def _largest(store: Store, table: str, measure: str, *, is_complete: bool) -> tuple[Any, ...]:
    """Return the keys of the largest classes by a *measure*; unless *is_complete*, of those that have any."""
    amount = f"coalesce({measure}, 0)"
    condition = "true" if is_complete else f"{amount} > 0"
    query = f"select key from {table} where {condition} order by {amount} desc, key limit {store.top}"
    return tuple(key for (key,) in store.rows(query))


def _sums(store: Store, classes: Classes, sums: Sequence[Measure], where: str) -> str:
    """Return the query of *sums* over the jobs of each class for which *where* holds."""
    return SUMS.format(sums=_aggregates(sums), keyed=_keyed(store, {"key": classes.key}, sums), where=where)


def _aggregates(sums: Sequence[Measure]) -> str:
    return ", ".join(f"{one.aggregate} as {one.name}" for one in sums)


def _keyed(store: Store, keys: Mapping[str, str], sums: Sequence[Measure]) -> str:
    """Return the table of jobs with *keys*, SQL by name, and with what each adds to *sums*."""
    key = ", ".join(f"{sql} as {name}" for name, sql in keys.items())
    values = ", ".join(["measured.*", *(one.value for one in sums if one.value)])
    return KEYED.format(key=key, values=values, jobs=measured_jobs(store))


def _rows(store: Store, dimension: Dimension, keys: set[Any]) -> Mapping[Any, dict[str, Value]]:
    """Return the row of each of the classes *keys* that has jobs."""
    classes = dimension.of(store)
    if not keys or classes is None:
        return {}
    literals = sorted(literal(key) if isinstance(key, str) else str(key) for key in keys)
    where = f"key in ({', '.join(literals)})"
    known = recorded(store)
    sums = [one for one in known if one.sql]
    found: Sequence[tuple[Any, ...]]
    if dimension.is_ranked:
        found = store.rows(_sums(store, classes, sums, where))
    else:
        found = store.once("sums by class", lambda: _sums_of_each(store, sums))[dimension.name]
    names = [one.name for one in sums]
    rows = {key: dict(zip(names, values, strict=True)) for key, *values in found if key in keys}
    _add_quantiles(store, rows, f"(select * from {_values(store, dimension)} where {where})", known)
    whole = Whole(totals(store), store.system.cpus)
    return {key: _row(classes.name(key), row, known, whole) for key, row in rows.items()}


def _sums_of_each(store: Store, sums: Sequence[Measure]) -> Mapping[str, Sequence[tuple[Any, ...]]]:
    """Return the *sums* of the classes of each dimension that is not ranked, each row with the key first."""
    keys = _keys_in_order(store)
    query = SUMS_OF_EACH.format(
        names=" ".join(f"when grouping({name}_key) = 0 then '{name}'" for name in keys),
        keys=", ".join(f"{name}_key" for name in keys),
        sums=_aggregates(sums),
        keyed=_keyed(store, {f"{name}_key": key for name, key in keys.items()}, sums),
        sets=", ".join(f"({name}_key)" for name in keys),
    )
    rows, places = store.rows(query), {name: place for place, name in enumerate(keys, 1)}
    return {
        name: [(row[place], *row[len(keys) + 1 :]) for row in rows if row[0] == name]
        for name, place in places.items()
    }


def _keys_in_order(store: Store) -> Mapping[str, str]:
    """Return the SQL of the classes of each dimension that has an order of its own, by its name."""
    ordered = (one for one in dimensions() if not one.is_ranked)
    return {one.name: classes.key for one in ordered if (classes := one.of(store))}


def _values(store: Store, dimension: Dimension) -> str:
    """
    Return the table of jobs with the ``key`` of a *dimension*, `VALUES` and what they weigh.

    The classes of dimensions that are not ranked take longer to find than a few columns to keep: they are
    found once for all of them.
    """
    values = ", ".join(f"{sql} as {name}" for name, sql in VALUES.items())
    classes = dimension.of(store)
    keys = {dimension.name: classes.key} if dimension.is_ranked and classes else _keys_in_order(store)
    of_jobs = ", ".join(f"{key} as {name}" for name, key in keys.items())
    query = f"select {of_jobs}, {values}, {WEIGHT} from {measured_jobs(store)}"
    table = f"({query})" if dimension.is_ranked else store.keep("jobs_by_class", query)
    return f"(select *, {dimension.name} as key from {table} as jobs_by_class) as keyed"


def _add_quantiles(
    store: Store, rows: Mapping[Any, dict[str, Any]], listed: str, known: Sequence[Measure]
) -> None:
    """Add to each of *rows* the quantiles of its class over the jobs *listed*."""
    for value in VALUES:
        wanted = [(one.name, one.quantile) for one in known if one.quantile and one.quantile.of == value]
        if not wanted:
            continue
        weight = WEIGHT if any(of.is_weighted for _, of in wanted) else ""
        table = f"(select key, {value} as value, {WEIGHT} from {listed} as listed) as valued"
        found = ranked(store, table, sorted({of.share for _, of in wanted}), weight)
        for key, row in rows.items():
            row.update((name, _quantile(found.get(key), of)) for name, of in wanted)


def _quantile(values: Ranked | None, of: Quantile) -> float | None:
    if values is None:
        return None
    return values.weighted_quantile(of.share) if of.is_weighted else values.quantile(of.share)


def _row(name: str, row: dict[str, Any], known: Sequence[Measure], whole: Whole) -> dict[str, Value]:
    """Return the measures of a class in their order, by name, without those that only serve others."""
    for one in known:
        row[one.name] = value_of(one, row, whole)
    return {"id": name, **{one.name: row[one.name] for one in known if not one.is_part}}
