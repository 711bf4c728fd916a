"""What is measured in each week or day of a log: load, jobs, users, waits, failures, run times and sizes."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from gwa.metrics.intervals import BIN, TimeSpans
from gwa.metrics.presence import of_all_runs, present
from gwa.metrics.timeline import Floats, exact_sum, level
from gwa.metrics.waits import queued
from gwa.metrics.window import RUNNING
from gwa.store.store import Store
from gwa.util.units import MINUTE
from gwa.words.quantities import OfQuantity

MINIMUM_VALUE: Final = 1e-9
"""What stands for nothing where a logarithm is taken."""


@dataclass(frozen=True)
class IntervalMeasure(OfQuantity):
    """
    That the quantity *of* `gwa.words.quantities` is measured in each week or day of a log.

    Differences are sought in the logarithm of the value and an *offset*, which no small value shall dominate,
    or in the value itself, if it is a *share*; *least* is the smallest one that matters, on that scale.
    """

    least: float = 0.18
    offset: float = 0.0
    is_share: bool = False

    def scaled(self, values: Floats) -> Floats:
        """
        Return *values* on the scale on which differences are sought.

        Gaps are filled from their neighbours; there must be a value that is known.
        """
        place, known = np.arange(values.size), np.isfinite(values)
        filled: Floats = np.interp(place, place[known], values[known])
        if self.is_share:
            return filled
        if self.offset:
            return np.asarray(np.log(filled + self.offset))
        positive = filled[filled > 0]
        return np.asarray(np.log(np.maximum(filled, float(positive.min()) if positive.size else 1.0)))

    def difference(self, before: float, after: float) -> float:
        """Return how far two values are apart, on the scale of the measure."""
        if self.is_share:
            return after - before
        low, high = (max(value + self.offset, MINIMUM_VALUE) for value in (before, after))
        return math.log(high / low)

    def size(self, before: float, after: float) -> float:
        """Return how large a difference is: 1 is a factor of 4, or 40 percentage points."""
        return abs(self.difference(before, after)) / (0.4 if self.is_share else math.log(4))


MEASURES: Final[Mapping[str, IntervalMeasure]] = {
    "busy": IntervalMeasure("busy_processors", least=0.1),
    "users": IntervalMeasure("users_submitting", least=0.1),
    "jobs": IntervalMeasure("jobs_submitted"),
    "wait": IntervalMeasure("wait_mean", offset=float(MINUTE)),
    "median_wait": IntervalMeasure("wait_median", offset=float(MINUTE)),
    "failed": IntervalMeasure("failed_core_hours_share", least=0.03, is_share=True),
    "runtime": IntervalMeasure("runtime_median"),
    "processors": IntervalMeasure("procs_mean"),
}
"""What is measured, by the names that the fact ``changes`` gives: what concerns the system first."""

SUBMITTED: Final = """
select place, count(*) as jobs, count(distinct user_id) as users, count(wait) as waits, {wait} as waited
from (
    select {place} as place, user_id,
        case when wait_time >= 0 then {queued} end as wait
    from {jobs} as submitted where submit_time is not null
) as job group by place order by place
"""

SIZES: Final = """
select {place} as place, cast(sum(n_procs) as double) / cast(count(*) as double) as procs
from {ran} as job where submit_time is not null group by {place} order by place
"""

MIDDLE: Final = """
with valued as (
    select {place} as place, {value} as amount from {table} as job
    where submit_time is not null and {value} >= 0
), coarse as (
    select place, floor(sqrt(amount)) as root, count(*) as jobs from valued group by place, root
), ranked as (
    select place, root, jobs, sum(jobs) over (partition by place order by root) as upto,
        sum(jobs) over (partition by place) as total
    from coarse
), middle as (
    select place, root, upto - jobs as before, total from ranked
    where 2 * upto >= total and 2 * (upto - jobs) <= total
), fine as (
    select middle.place as place, before, amount, count(*) as jobs, min(total) as total
    from valued inner join middle on valued.place = middle.place and floor(sqrt(amount)) = middle.root
    group by middle.place, before, amount
), counted as (
    select place, amount, total,
        before + sum(jobs) over (partition by place, before order by amount) as upto from fine
)
select place, min(case when 2 * upto >= total then amount end) as low,
    min(case when 2 * upto > total then amount end) as high
from counted group by place order by place
"""
"""
The two values in the middle, between which the median lies.

Values are first counted by the whole part of their roots, which keeps their order, and one by one only where
the middle is: few of all distinct values.
"""

ENDED: Final = """
select {place} as place, {all} as spent, {failed} as failed
from (
    select end_time, all_cpu_seconds as spent,
        case when status = 0 then all_cpu_seconds else 0 end as failed
    from {ran} where status is not null and end_time is not null
) as ended group by {place} order by place
"""

CODES_FAILURES: Final = "select count(*) as jobs from jobs where status = 0"


def interval_values(store: Store, intervals: TimeSpans, *, of_any_time: bool = False) -> dict[str, Floats]:
    """
    Return the values of each measure that the trace records, one for each interval; nan where unknown.

    Jobs, users, waits, run times and sizes are of jobs submitted in the interval; waits are from when a job
    could have started. Core-hours are those of
    jobs that ended in it and whose outcome is recorded; where the whole log knows no failure, its source does
    not record which jobs failed. Busy processors are of all that ran.

    Of a period, jobs are those submitted in it, unless *of_any_time*.
    """
    jobs, ran = ("all_jobs", "all_ran") if of_any_time else ("jobs", "ran")
    place = intervals.place("submit_time")
    submitted = by_interval(
        store,
        SUBMITTED.format(jobs=jobs, queued=queued(store), wait=exact_sum("wait"), place=place),
        intervals.count,
    )
    values = {"jobs": submitted["jobs"]}
    if store.has("user_id"):
        values["users"] = submitted["users"]
    if store.has("wait_time"):
        with np.errstate(invalid="ignore"):
            values["wait"] = submitted["waited"] / submitted["waits"]
        values["median_wait"] = _medians(store, jobs, queued(store), intervals)
    if store.has("run_time") and store.has("n_procs"):
        values |= _of_jobs_that_ran(store, intervals, ran)
    return {name: values[name] for name in MEASURES if name in values}


def _of_jobs_that_ran(store: Store, intervals: TimeSpans, ran: str) -> dict[str, Floats]:
    edges = intervals.edges
    if not intervals.count or not store.row(f"select count(*) from {ran}")[0]:
        return {}
    busy = level(
        store, "n_procs", RUNNING, present(store), width=BIN, period=(float(edges[0]), float(edges[-1]))
    )
    place = intervals.place("submit_time")
    values = {
        "busy": busy.between(edges),
        "runtime": _medians(store, ran, "run_time", intervals),
        "processors": by_interval(store, SIZES.format(ran=ran, place=place), intervals.count)["procs"],
    }
    if store.has("status") and store.whole.row(CODES_FAILURES)[0]:
        query = ENDED.format(
            place=intervals.place("end_time"),
            all=exact_sum("spent"),
            failed=exact_sum("failed"),
            ran=of_all_runs(store, "all_ran"),
        )
        ended = by_interval(store, query, intervals.count)
        with np.errstate(invalid="ignore"):
            values["failed"] = ended["failed"] / ended["spent"]
    return values


def _medians(store: Store, table: str, value: str, intervals: TimeSpans) -> Floats:
    """Return the median of a *value* of the jobs of *table* submitted in each interval."""
    query = MIDDLE.format(place=intervals.place("submit_time"), value=value, table=table)
    middle = by_interval(store, query, intervals.count)
    return (middle["low"] + middle["high"]) / 2


def by_interval(store: Store, query: str, count: int) -> dict[str, Floats]:
    """Return the columns of a query, a value for each of *count* intervals; nan for those without."""
    columns = store.arrays(query)
    place = np.asarray(columns.pop("place"), np.int64)
    inside = (place >= 0) & (place < count)
    placed = {}
    for name, values in columns.items():
        placed[name] = np.full(count, np.nan)
        known = np.ma.filled(np.ma.asarray(values).astype(np.float64), np.nan)
        placed[name][place[inside]] = known[inside]
    return placed
