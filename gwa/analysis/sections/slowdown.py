"""How long jobs wait compared to how long they run."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, Final

import numpy as np

from gwa.analysis.base import Chapter, Drawing, analysis
from gwa.analysis.sections._rounding import merge_equal, three_digits
from gwa.metrics.quantiles import EMPTY, Spread, class_counts, means, spreads_of_counts, spreads_of_others
from gwa.metrics.served import IntervalComparison, adjusted, compare
from gwa.metrics.sizes import processors
from gwa.metrics.waits import BOUNDED_SLOWDOWN, queued
from gwa.report.columns import column
from gwa.report.document import Block, Column, Fact, Facts, Note, Table
from gwa.report.facts import number, summary_of
from gwa.report.figures.cdf import cdf
from gwa.store.store import Store
from gwa.util.units import HOUR, MINUTE
from gwa.words.compared import single_largest
from gwa.words.formatting import number as show
from gwa.words.message import message, within_sentence
from gwa.words.unit import Value

RESOLUTION: Final = 0.01
"""The resolution of the slowdowns that are drawn, below 10."""

MAXIMUM_ROWS: Final = 10
"""The queues and users with most jobs that a table has."""

VALUES: Final = {"wait": ("wait_time", "jobs"), "slowdown": (BOUNDED_SLOWDOWN, "ran")}
"""What is measured, and of which jobs: those that never ran waited, too, but have no slowdown."""

ALL: Final = "all"

EVERYONE: Final = 0
"""The place of all jobs, where they are one class."""

NAMED: Final = """
select name, place from (
    select name, jobs, row_number() over (order by name is null, jobs desc, name) as place,
        sum(jobs) over () as jobs_of_all
    from (
        select {field} as name, count(*) as jobs from jobs where wait_time >= 0 group by {field}
    ) as counted
) as ranked
where name is not null and (place <= {rows} or jobs >= {share!r} * jobs_of_all)
"""
"""The queues or users with most jobs, and all others that are large enough to be compared."""

RANKS: Final = "select name, place from {table} order by place"

PLACED: Final = "(select *, {place} as place from {jobs} as j)"
EXTREMES: Final = "select min(value), max(value) from {counts} as counts"
COUNTED: Final = "select place, value, n from {counts} as counts"

PLACED_BY_NAME: Final = (
    "(select j.*, coalesce(named.place, 0) as place from {jobs} as j"
    " left join {table} as named on j.{field} = named.name)"
)
"""Jobs with the rank of their queue or user; rank 0 is all others."""

MEASURED: Final = "(select place, {value} as value from {placed} as placed where wait_time >= 0)"

ROUNDED: Final = "(select place, {rounded} as value from {measured} as exact)"

COLUMNS: Final = (
    column("jobs"),
    column("wait_mean", minor=True),
    column("wait_median"),
    column("wait_p95"),
    column("slowdown_mean"),
    column("slowdown_median"),
    column("slowdown_p95"),
)

NOTE: Final = message(
    "Of jobs whose wait is known; slowdowns of those that ran, by class from values to three digits."
)

MINIMUM_CLASS_JOBS: Final = 100
MINIMUM_CLASS_SHARE: Final = 0.02
MAXIMUM_CLASS_SHARE: Final = 0.9
MAXIMUM_P_VALUE: Final = 0.01
"""A class may be served worst if it has as many jobs, and if chance is as improbable."""

MINIMUM_RATIO: Final = 2
QUANTILES: Final = {"median": 10 * MINUTE, "p95": 4 * HOUR}
"""Its wait must be at least this many times that of all others, and long enough to be worth a sentence."""


@dataclass(frozen=True)
class _Kind:
    """
    A kind of class: its *name* in the ids of facts, its *heading* and the *names* of its classes by place.

    *table* is SQL of a table of jobs, yet to be named, with the ``place`` of the class of each. Lists have
    the first *most* classes, all of them where that is None.
    """

    name: str
    heading: str
    names: Mapping[int, str]
    table: str
    most: int | None = None

    @property
    def listed(self) -> Iterable[tuple[int, str]]:
        """The places and names of the classes that are listed."""
        return islice(self.names.items(), self.most)

    def placed(self, jobs: str) -> str:
        """Return the table of *jobs* with their places."""
        return self.table.format(jobs=jobs)


@dataclass(frozen=True)
class _Measured:
    """What is measured of each class: the name of the table of its *counts*, *spreads* and *means*."""

    counts: str
    spreads: Mapping[int, Spread]
    means: Mapping[int, float]

    @classmethod
    def of(cls, store: Store, kind: _Kind, name: str, *, is_rounded: bool = False) -> "_Measured":
        """Measure one of `VALUES` of the jobs of each class."""
        value, jobs = VALUES[name]
        value = queued(store) if name == "wait" else value
        measured = MEASURED.format(value=value, placed=kind.placed(jobs))
        if is_rounded:
            measured = ROUNDED.format(rounded=three_digits("value", RESOLUTION), measured=measured)
        counts = class_counts(store, measured)
        return cls(counts, spreads_of_counts(store, counts), means(store, counts))

    def of_class(self, place: int) -> Spread:
        """Return the spread of a class, which may be empty."""
        return self.spreads.get(place, EMPTY)

    def numbers(self, place: int) -> list[Value]:
        """Return mean, median and 95th percentile of a class."""
        spread = self.of_class(place)
        return [number(value) for value in (self.means.get(place), spread.median, spread.p95)]


Measures = Mapping[str, _Measured]


@analysis(
    "Slowdown", Chapter.WAITS, facts=("slowdown", "wait"), needs=("wait_time", "run_time", "n_procs"), order=2
)
def slowdown(store: Store) -> Iterator[Block | Drawing]:
    """
    Waits and bounded slowdowns: of all jobs, and by processors; by queue and user in exports.

    The bounded slowdown of a job is the time from submission to end / max(run time, 10 s), and at least 1:
    how many times longer it took than it would have on an empty system; the bound keeps very short jobs from
    ruling the mean (Feitelson et al. 1997). Waits are of all jobs whose wait is known, as in the section on
    them; slowdowns are of those that ran. Classes of processors come from the log: powers of two, joined
    until each has a twentieth of the jobs or of the core-hours. Waits are exact, and so are the slowdowns of
    all jobs; those by class are of slowdowns to three significant digits, as in the figure.
    """
    everyone = _Kind("all", "", {EVERYONE: ALL}, PLACED.format(place=EVERYONE, jobs="{jobs}"))
    overall = {name: _Measured.of(store, everyone, name) for name in VALUES}
    if not overall["slowdown"].spreads:
        yield Note("No job that ran has a known wait.")
        return
    yield Facts(_overall_facts(store, overall["slowdown"]))
    kinds = [_by_size(store), *_by_name(store)]
    measured = {kind.name: _measured(store, kind) for kind in kinds}
    total = _rows(everyone, overall)
    sizes, *others = kinds
    yield _table(sizes, measured[sizes.name], total)
    yield Facts(_class_facts(store, kinds, measured), listed=False)
    yield from (_table(kind, measured[kind.name]) for kind in others if kind.names)
    counts = measured[sizes.name]["slowdown"].counts
    yield Drawing(lambda: _figure(store, sizes, counts, overall["slowdown"].of_class(EVERYONE)))


def _measured(store: Store, kind: _Kind) -> Measures:
    """Return wait and slowdown of each class of a *kind*."""
    return {name: _Measured.of(store, kind, name, is_rounded=name == "slowdown") for name in VALUES}


def _by_size(store: Store) -> _Kind:
    classes = processors(store)
    names = dict(enumerate(classes.names))
    return _Kind("size", message("Processors"), names, PLACED.format(place=classes.place, jobs="{jobs}"))


def _by_name(store: Store) -> Iterator[_Kind]:
    """Yield the classes of the queues and users with most jobs; place 0 has all others."""
    headings = {"queue": message("Queue"), "user": message("User")}
    for kind, heading in headings.items():
        field = f"{kind}_id"
        named = NAMED.format(field=field, rows=MAXIMUM_ROWS, share=MINIMUM_CLASS_SHARE)
        table = store.keep_once(f"waits_by_{field}", named)
        names = {place: name for name, place in store.rows(RANKS.format(table=table))}
        placed = PLACED_BY_NAME.format(field=field, table=table, jobs="{jobs}")
        yield _Kind(kind, heading, names, placed, MAXIMUM_ROWS)


def _overall_facts(store: Store, measured: _Measured) -> tuple[Fact, ...]:
    """Return what facts state of the slowdowns of all jobs."""
    low, high = store.row(EXTREMES.format(counts=measured.counts))
    mean, spread = measured.means[EVERYONE], measured.of_class(EVERYONE)
    values = (low, mean, spread.median, spread.p95, high)
    return summary_of("slowdown.bounded", values, "", message("bounded slowdown"))


def _class_facts(store: Store, kinds: Sequence[_Kind], measured: Mapping[str, Measures]) -> tuple[Fact, ...]:
    """Return the waits of each class of jobs, and the class that waits longest."""
    facts: list[Fact] = []
    compared: list[_Class] = []
    for kind in kinds:
        waits = measured[kind.name]["wait"]
        rows = [
            {"id": name, "jobs": spread.n, "median": number(spread.median), "p95": number(spread.p95)}
            for name, spread in ((name, waits.of_class(place)) for place, name in kind.listed)
            if spread.n
        ]
        facts.append(Fact(f"wait.by_{kind.name}", rows, message("Wait time by {kind}", kind=kind.name)))
        compared += _compared(store, kind, waits)
    return (*facts, Fact("wait.worst", _worst_served(store, compared), "Class of jobs that waits longest"))


@dataclass(frozen=True)
class _Class:
    """A class of a *kind*: its *place*, the *waits* of all classes, and how it compares with others."""

    kind: _Kind
    place: int
    waits: _Measured
    comparison: IntervalComparison

    @property
    def spread(self) -> Spread:
        """The spread of its waits."""
        return self.waits.of_class(self.place)

    @property
    def share(self) -> float:
        """The share of the jobs."""
        return self.spread.n / sum(one.n for one in self.waits.spreads.values())

    @property
    def is_large(self) -> bool:
        """Whether the class has enough jobs to be compared."""
        return self.spread.n >= MINIMUM_CLASS_JOBS and self.share >= MINIMUM_CLASS_SHARE


def _compared(store: Store, kind: _Kind, waits: _Measured) -> Iterator[_Class]:
    """Yield how the waits of each class of a *kind* compare with those of all others."""
    comparisons = compare(store, kind.placed("ran")) if kind.names else {}
    for place in kind.names:
        if waits.of_class(place).n:
            yield _Class(kind, place, waits, comparisons.get(place, IntervalComparison(0, 0)))


def _worst_served(store: Store, classes: Sequence[_Class]) -> dict[str, Any] | None:
    """
    Return the class that waits longest by median or 95th percentile, the ``quantile`` that shows it.

    No other class that is large enough, of whatever kind, waits as long by that quantile. Return None where
    the class that waits longest does not surely do so: where chance is not improbable, after Bonferroni's
    correction for the number of classes, where it has nearly all jobs, and where its waits are short or
    less than twice those of the others.
    """
    p_values = adjusted(one.comparison.p_value for one in classes)
    large = [pair for pair in zip(classes, p_values, strict=True) if pair[0].is_large]
    for quantile, minimum in QUANTILES.items():
        longest, p_value = single_largest(large, partial(_wait, quantile)) or (None, 1.0)
        if longest and longest.share <= MAXIMUM_CLASS_SHARE and p_value <= MAXIMUM_P_VALUE:
            row = _contrast(store, longest, p_value)
            if row[quantile] >= max(minimum, MINIMUM_RATIO * row[f"others_{quantile}"]):
                return row | {"quantile": quantile}
    return None


def _wait(quantile: str, pair: tuple[_Class, float]) -> float:
    """Return a *quantile* of the waits of a class that stands beside its p-value."""
    return float(getattr(pair[0].spread, quantile))


def _contrast(store: Store, one: _Class, p_value: float) -> dict[str, Any]:
    """Return the waits of a class beside those of all others."""
    others = spreads_of_others(store, one.waits.counts, [one.place])[one.place]
    return {
        "kind": one.kind.name,
        "id": one.kind.names[one.place],
        "jobs": one.spread.n,
        "share": one.share,
        "median": number(one.spread.median),
        "p95": number(one.spread.p95),
        "others_median": number(others.median),
        "others_p95": number(others.p95),
        "intervals": one.comparison.intervals,
        "longer": one.comparison.longer,
        "p_value": p_value,
    }


def _rows(kind: _Kind, measured: Measures) -> tuple[tuple[Value, ...], ...]:
    """Return the rows of a table: those of the classes that have jobs with a known wait."""
    return tuple(
        (
            name,
            measured["wait"].of_class(place).n,
            *(x for one in measured.values() for x in one.numbers(place)),
        )
        for place, name in kind.listed
        if measured["wait"].of_class(place).n
    )


def _table(kind: _Kind, measured: Measures, totals: tuple[tuple[Value, ...], ...] = ()) -> Table:
    shown = (
        message(" The {maximum_rows} with most jobs.", maximum_rows=MAXIMUM_ROWS)
        if kind.most and len(kind.names) >= kind.most
        else ""
    )
    return Table(
        f"slowdown-{kind.name}s",
        message("Wait time and bounded slowdown by {lower}", lower=within_sentence(kind.heading)),
        (Column("name", kind.heading), *COLUMNS),
        (*_rows(kind, measured), *totals),
        note=NOTE + shown,
        minor=kind.most is not None,
    )


def _figure(store: Store, sizes: _Kind, counts: str, overall: Spread) -> Block:
    """Return the distribution of slowdowns by processors, from the table of *counts*."""
    columns = store.arrays(COUNTED.format(counts=counts))
    place, values, counted = (np.asarray(columns[name]) for name in ("place", "value", "n"))
    curves = {
        name: merge_equal(values[place == at], counted[place == at]).ecdf()
        for at, name in sizes.names.items()
        if (place == at).any()
    }
    return cdf(
        "slowdown",
        "Bounded slowdown by processors",
        curves if len(curves) > 1 else {"jobs": merge_equal(values, counted).ecdf()},
        "Bounded slowdown",
        message(
            "Cumulative fraction of jobs by bounded slowdown: the median is {median}, the "
            "95th percentile {p95}.",
            median=show(overall.median),
            p95=show(overall.p95),
        ),
    )
