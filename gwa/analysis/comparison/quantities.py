"""
What the levels of two traces are compared by: shares, values per processor, and quantiles.

Each is a ratio of two sums over intervals, such as failed jobs over jobs. A quantile is compared by the share
of the jobs above a limit that is common to both traces. Such a ratio does not depend on how many jobs a
system has, as the mean of daily logarithms and the maximum do.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from gwa.metrics.busy import busy_in
from gwa.metrics.interval_values import by_interval
from gwa.metrics.intervals import Intervals
from gwa.metrics.outcomes import ENDED_AT, jobs_by_status
from gwa.metrics.stillness import in_gaps, known_area
from gwa.metrics.timeline import Floats
from gwa.metrics.waits import BOUNDED_SLOWDOWN, QUEUED
from gwa.metrics.window import window
from gwa.statistics.sample import Sample
from gwa.store.store import Store
from gwa.util.units import DAY, MINUTE
from gwa.words.quantities import OfQuantity


@dataclass(frozen=True)
class ComparedQuantity(OfQuantity):
    """
    That the quantity *of* `gwa.words.quantities` is compared, and what of its differences matters.

    *least* is the smallest difference that matters: of a *share* the difference itself, of other values that
    of their logarithms after an *offset* is added. No change is given in percent of values below *tiny*.
    """

    least: float = 0.18
    offset: float = 0.0
    tiny: float = 0.0
    is_share: bool = False


WAIT_OFFSET: Final = float(MINUTE)

QUANTITIES: Final[Mapping[str, ComparedQuantity]] = {
    "busy": ComparedQuantity("utilization", 0.05, is_share=True),
    "busy_processors": ComparedQuantity("busy_processors", tiny=1),
    "users_daily": ComparedQuantity("users_daily", tiny=1),
    "users_weekly": ComparedQuantity("users_weekly", tiny=1),
    "jobs": ComparedQuantity("arrivals_per_day", tiny=1),
    "jobs_per_processor": ComparedQuantity("arrivals_per_processor"),
    "wait_median": ComparedQuantity("wait_median", offset=WAIT_OFFSET, tiny=float(MINUTE)),
    "wait_p95": ComparedQuantity("wait_p95", offset=WAIT_OFFSET, tiny=float(MINUTE)),
    "slowdown_median": ComparedQuantity("slowdown_median"),
    "failed": ComparedQuantity("failed_share", 0.03, is_share=True),
    "cancelled": ComparedQuantity("cancelled_share", 0.03, is_share=True),
    "runtime_median": ComparedQuantity("runtime_median", tiny=float(MINUTE)),
    "runtime_p95": ComparedQuantity("runtime_p95", tiny=float(MINUTE)),
    "processors": ComparedQuantity("procs_median", tiny=1),
    "machine_share": ComparedQuantity("machine_share_median"),
}
"""What is compared, in the order of the table: what concerns the system first."""


class ComparedQuantile(NamedTuple):
    """The quantile *q* of a *value*, an expression in SQL, over the jobs of a *table*."""

    value: str
    table: str
    q: float


SLOWDOWN: Final = f"case when wait_time >= 0 then {BOUNDED_SLOWDOWN} end"
"""The bounded slowdown of a job that ran."""

QUANTILES: Final[Mapping[str, ComparedQuantile]] = {
    "wait_median": ComparedQuantile(QUEUED, "jobs", 0.5),
    "wait_p95": ComparedQuantile(QUEUED, "jobs", 0.95),
    "slowdown_median": ComparedQuantile(SLOWDOWN, "ran", 0.5),
    "runtime_median": ComparedQuantile("run_time", "ran", 0.5),
    "runtime_p95": ComparedQuantile("run_time", "ran", 0.95),
    "processors": ComparedQuantile("n_procs", "ran", 0.5),
    "machine_share": ComparedQuantile("cast(n_procs as double) / {cpus}", "ran", 0.5),
}

ABOVE: Final = (
    "count({value}) as jobs_{place},"
    " sum(case when {value} > {limit!r} then 1.0 when {value} = {limit!r} then 0.5 else 0.0 end)"
    " as above_{place}"
)
"""Jobs with a value, and those above a limit; those at the limit count half."""

SUBMITTED: Final = """
select place, {columns} from (
    select *, cast(floor((submit_time - {origin!r}) / {width!r}) as bigint) as place from {table}
    where submit_time is not null
) as placed group by place order by place
"""

ENDED: Final = """
select place, count(*) as jobs, sum(case when status = 0 then 1 else 0 end) as failed,
    sum(case when status = 5 then 1 else 0 end) as cancelled
from (
    select status, cast(floor(({end} - {origin!r}) / {width!r}) as bigint) as place from all_jobs
    where status in (0, 1, 5) and submit_time is not null
) as ended group by place order by place
"""


@dataclass(frozen=True)
class ComparedRatio:
    """
    A *value* of a trace, and of each interval the two sums whose ratio it is compared by.

    The ratio is the value itself but for quantiles, where it is the share of the jobs above a limit.
    """

    value: float
    above: Floats
    below: Floats

    def series(self) -> Floats:
        """
        Return one number for each interval, whose mean is the ratio of the sums.

        They are the ratio and the influence of each interval on it, so that an interval weighs as much as the
        jobs in it, and one without jobs has no say.
        """
        ratio = self.above.sum() / self.below.sum()
        series: Floats = ratio + (self.above - ratio * self.below) / self.below.mean()
        return series


def counted_ratios(store: Store, intervals: Intervals) -> Iterator[tuple[str, ComparedRatio]]:
    """Yield what is counted of one trace: users, jobs and outcomes."""
    days = np.full(intervals.count, intervals.width / DAY)
    columns = "count(*) as jobs, count(distinct user_id) as users"
    found = _columns(store, _submitted(intervals, "jobs", columns), intervals.count)
    yield "jobs", _plain(found["jobs"], days)
    if store.system.cpus:
        yield "jobs_per_processor", _plain(found["jobs"], days * store.system.cpus)
    if store.has("user_id"):
        name = "users_daily" if intervals.width == DAY else "users_weekly"
        yield name, _plain(found["users"], np.ones(intervals.count))
    yield from _outcomes(store, intervals)


def _outcomes(store: Store, intervals: Intervals) -> Iterator[tuple[str, ComparedRatio]]:
    """Yield the shares of failed and cancelled jobs of those whose outcome is known."""
    counts = jobs_by_status(store)
    total = sum(counts.get(status, 0) for status in (0, 1, 5))
    query = ENDED.format(end=ENDED_AT, origin=intervals.origin, width=intervals.width)
    ended = _columns(store, query, intervals.count)
    if total and ended["jobs"].sum():
        for name, status in (("failed", 0), ("cancelled", 5)):
            yield name, ComparedRatio(counts.get(status, 0) / total, ended[name], ended["jobs"])


def busy_ratios(store: Store, intervals: Intervals) -> Iterator[tuple[str, ComparedRatio]]:
    """Yield the busy processors, also as a share of all, outside of gaps of the log, if the load is known."""
    period = window(store).period
    if period is None or not store.row("select count(*) as jobs from ran")[0]:
        return
    area, seconds = known_area(store, period)
    if not seconds:
        return
    within = busy_in(store, period).between(intervals.edges)
    known = np.isfinite(within) & ~in_gaps(store, intervals.edges)
    held, mean = np.where(known, within, 0.0), area / seconds
    if size := store.system.size:
        yield "busy", ComparedRatio(mean / size, held / size, known.astype(np.float64))
    yield "busy_processors", ComparedRatio(mean, held, known.astype(np.float64))


def quantile_ratios(
    stores: Sequence[Store], intervals: Sequence[Intervals]
) -> dict[str, tuple[ComparedRatio, ...]]:
    """Return the quantiles of several traces, each with the share of the jobs above a common limit."""
    samples: dict[str, list[Sample]] = {}
    for name, quantile in QUANTILES.items():
        if name == "machine_share" and not all(store.system.cpus for store in stores):
            continue
        found = [store.sample(_value(quantile, store), quantile.table) for store in stores]
        if all(sample.n for sample in found):
            samples[name] = found
    limits = {name: common_quantile(found, QUANTILES[name].q) for name, found in samples.items()}
    counted = [_above(store, each, limits) for store, each in zip(stores, intervals, strict=True)]
    return {
        name: tuple(
            ComparedRatio(sample.quantile(QUANTILES[name].q), *counts[name])
            for sample, counts in zip(found, counted, strict=True)
        )
        for name, found in samples.items()
    }


def common_quantile(samples: Sequence[Sample], q: float) -> float:
    """
    Return the quantile *q* of the mixture in which each sample weighs the same.

    >>> common_quantile([Sample.of([1, 1, 1, 1]), Sample.of([3])], 0.75)
    3.0
    """
    values = np.concatenate([sample.values for sample in samples])
    weights = np.concatenate([sample.counts / (sample.n * len(samples)) for sample in samples])
    order = values.argsort(kind="stable")
    place = int(np.searchsorted(np.cumsum(weights[order]), q + 1e-12))
    return float(values[order][min(place, values.size - 1)])


def _above(
    store: Store, intervals: Intervals, limits: Mapping[str, float]
) -> dict[str, tuple[Floats, Floats]]:
    """Return for each interval the jobs above the limit of each quantile, and all that have a value."""
    found: dict[str, tuple[Floats, Floats]] = {}
    for table in ("jobs", "ran"):
        names = [name for name in limits if QUANTILES[name].table == table]
        columns = ", ".join(
            ABOVE.format(value=f"({_value(QUANTILES[name], store)})", limit=limits[name], place=place)
            for place, name in enumerate(names)
        )
        if names:
            counts = _columns(store, _submitted(intervals, table, columns), intervals.count)
            found |= {
                name: (counts[f"above_{place}"], counts[f"jobs_{place}"]) for place, name in enumerate(names)
            }
    return found


def _value(quantile: ComparedQuantile, store: Store) -> str:
    return quantile.value.format(cpus=float(store.system.cpus or 0))


def _submitted(intervals: Intervals, table: str, columns: str) -> str:
    return SUBMITTED.format(columns=columns, table=table, origin=intervals.origin, width=intervals.width)


def _plain(above: Floats, below: Floats) -> ComparedRatio:
    """Return a ratio whose value is that of the sums over the intervals."""
    total = float(below.sum())
    return ComparedRatio(float(above.sum()) / total if total else float("nan"), above, below)


def _columns(store: Store, query: str, count: int) -> dict[str, Floats]:
    """Return the columns of a query, a value for each of *count* intervals; 0 for those without."""
    return {name: np.nan_to_num(column) for name, column in by_interval(store, query, count).items()}
