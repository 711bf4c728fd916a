"""
What is held over time by each part of a machine, in memory: all starts and ends, sorted once.

It gives the levels that the queries of `gwa.metrics.waiting_levels` give, of a log that fits, in a tenth of
their time.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gwa.metrics.spans import are_whole, fits
from gwa.metrics.timeline import Floats, Ints
from gwa.store.store import Store
from gwa.util.units import HOUR

HELD: Final = """
(
    select {part} as part, cast(start_time as double) as begun, cast(end_time as double) as ended,
        cast(held as double) as held
    from {holding} where start_time is not null and end_time > start_time
) as edge{where}
"""

LOOKED_AT: Final = "(select {part} as part, moment, place from {moments} as sampled) as edge{where}"

Hours = tuple[Floats, Floats, Floats]
"""Hours counted from 1970, ascending, the highest level in each, and the change in it."""

CODED: Final = "select {columns}, hash(part) as code from {table}"
"""Names as numbers, which are sorted in no time."""


@dataclass(frozen=True)
class Moments:
    """When something is looked at: *times* of rising *places*, each of the part with this *code*."""

    places: Ints
    times: Floats
    codes: NDArray[np.uint64]

    @cached_property
    def of_parts(self) -> dict[int, Ints]:
        """The rows of each part, by its code."""
        order = np.argsort(self.codes, kind="stable")
        codes, firsts = np.unique(self.codes[order], return_index=True)
        return dict(zip(codes.tolist(), np.split(order, firsts)[1:], strict=True))


@dataclass(frozen=True)
class Edges:
    """
    All starts and ends of what is held, by part and time, and the *moments* that are looked at.

    At *times* what is held changes by *changes*, whole numbers. The edges of a part, by its code, lie in the
    slice *places*; *names* are those of all parts, of which some may have moments alone.
    """

    names: dict[int, str]
    places: dict[int, slice]
    times: Floats
    changes: Floats
    moments: Moments

    @cached_property
    def ones(self) -> Floats:
        """The changes in the number of those that hold something."""
        return np.sign(self.changes)

    def busy_at(self, changes: Floats) -> Floats:
        """Return the sum of *changes* up to each moment."""
        # What a part held is given back: the sums of one end where those of the next begin, at zero.
        levels, busy = np.cumsum(changes), np.zeros(len(self.moments.times))
        for code, rows in self.moments.of_parts.items():
            here = self.places.get(code, slice(0, 0))
            after = np.searchsorted(self.times[here], self.moments.times[rows], side="right")
            busy[rows] = np.concatenate(([0.0], levels[here]))[after]
        return busy

    def parts(self) -> dict[str, Ints]:
        """Return the places of the moments of each part."""
        return {self.names[code]: self.moments.places[rows] for code, rows in self.moments.of_parts.items()}

    def lasting(self, changes: Floats) -> dict[str, tuple[Floats, Floats]]:
        """Return the levels above 0 of each part, ascending, and the seconds that each lasted."""
        return {
            self.names[code]: _summed(levels[:-1], np.diff(times))
            for code, times, levels in self._steps(changes)
        }

    def hourly(self, busy: Floats) -> dict[str, Hours]:
        """
        Return the hours in which something changes in each part with moments, or in which a moment lies.

        *busy* are the levels at the moments.
        """
        found = {code: _by_hour(times, levels) for code, times, levels in self._steps(self.changes)}
        empty = (np.zeros(0), np.zeros(0), np.zeros(0))
        return {
            self.names[code]: _with_moments(
                found.get(code, empty), hour_of(self.moments.times[rows]), busy[rows]
            )
            for code, rows in self.moments.of_parts.items()
        }

    def _steps(self, changes: Floats) -> Iterator[tuple[int, Floats, Floats]]:
        """Yield the code of each part with the times at which something changes, and the level after each."""
        levels = np.cumsum(changes)
        for code, here in self.places.items():
            times = self.times[here]
            last = np.append(np.flatnonzero(np.diff(times)), len(times) - 1)
            yield code, times[last], levels[here][last]


def edges(store: Store, holding: str, part: str, moments: str, where: str) -> Edges | None:
    """
    Return the edges of those that are *holding* something, by the SQL of their *part*, with the *moments*.

    Of parts only those that are left by *where*. None where the engine must find the levels.
    """
    if not fits(store):
        return None
    held = HELD.format(part=part, holding=holding, where=where)
    found = store.arrays(CODED.format(columns="begun, ended, held", table=held))
    begun, ended, amount = (np.asarray(found[name], np.float64) for name in ("begun", "ended", "held"))
    if not are_whole(begun, ended, amount):
        return None
    looked_at = LOOKED_AT.format(part=part, moments=moments, where=where)
    at = store.arrays(f"{CODED.format(columns='place, moment', table=looked_at)} order by place")
    names = _names(store, held, looked_at)
    if names is None:
        return None
    places, times, changes = _sorted(np.asarray(found["code"], np.uint64), begun, ended, amount)
    seen = Moments(
        np.asarray(at["place"], np.int64),
        np.asarray(at["moment"], np.float64),
        np.asarray(at["code"], np.uint64),
    )
    return Edges(names, places, times, changes, seen)


def _sorted(
    codes: NDArray[np.uint64], begun: Floats, ended: Floats, amount: Floats
) -> tuple[dict[int, slice], Floats, Floats]:
    """Return where the edges of each part lie, by its code, their times and the changes, by part and time."""
    own, index = np.unique(codes, return_inverse=True)
    times, changes = np.concatenate((begun, ended)), np.concatenate((amount, -amount))
    # The smallest type: its stable sort is by digits.
    index = np.concatenate((index, index)).astype(np.min_scalar_type(len(own)))
    order = np.argsort(times)
    order = order[np.argsort(index[order], kind="stable")]
    firsts = np.concatenate(([0], np.cumsum(np.bincount(index, minlength=len(own)))))
    places = {int(code): slice(firsts[n], firsts[n + 1]) for n, code in enumerate(own)}
    return places, times[order], changes[order]


def _names(store: Store, held: str, looked_at: str) -> dict[int, str] | None:
    """Return the names of parts by their codes; None where two have the same code."""
    both = f"(select part from {held} union select part from {looked_at}) as named"
    rows = store.rows(f"select hash(part) as code, part from {both}")
    names = dict(rows)
    return names if len(names) == len(rows) else None


def hour_of(times: Floats) -> Floats:
    """Return the hour in which each of *times* lies, counted from 1970."""
    hours: Floats = np.floor(times / HOUR)
    return hours


def _summed(levels: Floats, seconds: Floats) -> tuple[Floats, Floats]:
    """Return the distinct whole *levels* above 0, ascending, with the sums of their *seconds*."""
    if levels.max(initial=0.0) > 4 * len(levels):  # few, and far apart
        levels, index = np.unique(levels, return_inverse=True)
        sums = np.bincount(index, seconds)
    else:
        sums = np.bincount(levels.astype(np.int64), seconds)
        levels = np.arange(len(sums), dtype=np.float64)
    found = (levels > 0) & (sums > 0)
    return levels[found], np.asarray(sums[found], np.float64)


def _by_hour(times: Floats, levels: Floats) -> Hours:
    """Return the hours of ascending *times*, at each of which a level begins."""
    hours = hour_of(times)
    first = np.concatenate(([0], np.flatnonzero(np.diff(hours)) + 1))
    after = levels[np.append(first[1:], len(levels)) - 1]
    return hours[first], np.maximum.reduceat(levels, first), np.diff(after, prepend=0.0)


def _with_moments(changed: Hours, looked: Floats, busy: Floats) -> Hours:
    """Return the hours that *changed* and those that are *looked* at, in which so much was *busy*."""
    hours, most, net = changed
    every, index = np.unique(np.concatenate((hours, looked)), return_inverse=True)
    highest, change = np.zeros(len(every)), np.zeros(len(every))
    np.maximum.at(highest, index, np.concatenate((most, busy)))
    change[index[: len(hours)]] = net
    return every, highest, change
