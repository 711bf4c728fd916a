"""
What jobs held, from when to when, and until when the log tells of it.

Whatever sums over time sums over *boxes*: what a job held without a change (`gwa.store.runs`). Most jobs are
one box, from their start to their end; jobs that were started again, suspended or resized list theirs.
"""

from collections.abc import Callable
from typing import Final

from gwa.metrics.timeline import exact_sum
from gwa.store.runs import END, FIRST_START, START, boxes
from gwa.store.schema import NAMES, NOT_ENDED, UNFINISHED
from gwa.store.store import Period, Store, overlap
from gwa.util.units import DAY, HOUR

BOUNDS: Final = f"""
select min(submit_time), max(submit_time), max(coalesce({END}, {START}))
from all_jobs
"""
"""The first submission, the last, and the last end of jobs in the system at any time."""

LIMITS: Final = f"""
select count(*) as jobs, count(*) filter (where over > greatest({float(HOUR)!r}, 0.1 * req_time)) as beyond
from (select run_time - req_time as over, req_time from all_ran where req_time > 0) as limited
"""

OVERRUNS: Final = """
select over, count(*) as jobs from (
    select floor(run_time - req_time) as over from all_ran where req_time > 0 and run_time > req_time
) as overrun group by over order by over desc
"""

MAXIMUM_BEYOND: Final = 0.005
"""Limits end jobs where fewer of them ran over an hour and a tenth of their limit beyond it."""

OVERRUN_SHARE: Final = 0.001
"""The share of the jobs with limits whose overruns may be longer than the slack."""

MINIMUM_SLACK: Final = 600.0
"""Schedulers end jobs within ten minutes of their limit."""


def recorded(store: Store) -> Period | None:
    """Return the first and the last second that the log tells of, within the period asked for."""
    found = bounds(store)
    return overlap(found, store.period) if found else None


def bounds(store: Store) -> Period | None:
    """Return the first submission and the last submission or end of jobs in the system at any time."""
    first, submitted, ended = store.once("bounds", lambda: store.row(BOUNDS))
    return (first, max(submitted, ended)) if first is not None else None


def end_of_log(store: Store) -> float:
    """Return the last second that the whole log tells of."""
    return float((bounds(store.whole) or (0.0, 0.0))[1])


def runaway(store: Store) -> str | None:
    """
    Return the SQL of whether a job is a runaway; None where none is.

    A runaway is recorded as running, with no end, though it started longer before the end of the log than
    twice its limit (its limit and a day, of shorter ones) and a slack: the overrun that one in a thousand
    jobs of the log exceeds, ten minutes at least. Nothing is said of a log in which 0.5 % of the jobs or more
    ran far beyond their limits, which are not enforced then, or raised. What a runaway held is unknown: it
    is taken to hold nothing.
    """
    condition: str | None = store.whole.once("runaway", lambda: _runaway(store.whole))
    return condition


def _runaway(store: Store) -> str | None:
    if not _has_open(store) or not store.has("req_time"):
        return None
    jobs, beyond = store.row(LIMITS)
    if not jobs or beyond >= MAXIMUM_BEYOND * jobs:
        return None
    since = f"{end_of_log(store)!r} - ({START})"
    far = (
        f"req_time > 0 and {since} > req_time + greatest(req_time, {float(DAY)!r}) + {_slack(store, jobs)!r}"
    )
    condition = f"({NOT_ENDED} and {far}{_still_runs(store)})"
    (found,) = store.row(f"select count(*) as jobs from all_jobs where {condition}")
    return condition if found else None


def _slack(store: Store, jobs: int) -> float:
    """Return the overrun that all but `OVERRUN_SHARE` of *jobs*, those with limits, stay within."""
    allowed = OVERRUN_SHARE * jobs
    for over, count in store.rows(OVERRUNS):
        allowed -= count
        if allowed < 0:
            return max(float(over), MINIMUM_SLACK)
    return MINIMUM_SLACK


def running(store: Store, condition: str = UNFINISHED) -> str:
    """Return the SQL of whether a job for which *condition* holds still ran when the log ended."""
    lost = runaway(store)
    excluded = f" and not coalesce({lost}, false)" if lost else ""
    return f"({condition}{excluded}{_still_runs(store)})"


def _still_runs(store: Store) -> str:
    """Return the SQL of a further condition: the last run of the job has not ended, and it waits again."""
    return f" and (runs is null or ({END}) is null)" if has_boxes(store) else ""


def _has_open(store: Store) -> bool:
    """Whether jobs of the whole log had started and have no end, in a log that has statuses."""
    whole = store.whole
    if not whole.has("status"):
        return False
    count = f"select count(*) as jobs from all_jobs where {NOT_ENDED}"
    return bool(whole.once("open jobs", lambda: whole.row(count)[0]))


def unfinished(store: Store) -> int:
    """Return how many jobs had started, and not ended, when the log did; none where it has no statuses."""
    if not _has_open(store):
        return 0
    count = f"select count(*) as jobs from all_jobs where {running(store)}"
    return int(store.once("unfinished", lambda: store.row(count)[0]))


def held_by_running(store: Store) -> float | None:
    """Return the CPU seconds until the end of the log of jobs that had not ended then; None without any."""
    if not unfinished(store):
        return None
    held = f"select cast(sum(n_procs * ({run_time(store)})) as double) as held from all_jobs"
    seconds: float | None = store.row(f"{held} where {running(store)}")[0]
    return seconds


def runaways(store: Store) -> int:
    """Return how many jobs are recorded as running far beyond their limits (`runaway`)."""
    lost = runaway(store)
    return int(store.row(f"select count(*) as jobs from jobs where {lost}")[0]) if lost else 0


def run_time(store: Store, condition: str = "") -> str:
    """Return the SQL of how long a job ran; those for which *condition* holds ran until the log ended."""
    condition = condition or running(store)
    return f"case when {condition} then {end_of_log(store)!r} - ({START}) else run_time end"


def has_boxes(store: Store) -> bool:
    """Whether jobs of the log list boxes."""
    return store.whole.has("runs")


def listed_boxes(store: Store) -> str:
    """Return the table of the boxes that jobs in the system at any time list, with their fields."""
    lost = runaway(store)
    still = f"{end_of_log(store)!r} - submit_time - begin"
    still = f"case when {lost} then 0.0 else {still} end" if lost else still
    return store.keep_once("boxes", boxes(NAMES, "all_jobs", still))


def unlisted(store: Store) -> str:
    """Return how a condition begins that leaves out the jobs that list boxes; nothing where none does."""
    return "runs is null and " if has_boxes(store) else ""


def with_boxes(store: Store, jobs: str, of_boxes: Callable[[str], str]) -> str:
    """
    Return the query of *jobs* that are one box each and of what others list.

    *of_boxes* returns the query of the latter, with the same columns in the same order, for the name of the
    table of boxes; it is not asked where no job lists any.
    """
    return f"{jobs} union all {of_boxes(listed_boxes(store))}" if has_boxes(store) else jobs


def of_all_runs(store: Store, jobs: str) -> str:
    """
    Return the table of *jobs* with what all of their runs took and held together.

    These are ``all_seconds``, ``all_cpu_seconds`` and ``all_gpu_seconds``: of a job that is one box, those of
    its run.
    """
    amounts = {"all_seconds": "{}", "all_cpu_seconds": "n_procs * {}", "all_gpu_seconds": "n_gpus * {}"}
    if not has_boxes(store):
        once = ", ".join(f"{sql.format('run_time')} as {name}" for name, sql in amounts.items())
        return f"(select *, {once} from {jobs} as once) as summed"
    sums = ", ".join(f"{exact_sum(sql.format('seconds'))} as of_{name}" for name, sql in amounts.items())
    either = ", ".join(
        f"case when once.runs is null then {sql.format('run_time')} else of_{name} end as {name}"
        for name, sql in amounts.items()
    )
    return (
        f"(select once.*, {either} from {jobs} as once left join (select job_id, {sums}"
        f" from {listed_boxes(store)} as listed group by job_id) as several on once.job_id = several.job_id)"
        " as summed"
    )


def counted(store: Store, condition: str = "") -> str:
    """Return the SQL of how many jobs a table of boxes has or, of a *condition*, those for which it holds."""
    if not has_boxes(store):
        return f"count(*) filter (where {condition})" if condition else "count(*)"
    return f"count(distinct case when {condition} then job_id end)" if condition else "count(distinct job_id)"


def present(store: Store) -> str:
    """
    Return the table of what jobs held at any time, with submit_time, start_time, end_time and n_procs.

    A row is a box. Jobs that had not ended when the log did are taken to run until then.
    """
    columns = "submit_time, start_time, end_time, n_procs"
    is_open = unfinished(store) > 0
    if not is_open and not has_boxes(store):
        return "all_ran"
    jobs = f"select {columns} from all_ran where {unlisted(store)}true"
    if is_open:
        jobs += (
            f" union all select submit_time, {FIRST_START} as start_time, {end_of_log(store)!r} as end_time,"
            f" n_procs from all_jobs where {unlisted(store)}{running(store)}"
        )
    listed = f"select {columns} from {{}} as listed where n_procs >= 1"
    return f"({with_boxes(store, jobs, listed.format)})"


def waiting_times(store: Store) -> str:
    """
    Return the table of the times in which jobs waited, with submit_time, from which on, and wait_time.

    A job waits before its first run, and again between runs.
    """
    if not has_boxes(store):
        return "all_jobs"
    columns = "n_procs, req_n_procs"
    later = (
        f"select waits_from as submit_time, waits_until - waits_from as wait_time, {columns}"
        f" from {listed_boxes(store)} as box where waits_until > waits_from"
    )
    return f"(select submit_time, wait_time, {columns} from all_jobs union all {later})"
