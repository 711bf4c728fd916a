"""Like for like: parts of traces that cover the same time, or that bear the same load."""

from collections.abc import Callable, Mapping, Sequence
from math import floor
from statistics import median
from typing import Final, TypeAlias

from gwa.errors import TraceError
from gwa.store.store import Store
from gwa.store.subset import Subset, select
from gwa.util.units import WEEK

Stores: TypeAlias = Sequence[tuple[str, Store]]
"""Traces, each a name and a store."""

LOAD_TOLERANCE: Final = 0.1
"""A week bears the common load if its own is so near to it, as a fraction of capacity."""

WEEK_NUMBER: Final = f"cast(floor(submit_time / {WEEK}) as bigint)"

LOADS: Final = """
select {week} as week, cast(sum(cpu_seconds) as double) as work
from ran where submit_time is not null group by week order by week
"""


def same_period(stores: Stores) -> tuple[Stores, str]:
    """
    Return the traces over the time that all of them cover, and a sentence that says which that is.

    It is a period like that of ``--period``: jobs submitted before it count in levels while they run in it.
    Where the traces have no time in common, the first whole weeks are left, as many as the shortest has.
    """
    spans = []
    for name, store in stores:
        first, last = store.row("select min(submit_time), max(submit_time) from jobs")
        if first is None:
            raise TraceError(f"{name}: no job has a submit time, so no period can be the same")
        spans.append((first, last))
    begin, end = max(first for first, _ in spans), min(last for _, last in spans)
    dated = not any(store.system.relative for _, store in stores)
    if dated and end - begin >= WEEK:
        common = (begin, floor(end) + 1.0)
        part = [(name, store.filtered("true", common)) for name, store in stores]
        return part, "Only the time that all traces cover is compared."
    weeks = min((last - first) // WEEK for first, last in spans)
    if weeks < 1:
        raise TraceError("a trace is shorter than a week, so that no period can be the same")
    part = [
        (name, store.filtered("true", (first, first + weeks * WEEK)))
        for (name, store), (first, _) in zip(stores, spans, strict=True)
    ]
    return part, f"Only the first {weeks:.0f} weeks of each trace are compared: they have no time in common."


def same_load(stores: Stores) -> tuple[Stores, str]:
    """
    Return the weeks in which the traces bear the same load, and a sentence that says which that is.

    The load of a week is the CPU time of the jobs submitted in it, as a fraction of all processors; the
    common one is the median over traces of their median weeks.
    """
    loads = {name: _loads(name, store) for name, store in stores}
    common = median(median(weeks.values()) for weeks in loads.values())
    conditions = []
    for name, _ in stores:
        near = [week for week, load in loads[name].items() if abs(load - common) <= LOAD_TOLERANCE]
        if len(near) < 2:  # noqa: PLR2004 - halves of it are compared
            raise TraceError(
                f"{name}: fewer than two weeks bear a load of {common:.0%}, which is the common one"
            )
        conditions.append(f"{WEEK_NUMBER} in ({', '.join(map(str, near))})")
    return _select(stores, conditions), (
        f"Only weeks in which jobs worth {common - LOAD_TOLERANCE:.0%} to {common + LOAD_TOLERANCE:.0%} of"
        " the capacity were submitted are compared. Time series and utilization have gaps where other weeks"
        " were."
    )


def _loads(name: str, store: Store) -> dict[int, float]:
    """Return the load of each week that is whole."""
    cpus = store.system.size
    weeks = store.rows(LOADS.format(week=WEEK_NUMBER))[1:-1]
    if not cpus or not weeks:
        raise TraceError(f"{name}: its load is not known, for want of processors, times or three weeks")
    return {week: work / (cpus * WEEK) for week, work in weeks}


def _select(stores: Stores, conditions: Sequence[str]) -> Stores:
    return [
        (name, select(store, Subset(where=condition)))
        for (name, store), condition in zip(stores, conditions, strict=True)
    ]


LIKE: Final[Mapping[str, Callable[[Stores], tuple[Stores, str]]]] = {
    "period": same_period,
    "load": same_load,
}
"""What can be made alike."""
