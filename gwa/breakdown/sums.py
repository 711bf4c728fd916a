"""
What the jobs of each class add up to.

Jobs are added up in cells first: all jobs of a cell have the same user, group, queue and so on, or were
submitted in the same hour of the same weekday of the same month. Few jobs differ in these, so that there are
few cells, and each dimension adds up cells: the jobs are read once for all dimensions of a kind.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from gwa.breakdown.dimensions import Dimension, dimensions
from gwa.breakdown.measures import Measure, measured_jobs, recorded
from gwa.store.store import Store

TIMES: Final = ("years", "months", "weekdays", "hours")

CELLS: Final = "select {keys}, {sums} from (select {keyed}, {values} from {jobs}) as keyed group by {keys}"

CLASSES: Final = "select {name}_key as key, {sums} from {cells} where {name}_key is not null group by key"


def sums(store: Store, dimension: Dimension) -> str:
    """
    Return the name of the table of all classes of a recorded *dimension*; raise `LookupError` for another.

    It has the ``key`` of each class, and each aggregate that is a measure, or a part of one.
    """
    if dimension.of(store) is None:
        raise LookupError(dimension.name)
    totals = ", ".join(f"{one.total} as {one.name}" for one in added(store))
    cells = _cells(store, next(kind for kind in _kinds(store) if dimension in kind))
    return store.keep(
        f"sums_of_{dimension.name}",
        f"{CLASSES.format(name=dimension.name, sums=totals, cells=cells)} order by key",
    )


def added(store: Store) -> list[Measure]:
    """Return the recorded measures that are aggregates over jobs."""
    return [one for one in recorded(store) if one.sql]


def _kinds(store: Store) -> Iterator[Sequence[Dimension]]:
    """Yield the recorded dimensions that have cells together: none where a measure is not additive."""
    known = [one for one in dimensions() if one.of(store)]
    if all(one.is_additive for one in added(store)):
        yield [one for one in known if one.is_ranked and one.in_cube]
        yield [one for one in known if one.name in TIMES]
        yield [one for one in known if not one.is_ranked and one.name not in TIMES]
    yield from ([one] for one in known)


def _cells(store: Store, kind: Sequence[Dimension]) -> str:
    """Return the cells of the dimensions of a *kind*, a table that is kept, or the query if it is of one."""
    keys = {f"{one.name}_key": classes.key for one in kind if (classes := one.of(store))}
    query = CELLS.format(
        keys=", ".join(keys),
        sums=", ".join(f"{one.cell} as {one.name}" for one in added(store)),
        keyed=", ".join(f"{sql} as {name}" for name, sql in keys.items()),
        values=", ".join(["measured.*", *filter(None, (one.value(store) for one in added(store)))]),
        jobs=measured_jobs(store),
    )
    if len(kind) == 1:
        return f"({query}) as cells"
    return f"{store.keep('cells_of_' + kind[0].name, query)} as cells"
