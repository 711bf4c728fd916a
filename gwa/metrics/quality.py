"""
What makes conclusions from a trace unsafe, and what else is wrong or missing.

An *error* is a value that cannot be true or a row that was lost; a *warning* makes a conclusion unsafe;
*info* is worth knowing. Each problem has the number of jobs or rows that have it, unless it is one of the
log as a whole, examples, and what it affects.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gwa.metrics.calendar import MAXIMUM_DAYS
from gwa.metrics.efficiency import TOO_MUCH_CPU_TIME
from gwa.metrics.idleness import log_period
from gwa.metrics.presence import runaway, runaways
from gwa.metrics.stillness import Stretch, stillness
from gwa.metrics.window import LACKING
from gwa.store.repairs import repair_message
from gwa.store.runs import UNLISTED_RUNS
from gwa.store.schema import EXTENSION_NAMES, FIELDS, RAN
from gwa.store.store import Store
from gwa.util.units import DAY, YEAR
from gwa.words.formatting import fraction, number, seconds, timestamp
from gwa.words.message import Level, message

EXAMPLES: Final = 3
"""This many jobs or rows are named."""

LEVELS: Final[tuple[Level, ...]] = ("error", "warning", "info")


@dataclass(frozen=True)
class QualityRule:
    """
    A condition that jobs should not meet, what it means, and what it affects.

    It is only info where a share of the jobs below *minimum* meets it.
    """

    name: str
    level: Level
    meaning: str
    where: str
    needs: tuple[str, ...]
    affects: str
    minimum: float = 0.0


RULES: Final = (
    QualityRule(
        message("no submit time"),
        "warning",
        message("have no submit time"),
        "submit_time is null",
        (),
        message("arrivals, levels over time and bags of tasks leave them out"),
    ),
    QualityRule(
        message("no wait"),
        "warning",
        message("ran, but their wait is unknown"),
        f"wait_time is null and {RAN}",
        (),
        message(
            "waits and slowdowns; starts are taken to be submissions, so running jobs are shifted in time"
        ),
        0.001,
    ),
    QualityRule(
        "processors",
        "warning",
        message("used more processors than the system has"),
        "n_procs > {cpus}",
        ("n_procs",),
        message("utilization, or the number of processors is wrong"),
    ),
    QualityRule(
        message("impossible request"),
        "warning",
        message("requested over a year: unlimited, or an error of the log"),
        f"req_time > {YEAR}",
        ("req_time",),
        message("statistics of requested times, estimates and simulated backfilling"),
    ),
    QualityRule(
        message("request of processors"),
        "warning",
        message("requested more processors than the system has"),
        "req_n_procs > {cpus}",
        ("req_n_procs",),
        message("requested sizes, or the number of processors is wrong"),
    ),
    QualityRule(
        message("no processors"),
        "warning",
        message("ran for some time on no processor"),
        "run_time > 0 and n_procs = 0",
        ("run_time", "n_procs"),
        message("they do not count as jobs that ran"),
    ),
    QualityRule(
        message("no run time"),
        "warning",
        message("completed, but no run time is known"),
        "status = 1 and run_time is null",
        ("status",),
        message("run times and utilization leave them out"),
    ),
    QualityRule(
        message("CPU time"),
        "warning",
        message("used more CPU time per processor than they ran (by over 5 % and a second)"),
        TOO_MUCH_CPU_TIME,
        ("average_cpu_time", "run_time"),
        message("CPU efficiency leaves them out"),
    ),
    QualityRule(
        message("no user"),
        "warning",
        message("have no user"),
        "user_id is null",
        ("user_id",),
        message("top users, inequality and bags of tasks leave them out"),
        0.01,
    ),
    QualityRule(
        message("request exceeded"),
        "info",
        message("ran longer than they requested (by over a minute)"),
        "run_time > req_time + 60",
        ("run_time", "req_time"),
        message("simulations that end jobs at their request"),
    ),
)

TOLD_REPAIRS: Final = (
    message("file not read"), message("cut file"), message("gap in parts"), message("missing part"),
    message("no time"), message("no processors"), message("columns not read"),
    message("columns read"), message("no time zone"), message("exit codes"), message("job numbers"),
    message("settled jobs"),
)  # fmt: skip
"""What a conversion says at once, the most severe first: what was not read, or was taken for granted."""

SERIOUS_REPAIRS: Final = {*TOLD_REPAIRS, message("invalid value"), message("duplicate file")} - {
    message("exit codes"),
    message("columns read"),
    message("settled jobs"),
}
"""Repairs made by gwa itself; what converters remark on is information."""

MAXIMUM_TOLD: Final = 3
"""The number of repairs that are named at the end of a conversion; the others are counted."""

REPAIR_EFFECTS: Final = {
    message("settled jobs"): message("jobs that were requeued since, and steps that came later"),
    message("invalid value"): message("statistics of that field leave them out"),
    message("clock skew"): message("short waits and run times"),
    message("file not read"): message("everything, if it is a log of this trace"),
    message("cut file"): message("counts, arrivals and levels: jobs behind the cut are missing"),
    message("gap in parts"): message(
        "counts, arrivals and levels: jobs of these parts are missing, amid the others"
    ),
    message("missing part"): message("counts, arrivals and levels: jobs of these parts are missing"),
    message("no time"): message("they count as jobs, but are missing from all time series"),
    message("no time zone"): message(
        "hours of the day and days of the week, and times beside those of other traces"
    ),
    message("columns not read"): message("nothing, unless a column that jobs need has another name there"),
    message("duplicate file"): message("nothing: it was read once"),
    message("job numbers"): "job numbers differ from those of the source",
    message("unknown status"): "outcomes",
}

NUMBERS: Final = """
select count(*) filter (where back > 0) as steps, count(*) filter (where back > 1800) as jumps,
    min(case when back > 1800 then job_id end) as first, count(*) filter (where repeated) as repeated
from (
    select job_id, lag(submit_time ignore nulls) over w - submit_time as back,
        lag(job_id) over w = job_id as repeated
    from jobs window w as (order by job_id)
) as ordered
"""
"""
Steps back in time, and repeated numbers, of the jobs in the order of their numbers.

Where job numbers follow submissions, a clock that is set back shows as a step of half an hour or more.
"""

MAXIMUM_STEPS: Final = 0.001
"""Where a larger share of jobs lies before the previous one, job numbers do not follow submissions."""

LONG_RUNNING: Final = "run_time >= 600 and wait_time >= 60 and submit_time is not null"
"""Tasks of a bag may be alike to the second, but seldom after ten minutes of running."""

AT_ONCE: Final = f"""
select count(*) filter (where at_once) as jobs from (
    select submit_time = lag(submit_time) over w and wait_time = lag(wait_time) over w
        and run_time = lag(run_time) over w as at_once
    from jobs where {LONG_RUNNING} window w as (order by submit_time, wait_time, run_time)
) as ordered
"""
"""Jobs whose times are those of another one: no fewer than are alike in all, in a third of the time."""

ALIKE: Final = f"""
select cast(sum(n - 1) as bigint) as jobs, min(case when n > 1 then job end) as first from (
    select count(*) as n, min(job_id) as job from jobs where {LONG_RUNNING}
    group by submit_time, wait_time, run_time, n_procs, average_cpu_time, used_memory, req_time, user_id,
        executable_id, queue_id, status
) as groups having sum(n - 1) > 0
"""

MINIMUM_ALIKE: Final = 0.01


@dataclass(frozen=True)
class Problem:
    """
    A problem of a trace: the number of jobs or rows that have it, examples, and what it affects.

    The *count* is None for a problem of the log as a whole.
    """

    level: Level
    name: str
    meaning: str
    count: int | None
    affects: str = ""
    examples: tuple[str, ...] = ()


def problems(store: Store, facts: Mapping[str, Any] | None = None) -> list[Problem]:
    """
    Return all problems of a trace, the most severe first: errors, then warnings, then information.

    Within them, what affects most conclusions comes first. Where *facts* on its window of observation and
    utilization are known, their problems are told, too.
    """
    found = [
        *_rejected(store),
        *_repeated_numbers(store),
        *unsafe_levels(facts or {}),
        *_runaways(store),
        *_unknown_runs(store),
        *_gaps(store),
        *_clock_jumps(store),
        *_alike(store),
        *_violations(store),
        *_repairs(store),
    ]
    return sorted(found, key=lambda problem: LEVELS.index(problem.level))


MINIMUM_UNFINISHED: Final = 0.01
MINIMUM_ABOVE: Final = 0.001


def unsafe_levels(facts: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield what makes levels over time unsafe: a log that is cut, jobs that did not end, a wrong size."""
    lacking = LACKING.get(facts.get("window.cut") or "")
    jobs = facts.get("trace.jobs") or 0
    if lacking:
        first, last = facts.get("window.first"), facts.get("window.last")
        known = (
            message("known for {last} only", last=seconds(last - first))
            if first is not None and last is not None
            else message("lower bounds")
        )
        # Where both ends look cut, the system may as well have been empty then.
        severity: Level = "info" if facts["window.cut"] == "both" and last is not None else "warning"
        yield Problem(
            severity,
            "cut log",
            message("the log {lacking}", lacking=lacking),
            None,
            message("utilization and other levels are {known}", known=known),
        )
    unfinished = facts.get("utilization.unfinished") or 0
    if unfinished:
        level: Level = "warning" if unfinished >= MINIMUM_UNFINISHED * jobs else "info"
        meaning = message("were still running when the log ended")
        yield Problem(
            level, "unfinished", meaning, unfinished, message("run times: long ones are underrepresented")
        )
    yield from _over_capacity(facts)


def _over_capacity(facts: Mapping[str, Any]) -> Iterator[Problem]:
    share, cpus = facts.get("utilization.above_capacity"), facts.get("trace.cpus")
    if share and cpus and not facts.get("trace.cpus_inferred"):
        peak = facts.get("utilization.peak")
        most = message(", at most {peak}", peak=number(peak)) if peak else ""
        words = {"share": fraction(share), "cpus": number(cpus), "most": most}
        meaning = (
            message("for {share} of the time, more processors are busy than there were{most}", **words)
            if "trace.cpus_least" in facts
            else message("for {share} of the time, more than the {cpus} processors are busy{most}", **words)
        )
        level: Level = "warning" if share >= MINIMUM_ABOVE else "info"
        affects = message("utilization and simulations of this system")
        yield Problem(level, "over capacity", meaning, None, affects)


UNKNOWN_RUNS: Final = f"{UNLISTED_RUNS} > 0 and run_time >= 0"


def _runaways(store: Store) -> Iterator[Problem]:
    """Yield the jobs that are recorded as running far beyond their limits."""
    condition = runaway(store)
    jobs = runaways(store)
    if condition and jobs:
        yield Problem(
            "warning",
            "runaway jobs",
            message("are recorded as running far beyond their time limit: their end was never written"),
            jobs,
            message("core-hours and charges: what they held is unknown, and none of it is counted"),
            _examples(store, condition),
        )


def _unknown_runs(store: Store) -> Iterator[Problem]:
    """Yield the jobs that ran before their last run, where it is not known what they held then."""
    if not store.has("n_requeues"):
        return
    (jobs,) = store.row(f"select count(*) as jobs from jobs where {UNKNOWN_RUNS}")
    if jobs:
        yield Problem(
            "info",
            "earlier runs",
            message("ran before they were requeued, and the log does not say what they held then"),
            jobs,
            message("core-hours, utilization and charges: they are lower bounds"),
            _examples(store, UNKNOWN_RUNS),
        )


def _rejected(store: Store) -> Iterator[Problem]:
    rejected = store.account.rejected
    if rejected:
        rows = store.rows(f"select file, line from rejects order by file, line limit {EXAMPLES}")
        examples = tuple(f"{file}:{line}" for file, line in rows)
        affects = message("everything: they are not among the jobs")
        yield Problem(
            "error", "rejected rows", message("rows of the source were refused"), rejected, affects, examples
        )


def _numbers(store: Store) -> tuple[Any, ...]:
    """Return what `NUMBERS` tells, which two kinds of problems ask for."""
    return store.once("job numbers", lambda: store.row(NUMBERS))


def _repeated_numbers(store: Store) -> Iterator[Problem]:
    *_, repeated = _numbers(store)
    if repeated:
        query = "select job_id from jobs group by job_id having count(*) > 1 order by job_id limit"
        examples = tuple(message("job {job}", job=job) for (job,) in store.rows(f"{query} {EXAMPLES}"))
        meaning, affects = (
            message("job numbers that occur more than once"),
            message("counts: jobs may be counted twice"),
        )
        yield Problem("error", "job numbers", meaning, repeated, affects, examples)


def _repairs(store: Store) -> Iterator[Problem]:
    for name, meaning, jobs in store.rows("select name, meaning, jobs from repairs order by jobs desc, name"):
        level: Level = "warning" if name in SERIOUS_REPAIRS else "info"
        if jobs:
            yield Problem(level, name, repair_message(meaning), jobs, REPAIR_EFFECTS.get(name, ""))


@dataclass(frozen=True)
class ConversionNotes:
    """What is worth knowing after a conversion: how many notes there are, and the most severe of them."""

    count: int = 0
    told: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    """The extension fields that jobs record."""
    of: str = Store.holds
    """What the trace is of."""


def conversion_notes(store: Store) -> ConversionNotes:
    """Return the notes on how the rows of a trace were read; `problems` has all of them."""
    if store.holds != Store.holds:
        found = store.rows(f"select * from repairs order by all limit {MAXIMUM_TOLD}")
        worst = tuple(f"{name} ({count:,}): {meaning}" for name, meaning, count in found)
        return ConversionNotes(told=worst, of=store.holds)
    repairs = store.rows("select name, meaning, jobs from repairs where jobs > 0 order by jobs desc, meaning")
    told = sorted(
        (repair for repair in repairs if repair[0] in TOLD_REPAIRS),
        key=lambda repair: TOLD_REPAIRS.index(repair[0]),
    )
    count = len(repairs) + bool(store.account.rejected)
    texts = tuple(f"{name} ({jobs:,}): {meaning}" for name, meaning, jobs in told[:MAXIMUM_TOLD])
    return ConversionNotes(count, texts, tuple(name for name in EXTENSION_NAMES if store.has(name)))


def _violations(store: Store) -> Iterator[Problem]:
    """Yield the rules that jobs break, counted in one query."""
    cpus = store.system.largest
    rules = [
        rule
        for rule in RULES
        if all(store.has(name) for name in rule.needs) and ("{cpus}" not in rule.where or cpus)
    ]
    filters = ", ".join(f"count(*) filter (where {rule.where.format(cpus=cpus)})" for rule in rules)
    jobs, *violations = store.row(f"select count(*), {filters} from jobs")
    for rule, count in zip(rules, violations, strict=True):
        if count:
            level = rule.level if count >= rule.minimum * jobs else "info"
            examples = _examples(store, rule.where.format(cpus=cpus))
            yield Problem(level, rule.name, rule.meaning, count, rule.affects, examples)


def _examples(store: Store, where: str) -> tuple[str, ...]:
    query = f"select job_id from jobs where {where} order by job_id limit {EXAMPLES}"
    return tuple(message("job {job}", job=job) for (job,) in store.rows(query))


def _clock_jumps(store: Store) -> Iterator[Problem]:
    """Yield where the clock of the log seems to have been set back."""
    steps, jumps, first, _ = _numbers(store)
    if jumps and steps <= MAXIMUM_STEPS * store.known["submit_time"]:
        meaning = message("were submitted over half an hour before the job of the previous number")
        affects = message("arrivals, waits and the order of jobs: the clock may have been set back")
        yield Problem(
            "warning", "clock jump", meaning, jumps, affects, (message("job {first}", first=first),)
        )


def _alike(store: Store) -> Iterator[Problem]:
    """Yield rows that may stand in the log twice."""
    minimum = MINIMUM_ALIKE * store.known["job_id"]
    if store.row(AT_ONCE)[0] < minimum:
        return
    for jobs, first in store.rows(ALIKE):
        if jobs >= minimum:
            meaning = message("agree with another job in all that is recorded, to the second")
            affects = message("counts and CPU time, if they are the same job twice and not tasks of a bag")
            yield Problem(
                "warning", "duplicates", meaning, jobs, affects, (message("job {first}", first=first),)
            )


def _gaps(store: Store) -> Iterator[Problem]:
    """Yield the stretches in which rows are missing, or may be, as `gwa.metrics.stillness` finds them."""
    if not store.has("submit_time"):
        return
    period = log_period(store)
    if period is not None and period[1] - period[0] > MAXIMUM_DAYS * DAY:
        meaning, affects = (
            message("times lie more than a century apart"),
            message("everything over time"),
        )
        yield Problem("warning", "span", meaning, None, affects)
        return
    found = stillness(store)
    affects = message("means per day, cycles and utilization")
    if missing := found.of("missing"):
        meaning = message("intervals in which job numbers jump and no job was submitted: rows are missing")
        name = message("missing rows")
        yield Problem("warning", name, meaning, len(missing), affects, _longest(store, missing))
    knows_gaps = found.knows_runs and found.knows_rows
    silent = found.of("still") if knows_gaps else [*found.of("still"), *found.of("silent")]
    if gaps := [gap for gap in silent if gap.seconds >= DAY]:
        meaning = (
            message(
                "intervals in which nothing was submitted and nothing ran: the machine was down or closed,"
                " or rows are missing"
            )
            if knows_gaps
            else message("intervals in which nothing was submitted: rows may be missing")
        )
        yield Problem("warning", message("gaps"), meaning, len(gaps), affects, _longest(store, gaps))


def _longest(store: Store, gaps: Iterable[Stretch]) -> tuple[str, ...]:
    """Return how long the longest of *gaps* last, and from when."""
    zone = None if store.system.relative else store.system.timezone.key
    longest = sorted(gaps, key=lambda gap: (-gap.seconds, gap.begin))[:EXAMPLES]
    return tuple(
        message("{length} from {begin}", length=seconds(gap.seconds), begin=timestamp(gap.begin, zone))
        for gap in longest
    )


def completeness(store: Store) -> list[tuple[str, str, int, float]]:
    """Return title, meaning, number and share of jobs that record each field; extensions if any does."""
    jobs = max(store.row("select count(*) as jobs from jobs")[0], 1)
    return [
        (field.title, message(field.meaning), store.known[field.name], store.known[field.name] / jobs)
        for field in FIELDS
        if field.name not in EXTENSION_NAMES or store.has(field.name)
    ]
