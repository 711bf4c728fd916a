"""
How the jobs of a trace ended or, of a period, those that ended in it.

There is one list of outcomes (`OUTCOMES`). A job that ended at its time limit is apart from one that failed:
on most logs most of the core-hours of "failed" jobs went into jobs that ran to their limit.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from gwa.metrics.calendar import MAXIMUM_DAYS, Calendar
from gwa.metrics.presence import end_of_log, run_time, running, unfinished
from gwa.metrics.steps import step
from gwa.metrics.timeline import decimal_sum, exact_sum
from gwa.metrics.whole import exactly
from gwa.store.runs import END, START
from gwa.store.schema import UNFINISHED
from gwa.store.store import Store
from gwa.util.units import DAY, HOUR

Outcome = Literal["completed", "limit", "failed", "cancelled", "running", "unknown"]

OUTCOMES: Final[tuple[Outcome, ...]] = ("completed", "limit", "failed", "cancelled", "running", "unknown")
"""How a job ended, in the order of all lists: *limit* at its time limit, *running* not before the log did."""

KNOWN_OUTCOMES: Final[tuple[Outcome, ...]] = OUTCOMES[:4]
"""The outcomes of jobs that are known to have ended, and how."""

KNOWN: Final = f"outcome in {KNOWN_OUTCOMES}"

BAD_OUTCOMES: Final[tuple[Outcome, ...]] = OUTCOMES[1:4]
"""The outcomes of jobs that did not complete."""

LIMIT_STATES: Final = (
    "TIMEOUT", "TIMEDOUT", "TIMED_OUT", "DEADLINEEXCEEDED", "TERM_RUNLIMIT", "COMPLETED_WALLTIME_REACHED"
)  # fmt: skip
"""What sources call jobs that reached their time limit: Slurm and Flux, Kubernetes, LSF, Batsim."""

OTHER_STATES: Final = ("OUT_OF_MEMORY", "NODE_FAIL", "BOOT_FAIL", "PREEMPTED")
"""States that name another cause, whatever the run time."""

AT_LIMIT: Final = (
    "run_time >= 60 and run_time * 100 >= req_time * 98 and run_time * 100 <= req_time * 105 + 60000"
)
"""A run time at the requested time: from 98 % of it to 105 % and ten minutes, and a minute at least."""

MAXIMUM_BEYOND: Final = 0.05
"""Limits are enforced where fewer of the jobs ran over 5 % and ten minutes longer than they requested."""

ENFORCED: Final = """
select count(*) as jobs,
    count(*) filter (where run_time * 100 > req_time * 105 and run_time > req_time + 600) as beyond
from ran where req_time > 0
"""

RECORDED: Final = """
select count(distinct status) as codes, count(*) filter (where upper(state) in {limits}) as limits,
    count(*) filter (where status = 1) as completed, count(*) filter (where status = 0) as failed,
    count(*) filter (where status = 5) as cancelled
from jobs
"""

Codes = Literal["several", "one", "exit codes", "none"]
"""
What a log records of outcomes: that of each job; the same one for all jobs, so that others may not be
recorded; exit codes of programs in place of an outcome; or nothing.
"""


@dataclass(frozen=True)
class Coding:
    """
    What a log records of outcomes: its *codes*, and which of completed, failed and cancelled *occur*.

    Jobs that reached their time limit are known where the source has a state for them (*is_limit_stated*), or
    where limits are enforced (*is_enforced*), so that run times show them; the latter is None without
    requests.
    """

    codes: Codes
    occur: frozenset[Outcome]
    is_limit_stated: bool
    is_enforced: bool | None

    def tells(self, outcome: Outcome) -> bool:
        """
        Whether the log tells jobs of an *outcome* apart from others.

        That no job of a log has the code of an outcome does not say that no job had the outcome.
        """
        if outcome in {"running", "unknown"}:
            return True
        if outcome == "limit":
            return self.codes == "several" and (self.is_limit_stated or bool(self.is_enforced))
        return self.codes == "several" and outcome in self.occur


def coding(store: Store) -> Coding:
    """Return what the whole log of *store* records of outcomes, whichever of its jobs are looked at."""
    return store.whole.once("coding of outcomes", lambda: _coding(store.whole))


def _coding(store: Store) -> Coding:
    codes, limits, *counts = store.row(RECORDED.format(limits=LIMIT_STATES))
    requests, beyond = store.row(ENFORCED)
    names: tuple[Outcome, ...] = ("completed", "failed", "cancelled")
    has_own_words = store.has("state") or store.has("exit_code")
    return Coding(
        _codes(store, codes, has_own_words=has_own_words),
        frozenset(name for name, count in zip(names, counts, strict=True) if count or has_own_words),
        bool(limits),
        beyond < MAXIMUM_BEYOND * requests if requests else None,
    )


def _codes(store: Store, codes: int, *, has_own_words: bool) -> Codes:
    """Return what a log records that has a number of *codes*, and the words of its source or none."""
    if not codes:
        return "none"
    if store.rows("select name from repairs where name = 'exit codes' limit 1"):
        return "exit codes"
    return "several" if codes > 1 or has_own_words else "one"


def outcome(store: Store) -> str:
    """
    Return the SQL of the outcome of a row of ``jobs``, one of `OUTCOMES`.

    A job that the log says to have completed is completed, whatever it requested. One that failed or was
    cancelled reached its limit if the state of its source says so or, where the log's limits are enforced
    (less than 5 % of the jobs run beyond theirs), if its run time is at the requested time (`AT_LIMIT`).
    Where the log has one outcome only, or exit codes of programs, how its jobs ended is unknown.
    """
    known = coding(store)
    still = f"when {running(store)} then 'running' " if unfinished(store) else ""
    if known.codes != "several":
        return f"case {still}else 'unknown' end" if still else "'unknown'"
    by_time = f" or ({AT_LIMIT} and not coalesce(upper(state) in {OTHER_STATES}, false))"
    at_limit = f"(upper(state) in {LIMIT_STATES}{by_time if known.is_enforced else ''})"
    return (
        f"case when status = 1 then 'completed' when status in (0, 5) and {at_limit} then 'limit'"
        f" when status = 0 then 'failed' when status = 5 then 'cancelled' {still}else 'unknown' end"
    )


def core_seconds(store: Store) -> str:
    """
    Return the SQL of the processors of a row of ``jobs`` times its run time, null where either is unknown.

    Of a job that had not ended when the log did, that is its run time until then.
    """
    seconds = run_time(store) if unfinished(store) else "run_time"
    return exactly(store, f"case when n_procs >= 1 and {seconds} >= 0 then n_procs * {seconds} end")


@dataclass(frozen=True)
class Total:
    """
    How many *jobs* had an outcome, and their core-*hours*.

    *largest_job* has which share of these, and *largest_user*, the first of several, which share; None where
    there are no core-hours, or no users.
    """

    jobs: int
    hours: float
    largest_job: float | None = None
    largest_user: tuple[str, float] | None = None


BY_USER: Final = """
select outcome, user_id, count(*) as jobs, {seconds} as seconds, max(core_seconds) as largest
from {ended} group by outcome, user_id
"""
"""A small table, from which totals and top lists come: rows are grouped once."""

TOTALS: Final = """
select outcome, sum(jobs) as jobs, {seconds} as seconds, cast(max(largest) as double) as largest
from {by_user} as by_user group by outcome
"""

LARGEST_USERS: Final = """
select outcome, user_id, cast(seconds as double) as seconds from (
    select *, row_number() over (partition by outcome order by seconds desc, user_id) as nth
    from {by_user} as by_user where user_id is not null and seconds > 0
) as ranked where nth = 1
"""


def _by_user(store: Store) -> str:
    """Return the name of the table of the jobs that ended with each outcome, of each user."""
    query = BY_USER.format(seconds=decimal_sum("core_seconds"), ended=_ended(store))
    return store.keep("outcomes_by_user", query)


def totals(store: Store) -> Mapping[Outcome, Total]:
    """Return the jobs that ended in the period of *store* with each outcome, and the core-hours of each."""
    by_user = _by_user(store)
    users = {
        name: (user, seconds) for name, user, seconds in store.rows(LARGEST_USERS.format(by_user=by_user))
    }
    rows = store.rows(TOTALS.format(by_user=by_user, seconds=exact_sum("seconds")))
    made = {
        name: _total(int(jobs), seconds, largest, users.get(name)) for name, jobs, seconds, largest in rows
    }
    return {name: made.get(name, Total(0, 0.0)) for name in OUTCOMES}


def _total(jobs: int, seconds: float | None, largest: float | None, user: tuple[str, float] | None) -> Total:
    if not seconds:
        return Total(jobs, 0.0)
    user_share = (user[0], user[1] / seconds) if user else None
    return Total(jobs, seconds / HOUR, (largest or 0.0) / seconds, user_share)


def jobs_by_status(store: Store) -> Mapping[int | None, int]:
    """Return how many jobs ended with each status of the log; None is unknown."""
    return dict(store.rows(f"select status, count(*) as jobs from {ended_jobs(store)} group by status"))


COUNTED: Final = ", ".join(
    f"coalesce(sum(case when outcome = '{name}' then jobs end), 0) as {name}_jobs" for name in BAD_OUTCOMES
)
SPENT: Final = exact_sum("case when outcome <> 'completed' then seconds end")
COUNTS: Final = f"coalesce(sum(jobs), 0) as jobs, {COUNTED}, coalesce({SPENT}, 0.0) as seconds"
"""Counts of jobs, and the CPU seconds of those that did not complete."""


@dataclass(frozen=True)
class Ended:
    """
    Jobs of a class called *name* that ended with a known outcome.

    Of them, some reached their time *limit*, *failed* or were *cancelled*; *cpu_seconds* went into these.
    """

    name: str
    jobs: int
    limit: int
    failed: int
    cancelled: int
    cpu_seconds: float

    @property
    def share(self) -> float:
        """The share of the jobs that did not complete."""
        return (self.limit + self.failed + self.cancelled) / self.jobs


def by_month(store: Store) -> list[Ended]:
    """Return how the jobs that ended in each month did so; none where dates are not known."""
    ended = f"(select *, 1 as jobs, core_seconds as seconds from {_ended(store)} where {KNOWN})"
    first, last = store.row(f"select min(ended_at), max(ended_at) from {ended} as known")
    if store.system.relative or first is None or last - first > MAXIMUM_DAYS * DAY:
        return []
    edges, names = Calendar.of(first, last, store.system.timezone, relative=False).months()
    place = step("ended_at", edges[1:-1].tolist(), range(len(names)))
    rows = store.rows(
        f"select place, {COUNTS} from (select *, {place} as place from {ended} as known"
        " where ended_at is not null) as placed group by place order by place"
    )
    return [_counted(names[place], *counts) for place, *counts in rows]


def by_user(store: Store, top: int) -> list[Ended]:
    """Return how the jobs of the *top* users ended of whom most jobs did not complete."""
    bad = " + ".join(f"{name}_jobs" for name in BAD_OUTCOMES)
    rows = store.rows(
        f"select * from (select user_id as name, {COUNTS} from {_by_user(store)} as by_user"
        f" where {KNOWN} and user_id is not null group by user_id) as ended"
        f" where {bad} > 0 order by {bad} desc, name limit {top}"
    )
    return [_counted(*row) for row in rows]


def _counted(name: str, jobs: int, limit: int, failed: int, cancelled: int, cpu_seconds: float) -> Ended:
    return Ended(name, int(jobs), int(limit), int(failed), int(cancelled), cpu_seconds)


ENDED_AT: Final = f"coalesce({END}, {START})"
"""When a job ended; one that never ran ended when it stopped waiting."""


def _ended(store: Store) -> str:
    """Return the table of the jobs that ended, with user, end, outcome and core-seconds."""
    columns = f"user_id, {_end(store)} as ended_at, {outcome(store)} as outcome, {core_seconds(store)}"
    return f"(select {columns} as core_seconds from {ended_jobs(store)}) as ended"


def ended_jobs(store: Store) -> str:
    """
    Return the table of the jobs of *store* or, of a period, of those that ended in it.

    A job that never ran ended when it stopped waiting; one that had not ended when the log did counts then.
    """
    if store.period is None:
        return "jobs"
    first, last = store.period
    end = _end(store)
    return f"(select * from all_jobs as any_time where {end} >= {first!r} and {end} < {last!r}) as in_period"


def _end(store: Store) -> str:
    """Return the SQL of when a job ended."""
    return (
        f"case when {UNFINISHED} then {end_of_log(store)!r} else {ENDED_AT} end"
        if unfinished(store)
        else ENDED_AT
    )
