"""
Outages, missing rows, stillness and silence: four things that look alike in a log, and what tells them apart.

An *outage* is a stretch in which jobs waited and nothing ran, though jobs of that log hardly ever wait so
long where there is room. In a *silence* nothing was submitted for longer than chance would have it. Rows are
*missing* where job numbers jump over one; the log is *still* where nothing ran in it either, and merely
*silent* where jobs ran. All other time in which nothing ran is *idle*, of which a log tells no reason.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import gcd
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gwa.metrics.calendar import MAXIMUM_DAYS
from gwa.metrics.hours import Hours
from gwa.metrics.idleness import idle_stretches, log_period, observed
from gwa.metrics.job_numbers import JobNumbers, Passed
from gwa.metrics.presence import present, running, unfinished, unlisted, with_boxes
from gwa.metrics.standstill_levels import levels
from gwa.metrics.timeline import Floats, exact_sum
from gwa.metrics.waits import eligible
from gwa.statistics.sample import Sample
from gwa.statistics.stillness import HOURS_OF_WEEK, freed_together, smallest_of, survival, unlikely_runs
from gwa.store.runs import FIRST_START
from gwa.store.store import Period, Store
from gwa.util.units import DAY, HOUR, MINUTE

Kind = Literal["outage", "missing", "still", "silent"]

MINIMUM_IDLE: Final = float(HOUR)
MINIMUM_SECONDS: Final = 2.0 * HOUR
"""Nothing ran for an hour or more in an outage, and from the first job that waited it is two."""

MAXIMUM_PROBABILITY: Final = 0.02
"""The maximum probability, over all idle stretches, that an outage is chance."""

GRACE: Final = 10.0 * MINUTE
"""Jobs submitted this short before something starts say nothing: a scheduler works in rounds."""

LONG_IDLE: Final = f"select begin, finish from {{idle}} as every where finish - begin >= {MINIMUM_IDLE!r}"

MAXIMUM_WAIT: Final = 60.0 * DAY
"""Jobs that waited longer are on hold."""

LONG_BEFORE: Final = float(HOUR)
FREED_WITHIN: Final = 30.0 * MINUTE
"""Jobs submitted an hour or more before an outage ends are freed together if they start in this time."""

MINUTE_BEFORE: Final = float(MINUTE)
"""The machine was full if more than half of it was busy this long before it stopped."""

ROOM: Final = 0.5
PEAK: Final = 0.999
"""There is room where no more than half of the 99.9 % level is busy."""

NOTHING_RAN: Final = 0.9
"""A log is still where nothing ran for this share of a silence at a stretch, or for a day."""

MAXIMUM_IN_GAPS: Final = 0.02
"""Of an interval with more of its time in gaps of the log, it is unknown how busy it was."""

COVERED: Final = 0.8
TOUCHED: Final = 0.5
"""An outage of which a silence covers the first share is that silence; missing rows explain one that they
touch by the second."""

JOBS: Final = f"""
select {{submitted}} as submitted, {FIRST_START} as started,
    coalesce({FIRST_START} + run_time, {{last!r}}) as ended,
    cast(n_procs as double) as n_procs, case when wait_time is null then 0.0 else 1.0 end as waited,
    {{who}} as who, job_id
from all_jobs where {{once}}submit_time is not null and n_procs >= 1 and (run_time >= 0{{or_unfinished}})
"""
"""
When each job that ran could have started, started and ended, and whose it was.

Jobs that had not ended when the log did run until then; *waited* is 1 where the wait is known, else 0.
"""

JOBS_OF_RUNS: Final = """
select case when previous_end is null then {submitted} else start_time end as submitted,
    start_time as started, end_time as ended, cast(n_procs as double) as n_procs,
    case when previous_end is null and wait_time is not null then 1.0 else 0.0 end as waited,
    {who} as who, job_id
from {boxes} as listed where n_procs >= 1
"""
"""The same of the boxes of jobs that held several: the first was waited for, from the submission on."""

WAITERS: Final = f"""
select begin, finish, count(*) as jobs, min(submitted) as earliest,
    min(case when submitted >= begin then submitted end) as inside,
    count(*) filter (where submitted < begin) as before,
    count(*) filter (where submitted < finish - {LONG_BEFORE!r}) as long,
    count(*) filter (where submitted < finish - {LONG_BEFORE!r} and started < finish + {FREED_WITHIN!r})
        as freed
from ({LONG_IDLE}) as stretch
inner join (
    select * from ({{jobs}}) as every where waited > 0 and started - submitted >= {GRACE!r}
) as job on job.submitted < stretch.finish - {GRACE!r} and job.started >= stretch.finish
where submitted > finish - {MAXIMUM_WAIT!r}
group by begin, finish, who order by finish, earliest
"""
"""The users who waited at the end of each idle stretch, and what they waited for."""

LEVELS: Final = f"""
with job as ({{jobs}}), stretch as (
    {LONG_IDLE}
), event as (
    select begin as t, 0 as kind, 0.0 as held, 0.0 as queued, 1.0 as idle, 0.0 as n_procs, 0.0 as seconds,
        0 as job_id
    from stretch
    union all
    select finish, 0, 0.0, 0.0, -1.0, 0.0, 0.0, 0 from stretch
    union all
    select submitted, 1, 0.0, 1.0, 0.0, n_procs, ceil(started - submitted), job_id from job where waited > 0
    union all
    select ended, 2, -n_procs, 0.0, 0.0, 0.0, 0.0, job_id from job where ended > started
    union all
    select started, 3, case when ended > started then n_procs else 0.0 end, -waited, 0.0, 0.0, 0.0, job_id
    from job
    union all
    select begin - {MINUTE_BEFORE!r}, 4, 0.0, 0.0, 0.0, 0.0, begin, 0 from stretch
), placed as (
    select cast(floor(t / {float(HOUR)!r}) as bigint) as hour, * from event
), hourly as (
    select hour, sum(held) as held, sum(queued) as queued, sum(idle) as idle, max(kind) as last
    from placed group by hour
), earlier as (
    select hour, last, sum(held) over w - held as held, sum(queued) over w - queued as queued,
        sum(idle) over w - idle as idle
    from hourly window w as (order by hour rows between unbounded preceding and current row)
), looked as (
    select * from earlier where hour % {{every}} = 0 or last = 4
), moment as (
    select placed.hour as hour, kind, seconds, n_procs, looked.held + sum(placed.held) over w as held,
        looked.queued + sum(placed.queued) over w - placed.queued as queued,
        looked.idle + sum(placed.idle) over w as idle
    from placed inner join looked on placed.hour = looked.hour
    window w as (
        partition by placed.hour order by t, kind, job_id rows between unbounded preceding and current row
    )
)
select kind, held + n_procs as held, seconds, count(*) as jobs from moment
where kind = 4 or (hour % {{every}} = 0 and (kind in (2, 3) or (kind = 1 and queued <= 0 and idle = 0)))
group by kind, held + n_procs, seconds
"""
"""
Busy processors after each start and end (kinds 3 and 2) and a minute before each idle stretch (4); and, for
jobs submitted while none waited and outside idle stretches (1), those busy with their own, with their waits.

Events of one moment are ordered: a submission sees what was busy before. Sums are taken within each hour, on
top of those of earlier hours: no sort is larger than an hour of jobs. Of a large log one hour in *every* is
looked at.
"""

SAMPLED_JOBS: Final = 250_000
"""The levels of a log with many more jobs are those of some of its hours, of about as many jobs in all."""


@dataclass(frozen=True)
class Stretch:
    """
    A stretch of a *kind* from *begin* to *end*, and the *jobs* of how many *users* that waited throughout.

    *users* is None where users are not recorded. Of a silence, *numbers* tell what job numbers passed over;
    None where they do not rise with time. Where rows may be missing, a log that is still may lack some of
    what ran *since* the last submission, before the last job that it has ended.
    """

    kind: Kind
    begin: float
    end: float
    jobs: int = 0
    users: int | None = None
    numbers: Passed | None = None
    since: float | None = None

    @property
    def unknown(self) -> "Stretch":
        """The time of which the log does not tell what ran: its own, and that since *since*."""
        return self if self.since is None else replace(self, begin=self.since)

    @property
    def seconds(self) -> float:
        """How long it lasts."""
        return self.end - self.begin

    def within(self, period: Period) -> "Stretch":
        """Return the part of it in *period*; it has no length outside."""
        first, last = period
        since = None if self.since is None else min(max(self.since, first), last)
        begin, end = min(max(self.begin, first), last), max(min(self.end, last), first)
        return replace(self, begin=begin, end=end, since=since)


@dataclass(frozen=True)
class Stillness:
    """
    The *stretches* of a log in the order of their ends, and what was looked for.

    *knows_runs* says whether it is known when jobs ran, and *knows_waits* whether it is known when jobs
    waited, without which no outage is looked for. Unless it *knows_rows*, rows may be missing in each
    silence: the job numbers that would tell were lost, so that no kind's stretches can be counted.
    *unaccounted* is where the log does not record what ran. Of a period these are the parts in it of those of
    the whole log: the end of a stillness of days is one, too, though it may last hours.
    """

    stretches: tuple[Stretch, ...]
    knows_runs: bool
    knows_waits: bool
    knows_rows: bool = True
    unaccounted: tuple[Stretch, ...] = ()

    def of(self, kind: Kind) -> list[Stretch]:
        """Return the stretches of one kind."""
        return [stretch for stretch in self.stretches if stretch.kind == kind]


def still_for_days(stretches: Sequence[Stretch]) -> list[Stretch]:
    """Return the *stretches* in which a log is still for a day or more, and no outage explains it."""
    outages = [one for one in stretches if one.kind == "outage"]
    return [
        stretch
        for stretch in stretches
        if stretch.kind == "still"
        and stretch.seconds >= DAY
        and not any(one.begin <= stretch.begin and stretch.end <= one.end for one in outages)
    ]


def unaccounted_of(stretches: Sequence[Stretch]) -> tuple[Stretch, ...]:
    """
    Return where a log with *stretches* does not record what ran: in missing rows, and where it is still.

    The latter is stillness of a day or more, since the last submission unless job numbers show that no rows
    are missing.
    """
    missing = [stretch for stretch in stretches if stretch.kind == "missing"]
    return (*missing, *(stretch.unknown for stretch in still_for_days(stretches)))


class Standstill(NamedTuple):
    """Jobs waited from *begin*, and nothing ran from *stopped*, until *end*."""

    begin: float
    end: float
    stopped: float
    jobs: int
    users: int


class Silence(NamedTuple):
    """The last submission before whole hours without any, and the first one after them."""

    begin: float
    end: float


def stillness(store: Store) -> Stillness:
    """
    Return the outages, missing rows, stillness and silence of the whole log, within the period asked for.

    They are those of the system, whatever jobs are looked at, and are found once for each log. A trace that a
    model made has none: no system stood still.
    """
    whole = store.whole
    if whole.is_generated:
        return Stillness((), knows_runs=bool(observed(store)), knows_waits=False)
    found = whole.once("stillness", lambda: _stillness(whole))
    seen, every = observed(store), log_period(store)
    inside = (
        stretch.within(period)
        for stretch in found.stretches
        if (period := seen if stretch.kind == "outage" else every)
    )
    gaps = [gap.within(every) for gap in found.unaccounted] if every else []
    return replace(
        found,
        stretches=tuple(stretch for stretch in inside if stretch.seconds > 0),
        unaccounted=tuple(gap for gap in gaps if gap.seconds > 0),
    )


def in_gaps(store: Store, edges: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return of which intervals between *edges* it is unknown what ran, in more than a small part of each."""
    inside = np.zeros(len(edges) - 1)
    for gap in stillness(store).unaccounted:
        parts = np.minimum(gap.end, edges[1:]) - np.maximum(gap.begin, edges[:-1])
        inside += np.clip(parts, 0, None)
    return inside > MAXIMUM_IN_GAPS * np.diff(edges)


def unaccounted_in(store: Store, period: Period) -> list[Period]:
    """Return the parts of a *period* of which the log does not record what ran; they do not overlap."""
    parts = [stretch.within(period) for stretch in stillness(store).unaccounted]
    return [(part.begin, part.end) for part in parts if part.seconds > 0]


def known_area(store: Store, period: Period) -> tuple[float, float]:
    """
    Return the processor-seconds held in *period* outside what is unaccounted for, and how long that is.

    What is unaccounted for are missing rows, and stillness of a day or more since the last submission.
    """
    return known_area_of(store, period, present(store), "n_procs")


def known_area_of(store: Store, period: Period, jobs: str, amount: str) -> tuple[float, float]:
    """Return the same of any *amount* that *jobs*, a table with their starts and ends, held."""
    first, last = period
    excluded = unaccounted_in(store, period)
    held = ", ".join(
        exact_sum(f"{amount} * greatest(least(end_time, {b!r}) - greatest(start_time, {a!r}), 0.0)")
        + f" as a{place}"
        for place, (a, b) in enumerate([(first, last), *excluded])
    )
    table = f"{jobs} as present where start_time < {last!r} and end_time > {first!r}"
    total, *areas = (value or 0.0 for value in store.row(f"select {held} from {table}"))
    return total - sum(areas), last - first - sum(b - a for a, b in excluded)


def _stillness(store: Store) -> Stillness:
    """Return what is found in a whole log."""
    period = log_period(store)
    knows_runs = bool(observed(store))
    knows_waits = knows_runs and _knows_waits(store)
    if period is None or period[1] - period[0] > MAXIMUM_DAYS * DAY:
        return Stillness((), knows_runs, knows_waits)
    body, silences = _silences(store)
    standstills = standstills_of(store) if knows_waits else []
    knows_rows = not (silences and JobNumbers.are_lost(store))
    numbers = JobNumbers.of(store, body) if silences and knows_rows else None
    labelled = [
        _labelled(store, silence, standstills, numbers.passed(*silence) if numbers else None, knows_runs)
        for silence in silences
    ]
    explained = {
        one for stretch in labelled for one in _explained(stretch, standstills, knows_rows=knows_rows)
    }
    outages = [
        Stretch("outage", one.begin, one.end, one.jobs, _users(store, one))
        for one in standstills
        if one not in explained and one.end > body[0] and one.begin < body[1]
    ]
    every = tuple(sorted([*labelled, *outages], key=lambda one: one.end))
    return Stillness(every, knows_runs, knows_waits, knows_rows, unaccounted_of(every))


def _knows_waits(store: Store) -> bool:
    """Whether the waits of nine in ten of the jobs that ran are known, so that starts are."""
    jobs, unknown = store.row(
        "select count(*) as jobs, count(*) filter (where wait_time is null) as unknown from all_ran"
    )
    return bool(unknown * 10 <= jobs)


def _labelled(
    store: Store,
    silence: Silence,
    standstills: Iterable[Standstill],
    numbers: Passed | None,
    knows_runs: bool,  # noqa: FBT001 - one of the things that are known
) -> Stretch:
    """
    Return a silence with its kind, and the jobs that waited in it.

    One that is still begins when the last job ended, not with the last submission: of a short one, jobs may
    have run for long. If rows are missing, those of jobs that ran until then are, too.
    """
    if numbers and numbers.shows_missing_rows:
        return Stretch("missing", *silence, numbers=numbers)
    kind: Kind = "silent"
    since, (begin, end) = None, silence
    idle = _longest_idle(store, silence) if knows_runs else None
    if idle and idle[1] - idle[0] >= min(NOTHING_RAN * (end - begin), DAY):
        kind, (begin, end) = "still", idle
        since = None if numbers and numbers.shows_no_missing_rows else silence.begin
    covered = max(
        (one for one in standstills if _covers(silence, one)), key=lambda one: one.jobs, default=None
    )
    if covered is None:
        return Stretch(kind, begin, end, numbers=numbers, since=since)
    return Stretch(kind, begin, end, covered.jobs, _users(store, covered), numbers, since)


def _explained(
    stretch: Stretch, standstills: Iterable[Standstill], *, knows_rows: bool
) -> Iterator[Standstill]:
    """Yield the standstills that are part of a silence, or due to missing rows, and so no outages."""
    silence = Silence(stretch.begin, stretch.end)
    for one in standstills:
        touched = _shared(silence, one.stopped, one.end) >= TOUCHED * (one.end - one.stopped)
        if touched if stretch.kind == "missing" or not knows_rows else _covers(silence, one):
            yield one


def _covers(silence: Silence, standstill: Standstill) -> bool:
    shared = _shared(silence, standstill.begin, standstill.end)
    return shared >= COVERED * (standstill.end - standstill.begin)


def _shared(silence: Silence, begin: float, end: float) -> float:
    return max(0.0, min(silence.end, end) - max(silence.begin, begin))


def _users(store: Store, standstill: Standstill) -> int | None:
    return standstill.users if _has_users(store) else None


def _has_users(store: Store) -> bool:
    """Whether jobs of two users or more are in the log."""
    (users,) = store.once(
        "two users", lambda: store.row("select count(distinct user_id) as users from all_jobs")
    )
    return bool(users > 1)


def _longest_idle(store: Store, silence: Silence) -> Period | None:
    """Return the longest part of a silence in which nothing ran, None where there is none."""
    begin, end = silence
    parts = store.rows(
        f"select greatest(begin, {begin!r}) as since, least(finish, {end!r}) as until"
        f" from {idle_stretches(store)} as idle where begin < {end!r} and finish > {begin!r}"
        " order by until - since desc, since limit 1"
    )
    return (float(parts[0][0]), float(parts[0][1])) if parts else None


# Standstills: jobs waited and nothing ran.


def standstills_of(store: Store) -> list[Standstill]:
    """
    Return the stretches of a whole log in which jobs waited and nothing ran, and chance hardly explains it.

    Of each stretch of an hour or more in which nothing ran, the jobs that could have started ten minutes or
    more before its end, and did at its end or later, are one observation for each user, or for each hour of
    submission where users are unknown. Either each of them waited longer than jobs do when there is room;
    jobs that had waited before only count if more than half of the machine was busy a minute before it
    stopped, else they are on hold. Or more users had jobs freed within half an hour than chance has it.
    """
    idle = idle_stretches(store)
    waiters = {
        name: np.ma.filled(np.ma.asarray(column, np.float64), np.nan)
        for name, column in store.arrays(WAITERS.format(idle=idle, jobs=_jobs(store))).items()
    }
    if not len(waiters["finish"]):
        return []
    (tries,) = store.row(f"select count(*) as n from ({LONG_IDLE.format(idle=idle)}) as stretch")
    peak, before, waits = _levels(store)
    first = np.unique(waiters["finish"], return_index=True)[1]
    standstills = []
    for part in np.split(np.arange(len(waiters["finish"])), first[1:]):
        users = {name: column[part] for name, column in waiters.items()}
        was_full = before[users["begin"][0]] > ROOM * peak
        standstill, probability = _tested(users, waits, int(tries), was_full=was_full)
        if probability <= MAXIMUM_PROBABILITY and standstill.end - standstill.begin >= MINIMUM_SECONDS:
            standstills.append(standstill)
    return standstills


def _tested(
    users: dict[str, Floats], waits: Sample, tries: int, *, was_full: bool
) -> tuple[Standstill, float]:
    """Return what the *users* who waited at the end of an idle stretch make of it, and how likely it is."""
    begin, end = float(users["begin"][0]), float(users["finish"][0])
    waited_from = users["inside"].copy()
    if was_full:
        waited_from[users["before"] > 0] = begin
    counted = waited_from[~np.isnan(waited_from)]
    longer = float(np.prod(survival(waits, end - counted)))
    together = freed_together(int(np.count_nonzero(users["long"])), int(np.count_nonzero(users["freed"])))
    first = counted if len(counted) else np.maximum(users["earliest"], begin)
    standstill = Standstill(float(first.min()), end, begin, int(users["jobs"].sum()), len(users["jobs"]))
    return standstill, smallest_of((longer, together), tries)


def _jobs(store: Store) -> str:
    """Return the query for when jobs could have started, started and ended, and whose they were."""
    submitted = eligible(store)
    who = "coalesce(user_id, '')" if _has_users(store) else f"floor(({submitted}) / {float(HOUR)!r})"
    period = log_period(store)
    jobs = JOBS.format(
        once=unlisted(store),
        submitted=submitted,
        who=who,
        last=float(period[1] if period else 0.0),
        or_unfinished=f" or {running(store)}" if unfinished(store) else "",
    )
    of_boxes = partial(JOBS_OF_RUNS.format, submitted=submitted, who=who)
    return with_boxes(store, jobs, lambda table: of_boxes(boxes=table))


def _levels(store: Store) -> tuple[float, dict[float, float], Sample]:
    """
    Return the 99.9 % level, that a minute before each idle stretch, and the waits of jobs with room.

    The level is of busy processors after each start and end.
    """
    every = _stride(store.row("select count(*) as jobs from all_jobs")[0])
    idle = idle_stretches(store)
    if found := levels(store, _jobs(store), LONG_IDLE.format(idle=idle), MINUTE_BEFORE, every):
        peak = Sample.of(found.after).quantile(PEAK)
        return peak, found.before, Sample.of(found.waits[found.busy <= ROOM * peak])
    query = LEVELS.format(idle=idle, jobs=_jobs(store), every=every)
    table = store.keep("levels_at_submissions", query)
    columns = store.arrays(
        f"select held, cast(sum(jobs) as bigint) as n from {table} as levels where kind in (2, 3)"
        " group by held"
    )
    peak = Sample.weighted(columns["held"], columns["n"]).quantile(PEAK)
    before = {
        float(begin): held
        for begin, held in store.rows(f"select seconds, held from {table} as levels where kind = 4")
    }
    rooms = store.arrays(
        f"select seconds, cast(sum(jobs) as bigint) as n from {table} as levels"
        f" where kind = 1 and held <= {float(ROOM * peak)!r} group by seconds"
    )
    return float(peak), before, Sample.weighted(rooms["seconds"], rooms["n"])


def _stride(jobs: int) -> int:
    """
    Return one hour in how many is looked at, of a log of *jobs* jobs: all hours of the week are met.

    >>> _stride(200_000), _stride(1_000_000), _stride(1_600_000)
    (1, 5, 11)
    """
    stride = max(1, round(jobs / SAMPLED_JOBS))
    while gcd(stride, HOURS_OF_WEEK) > 1:
        stride += 1
    return stride


# Silences: nothing was submitted.


def _silences(store: Store) -> tuple[Period, list[Silence]]:
    """Return the time between the stragglers of a whole log, and the silences in it."""
    hours = Hours.of(store)
    if hours is None:
        return (0.0, 0.0), []
    body = hours.body()
    runs = unlikely_runs(hours.counts[body] == 0, hours.of_week[body])
    edges = hours.edges[body.start : body.stop + 1]
    period = (float(edges[0]), float(edges[-1]))
    return period, _exact(store, [(float(edges[run.first]), float(edges[run.after])) for run in runs])


def _exact(store: Store, hours: list[Period]) -> list[Silence]:
    """Return the last submission before, and the first one after, empty *hours*."""
    if not hours:
        return []
    borders = ", ".join(
        f"max(submit_time) filter (where submit_time < {first!r}) as last{place},"
        f" min(submit_time) filter (where submit_time >= {after!r}) as next{place}"
        for place, (first, after) in enumerate(hours)
    )
    row = store.row(f"select {borders} from all_jobs")
    return [Silence(*pair) for pair in zip(row[::2], row[1::2], strict=True)]
