"""How far the busy processors went at single moments, and for how long beyond all that there are."""

from typing import Final, NamedTuple

import numpy as np

from gwa.metrics.presence import present
from gwa.metrics.spans import Spans, spans
from gwa.metrics.timeline import changes
from gwa.metrics.window import RUNNING
from gwa.store.peaks import peak_query
from gwa.store.store import Period, Store

EDGES: Final = """
select greatest(start_time, {first!r}) - {first!r} as t, cast(n_procs as double) as d
from {table} as begun where {inside}
union all
select least(end_time, {last!r}) - {first!r} as t, -cast(n_procs as double) as d
from {table} as ended where {inside}
"""

CHANGES: Final = "select bin, net0 as net, rise0 as rise from {changes} as changed"


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
    found = spans(store, ("n_procs",), RUNNING, table)
    if found is not None:
        return _swept(found.within(period), cpus)
    inside = f"start_time < {last!r} and end_time > {first!r}"
    edges = EDGES.format(first=first, last=last, table=table, inside=inside)
    changed = changes(store, ("n_procs",), RUNNING, table, width=width, period=period)
    query = peak_query(edges, CHANGES.format(changes=changed), capacity=cpus, width=width)
    busy, seconds = store.row(query)
    return Extremes(int(busy or 0), float(seconds or 0.0))


def _swept(jobs: Spans, cpus: int) -> Extremes:
    """Return the same of the *jobs* of a period in memory: the level after each moment."""
    (held,) = jobs.weights
    moments, change = np.concatenate((jobs.begin, jobs.end)), np.concatenate((held, -held))
    order = np.argsort(moments)
    moments, level = moments[order], np.cumsum(change[order])
    is_last = np.append(moments[1:] != moments[:-1], True)[: len(moments)]  # of those at the same moment
    moments, level = moments[is_last], level[is_last]
    above = np.diff(moments)[level[:-1] > cpus]
    return Extremes(int(level.max(initial=0)), float(above.sum()))
