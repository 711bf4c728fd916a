"""What is measured in each week or day of a log: load, jobs, users, waits, failures, run times and sizes."""

from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np

from gwa.metrics.intervals import BIN, Intervals
from gwa.metrics.timeline import Floats, exact_sum, level
from gwa.metrics.window import RUNNING, present
from gwa.report.document import Unit
from gwa.store.store import Store
from gwa.util.units import MINUTE


class Measure(NamedTuple):
    """
    Something that is measured in each week or day of a log.

    Differences are sought in the logarithm of the value and an *offset*, which no small value shall dominate,
    or in the value itself, if it is a *share*; *least* is the smallest one that matters, on that scale.
    """

    title: str
    unit: Unit
    least: float = 0.18
    offset: float = 0.0
    is_share: bool = False


MEASURES: Final[Mapping[str, Measure]] = {
    "peak": Measure("Maximum of busy processors", "count", least=0.1),
    "busy": Measure("Mean of busy processors", "count"),
    "users": Measure("Users who submit jobs", "count"),
    "jobs": Measure("Jobs submitted", "count"),
    "wait": Measure("Mean wait time", "seconds", offset=float(MINUTE)),
    "failed": Measure("Share of failed jobs", "fraction", least=0.03, is_share=True),
    "runtime": Measure("Median run time", "seconds"),
    "processors": Measure("Mean processors per job", "count"),
}
"""What is measured, by the names that the fact ``changes`` gives: what concerns the system first."""

PLACE: Final = "cast(floor((submit_time - {origin!r}) / {width!r}) as bigint)"
"""The number of the interval in which a job was submitted."""

SUBMITTED: Final = """
select place, count(*) as jobs, count(distinct user_id) as users, count(wait) as waits, {wait} as waited
from (
    select {place} as place, user_id,
        case when wait_time >= 0 then wait_time end as wait
    from jobs where submit_time is not null
) as job group by place order by place
"""

RAN: Final = """
with coarse as (
    select {place} as place, floor(sqrt(run_time)) as root, count(*) as jobs, sum(n_procs) as procs
    from ran where submit_time is not null group by place, root
), ranked as (
    select place, root, jobs, sum(jobs) over (partition by place order by root) as upto,
        sum(jobs) over (partition by place) as total, sum(procs) over (partition by place) as procs
    from coarse
), middle as (
    select place, root, upto - jobs as before, total, procs from ranked
    where 2 * upto >= total and 2 * (upto - jobs) <= total
), timed as (
    select middle.place as place, before, run_time, count(*) as jobs, min(total) as total, min(procs) as procs
    from ran inner join middle on {place} = middle.place and floor(sqrt(run_time)) = middle.root
    where submit_time is not null group by middle.place, before, run_time
), counted as (
    select place, run_time, total, procs,
        before + sum(jobs) over (partition by place, before order by run_time) as upto from timed
)
select place, min(case when 2 * upto >= total then run_time end) as low,
    min(case when 2 * upto > total then run_time end) as high,
    cast(min(procs) as double) / cast(min(total) as double) as procs
from counted group by place order by place
"""
"""
Mean processors and the two run times in the middle, between which the median lies.

Run times are first counted by the whole part of their roots, which keeps their order, and one by one only
where the middle is: few of all distinct values.
"""

ENDED: Final = """
select cast(floor((end_time - {origin!r}) / {width!r}) as bigint) as place, count(*) as jobs,
    sum(case when status = 0 then 1 else 0 end) as failed
from all_ran where status is not null and end_time is not null group by place order by place
"""


def interval_values(store: Store, intervals: Intervals) -> dict[str, Floats]:
    """
    Return the values of each measure that the trace records, one for each interval; nan where unknown.

    Jobs, users, waits, run times and sizes are of jobs submitted in the interval, failures of those that
    ended in it; busy processors are of all that ran.
    """
    bounds = {"origin": intervals.origin, "width": intervals.width}
    place = PLACE.format(**bounds)
    submitted = _columns(store, SUBMITTED.format(wait=exact_sum("wait"), place=place), intervals.count)
    values = {"jobs": submitted["jobs"]}
    if store.has("user_id"):
        values["users"] = submitted["users"]
    if store.has("wait_time"):
        with np.errstate(invalid="ignore"):
            values["wait"] = submitted["waited"] / submitted["waits"]
    if store.has("run_time") and store.has("n_procs"):
        values |= _of_jobs_that_ran(store, intervals, bounds)
    return {name: values[name] for name in MEASURES if name in values}


def _of_jobs_that_ran(store: Store, intervals: Intervals, bounds: dict[str, float]) -> dict[str, Floats]:
    edges = intervals.edges
    if not intervals.count or not store.row("select count(*) from ran")[0]:
        return {}
    busy = level(
        store, "n_procs", RUNNING, present(store), width=BIN, period=(float(edges[0]), float(edges[-1]))
    )
    ran = _columns(store, RAN.format(place=PLACE.format(**bounds)), intervals.count)
    values = {
        "peak": intervals.peaks(busy),
        "busy": busy.between(edges),
        "runtime": (ran["low"] + ran["high"]) / 2,
        "processors": ran["procs"],
    }
    if store.has("status"):
        ended = _columns(store, ENDED.format(**bounds), intervals.count)
        with np.errstate(invalid="ignore"):
            values["failed"] = ended["failed"] / ended["jobs"]
    return values


def _columns(store: Store, query: str, count: int) -> dict[str, Floats]:
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


def scaled(name: str, values: Floats) -> Floats:
    """
    Return the *values* of the measure called *name* on the scale on which its differences are sought.

    Gaps are filled from their neighbours; there must be a value that is known.
    """
    measure = MEASURES[name]
    place, known = np.arange(values.size), np.isfinite(values)
    filled: Floats = np.interp(place, place[known], values[known])
    if measure.is_share:
        return filled
    if measure.offset:
        return np.asarray(np.log(filled + measure.offset))
    positive = filled[filled > 0]
    return np.asarray(np.log(np.maximum(filled, float(positive.min()) if positive.size else 1.0)))
