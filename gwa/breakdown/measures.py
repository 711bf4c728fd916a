"""
The measures of the jobs of a class: one table for facts, tables, figures and the cube.

A measure is an SQL aggregate over `measured_jobs`, a quantile of a value of theirs, or made of other measures
of the same class. Packages add measures by an entry point in the group ``gwa.measures``.

Seconds held are of the jobs of the trace that ran, for their whole run; of a period, of the jobs submitted in
it. What jobs held *within* a period stands in ``usage``.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final, Literal

from gwa.breakdown.charge.charges import cost, costs_of_boxes, is_priced
from gwa.metrics.efficiency import RATIOS, REQUESTED, WASTED, Ratio
from gwa.metrics.energy import estimate
from gwa.metrics.energy import is_known as is_energy_known
from gwa.metrics.outcomes import KNOWN, KNOWN_OUTCOMES, Outcome, coding, core_seconds, outcome
from gwa.metrics.presence import has_boxes, listed_boxes
from gwa.metrics.timeline import exact_sum
from gwa.metrics.totals import Totals, totals
from gwa.metrics.waits import HELD
from gwa.metrics.whole import exactly
from gwa.report.facts import number
from gwa.store.gpu_parts import PART, WHOLE_GPUS, has_parts
from gwa.store.schema import RAN
from gwa.store.store import SMALL_TRACE, Store
from gwa.store.system import System
from gwa.util import plugins
from gwa.util.units import DAY
from gwa.words.quantities import quantity
from gwa.words.unit import Unit, Value

ENTRY_POINTS: Final = "gwa.measures"

QuantileOf = Literal["wait", "queued", "run_time"]

VALUES: Final[Mapping[QuantileOf, str]] = {
    "wait": "case when wait_time >= 0 then wait_time end",
    "queued": f"case when wait_time >= 0 then wait_time - {HELD} end",
    "run_time": f"case when {RAN} then run_time end",
}
"""Of what there are quantiles: SQL over `measured_jobs`."""

ADDITIVE: Final = re.compile(
    r"count\(\*\)( filter \(where .*\))?|(min|max)\(\w+\)|cast\(sum\([^()]*\) as double\)"
)
"""Aggregates of which those of the parts of a class make that of the class."""

SUM_OR_0: Final = "coalesce({sum}, 0.0)"

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Quantile:
    """The *share* of the values *of* the jobs of a class that are not larger, by job or by core-hour."""

    of: QuantileOf
    share: float
    is_weighted: bool = False


@dataclass(frozen=True)
class Whole:
    """What the jobs of a class are a part of: all jobs of the trace, and the system."""

    totals: Totals
    system: System


@dataclass(frozen=True)
class Measure:
    """
    A measure of the jobs of a class.

    *name* is its key in rows of facts and tables, *heading* that of its column. It is recorded where the log
    has all *fields* and *is_known* holds. It is the *sql* aggregate over `measured_jobs`, a *quantile*, or
    what *of* makes of the measures in the row and of the whole. Where *added* says in SQL what each job adds,
    ``{sum}`` in the aggregate is the exact sum of that. Tables on pages leave out what is *minor*; what is a
    *part* only serves others.
    """

    name: str
    heading: str
    unit: Unit = ""
    fields: tuple[str, ...] = ()
    sql: str = ""
    quantile: Quantile | None = None
    of: Callable[[Row, Whole], Value] | None = None
    is_known: Callable[[Store], bool] | None = None
    minor: bool = True
    is_part: bool = False
    added: str = ""

    def value(self, store: Store) -> str:
        """Return the SQL of what each job adds, as a column for `cell`; empty where it takes none."""
        return f"{exactly(store, self.added)} as {self.name}_added" if self.added else ""

    @property
    def cell(self) -> str:
        """The exact aggregate over `measured_jobs`, with the `value` of each job, that `total` takes."""
        return f"sum({self.name}_added)" if self.added else self.sql

    @property
    def total(self) -> str:
        """
        The aggregate over cells, which have that of their jobs under the name of the measure.

        Where that is not additive, a class has one cell.
        """
        if self.added:
            return self.sql.format(sum=f"cast(sum({self.name}) as double)")
        begin = self.sql.partition("(")[0]
        function = {"count": "cast(sum({}) as bigint)", "cast": "sum({})", "min": "min({})", "max": "max({})"}
        return (function[begin] if self.is_additive else "any_value({})").format(self.name)

    @property
    def is_additive(self) -> bool:
        """Whether that of a class follows from those of parts of it, as sums and numbers of jobs do."""
        return bool(self.added or ADDITIVE.fullmatch(self.sql))

    def is_recorded(self, store: Store) -> bool:
        """Whether the log of *store* has what this needs."""
        return all(map(store.has, self.fields)) and (self.is_known is None or self.is_known(store))


def measured_jobs(store: Store) -> str:
    """
    Return the table of the jobs of *store* with what measures are made of.

    Beside all fields, it has ``outcome``, ``cpu_seconds`` of jobs that ran, ``core_seconds``, which jobs have
    too that had not ended when the log did, and ``joules``, estimated where the log has none; where rates are
    stated, ``cost`` of jobs that ran; where jobs list what they held, ``earlier_runs``: the CPU seconds of
    all runs but the last.
    """
    cpu_seconds = f"case when {RAN} then {exactly(store, 'run_time * n_procs')} end"
    select = (
        f"select *, {outcome(store)} as outcome, {cpu_seconds} as cpu_seconds,"
        f" {core_seconds(store)} as core_seconds, coalesce(energy, {estimate(store)}) as joules"
        f"{_cost(store)} from {_with_runs(store)}"
    )
    if totals(store).jobs <= SMALL_TRACE:
        return f"{store.keep('measured_jobs', select)} as measured"
    return f"({select}) as measured"


def _with_runs(store: Store) -> str:
    """Return the jobs, with what their earlier runs held, and what all cost, where jobs list that."""
    if not has_boxes(store):
        return "jobs"
    earlier = (
        f"select job_id, {exact_sum('n_procs * seconds')} as earlier_runs from {listed_boxes(store)} as box"
        " where not is_last_run group by job_id"
    )
    joined = f"select jobs.*, earlier_runs from jobs left join ({earlier}) as earlier using (job_id)"
    if is_priced(store):
        joined = (
            f"select joined.*, listed_cost from ({joined}) as joined"
            f" left join ({costs_of_boxes(store)}) as costs using (job_id)"
        )
    return f"({joined}) as jobs"


def _cost(store: Store) -> str:
    """Return the column of what each job costs, empty where no rates are stated."""
    return f", case when {RAN} then {cost(store)} end as cost" if is_priced(store) else ""


def of_quantity(name: str, **how: Any) -> Measure:  # noqa: ANN401 - as `Measure` takes it
    """Return the measure of the quantity *name* of `gwa.words.quantities`."""
    of = quantity(name)
    return Measure(name, of.heading, of.unit, **how)


def sum_of(name: str, value: str, *fields: str, minor: bool = True) -> Measure:
    """Return the exact sum of the SQL *value*, null where no job has one."""
    return of_quantity(name, fields=fields, sql="{sum}", minor=minor, added=value)


def part(name: str, sql: str, *fields: str) -> Measure:
    """Return an aggregate of which other measures are made."""
    return Measure(name, "", "", fields, sql, is_part=True)


def sum_part(name: str, value: str, *fields: str, is_known: Callable[[Store], bool] | None = None) -> Measure:
    """Return the exact sum of the SQL *value*, of which other measures are made."""
    return Measure(name, "", "", fields, "{sum}", is_known=is_known, is_part=True, added=value)


def ratio(name: str, used: str, given: str) -> Measure:
    """Return the quotient of two measures of the row, None where that is not defined."""
    return of_quantity(name, of=lambda row, _: _quotient(row[used], row[given]))


def quantile(
    name: str, of: QuantileOf, share: float, *fields: str, is_weighted: bool = False, minor: bool = True
) -> Measure:
    """Return the quantile for a *share* of the jobs or, if *is_weighted*, of the core-hours."""
    return of_quantity(name, fields=fields, quantile=Quantile(of, share, is_weighted), minor=minor)


def _quotient(used: float | None, given: float | None) -> float | None:
    return used / given if used is not None and given else None


def _share(known: float | None, given: float | None) -> float | None:
    """Return which share of what was *given* is *known*: none of it where there is no sum."""
    return (known or 0.0) / given if given else None


def _cpu_share(row: Row, whole: Whole) -> float | None:
    return _quotient(row["cpu_seconds"], whole.totals.cpu_seconds)


def _earlier_share(row: Row, _: Whole) -> float | None:
    earlier = row["earlier_cpu_seconds"]
    return _quotient(earlier, row["cpu_seconds"] + earlier)


def _utilization(row: Row, whole: Whole) -> float | None:
    first, last = whole.totals.first, whole.totals.last
    if first is None or last is None:
        return None
    size = whole.system.mean_size((first, last))
    return float(row["cpu_seconds"] / (size * (last - first))) if size else None


def _jobs_a_day(row: Row, _: Whole) -> float | None:
    first, last = row["first_submit"], row["last_submit"]
    active = last - first if first is not None else 0
    return row["jobs"] / (active / DAY) if active >= DAY else None


HELD_A_GPU: Final = "run_time >= 0 and n_gpus > 0"

IS_GPU_MEMORY_MEASURED: Final = "(bounds is null or ',' || bounds || ',' not like '%,gpu_memory,%')"
"""Jobs whose memory of GPUs is known, not only that it is at least so much."""


def _of_gpu_time(name: str, where: str, field: str) -> tuple[Measure, ...]:
    """Return the share of GPU time of jobs for which *where* holds, of which a *field* is known."""
    held = f"case when {HELD_A_GPU} and {where} then n_gpus * run_time end"
    fields, seconds = ("n_gpus", field), f"{name}_seconds"
    share = of_quantity(
        f"{name}_share", fields=fields, of=lambda row, _: _share(row[seconds], row["gpu_seconds"])
    )
    return sum_part(seconds, held, *fields), share


def _of_a_gpu(name: str, amount: str, where: str, field: str) -> tuple[Measure, ...]:
    """Return the *amount* for each GPU held, by GPU time, of jobs of which it is known and *where* holds."""
    fields, of_jobs, of_gpus = ("n_gpus", field), f"{name}_amount", f"{name}_gpus"
    seconds = f"case when {HELD_A_GPU} and {amount} is not null and {where} then {{}} * run_time end"
    return (
        sum_part(of_jobs, seconds.format(amount), *fields),
        sum_part(of_gpus, seconds.format("n_gpus"), *fields),
        of_quantity(name, fields=fields, of=lambda row, _: _quotient(row[of_jobs], row[of_gpus])),
    )


def _of_outcome(name: Outcome) -> Measure:
    """Return the CPU time of jobs that ran and had an outcome."""

    def is_told(store: Store) -> bool:
        return coding(store).codes == "several" and coding(store).tells(name)

    value = f"case when outcome = '{name}' then cpu_seconds end"
    return of_quantity(f"{name}_cpu_seconds", fields=("status",), sql=SUM_OR_0, is_known=is_told, added=value)


def _of_ratio(of: Ratio) -> tuple[Measure, ...]:
    """Return what was used of what was given, and what was wasted, as `gwa.metrics.efficiency` defines it."""
    of_known = f"case when {of.where} then ({{}}) * {of.weight} end"
    used, given = f"{of.name}_used", f"{of.name}_given"
    parts = (
        sum_part(used, of_known.format(of.used), is_known=of.is_recorded),
        sum_part(given, of_known.format(of.given), is_known=of.is_recorded),
    )
    efficiency = of_quantity(
        f"efficiency_{of.name}",
        of=lambda row, _: _quotient(row[used], row[given]),
        is_known=of.is_recorded,
    )
    if of.name not in WASTED:
        return (*parts, efficiency)
    name, scale = WASTE[of.name]
    wasted = of_quantity(name, sql=f"{{sum}} / {scale!r}", is_known=of.is_recorded, added=of.wasted)
    return (*parts, efficiency, wasted)


WASTE: Final[Mapping[str, tuple[str, float]]] = {
    "cpu": ("wasted_cpu_seconds", 1.0),
    "memory": ("wasted_memory_gb_hours", RATIOS["memory"].unit),
    "gpu": ("wasted_gpu_seconds", 1.0),
}
"""By what is wasted: the name of the measure, and the number of its own unit in that."""

SINCE_SUBMISSION: Final[Mapping[str, str]] = {
    "wait_seconds": "submitted_seconds",
    "wait_median": "submitted_median",
    "wait_p95": "submitted_p95",
    "wait_median_weighted": "submitted_median_weighted",
    "wait_p95_weighted": "submitted_p95_weighted",
}
"""What the measures that count from submission are, where a log records when jobs could start."""

ELIGIBLE: Final = ("wait_time", "eligible_time")
"""Fields by which waits for the system are apart from waits for other jobs, or for a time asked for."""

OWN: Final = (
    of_quantity("jobs", sql="count(*)", minor=False),
    of_quantity("jobs_share", of=lambda row, whole: row["jobs"] / whole.totals.jobs),
    of_quantity("cpu_seconds", sql=SUM_OR_0, minor=False, added="cpu_seconds"),
    of_quantity("cpu_share", of=_cpu_share, minor=False),
    of_quantity("earlier_cpu_seconds", sql=SUM_OR_0, is_known=has_boxes, added="earlier_runs"),
    of_quantity("earlier_share", of=_earlier_share, is_known=has_boxes),
    replace(of_quantity("utilization_by", of=_utilization), name="utilization"),
    part("ran", f"count(*) filter (where {RAN})"),
    part("procs", f"cast(sum(case when {RAN} then n_procs end) as double)"),
    sum_part("run_seconds", f"case when {RAN} then run_time end"),
    part("first_submit", "min(submit_time)"),
    part("last_submit", "max(submit_time)"),
    part("ended", f"count(*) filter (where {KNOWN})"),
    part("not_completed", f"count(*) filter (where {KNOWN} and outcome <> 'completed')"),
    ratio("procs_mean", "procs", "ran"),
    ratio("runtime_mean", "run_seconds", "ran"),
    quantile("runtime_median", "run_time", 0.5, minor=False),
    of_quantity("arrivals_per_day", of=_jobs_a_day),
    sum_of(
        "gpu_seconds", "case when run_time >= 0 and n_gpus > 0 then n_gpus * run_time else 0 end", "n_gpus",
        minor=False,
    ),
    of_quantity(
        "whole_gpu_seconds", fields=("n_gpus", "gpu_type"), is_known=has_parts, sql="{sum}",
        added=f"case when run_time >= 0 then ({WHOLE_GPUS}) * run_time end",
    ),
    *(
        replace(one, is_known=has_parts)
        for one in _of_gpu_time("whole_gpu_known", f"{PART} is not null", "gpu_type")
    ),
    sum_of(
        "gpu_used_seconds",
        "case when run_time >= 0 and n_gpus > 0 then n_gpus * run_time * gpu_utilization end",
        "n_gpus", "gpu_utilization",
    ),
    sum_of("gpu_idle_seconds", "case when run_time >= 0 then idle_gpus * run_time end", "idle_gpus"),
    *_of_gpu_time("gpu_known", "gpu_utilization >= 0", "gpu_utilization"),
    *_of_gpu_time("gpu_idle_known", "idle_gpus >= 0", "idle_gpus"),
    *_of_a_gpu("gpu_memory_mean", "gpu_memory", IS_GPU_MEMORY_MEASURED, "gpu_memory"),
    *_of_gpu_time("gpu_memory_known", f"gpu_memory >= 0 and {IS_GPU_MEMORY_MEASURED}", "gpu_memory"),
    of_quantity("max_gpu_memory", fields=("max_gpu_memory",), sql="max(max_gpu_memory)"),
    *_of_a_gpu("memory_per_gpu", REQUESTED, "true", "req_memory"),
    *_of_a_gpu("procs_per_gpu", "n_procs", "n_procs >= 1", "n_procs"),
    sum_of(
        "node_seconds", "case when run_time >= 0 and n_nodes > 0 then n_nodes * run_time else 0 end",
        "n_nodes",
    ),
    sum_of("energy_measured", "energy", "energy"),
    sum_part("energy_known_cpu_seconds", "case when energy is not null then cpu_seconds end", "energy"),
    of_quantity(
        "energy_known_share", fields=("energy",),
        of=lambda row, _: _share(row["energy_known_cpu_seconds"], row["cpu_seconds"]),
    ),
    of_quantity("energy", sql="{sum}", is_known=is_energy_known, minor=False, added="joules"),
    of_quantity("cost", sql="{sum}", is_known=is_priced, minor=False, added="cost"),
    of_quantity("waited", fields=("wait_time",), sql="count(*) filter (where wait_time >= 0)"),
    sum_of("wait_seconds", "case when wait_time >= 0 then wait_time end", "wait_time"),
    quantile("wait_median", "wait", 0.5, "wait_time", minor=False),
    quantile("wait_p95", "wait", 0.95, "wait_time", minor=False),
    quantile("wait_median_weighted", "wait", 0.5, "wait_time", is_weighted=True),
    quantile("wait_p95_weighted", "wait", 0.95, "wait_time", is_weighted=True),
    *(
        replace(quantile(f"wait_{name}", "queued", share, *ELIGIBLE, minor=False), name=f"queued_{name}")
        for name, share in (("median", 0.5), ("p95", 0.95))
    ),
    of_quantity(
        "not_completed_share", fields=("status",),
        of=lambda row, _: _quotient(row["not_completed"], row["ended"]),
        is_known=lambda store: coding(store).codes == "several", minor=False,
    ),
    *map(_of_outcome, KNOWN_OUTCOMES),
    *(one for of in RATIOS.values() for one in _of_ratio(of)),
)  # fmt: skip
"""Those that gwa knows, in the order of tables."""


@cache
def measures() -> tuple[Measure, ...]:
    """Return all measures: those of gwa, then those that entry points add."""
    return (*OWN, *plugins.added(ENTRY_POINTS, Measure))


def recorded(store: Store) -> tuple[Measure, ...]:
    """Return the measures that the log of *store* records."""

    def headed() -> Iterator[Measure]:
        has_eligible = store.has("eligible_time")
        for one in measures():
            if one.is_recorded(store):
                yield (
                    replace(one, heading=quantity(SINCE_SUBMISSION[one.name]).heading, minor=True)
                    if (has_eligible and one.name in SINCE_SUBMISSION)
                    else one
                )

    return store.once("measures", lambda: tuple(headed()))


def value_of(measure: Measure, row: Row, whole: Whole) -> Value:
    """Return the value of a measure that the *row* has, or is made of what it has."""
    value = measure.of(row, whole) if measure.of else row[measure.name]
    return number(value) if isinstance(value, float) else value
