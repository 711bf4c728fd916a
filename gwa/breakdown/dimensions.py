"""
The dimensions by which jobs are broken down: one table for facts, tables, figures and the cube.

A dimension of names, such as users, is *ranked*: lists have its largest. One of classes, such as hours, has
few, and an order of its own. Packages add dimensions by an entry point in the group ``gwa.dimensions``.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from gwa.metrics.local_time import cyclic, local, months, submissions, years
from gwa.metrics.outcomes import Outcome, outcome
from gwa.metrics.sizes import processors
from gwa.store.schema import SITE
from gwa.store.store import Store
from gwa.util import plugins
from gwa.util.units import DAY, HOUR
from gwa.words.message import message

ENTRY_POINTS: Final = "gwa.dimensions"


@dataclass(frozen=True)
class Classes:
    """
    The classes of the jobs of a trace.

    *key* is SQL over ``jobs`` of the name of a job's class or, where there are *names*, of a key of these,
    which are in the order of the classes; it is null where a job has no class.
    """

    key: str
    names: Mapping[Any, str] | None = None

    def name(self, key: str | int) -> str:
        """Return what the class of a *key* is called."""
        return str(key) if self.names is None else self.names[key]


def numbered(key: str, names: Iterable[str]) -> Classes:
    """Return the classes whose *key* is their number, from 0."""
    return Classes(key, dict(enumerate(names)))


@dataclass(frozen=True)
class Dimension:
    """
    Something by which jobs are broken down.

    *name* is what the ids of its facts begin with and the id of its section, *heading* the heading of its
    column, *title* what all its classes are called. A log records it that has one of the *fields*; *classes*
    returns what they are, None where the log does not tell. Of a ranked one, lists have the largest. The cube
    has those that are *in_cube*.
    """

    name: str
    heading: str
    title: str
    fields: tuple[str, ...]
    classes: Callable[[Store], Classes | None]
    is_ranked: bool = True
    in_cube: bool = True

    def of(self, store: Store) -> Classes | None:
        """Return the classes of the jobs of *store*; None where it does not record them."""
        if not any(map(store.has, self.fields)):
            return None
        return store.once(("classes", self.name), lambda: self.classes(store))


def named(name: str, heading: str, title: str, field: str, *, in_cube: bool = True) -> Dimension:
    """Return the dimension of the values of a *field*."""
    return Dimension(name, heading, title, (field,), lambda _: Classes(field), in_cube=in_cube)


def classed(
    name: str,
    heading: str,
    title: str,
    field: str,
    classes: Callable[[Store], Classes | None],
    *,
    in_cube: bool = False,
) -> Dimension:
    """Return a dimension whose *classes* have an order of their own."""
    return Dimension(name, heading, title, (field,), classes, is_ranked=False, in_cube=in_cube)


GPU_TYPE: Final = (
    "case when gpu_type like '%,%' then gpu_type else regexp_replace(gpu_type, ':[0-9.]+$', '') end"
)
"""The model of the GPUs of a job, without their number; of several models, what the log says."""

LIMITS: Final = (600.0, 3600.0, 6 * 3600.0, 24 * 3600.0, 72 * 3600.0)
"""The greatest requested time of each class but the last, in seconds."""

LIMIT_NAMES: Final = (
    message("to 10 min"),
    message("to 1 h"),
    message("to 6 h"),
    message("to 24 h"),
    message("to 72 h"),
    message("more than 72 h"),
)

MOST_MONTHS: Final = 24
"""A log of more months is broken down by years, too."""

WEEKDAYS: Final = (
    message("Mon"),
    message("Tue"),
    message("Wed"),
    message("Thu"),
    message("Fri"),
    message("Sat"),
    message("Sun"),
)

THURSDAY: Final = 3
"""The weekday of the first of January 1970, from Monday."""

OUTCOME_NAMES: Final[Mapping[Outcome, str]] = {
    "completed": message("completed"),
    "limit": message("time limit"),
    "failed": message("failed"),
    "cancelled": message("cancelled"),
    "running": message("running"),
    "unknown": message("unknown"),
}
"""What tables call the outcomes."""


def _sites(store: Store) -> Classes | None:
    """Return the sites of a log that has several: the only one is the system."""
    low, high = store.row(f"select min({SITE}) as low, max({SITE}) as high from jobs")
    return Classes(SITE) if low != high else None


def _sizes(store: Store) -> Classes:
    sizes = processors(store)
    return numbered(f"nullif({sizes.place}, -1)", sizes.names)


def _requests(_: Store) -> Classes:
    cases = " ".join(f"when req_time <= {limit!r} then {place}" for place, limit in enumerate(LIMITS))
    return numbered(f"case when req_time > 0 then case {cases} else {len(LIMITS)} end end", LIMIT_NAMES)


def _outcomes(store: Store) -> Classes:
    return Classes(outcome(store), OUTCOME_NAMES)


def _months(store: Store) -> Classes | None:
    span = submissions(store)
    if span is None:
        return None
    place, names = months(store, "submit_time", span)
    return numbered(f"case when submit_time is not null then {place} end", names)


def _years(store: Store) -> Classes | None:
    """Return the years of a log of more months than are read one by one."""
    span = submissions(store)
    if span is None:
        return None
    place, names = years(store, "submit_time", span)
    _, of_months = months(store, "submit_time", span)
    if len(of_months) <= MOST_MONTHS:
        return None
    return numbered(f"case when submit_time is not null then {place} end", names)


def _weekdays(store: Store) -> Classes | None:
    span = submissions(store)
    if span is None:
        return None
    day = f"cast(floor({local(store, 'submit_time', span)} / {float(DAY)!r}) as bigint)"
    return numbered(cyclic(f"({day} + {THURSDAY})", 7), WEEKDAYS)


def _hours(store: Store) -> Classes | None:
    span = submissions(store)
    if span is None:
        return None
    hour = f"cast(floor({local(store, 'submit_time', span)} / {float(HOUR)!r}) as bigint)"
    return numbered(cyclic(hour, 24), (f"{place:02}:00" for place in range(24)))


OWN: Final = (
    named("users", message("User"), message("users"), "user_id"),
    named("groups", message("Group"), message("groups"), "group_id"),
    named("projects", message("Project"), message("projects"), "project_id"),
    named("queues", message("Queue"), message("queues"), "queue_id"),
    named("partitions", message("Partition"), message("partitions"), "partition_id"),
    named("qos", message("QoS"), message("QoS"), "qos"),
    named("applications", message("Application"), message("applications"), "executable_id", in_cube=False),
    named("arrays", message("Job array"), message("job arrays"), "job_structure_params", in_cube=False),
    Dimension("sites", message("Cluster"), message("clusters"), ("last_run_site_id", "orig_site_id"), _sites),
    Dimension(
        "gpu_types", message("Type of GPU"), message("types of GPU"), ("gpu_type",),
        lambda _: Classes(GPU_TYPE),
    ),
    classed(
        "sizes", message("Processors"), message("numbers of processors"), "n_procs", _sizes, in_cube=True
    ),
    classed(
        "requests", message("Requested time"), message("requested times"), "req_time", _requests, in_cube=True
    ),
    classed("outcomes", message("Outcome"), message("outcomes"), "status", _outcomes),
    classed("months", message("Month"), message("months of submission"), "submit_time", _months),
    classed("years", message("Year"), message("years of submission"), "submit_time", _years),
    classed("weekdays", message("Weekday"), message("weekdays of submission"), "submit_time", _weekdays),
    classed("hours", message("Hour of submission"), message("hours of submission"), "submit_time", _hours),
)  # fmt: skip
"""Those that gwa knows, in the order of the report."""


@cache
def dimensions() -> tuple[Dimension, ...]:
    """Return all dimensions: those of gwa, then those that entry points add."""
    return (*OWN, *plugins.added(ENTRY_POINTS, Dimension))


def recorded(store: Store) -> tuple[Dimension, ...]:
    """Return the dimensions that the log of *store* records."""
    return tuple(dimension for dimension in dimensions() if dimension.of(store))


def by_name(name: str) -> Dimension:
    """Return the dimension called *name*; raise `KeyError` where there is none."""
    return {dimension.name: dimension for dimension in dimensions()}[name]
