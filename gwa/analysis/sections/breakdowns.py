"""By whom, of what and how much: a section for each dimension that a log records."""

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from gwa.analysis.base import Analysis, Chapter, MadeWhen
from gwa.breakdown.breakdown import RANKINGS, breakdown, consumed
from gwa.breakdown.dimensions import Dimension, dimensions, recorded
from gwa.breakdown.records import Records
from gwa.breakdown.views import tables
from gwa.metrics.totals import totals
from gwa.report.document import Block, Fact, Facts, Note, note_of
from gwa.report.facts import number
from gwa.statistics.sample import Sample
from gwa.store.store import Store
from gwa.words.message import capitalized, message, within_sentence

HELP: Final = "\n\n".join(
    (
        message("Jobs and CPU time of each class of jobs, and what else the log records of them."),
        message(
            "Utilization is the CPU time as a fraction of processors times span; jobs a day are over the days"
            " between the first and the last submission. CPU, GPU and node time are of jobs that ran, for"
            " their whole run; run times and mean processors are of these, waits of all jobs whose wait is"
            " known. Waits by core-hour weigh each job by its processors times its run time. The share"
            " used of what was allocated is a ratio of totals."
        ),
    )
)
"""A page translates each paragraph by itself."""

PLACES: Final = {
    "users": (Chapter.USERS, 0),
    "groups": (Chapter.USERS, 1),
    "sizes": (Chapter.SIZES, 1),
    "requests": (Chapter.REQUESTS, 2),
    "years": (Chapter.ARRIVALS, 2),
    "months": (Chapter.ARRIVALS, 2),
    "weekdays": (Chapter.ARRIVALS, 2),
    "hours": (Chapter.ARRIVALS, 2),
}
"""The chapter of the section of a dimension, and its order there; the others follow the users."""

IN_FULL: Final = ("users", "groups")
"""Dimensions whose section stands where they are not recorded, too."""

SECOND: Final = ("groups", "partitions")
"""What has no table where it is the same as another dimension: of most systems, as projects and queues."""

DETAILS: Final = ("applications", "arrays")
"""Dimensions of whose facts only those that are asked for are printed: each has classes by the thousand."""

ELSEWHERE: Final = ("outcomes",)
"""Dimensions that have a section of their own."""


def dimension_blocks(store: Store, dimension: Dimension, *, has_table: bool = True) -> Iterator[Block]:
    """Yield the facts of a *dimension* by each ranking and, if it *has_table*, those that are shown."""
    names = RANKINGS if dimension.is_ranked else ("by_cpu", "by_jobs")
    rankings = {name: breakdown(store, dimension, name) for name in names}
    if dimension.of(store) is None or not any(records and records.rows for records in rankings.values()):
        yield Note(message("The log does not distinguish {title}.", title=dimension.title))
        return
    if dimension.is_ranked:
        yield from _concentration(store, dimension)
    if has_table and (other := _same_as(store, dimension, rankings["by_cpu"])):
        has_table = False
        yield note_of(
            "The same as by {other}: the {title} have the same names and numbers.",
            other=within_sentence(other.heading),
            title=dimension.title,
        )
    yield from (records.fact for records in rankings.values() if records and records.rows)
    if has_table:
        yield from tables(store, dimension.name)


def _same_as(store: Store, dimension: Dimension, records: Records | None) -> Dimension | None:
    """Return an earlier dimension, with a table, whose classes have the same names and numbers."""
    if not records or len(records.rows) >= store.top:
        return None
    ranked = [one for one in recorded(store) if one.is_ranked]
    ranked.sort(key=lambda one: one.name in SECOND)
    for other in ranked[: ranked.index(dimension)] if dimension in ranked else ():
        of_other = breakdown(store, other, "by_cpu")
        if of_other and [*of_other.rows] == [*records.rows]:
            return other
    return None


class _Concentration(NamedTuple):
    """How unevenly something is shared: the last part of the id of the fact, and what is shared."""

    name: str
    measure: str
    what: str


SHARED: Final = (
    _Concentration("gini_jobs", "jobs", message("jobs")),
    _Concentration("gini_cpu", "cpu_seconds", message("CPU time")),
)


def _concentration(store: Store, dimension: Dimension) -> Iterator[Block]:
    """Yield Gini coefficients, 0 where all have the same and 1 where one has all, and what is of no one."""
    facts = [
        Fact(
            f"{dimension.name}.{shared.name}",
            _gini(consumed(store, dimension, shared.measure)),
            message("Gini coefficient of {what} over {family}", what=shared.what, family=dimension.title),
        )
        for shared in SHARED
    ]
    yield Facts(tuple(facts), listed=dimension.name == "users")
    everything = totals(store).cpu_seconds
    share = 1 - consumed(store, dimension, "cpu_seconds").total() / everything if everything else None
    label = message(
        "CPU time of jobs without a recorded {lower}, share", lower=within_sentence(dimension.heading)
    )
    # A sum of doubles may differ from the exact one in its last bits.
    unknown = number(max(share, 0.0)) if share is not None else None
    yield Facts((Fact(f"{dimension.name}.unknown_cpu", unknown, label, "fraction"),), listed=False)


def _gini(sample: Sample) -> float | None:
    return sample.gini() if sample.n and sample.max() > 0 else None


def _section(place: int, dimension: Dimension) -> Analysis:
    """Return the section on a *dimension*, which has a *place* among all."""
    chapter, order = PLACES.get(dimension.name, (Chapter.USERS, 3 + place))
    is_needed = dimension.name in IN_FULL
    return Analysis(
        dimension.name.replace("_", "-"),
        capitalized(dimension.title),
        chapter,
        (dimension.name,),
        dimension.fields if is_needed else (),
        HELP,
        lambda store: dimension_blocks(store, dimension),
        order,
        made=MadeWhen.FOR_REPORTS if dimension.name in DETAILS else MadeWhen.ALWAYS,
        when=None if is_needed else _is_told_apart(dimension),
    )


def _is_told_apart(dimension: Dimension) -> Callable[[Store], bool]:
    """Return whether the log of a store records a *dimension*."""
    return lambda store: dimension.of(store) is not None


SECTIONS: Final = tuple(
    _section(place, one) for place, one in enumerate(dimensions()) if one.name not in ELSEWHERE
)
