"""How far the busy processors went at single moments, and for how long beyond all that there are."""

from typing import Final, NamedTuple

from gwa.metrics.timeline import changes
from gwa.metrics.window import RUNNING, present
from gwa.store.peaks import peak_query
from gwa.store.store import Period, Store

EDGES: Final = """
select greatest(start_time, {first!r}) - {first!r} as t, cast(n_procs as double) as d
from {table} as begun where {inside}
union all
select least(end_time, {last!r}) - {first!r} as t, -cast(n_procs as double) as d
from {table} as ended where {inside}
"""

CHANGES: Final = """
select changed.bin as bin, net0 as net, coalesce(rise, 0.0) as rise from {changes} as changed left join (
    select floor((greatest(start_time, {first!r}) - {first!r}) / {width!r}) as bin,
        sum(cast(n_procs as double)) as rise
    from {table} as begun where {inside} group by bin
) as risen on changed.bin = risen.bin
"""


class Extremes(NamedTuple):
    """The most processors *busy* at one moment, and the seconds in which more than all were."""

    busy: int
    above: float


def extremes(store: Store, cpus: int, period: Period, *, width: float) -> Extremes:
    """
    Return how far the busy processors of *period* went, exactly, and for how long beyond *cpus*.

    Where to look follows from the level in intervals of *width* seconds, which utilization needs as well.
    """
    first, last = period
    table = present(store)
    jobs = {
        "first": first, "last": last, "width": width, "table": table,
        "inside": f"start_time < {last!r} and end_time > {first!r}",
    }  # fmt: skip
    changed = changes(store, ("n_procs",), RUNNING, table, width=width, period=period)
    edges, changed = EDGES.format(**jobs), CHANGES.format(changes=changed, **jobs)
    busy, seconds = store.row(peak_query(edges, changed, capacity=cpus, width=width))
    return Extremes(int(busy or 0), float(seconds or 0.0))
