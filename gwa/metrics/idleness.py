"""When nothing ran: the exact stretches between the ends and the starts of jobs."""

from typing import Final, NamedTuple

import numpy as np

from gwa.metrics.presence import present, recorded
from gwa.metrics.timeline import Floats, exact_sum
from gwa.metrics.window import window
from gwa.store.store import Period, Store, overlap
from gwa.util.units import HOUR

STRETCHES: Final = f"""
with started as (
    select floor(start_time / {float(HOUR)!r}) as hour, start_time, end_time from {{present}} as present
    where start_time is not null and end_time > start_time
), hourly as (
    select hour, max(start_time) as last, max(end_time) as latest from started group by hour
), earlier as (
    select hour, last,
        max(latest) over (order by hour rows between unbounded preceding and 1 preceding) as latest
    from hourly
), looked as (
    select hour, latest from earlier where latest is null or latest < last
), reached as (
    select start_time as finish, greatest(looked.latest, max(end_time) over (
        partition by started.hour order by start_time, end_time
        rows between unbounded preceding and 1 preceding
    )) as begin
    from started inner join looked on started.hour = looked.hour
)
select begin, finish from reached where finish > begin
"""
"""
What lies between the latest end of all jobs that started before and the next start.

The latest end is a running maximum, taken within each hour of starts, on top of that of earlier hours. Where
a job of earlier hours outlasts all starts of an hour, nothing is sorted: nothing in it was idle.
"""


class Idleness(NamedTuple):
    """Idle *seconds* of a *period*, and the stretches of an hour or more in it: their *begins* and *ends*."""

    period: Period
    seconds: float
    begins: Floats
    ends: Floats


def idle_stretches(store: Store) -> str:
    """
    Return the table of the stretches in which no job of the whole log ran: ``begin`` and ``finish``.

    They lie between the first start and the last end, exact to what the log records. Jobs that had not
    ended when the log did run until then; a job without a wait starts when it is submitted.
    """
    whole = store.whole
    return whole.keep("idle_stretches", STRETCHES.format(present=present(whole)))


def observed(store: Store) -> Period | None:
    """
    Return the time in which it is known what ran, within the period asked for.

    It is the window of observation; that of a log of few jobs is not known, and all of it is taken. None
    where the load is known nowhere, or no job ran.
    """
    whole = window(store.whole)
    period = window(store).period
    if whole.period is None and whole.borders is None:
        period = log_period(store)
    return period if period is not None and period[1] > period[0] and _span(store) else None


def log_period(store: Store) -> Period | None:
    """Return the first and the last second of the whole log, within the period asked for."""
    period = recorded(store.whole)
    return overlap(period, store.period) if period else None


def idleness(store: Store) -> Idleness | None:
    """Return when nothing ran in the time that is `observed`; None where that is unknown."""
    period, span = observed(store), _span(store)
    if period is None or span is None:
        return None
    first, last = period
    part = f"greatest(begin, {first!r}) as begin, least(finish, {last!r}) as finish"
    inside = (
        f"(select {part} from {idle_stretches(store)} as whole"
        f" where begin < {last!r} and finish > {first!r}) as inside"
    )
    (between,) = store.whole.row(f"select {exact_sum('finish - begin')} as seconds from {inside}")
    columns = store.whole.arrays(
        f"select begin, finish from {inside} where finish - begin >= {float(HOUR)!r} order by begin"
    )
    borders = np.array([(first, min(span[0], last)), (max(span[1], first), last)])
    borders = borders[borders[:, 1] > borders[:, 0]]
    seconds = (between or 0.0) + float((borders[:, 1] - borders[:, 0]).sum())
    long = borders[borders[:, 1] - borders[:, 0] >= HOUR]
    begins, ends = (
        np.sort(np.concatenate((np.asarray(columns[name], np.float64), long[:, place])))
        for place, name in enumerate(("begin", "finish"))
    )
    return Idleness(period, seconds, begins, ends)


def _span(store: Store) -> Period | None:
    """Return the first start and the last end of jobs that ran for any time."""
    first, last = store.whole.once(
        "running span",
        lambda: store.whole.row(
            f"select min(start_time), max(end_time) from {present(store.whole)} as present"
            " where start_time is not null and end_time > start_time"
        ),
    )
    return None if first is None else (first, last)
