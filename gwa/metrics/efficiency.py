"""
What jobs used of what they were given or asked for, and what was wasted.

The mean of a ratio weighs each job by what it was given: it is the ratio of totals, as jobstats and Open
XDMoD have it. What a job used beyond what it was given is not taken off what others wasted. Jobs with values
that cannot be true are left out, and counted.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gwa.metrics.asked_cores import asked_cores
from gwa.metrics.timeline import exact_sum
from gwa.store.engines.duckdb import literal
from gwa.store.schema import RAN
from gwa.store.store import Store
from gwa.util.units import HOUR
from gwa.words.message import message

Floats = NDArray[Any]

GIGABYTE: Final = 1024.0**2
"""Kilobytes in a gigabyte."""


@dataclass(frozen=True)
class Ratio:
    """
    What is *used* of what is *given*, expressions over a job, of the jobs for which *where* holds.

    Both count *weight* times. What is wasted is their difference, divided by *unit*: hours of processors
    or GPUs, or gigabyte hours. *needs* are fields that the log must record. Jobs for which *impossible*
    holds, of which *where* must be false, used more than there is.
    """

    name: str
    title: str
    used: str
    given: str
    weight: str
    where: str
    needs: tuple[tuple[str, ...], ...]
    unit: float = float(HOUR)
    impossible: str = "false"

    @property
    def quotient(self) -> str:
        """The SQL of the ratio of a job."""
        return f"{self.used} / {self.given}"

    @property
    def jobs(self) -> str:
        """The jobs of which it is known."""
        return f"(select * from jobs where {self.where})"

    @property
    def wasted(self) -> str:
        """The SQL of what a job wasted, null where that is not known."""
        return f"case when {self.where} then greatest({self.given} - {self.used}, 0) * {self.weight} end"

    def is_recorded(self, store: Store) -> bool:
        """Whether the log has the fields that this needs: one of each group."""
        return all(any(map(store.has, group)) for group in self.needs)


IS_MEASURED: Final = "(bounds is null or bounds not like '%max_memory%')"
"""Jobs whose memory used is known, not only that it is at least, or at most, so much."""

PEAK: Final = f"case when {IS_MEASURED} then coalesce(max_memory, used_memory * n_procs) end"
"""What memory a job used: its peak, or else what the processors used on average; a bound is not a value."""

REQUESTED: Final = "(req_memory * coalesce(req_n_procs, n_procs))"
"""What memory a job asked for."""

CPU_TIME_KNOWN: Final = "run_time > 0 and n_procs >= 1 and average_cpu_time is not null"

TOO_MUCH_CPU_TIME: Final = "average_cpu_time > greatest(run_time * 1.05, run_time + 1)"
"""The condition on jobs with more CPU time per processor than they ran, beyond what rounding explains."""

RATIOS: Final = {
    ratio.name: ratio
    for ratio in (
        Ratio(
            "cpu",
            message("CPU time"),
            "average_cpu_time",
            "run_time",
            "n_procs",
            f"{CPU_TIME_KNOWN} and not ({TOO_MUCH_CPU_TIME})",
            (("average_cpu_time",), ("run_time",), ("n_procs",)),
            impossible=f"{CPU_TIME_KNOWN} and {TOO_MUCH_CPU_TIME}",
        ),
        Ratio(
            "memory",
            message("Memory"),
            PEAK,
            REQUESTED,
            "run_time",
            f"run_time >= 0 and {PEAK} > 0 and {REQUESTED} > 0",
            (("max_memory", "used_memory"), ("req_memory",), ("run_time",)),
            HOUR * GIGABYTE,
        ),
        Ratio(
            "time",
            message("Requested time"),
            "run_time",
            "req_time",
            "n_procs",
            f"{RAN} and req_time > 0",
            (("req_time",), ("run_time",), ("n_procs",)),
        ),
        Ratio(
            "gpu",
            "GPUs",
            "gpu_utilization",
            "1.0",
            "n_gpus * run_time",
            "run_time >= 0 and n_gpus > 0 and gpu_utilization is not null",
            (("gpu_utilization",), ("n_gpus",), ("run_time",)),
        ),
    )
}
"""By name, in the order of the report."""

WASTED: Final = ("cpu", "memory", "gpu")
"""Of these, what is not used is wasted; requested time that is not used goes to other jobs."""


@dataclass(frozen=True)
class Efficiency:
    """
    Of how many *jobs* a ratio is known, its *mean* weighted by what was given, and what they *wasted*.

    The values of *impossible* other jobs cannot be true.
    """

    jobs: int
    mean: float | None
    wasted: float
    impossible: int = 0


@dataclass(frozen=True)
class Share:
    """How many *jobs* there are, and what is known of their efficiency by ratio."""

    jobs: int
    parts: Mapping[str, Efficiency]


def recorded(store: Store) -> tuple[Ratio, ...]:
    """Return the ratios that the log has the fields for."""
    return tuple(ratio for ratio in RATIOS.values() if ratio.is_recorded(store))


def overall(store: Store, where: str = "true") -> Share:
    """Return the efficiency of all jobs for which the SQL *where* holds; several sections ask."""
    return store.once(("efficiency", where), lambda: _overall(store, where))


def _overall(store: Store, where: str) -> Share:
    ratios = recorded(store)
    columns = ", ".join(["count(*) as jobs", *chain(*map(_sums, ratios))])
    jobs, *sums = store.row(f"select {columns} from jobs where {where}")
    groups = zip(ratios, zip(*[iter(sums)] * 5, strict=True), strict=True)
    parts = {
        ratio.name: Efficiency(
            count, used / given if given else None, (wasted or 0.0) / ratio.unit, impossible
        )
        for ratio, (count, impossible, used, given, wasted) in groups
    }
    return Share(jobs, parts)


def _sums(ratio: Ratio) -> Iterator[str]:
    """Yield the SQL of the jobs whose *ratio* is known or impossible, and of what they used and wasted."""
    of_known = f"case when {ratio.where} then ({{}}) * {ratio.weight} end"
    yield f"count(*) filter (where {ratio.where}) as {ratio.name}_jobs"
    yield f"count(*) filter (where {ratio.impossible}) as {ratio.name}_impossible"
    yield f"{exact_sum(of_known.format(ratio.used))} as {ratio.name}_used"
    yield f"{exact_sum(of_known.format(ratio.given))} as {ratio.name}_given"
    yield f"{exact_sum(ratio.wasted)} as {ratio.name}_wasted"


def most_wasteful_users(store: Store, order: Ratio) -> list[str]:
    """Return the ``store.top`` users who used least of what they were given by *order*, if any did."""
    rows = store.rows(
        f"select user_id as name, {exact_sum(order.wasted)} as wasted from jobs"
        " where user_id is not null group by user_id having wasted > 0"
        f" order by wasted desc, name limit {store.top}"
    )
    return [name for name, _ in rows]


@dataclass(frozen=True)
class Request:
    """
    What the jobs of a user ask for, and the less that would have done.

    *asked* is what 95 % of the requests of *jobs* do not exceed, *enough* what 95 % of them used at most, to
    three digits, rounded up: it is below *asked*. *unneeded* is what they had asked for less, in gigabyte
    hours of memory or hours of processors, had each that asked for more than *enough* asked for that, or for
    what it used if that is more. Memory that is asked for is held; time that is not used is not.
    """

    user: str
    jobs: int
    asked: float
    enough: float
    unneeded: float


SUFFICIENT: Final = 0.95

ASKED: Final = {
    "memory": (PEAK, REQUESTED, "run_time", RATIOS["memory"].where, HOUR * GIGABYTE),
    "time": ("run_time", "req_time", "n_procs", RATIOS["time"].where, float(HOUR)),
}
"""What jobs ask for: what they used of it, what they asked for, its weight, of which jobs, and its unit."""

VALUES: Final = """
select user_id as name, value, count(*) as n from (
    select user_id, {value} as value from jobs where user_id in ({users}) and {where}
) as asked group by user_id, value order by name, value
"""

ROUNDED_UP: Final = """
case when {value} < 1000.0 then ceil({value})
    else ceil({value} / pow(10.0, floor(log10({value})) - 2.0)) * pow(10.0, floor(log10({value})) - 2.0) end
"""
"""A value to three digits."""


def requests(store: Store, kind: str, users: list[str], condition: str = "true") -> list[Request]:
    """
    Return what those of *users* ask for of a *kind* of ASKED who could ask for less, most unneeded first.

    Only jobs that meet a *condition* in SQL count. Requested times that are limits of queues
    (`limits_of_queues`) are no requests of users.
    """
    used, asked, weight, where, unit = ASKED[kind]
    where = f"{where} and {condition}"
    if not users or (kind == "time" and limits_of_queues(store).are_limits):
        return []
    names = ", ".join(map(literal, users))
    rounded = ROUNDED_UP.format(value=used)
    of_users = {name: _sufficient(*counted) for name, *counted in _values(store, asked, names, where)}
    enough = {name: _sufficient(*counted) for name, *counted in _values(store, rounded, names, where)}
    less = {name: value for name, value in enough.items() if value < of_users[name]}
    if not less:
        return []
    limits = " ".join(f"when user_id = {literal(name)} then {value!r}" for name, value in less.items())
    freed = f"greatest({asked} - greatest(case {limits} end, {used}), 0.0)"
    names = ", ".join(map(literal, less))
    rows = store.rows(
        f"select user_id as name, count(*) as jobs, {exact_sum(f'{freed} * {weight}')} as unneeded"
        f" from jobs where user_id in ({names}) and {where} group by user_id"
    )
    found = [
        Request(name, jobs, of_users[name], less[name], (unneeded or 0.0) / unit)
        for name, jobs, unneeded in rows
    ]
    return sorted(found, key=lambda request: (-request.unneeded, request.user))


def ended_at(store: Store, kind: str, where: str, share: float) -> list[float]:
    """
    Return the amounts of a *kind* of ASKED at which this *share* of the jobs that asked for one was ended.

    The jobs are those that meet the condition *where*.
    """
    asked = ASKED[kind][1]
    if not all(store.has(name) for name in ("state", "req_time" if kind == "time" else "req_memory")):
        return []
    rows = store.rows(
        f"select {asked} as asked, state, count(*) as jobs from jobs"
        f" where {asked} is not null and {where} group by {asked}, state"
    )
    jobs, ended = Counter[float](), Counter[float]()
    for amount, state, number in rows:
        jobs[amount] += number
        ended[amount] += number if state and re.match(KILLED[kind], state) else 0
    return sorted(amount for amount, number in ended.items() if number and number >= share * jobs[amount])


@dataclass(frozen=True)
class QueueLimits:
    """How many *queues* have jobs that request a time; the *share* of these with their queue's usual one."""

    queues: int
    share: float | None

    @property
    def are_limits(self) -> bool:
        """Whether requested times are the limits, or defaults, of the queues: hardly any job has another."""
        return self.queues >= MINIMUM_QUEUES and (self.share or 0.0) >= LIMIT_SHARE


MINIMUM_QUEUES: Final = 2
LIMIT_SHARE: Final = 0.95

USUAL: Final = """
with requested as (
    select queue_id, req_time, count(*) as jobs from jobs
    where req_time > 0 and queue_id is not null group by queue_id, req_time
), queue as (
    select max(jobs) as usual, sum(jobs) as jobs from requested group by queue_id
)
select count(*) as queues, cast(sum(usual) as double) / cast(sum(jobs) as double) as share from queue
"""


def limits_of_queues(store: Store) -> QueueLimits:
    """Return how many jobs request the time that most jobs of their queue request."""
    if not store.has("req_time") or not store.has("queue_id"):
        return QueueLimits(0, None)
    return store.once("limits of queues", lambda: QueueLimits(*store.row(USUAL)))


def _values(store: Store, value: str, names: str, where: str) -> Iterator[tuple[str, Floats, Floats]]:
    columns = store.arrays(VALUES.format(value=value, users=names, where=where))
    who, values, counts = (np.asarray(columns[name]) for name in ("name", "value", "n"))
    for name in dict.fromkeys(who.tolist()):
        yield name, values[who == name].astype(np.float64), counts[who == name]


def _sufficient(values: Floats, counts: Floats) -> float:
    """Return the least value that 95 % of rising *values* do not exceed."""
    reached = np.cumsum(counts) >= SUFFICIENT * counts.sum() - 1e-9
    return float(values[np.argmax(reached)])


SEQUENTIAL: Final = (
    "n_procs >= 2 and {asked_cores} >= 2 and run_time >= 60 and average_cpu_time > 0"
    " and average_cpu_time * n_procs <= run_time * 1.05"
)
"""Jobs that asked for several cores and used no more CPU time than one has; shorter ones hardly began."""


def sequential(store: Store, where: str = "true") -> tuple[int, float]:
    """Return how many jobs on several processors used one only, and the hours that the others idled."""
    cores = asked_cores(store)
    jobs, idle = store.row(
        f"select count(*) as jobs, {exact_sum(f'run_time * (n_procs - n_procs / {cores})')} as idle from jobs"
        f" where {SEQUENTIAL.format(asked_cores=cores)} and {where}"
    )
    return jobs, (idle or 0.0) / HOUR


KILLED: Final = {
    "memory": r"(?i)^(out_of_mem.*|oom.*)$",
    "time": r"(?i)^(timeout|timelimit|time_limit.*|walltime.*)$",
}
"""States of jobs that were ended because they went beyond a limit, by what was limited."""


def killed(store: Store, where: str = "true") -> dict[str, tuple[int, float]]:
    """Return how many jobs were ended for their memory or time, and their hours of processors."""
    states: dict[str, tuple[int, float]] = {}
    rows = store.rows(
        f"select state, count(*) as jobs, {exact_sum('run_time * n_procs')} as seconds from jobs"
        f" where state is not null and {where} group by state"
    )
    for kind, pattern in KILLED.items():
        hit = [(jobs, seconds or 0.0) for state, jobs, seconds in rows if re.match(pattern, state)]
        states[kind] = (sum(jobs for jobs, _ in hit), sum(seconds for _, seconds in hit) / HOUR)
    return states
