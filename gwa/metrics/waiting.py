"""
Why jobs waited: what was true at each second that a job waited.

A log cannot tell causes, but conditions, of which some exclude causes. A *waiting second* is one second of
one waiting job, from its submission to its first start; it has the first condition of `CONDITIONS` that holds
then. All of them, laid end to end in order of start, submission and number of the job, are looked at in
`MOMENTS` evenly spaced moments, each exactly: the standard error of a share of n moments is at most 0.5/√n.

Levels, such as free processors, are always those of the whole log: jobs that are left out held processors,
too. A selection or a period chooses moments.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from gwa.metrics.absent_numbers import absent_share, removed_share
from gwa.metrics.idleness import idle_stretches, observed
from gwa.metrics.outcomes import core_seconds
from gwa.metrics.presence import running, unfinished
from gwa.metrics.stillness import stillness
from gwa.metrics.timeline import Floats, Ints
from gwa.metrics.usage import holding
from gwa.metrics.waiting_ceilings import CYCLE, KINDS, MOMENTS, Ceiling, at_ceiling, ceilings, late_starts
from gwa.metrics.waiting_levels import LevelAt, largest_waiting, level_at
from gwa.metrics.waits import eligible
from gwa.metrics.whole import exactly
from gwa.metrics.window import window
from gwa.store.resources import CPU, GPU
from gwa.store.runs import FIRST_START
from gwa.store.schema import SITE
from gwa.store.store import Store
from gwa.util.units import HOUR
from gwa.words.formatting import fraction
from gwa.words.message import message

Condition = Literal[
    "held", "unknown", "outage", "full", "gpu", "ceiling", "unused", "larger", "cycle", "open"
]

CONDITIONS: Final[tuple[Condition, ...]] = (
    "held", "unknown", "outage", "full", "gpu", "ceiling", "unused", "larger", "cycle", "open",
)  # fmt: skip
"""
What may hold at a waiting second; the first that does is its condition.

``held``: the job could not start, for it depended on others, was on hold or asked for a later time.
``unknown``: its size is not known, or the log does not know what ran then, and what it knows leaves room.
``outage``: nothing at all ran, for an hour or more, and no rows are missing. ``full``: it asked for more
processors than were free, in its partition where partitions have processors of their own. ``gpu``: it asked
for more GPUs than were free. ``ceiling``: its owner was at a ceiling of its own. ``unused``: it would have
taken processors that no job used for a day before or after.
``larger``: another job that could start needed more than was free, so that room may have been kept for it.
``cycle``: the last minute before the start. ``open``: there was room for every waiting job.
"""

MINIMUM_MOMENTS: Final = 1000
"""Of fewer moments there is no share: its standard error would be more than 1.6 points."""

MAXIMUM_OVER: Final = 0.02
"""Where more processors than there are were busy for this share of the time or longer, nothing is said."""

MAXIMUM_ABSENT: Final = 0.05
"""Rows are missing where more of the numbers between the first job and the last are absent."""

SUM_OF_PARTITIONS: Final = 1.05
"""Partitions have processors of their own where what they held at most adds up to no more than this."""

MACHINE: Final = "''"
PARTITION: Final = "coalesce(partition_id, '')"
"""The SQL of the part of the machine that a job is of: all of it, or its partition."""

NOWHERE: Final = (np.inf, -np.inf)

EPSILON: Final = 1e-6
"""Shares of GPUs are sums of fractions."""

WAITERS: Final = f"""
select job_id, submit_time as submitted, {{eligible}} as eligible,
    {FIRST_START} as started, cast(coalesce(nullif(n_procs, 0), req_n_procs) as double) as asked,
    cast(coalesce(n_gpus, req_gpus, 0) as double) as gpus, {{core_seconds}} as core_seconds,
    user_id, project_id, queue_id, partition_id, qos, pending_reason, req_time, {{wait}} as waited
from all_jobs where submit_time is not null and wait_time {{least}} 0 and (run_time >= 0{{or_running}})
"""
"""The jobs that started after a wait."""

SAMPLED: Final = """
with line as (
    select job_id, cast(upto as double) as last, cast(upto - waited as double) as first, {step} as step from (
        select job_id, waited, sum(waited) over (
            order by started, submitted, job_id rows between unbounded preceding and current row
        ) as upto from ({waiters}) as waiter
    ) as cumulated
), numbered as (
    select job_id, first, step, unnest(generate_series(
        cast(floor(first / step + 0.5) as bigint), cast(floor(last / step + 0.5) as bigint) - 1
    )) as place
    from line where floor(last / step + 0.5) > floor(first / step + 0.5)
)
select waiter.*, place, submitted + (place + 0.5) * step - first as moment
from numbered inner join ({waiters}) as waiter on numbered.job_id = waiter.job_id
"""
"""The moment k lies at (k + ½) steps on the line of all waiting seconds: in which job, and when."""

TOTAL: Final = "select cast(sum(waited) as double) as seconds from ({waiters}) as waiter"

MOMENT_COLUMNS: Final = "moment, eligible, started, asked, gpus, core_seconds"


@dataclass(frozen=True)
class Waiting:
    """
    The moments of the waiting of a trace.

    *table* has a row for each in the whole store; *places* are the places of those of the trace in it,
    *conditions* the place of each in `CONDITIONS`, and *core_seconds* what its job held. *seconds* were
    waited in each.

    *capacity* is the number of processors that could be free; *is_inferred* says that it is what was ever
    held for minutes. *partitions* says whether these have
    processors of their own. *is_bound* says what the shares are: values; of a log that lacks rows, in which
    more was busy than it shows, ``full`` is a lower bound and nothing is said of room; where the machine
    may be larger than known, room is a lower bound and ``full`` an upper one. *missing* says why jobs may be
    missing, and *why_unknown* why nothing can be said; they are empty else. *absent* is the share of the job
    numbers that are absent.
    """

    table: str = ""
    places: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    conditions: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    core_seconds: Floats = field(default_factory=lambda: np.zeros(0))
    seconds: float = 0.0
    capacity: float | None = None
    is_inferred: bool = False
    partitions: Literal["one", "apart", "overlapping"] = "one"
    is_bound: Literal["none", "full_at_least", "room_at_least"] = "none"
    knows_holds: bool = False
    absent: float | None = None
    missing: str = ""
    why_unknown: str = ""
    all_moments: int = 0
    """How many moments the whole log has."""
    ceilings: tuple[Ceiling, ...] = ()
    half_fits: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))
    """At which moments half of the processors asked for were free."""

    @property
    def knows_room(self) -> bool:
        """Whether it is known when there was room for a job."""
        return not (self.why_unknown or self.missing or self.partitions == "overlapping")

    def shares(self, chosen: NDArray[Any] | slice = slice(None)) -> dict[Condition, float] | None:
        """Return the share of each condition in the *chosen* moments; None where these are too few."""
        found = self.conditions[chosen]
        if len(found) < MINIMUM_MOMENTS:
            return None
        return _shares(np.bincount(found, minlength=len(CONDITIONS)))

    def shares_by_core_hour(self) -> dict[Condition, float] | None:
        """
        Return the share of each condition with moments weighted by the core-hours of their jobs.

        None where the moments count for too few equal ones, (Σc)²/Σc².
        """
        weights = self.core_seconds
        squares = float((weights**2).sum())
        if not squares or float(weights.sum()) ** 2 / squares < MINIMUM_MOMENTS:
            return None
        return _shares(np.bincount(self.conditions, weights, len(CONDITIONS)))


def _shares(amounts: NDArray[Any]) -> dict[Condition, float]:
    total = float(amounts.sum())
    return {name: float(amount) / total for name, amount in zip(CONDITIONS, amounts, strict=True)}


def waiting(store: Store) -> Waiting:
    """Return why the jobs of *store* waited, with levels of the whole log that it is of."""
    whole: Waiting = store.whole.once("waiting", lambda: _whole(store.whole))
    if whole.why_unknown or store.whole is store:
        return whole
    return store.once("waiting", lambda: _chosen(store, whole))


def _chosen(store: Store, whole: Waiting) -> Waiting:
    """Return the moments of a part of the whole, and the ceilings of their owners."""
    views = dict(store.views())
    jobs = views.get("all_jobs") or views["jobs"]
    within = ""
    if store.period:
        first, last = store.period
        within = f" and moment >= {first!r} and moment < {last!r}"
    chosen = f"from {whole.table} as sampled where job_id in (select job_id from ({jobs}) as chosen){within}"
    found = store.whole.arrays(f"select place {chosen} order by place")
    places = np.asarray(found["place"], np.int64)
    fields = {**vars(whole), "places": places}
    fields |= {name: getattr(whole, name)[places] for name in ("conditions", "core_seconds", "half_fits")}
    owners = {
        (kind, name)
        for kind in sorted({one.kind for one in whole.ceilings})
        for (name,) in store.whole.rows(f"select distinct {KINDS[kind]} {chosen}")
    }
    own = tuple(one for one in whole.ceilings if (one.kind, one.id) in owners)
    return Waiting(**{**fields, "ceilings": own})


def _whole(store: Store) -> Waiting:
    """Return why the jobs of a whole log waited."""
    why = cannot_tell(store)
    if why:
        return Waiting(why_unknown=why)
    (seconds,) = store.row(TOTAL.format(waiters=waiters(store)))
    moments = int(min(MOMENTS, seconds or 0.0))
    if moments < MINIMUM_MOMENTS:
        return Waiting(why_unknown=message("jobs waited for too little time in all"))
    step = float(seconds) / moments
    table = store.keep("waiting_moments", SAMPLED.format(waiters=waiters(store), step=repr(step)))
    return _looked_at(store, table, step)


def cannot_tell(store: Store) -> str:
    """Return why nothing can be said of the whole log; nothing where something can."""
    if not (store.has("wait_time") and store.has("submit_time") and store.has("n_procs")):
        return message("the log does not record waits or processors")
    (sites,) = store.row(f"select count(distinct {SITE}) as sites from all_jobs")
    if sites > 1:
        return message("the log is of several clusters, each with room of its own")
    return ""


def waiters(store: Store, least: str = ">") -> str:
    """Return the query of the jobs that waited and started; with *least* ">=" of those that did not wait."""
    return WAITERS.format(
        least=least,
        eligible=eligible(store),
        core_seconds=f"cast(coalesce({core_seconds(store)}, 0) as double)",
        wait=exactly(store, "wait_time"),
        or_running=f" or {running(store)}" if unfinished(store) else "",
    )


def _looked_at(store: Store, table: str, step: float) -> Waiting:
    """Return the condition at each moment of the *table*."""
    at = _columns(store, table)
    machine = level_at(store, table, holding(store, CPU), MACHINE)
    stated = store.system.size
    if store.system.sizes:
        return Waiting(why_unknown=message("the number of processors changed"))
    if stated and machine.share_above(stated) >= MAXIMUM_OVER:
        return Waiting(why_unknown=message("more processors were busy than the log says there are"))
    absent = absent_share(store)
    missing = missing_jobs(store, absent)
    size = float(stated or machine.held)
    partitions, level, part = _by_partition(store, table, machine, size)
    is_inferred = not stated or (partitions == "apart" and level.held * SUM_OF_PARTITIONS < stated)
    if is_inferred and missing:
        why = message(
            "jobs may be missing ({missing}), and it is not known how many processors there are",
            missing=missing,
        )
        return Waiting(why_unknown=why)
    free = (level.most if partitions == "apart" else size) - level.busy
    holds = _rules(store, table, at, level, free, part)
    late = late_starts(
        store, waiters(store), holding(store, CPU), part, None if partitions == "apart" else size
    )
    owners = ceilings(store, late, holding(store, CPU), size) if late else ()
    holds["ceiling"], of_owners = at_ceiling(store, table, at["asked"], holding(store, CPU), owners)
    holds["unknown"] &= ~holds["ceiling"]
    conditions = np.full(len(free), CONDITIONS.index("open"))
    for name in reversed(CONDITIONS[:-1]):
        if name in holds:
            conditions[holds[name]] = CONDITIONS.index(name)
    at_own = conditions == CONDITIONS.index("ceiling")
    waited = {one: float(at_own[own].mean()) for one, own in of_owners.items() if len(own) >= MINIMUM_MOMENTS}
    return Waiting(
        table,
        np.arange(len(free)),
        conditions,
        at["core_seconds"],
        step,
        size,
        not stated,
        partitions,
        "full_at_least" if missing else "room_at_least" if is_inferred else "none",
        store.has("eligible_time"),
        absent,
        missing,
        all_moments=len(free),
        ceilings=tuple(replace(one, waited=waited.get(one)) for one in owners),
        half_fits=np.ceil(at["asked"] / 2) <= free,
    )


def _columns(store: Store, table: str) -> dict[str, Floats]:
    """Return what is known of the job at each moment, in the order of places; nan where unknown."""
    found = store.arrays(f"select {MOMENT_COLUMNS} from {table} as sampled order by place")
    return {name: np.ma.filled(np.ma.asarray(column, np.float64), np.nan) for name, column in found.items()}


def _by_partition(
    store: Store, table: str, machine: LevelAt, size: float
) -> tuple[Literal["one", "apart", "overlapping"], LevelAt, str]:
    """
    Return whether partitions have processors of their own, the level to look at, and the SQL of its part.

    They have where what each held at most adds up to what there is.
    """
    parts = store.row("select count(distinct partition_id) as parts from all_jobs")[0]
    if parts < 2:  # noqa: PLR2004 - a single one is the machine
        return "one", machine, MACHINE
    level = level_at(store, table, holding(store, CPU), PARTITION)
    if level.held <= SUM_OF_PARTITIONS * size:
        return "apart", level, PARTITION
    return "overlapping", machine, MACHINE


def _rules(
    store: Store, table: str, at: Mapping[str, Floats], level: LevelAt, free: Floats, part: str
) -> dict[Condition, NDArray[np.bool_]]:
    """Return at which moments each condition holds, whatever else does."""
    moment, asked = at["moment"], at["asked"]
    room = np.minimum(free, level.usable - level.busy)
    largest = largest_waiting(store, table, _blockers(store, part, "asked"), part)
    first, last = observed(store) or NOWHERE
    holds: dict[Condition, NDArray[np.bool_]] = {
        "held": moment < at["eligible"],
        "outage": _nothing_runs(store, moment),
        "full": asked > free,
        "unused": asked > level.usable - level.busy,
        "larger": largest > room,
        "cycle": moment > at["started"] - CYCLE,
    }
    wants = at["gpus"] > 0
    if wants.any():
        gpus = level_at(store, table, holding(store, GPU), MACHINE)
        free_gpus = float(store.system.gpus or gpus.held) - gpus.busy + EPSILON
        largest = largest_waiting(store, table, _blockers(store, MACHINE, "gpus"), MACHINE)
        holds["gpu"] = wants & (at["gpus"] > free_gpus)
        holds["larger"] |= wants & (largest > free_gpus)
    # What is not in the log makes free processors fewer: a machine that shows as full was.
    is_sure = holds["full"] | holds.get("gpu", np.False_)
    is_unseen = (moment < first) | (moment > last) | _is_unaccounted(store, moment)
    holds["unknown"] = ~(asked > 0) | (is_unseen & ~is_sure)
    return holds


def _is_unaccounted(store: Store, moment: Floats) -> NDArray[np.bool_]:
    """Return at which moments it is not known what ran."""
    inside = np.zeros(len(moment), np.bool_)
    for gap in stillness(store).unaccounted:
        inside |= (gap.begin <= moment) & (moment < gap.end)
    return inside


def _blockers(store: Store, part: str, size: str) -> str:
    """Return the query of the jobs that could start and waited, with the *size* that they asked for."""
    return (
        f"select job_id, {part} as part, eligible, started, {size} as size"
        f" from ({waiters(store)}) as waiter where started > eligible and {size} > 0"
    )


def _nothing_runs(store: Store, moment: Floats) -> NDArray[np.bool_]:
    """Return at which moments nothing ran, for an hour or more."""
    idle = store.arrays(
        f"select begin, finish from {idle_stretches(store)} as idle"
        f" where finish - begin >= {float(HOUR)!r} order by begin"
    )
    begin, finish = (np.asarray(idle[name], np.float64) for name in ("begin", "finish"))
    if not len(begin):
        return np.zeros(len(moment), np.bool_)
    place = np.searchsorted(begin, moment, side="right") - 1
    inside: NDArray[np.bool_] = (place >= 0) & (moment < finish[np.maximum(place, 0)])
    return inside


def missing_jobs(store: Store, absent: float | None) -> str:
    """Return why jobs of a whole log may be missing; nothing where no reason is known."""
    (users,) = store.row("select count(distinct user_id) as users from all_jobs")
    lack = window(store).lack
    if absent is None:
        return message("the numbers that jobs had are not known")
    if absent > MAXIMUM_ABSENT:
        return message("{share} of the numbers of jobs are absent", share=fraction(absent))
    if (removed := removed_share(store)) > MAXIMUM_ABSENT:
        return message("{share} of the jobs were removed, as the header says", share=fraction(removed))
    if lack:
        return lack
    if users == 1:
        return message("all that are recorded are of one user")
    return "" if observed(store) else message("too few to tell where the log is cut")
