"""Levels at moments: how much was held, and the largest of those that waited. One sort each, no join."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gwa.metrics.held_edges import Edges, edges, hour_of
from gwa.metrics.spans import fits
from gwa.metrics.steps import step
from gwa.metrics.timeline import Floats, Ints
from gwa.store.engines.duckdb import literal
from gwa.store.store import Store
from gwa.util.units import DAY, HOUR

EDGES: Final = """
(
    select {part} as part, start_time as t, cast(held as double) as change, 1.0 as one, -1 as place
    from {holding} where start_time is not null and end_time > start_time
    union all
    select {part} as part, end_time as t, -cast(held as double) as change, -1.0 as one, -1 as place
    from {holding} where start_time is not null and end_time > start_time
    union all
    select {part} as part, moment as t, 0.0 as change, 0.0 as one, place from {moments} as sampled
) as edge{where}
"""
"""The starts and ends of all that hold some, with the change of it and of their number, and moments."""

WINDOW: Final = "w as (partition by part order by t range between unbounded preceding and current row)"

SEEN: Final = f"""
select part, t, place, change, sum(change) over w as busy{{jobs}},
    lead(t) over (partition by part order by t) - t as lasts
from {EDGES} window {WINDOW}
"""
"""What is held from each start, end and moment on; those at the same time have the same."""

JOBS: Final = ", sum(one) over w as jobs"
"""By how many it is held, too."""

BUSY: Final = f"""
select part, place, busy from (
    select part, place, sum(change) over w as busy from {EDGES} window {WINDOW}
) as seen where place >= 0 order by place
"""
"""The same at moments alone."""

HOURLY: Final = f"""
select part, floor(t / {float(HOUR)!r}) as hour, max(busy) as most, sum(change) as net
from {{seen}} as seen group by part, hour order by part, hour
"""

HELD: Final = """
select part, {level} as busy, sum(lasts) as seconds from {seen} as seen
where {level} > 0 and lasts > 0 group by part, {level} order by part, {level}
"""

LONG: Final = 300.0
LONG_SHARE: Final = 0.001
"""
A level was held that lasted this many seconds, and this share of the time in which anything was held.

An end and the next start may be written a second in the wrong order: the mere maximum is no capacity.
"""

HOURS: Final = DAY // HOUR
"""What ran within so many hours before or after can run."""

MOST_HOURS: Final = 2_000_000
"""Of a longer log some times are wrong."""

RANKED: Final = """
with edge as (
    select part, eligible as t, job_id, size, 0 as looked from ({waiters}) as waiter
    union all
    select part, started as t, job_id, size, 0 as looked from ({waiters}) as waiter
    union all
    select {part} as part, moment as t, null as job_id, null as size, 1 as looked from {moments} as sampled
), ranked as (
    select part, job_id, size,
        sum(looked) over (
            partition by part order by t range between unbounded preceding and current row
        ) as rank
    from edge
), span as (
    select part, size, cast(min(rank) as bigint) as first, cast(max(rank) as bigint) as after
    from ranked where job_id is not null group by part, job_id, size
), powered as (
    select part, size, first, after, {power} as power from span where after > first
), block as (
    select part, power, first as place, size from powered
    union all
    select part, power, after - power as place, size from powered
)
select part, power, place, max(size) as most from block group by part, power, place
"""
"""
The largest of the waiting in blocks of moments.

A job waits at consecutive moments of its part, which two overlapping blocks of a power of two cover.
"""


@dataclass(frozen=True)
class LevelAt:
    """
    What was held at moments (*busy*), and *most*: what was ever held for long (`held_level`) by their parts.

    *parts* are the places of the moments of each part, *levels* its levels, ascending, with the seconds that
    each lasted, *hourly* the hours in which it changed, the highest level of each and the change in it, and
    *hour* that of each moment.
    """

    busy: Floats
    most: Floats
    parts: dict[str, Ints]
    levels: dict[str, tuple[Floats, ...]]
    hourly: dict[str, tuple[Floats, ...]]
    hour: Floats

    @property
    def held(self) -> float:
        """What was held at most, of all parts."""
        return sum(held_level(*of_part) for of_part in self.levels.values())

    @cached_property
    def usable(self) -> Floats:
        """The lesser of what was held at most in the day before each moment and in the day after."""
        usable = np.full(len(self.hour), np.inf)
        for name, places in self.parts.items():
            hours, most, net = self.hourly[name]
            usable[places] = _usable(hours, most, net, self.hour[places])
        return usable

    def share_above(self, capacity: float) -> float:
        """Return in which share of the time that anything was held it was more than *capacity*."""
        above = sum(float(seconds[level > capacity].sum()) for level, seconds in self.levels.values())
        total = sum(float(seconds.sum()) for _, seconds in self.levels.values())
        return above / total if total else 0.0


def held_level(levels: Floats, seconds: Floats) -> float:
    """
    Return the highest of ascending *levels* that was held for `LONG` and for `LONG_SHARE` of the time.

    >>> held_level(np.array([4.0, 9.0]), np.array([1000.0, 60.0]))
    4.0
    """
    if not len(levels):
        return 0.0
    upto = np.cumsum(seconds[::-1])
    enough = min(max(LONG, LONG_SHARE * float(upto[-1])), float(upto[-1]))
    return float(levels[::-1][np.searchsorted(upto, enough)])


def level_at(store: Store, moments: str, holding: str, part: str) -> LevelAt:
    """
    Return what those that are *holding* held at each of *moments*, in the order of their places.

    *moments* is a table with ``moment`` and ``place``, and *part* SQL over both tables of the part of the
    machine that is looked at.
    """
    if held := edges(store, holding, part, moments, where=""):
        busy = held.busy_at(held.changes)
        return _in_memory(held, held.changes, busy, held.hourly(busy))
    with _seen(store, SEEN.format(part=part, holding=holding, moments=moments, where="", jobs="")) as seen:
        hourly = _by_columns(store, HOURLY.format(seen=seen), ("hour", "most", "net"))
        return _by_engine(store, seen, "busy", hourly)


def levels_of_owners(
    store: Store, moments: str, holding: str, owner: str, owners: Collection[str] | None = None
) -> tuple[LevelAt, LevelAt]:
    """
    Return what was held at *moments* by each of *owners*, or by all, and by how many jobs.

    *owner* is the SQL of the owner. What was held by hours is not known.
    """
    where = _of_owners(owners)
    if held := edges(store, holding, owner, moments, where):
        processors, jobs = (_in_memory(held, one, held.busy_at(one), {}) for one in (held.changes, held.ones))
        return processors, jobs
    query = SEEN.format(part=owner, holding=holding, moments=moments, where=where, jobs=JOBS)
    with _seen(store, query) as seen:
        return _by_engine(store, seen, "busy", {}), _by_engine(store, seen, "jobs", {})


def busy_at(
    store: Store, moments: str, holding: str, owner: str, owners: Collection[str] | None = None
) -> tuple[Floats, dict[str, Ints]]:
    """Return what was held at the *moments* of each of *owners*, or of all, by places, and those of each."""
    where = _of_owners(owners)
    if held := edges(store, holding, owner, moments, where):
        return _placed(held.moments.places, held.busy_at(held.changes)), held.parts()
    rows = store.arrays(BUSY.format(part=owner, holding=holding, moments=moments, where=where))
    places = np.asarray(rows["place"], np.int64)
    return _placed(places, rows["busy"]), _places_by_part(places, rows["part"])


def _in_memory(
    held: Edges, changes: Floats, busy: Floats, hourly: Mapping[str, tuple[Floats, ...]]
) -> LevelAt:
    """Return the level that *changes* add up to, *busy* at the moments, with what is known *hourly* of it."""
    places, lasting = held.moments.places, held.lasting(changes)
    return _level(places, held.parts(), busy, hour_of(held.moments.times), lasting, hourly)


@contextmanager
def _seen(store: Store, query: str) -> Iterator[str]:
    """Yield the table of what is held from each edge on, for as long as it is looked at."""
    name = "level_at_moments"
    store.drop(name)
    yield store.keep(name, query)
    store.drop(name)


def _of_owners(owners: Collection[str] | None) -> str:
    return "" if owners is None else f" where part in ({', '.join(map(literal, sorted(owners)))})"


def _by_engine(store: Store, seen: str, level: str, hourly: dict[str, tuple[Floats, ...]]) -> LevelAt:
    """Return a *level* of the table of what was *seen*, with what is known *hourly* of it."""
    at = store.arrays(
        f"select part, place, floor(t / {float(HOUR)!r}) as hour, {level} as busy from {seen} as seen"
        " where place >= 0 order by place"
    )
    lasting = _by_columns(store, HELD.format(seen=seen, level=level), ("busy", "seconds"))
    places = np.asarray(at["place"], np.int64)
    return _level(places, _places_by_part(places, at["part"]), at["busy"], at["hour"], lasting, hourly)


def _level(
    places: Ints,
    parts: dict[str, Ints],
    busy: NDArray[Any],
    hour: NDArray[Any],
    lasting: Mapping[str, tuple[Floats, ...]],
    hourly: Mapping[str, tuple[Floats, ...]],
) -> LevelAt:
    """Return a level of which each part held what was *lasting*."""
    busy = _placed(places, busy)
    most = np.zeros(len(busy))
    for name, own in parts.items():
        most[own] = held_level(*lasting.get(name, (np.zeros(0), np.zeros(0))))
    return LevelAt(busy, most, parts, dict(lasting), dict(hourly), _placed(places, hour))


def _by_columns(store: Store, query: str, columns: Sequence[str]) -> dict[str, tuple[Floats, ...]]:
    """Return the *columns* of the rows of each part."""
    table = store.arrays(query)
    return {
        name: tuple(np.asarray(table[column], np.float64)[rows] for column in columns)
        for name, rows in _by_part(table["part"]).items()
    }


def _placed(places: Ints, values: NDArray[Any]) -> Floats:
    """Return *values* at their *places*, which rise, and 0 between them."""
    placed = np.zeros(int(places[-1]) + 1 if len(places) else 0)
    placed[places] = np.asarray(values, np.float64)
    return placed


def _places_by_part(places: Ints, parts: NDArray[Any]) -> dict[str, Ints]:
    return {name: places[rows] for name, rows in _by_part(parts).items()}


def _by_part(parts: NDArray[Any]) -> dict[str, Ints]:
    """Return the places of each of *parts*."""
    names, inverse = np.unique(np.asarray(parts).astype(str), return_inverse=True)
    order = np.argsort(inverse, kind="stable")
    firsts = np.searchsorted(inverse[order], np.arange(len(names)))
    return dict(zip(names.tolist(), np.split(order, firsts)[1:], strict=True))


def _usable(hour: Floats, most: Floats, net: Floats, asked: Floats) -> Floats:
    """
    Return the lesser of what was held at most in the day before and after each hour that is *asked* for.

    In each *hour* in which anything changes, *most* is the highest level and *net* its change. Less than a
    day from its ends a log does not know.
    """
    first = hour[0]
    count = int(hour[-1] - first) + 1
    if count > MOST_HOURS:
        return np.full(len(asked), np.inf)
    place = (hour - first).astype(np.int64)
    change, highest = np.zeros(count), np.zeros(count)
    change[place], highest[place] = net, most
    before = np.concatenate(([0.0], np.cumsum(change)[:-1]))
    highest = np.maximum(highest, before)
    unlimited = np.full(HOURS, np.inf)
    padded = np.concatenate((unlimited, highest, unlimited))
    spans = np.lib.stride_tricks.sliding_window_view(padded, HOURS + 1).max(axis=1)
    known = np.minimum(spans[:count], spans[HOURS:])
    found: Floats = known[(asked - first).astype(np.int64)]
    return found


def largest_waiting(store: Store, moments: str, waiters: str, part: str) -> Floats:
    """
    Return the largest size of those that waited at each of *moments*, in the order of their places; or 0.

    The query *waiters* yields when they could start, when they did, and of which ``part`` they are. A job
    that starts at the very second of a moment is taken to wait in it.
    """
    order = store.arrays(
        f"select place, moment, {part} as part, hash({part}) as code from {moments} as sampled"
        " order by part, moment, place"
    )
    places, parts = np.asarray(order["place"], np.int64), np.asarray(order["part"]).astype(str)
    names, offsets = np.unique(parts, return_index=True)
    powers = [2**n for n in range(max(len(places), 1).bit_length() + 1)]
    if fits(store):
        codes, times = np.asarray(order["code"]), np.split(np.asarray(order["moment"]), offsets[1:])
        of_parts = zip(codes[offsets].tolist(), offsets.tolist(), times, strict=True)
        begins, sizes, most = _blocks(store, waiters, list(of_parts))
    else:
        offset = dict(zip(names.tolist(), offsets.tolist(), strict=True))
        power = step("(after - first)", powers[1:], powers)
        found = store.arrays(RANKED.format(waiters=waiters, part=part, moments=moments, power=power))
        sizes, most = np.asarray(found["power"], np.int64), np.asarray(found["most"], np.float64)
        begins = np.asarray(found["place"], np.int64)
        begins = begins + np.array([offset[str(one)] for one in np.asarray(found["part"])], np.int64)
    table = np.zeros(len(places))
    for size in reversed(powers):
        # A block is two of half its size.
        lower = table.copy()
        if size < len(table):
            np.maximum(lower[size:], table[:-size], out=lower[size:])
        table = lower
        here = sizes == size
        np.maximum.at(table, begins[here], most[here])
    largest = np.zeros(len(places))
    largest[places] = table
    return largest


def _blocks(
    store: Store, waiters: str, parts: Sequence[tuple[int, int, Floats]]
) -> tuple[Ints, Ints, Floats]:
    """
    Return where blocks begin, of how many moments they are, and the sizes of their jobs, as `RANKED` does.

    *parts* have the code of each, how many moments those before it have, and its own, ascending.
    """
    jobs = store.arrays(f"select eligible, started, size, hash(part) as code from ({waiters}) as waiter")
    codes = np.asarray(jobs["code"])
    eligible, started, sizes = (np.asarray(jobs[name]) for name in ("eligible", "started", "size"))
    first, after = np.zeros(len(codes), np.int64), np.zeros(len(codes), np.int64)
    for code, offset, times in parts:
        mine = np.flatnonzero(codes == code)
        first[mine] = offset + np.searchsorted(times, eligible[mine], side="right")
        after[mine] = offset + np.searchsorted(times, started[mine], side="right")
    seen = np.flatnonzero(after > first)
    first, after, sizes = first[seen], after[seen], sizes[seen]
    power = 2 ** (np.frexp(after - first)[1] - 1).astype(np.int64)
    return np.concatenate((first, after - power)), np.tile(power, 2), np.tile(sizes, 2)
