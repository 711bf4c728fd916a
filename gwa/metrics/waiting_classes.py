"""Why jobs waited by size, user, queue, project, reason, hour and month: conditions of their moments."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gwa.metrics.local_time import MAXIMUM_SPAN, cyclic, local, months
from gwa.metrics.sizes import processors
from gwa.metrics.timeline import Floats, Ints
from gwa.metrics.waiting import MINIMUM_MOMENTS, Condition, Waiting
from gwa.store.store import Period, Store
from gwa.util.units import HOUR

FIELDS: Final = {"queue": "queue_id", "user": "user_id", "project": "project_id", "reason": "pending_reason"}
"""The fields by which waiting is broken down."""


@dataclass(frozen=True)
class ClassOfWaiting:
    """
    A class of moments: what it is called, how many there are, and its *share* of all.

    *conditions* are the shares in the class itself.
    """

    name: str
    moments: int
    share: float
    conditions: dict[Condition, float]


def by_class(store: Store, waiting: Waiting) -> dict[str, tuple[ClassOfWaiting, ...]]:
    """
    Return the classes with enough moments for shares, by what they are of.

    Those of names come by how much they waited, sizes, hours and months in their order. Hours and months are
    those of the moment, not of the submission; where dates are unknown there are none.
    """
    whole = store.whole
    classes = {name: _named(whole, waiting, field) for name, field in FIELDS.items() if whole.has(field)}
    found = {"size": _sizes(whole, waiting)} | classes | _times(whole, waiting)
    return {name: of_kind for name, of_kind in found.items() if of_kind}


def jobs_of_moments(store: Store, waiting: Waiting) -> tuple[NDArray[np.str_], Floats]:
    """Return the user, empty where unknown, and the processors asked for of the job at each moment."""

    def found() -> tuple[NDArray[np.str_], Floats]:
        rows = store.whole.arrays(
            "select coalesce(user_id, '') as user_name, coalesce(asked, 0) as asked"
            f" from {waiting.table} as sampled order by place"
        )
        users = np.asarray(rows["user_name"]).astype(str)[waiting.places]
        return users, np.asarray(rows["asked"], np.float64)[waiting.places]

    of_moments: tuple[NDArray[np.str_], Floats] = store.once("jobs of moments", found)
    return of_moments


def _named(whole: Store, waiting: Waiting, field: str) -> tuple[ClassOfWaiting, ...]:
    """Return the classes of the values of a *field*."""
    rows = whole.arrays(
        f"select place, name from (select place, {field} as name, count(*) over (partition by {field}) as n"
        f" from {waiting.table} as sampled where {field} is not null) as named"
        f" where n >= {MINIMUM_MOMENTS} order by place"
    )
    names, place = np.unique(np.asarray(rows["name"], str), return_inverse=True)
    of_places = np.full(waiting.all_moments, -1)
    of_places[np.asarray(rows["place"], np.int64)] = place
    found = _classes(waiting, of_places[waiting.places], names.tolist())
    return tuple(sorted(found, key=lambda one: (-one.moments, one.name)))


def _sizes(whole: Store, waiting: Waiting) -> tuple[ClassOfWaiting, ...]:
    """Return the classes of the processors that jobs asked for."""
    sizes = processors(whole)
    rows = whole.arrays(f"select asked from {waiting.table} as sampled order by place")
    asked = np.ma.filled(np.ma.asarray(rows["asked"], np.float64), np.nan)[waiting.places]
    place = np.minimum(np.searchsorted(sizes.tops, asked), len(sizes.names) - 1)
    return tuple(_classes(waiting, np.where(asked > 0, place, -1), sizes.names))


def _times(whole: Store, waiting: Waiting) -> dict[str, tuple[ClassOfWaiting, ...]]:
    """Return the classes of the hour of the day, and of the month, of the moments."""
    span = _dated(whole, waiting)
    if span is None:
        return {}
    month, names = months(whole, "moment", span)
    hour = cyclic(f"cast(floor({local(whole, 'moment', span)} / {float(HOUR)!r}) as bigint)", 24)
    rows = whole.arrays(
        f"select {hour} as hour, {month} as month from {waiting.table} as sampled order by place"
    )
    hours = tuple(f"{place:02}:00" for place in range(24))
    classes = {"hour": hours, "month": names}
    return {
        name: tuple(_classes(waiting, np.asarray(rows[name], np.int64)[waiting.places], of_kind))
        for name, of_kind in classes.items()
    }


def _dated(whole: Store, waiting: Waiting) -> Period | None:
    """Return the first and the last moment where dates are known."""
    first, last = whole.row(f"select min(moment), max(moment) from {waiting.table} as sampled")
    if whole.system.relative or last - first > MAXIMUM_SPAN:
        return None
    return first, last


def _classes(waiting: Waiting, places: Ints, names: tuple[str, ...] | list[str]) -> Iterator[ClassOfWaiting]:
    """Yield those classes of the moments at *places* in *names* that have shares."""
    for place, name in enumerate(names):
        chosen = np.flatnonzero(places == place)
        shares = waiting.shares(chosen)
        if shares:
            yield ClassOfWaiting(name, len(chosen), len(chosen) / len(places), shares)
