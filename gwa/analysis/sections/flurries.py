"""Bursts of jobs by one user that may not be typical of the system."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from gwa.analysis.base import Chapter, analysis
from gwa.metrics.calendar import Calendar
from gwa.metrics.timeline import QUARTER, counts
from gwa.metrics.user_days import user_days
from gwa.report.columns import column, first_of
from gwa.report.document import Block, Column, Fact, FactTable, Note, Table, list_of
from gwa.report.facts import facts_of, number
from gwa.statistics.sample import Sample
from gwa.store.store import Store
from gwa.util.units import DAY
from gwa.words.formatting import decimal
from gwa.words.message import message
from gwa.words.unit import Unit

BURST_FACTOR: Final = 5
"""On a burst, a user submits at least this multiple of the jobs of all users on a median day."""

MINIMUM_SHARE: Final = 0.01
MINIMUM_JOBS: Final = 100
"""A flurry has at least this share of the jobs of the trace, and at least this number of jobs."""

MAXIMUM_ROWS: Final = 20

JOBS_PER_DAY: Final = """
select count(*) as value from {table} as t where submit_time is not null group by floor(submit_time / {day!r})
"""

FLURRIES: Final = """
with placed as (
    select *, day - row_number() over (partition by user_id order by day) as stretch
    from {days} where jobs >= {burst!r}
)
select user_id, min(first) as first, max(last) as last, cast(sum(jobs) as bigint) as jobs
from placed group by user_id, stretch having sum(jobs) >= {least!r}
"""

FLURRY_LIST: Final = """
with flurry as ({flurries})
select flurry.user_id as user_id, flurry.first as first, flurry.last as last, flurry.jobs as jobs,
    min(job_id) as lowest, max(job_id) as highest,
    cast(sum(case when run_time >= 0 and n_procs >= 1
        then cast(run_time * n_procs as decimal(38, 6)) else 0 end) as double) as cpu_seconds
from flurry inner join jobs on jobs.user_id = flurry.user_id
    and jobs.submit_time >= flurry.first and jobs.submit_time <= flurry.last
group by flurry.user_id, flurry.first, flurry.last, flurry.jobs
order by jobs desc, first, user_id
"""

WITHOUT_FLURRIES: Final = """
(with flurry as ({flurries}), marked as (
    select job.*, flurry.user_id as burst from {table} as job
    left join flurry on job.user_id = flurry.user_id
        and job.submit_time >= flurry.first and job.submit_time <= flurry.last
) select * from marked where burst is null)
"""

USER_COUNT: Final = "select count(*) as jobs, count(distinct user_id) as users from {table} as t"

RAN_TOTALS: Final = """
select count(*) as jobs, cast(sum(cpu_seconds) as double) as cpu_seconds,
    cast(sum(n_procs) as double) as procs, count(*) filter (where n_procs = 1) as sequential
from {table} as t
"""

COMPARED_FIGURES: Final[Mapping[str, tuple[str, Unit]]] = {
    "jobs": (message("Jobs"), "count"),
    "users": (message("Users"), "count"),
    "jobs_per_day": (message("Jobs on a day that has any"), "count"),
    "busiest_day": (message("Jobs on the busiest day"), "count"),
    "cpu_seconds": (message("CPU time"), "cpu seconds"),
    "utilization": (message("Utilization"), "fraction"),
    "runtime_mean": (message("Mean run time"), "seconds"),
    "runtime_median": (message("Median run time"), "seconds"),
    "procs_mean": (message("Mean processors per job"), "count"),
    "sequential": (message("Jobs on one processor"), "fraction"),
}
"""The figures compared with and without flurries: label and unit."""


@analysis("Flurries", Chapter.MODELLERS, facts=("flurries",), needs=("user_id", "submit_time"), order=8)
def flurries(store: Store) -> Iterator[Block]:
    """
    Bursts of very high activity by one user, which dominate a log for a while and may be no guide to others.

    Tsafrir and Feitelson (2006) call them flurries; the Parallel Workloads Archive removes them from its
    cleaned logs. Here, one is found where a user submits on a day (UTC) at least 5 times as many jobs as all
    users together on a median day that has any; such days in a row are one flurry, if it has at least
    1 % of the jobs of the trace and 100 of them. Nothing is removed: the filters below would do so.
    """
    daily = store.sample("value", f"({JOBS_PER_DAY.format(day=float(DAY), table='jobs')})")
    typical = daily.median()
    total = store.row("select count(*) from jobs")[0]
    minimum = max(MINIMUM_SHARE * total, float(MINIMUM_JOBS))
    query = FLURRIES.format(days=user_days(store), burst=BURST_FACTOR * typical, least=minimum)
    rows = store.rows(FLURRY_LIST.format(flurries=query))
    jobs = sum(row[3] for row in rows)
    days = {day for _, first, last, *_ in rows for day in range(int(first // DAY), int(last // DAY) + 1)}
    yield list_of(
        Fact("flurries.count", len(rows), "Flurries found", "count"),
        Fact("flurries.jobs", jobs, "Jobs in flurries", "count"),
        Fact("flurries.jobs_share", jobs / total, "Their share of the jobs", "fraction"),
        Fact("flurries.typical_day", number(typical), "Jobs of all users on a median day", "count"),
        Fact("flurries.days", len(days), "Days with a flurry", "count"),
        Fact("flurries.submission_days", daily.n, "Days with any submission", "count"),
    )
    if not rows:
        rule = message(
            "{minimum} jobs, on days of at least {burst_factor}",
            minimum=decimal(minimum, ",.0f"),
            burst_factor=decimal(BURST_FACTOR * typical, ",.0f"),
        )
        yield Note(message("No user's burst is a flurry by this rule, which asks for {rule}.", rule=rule))
        return
    yield _flurry_table(rows, total)
    yield _filter_table(rows)
    yield _effect_table(store, query)


def sql_filter(user: str, first: float, last: float) -> str:
    """
    Return the SQL condition that selects the jobs of a flurry.

    >>> sql_filter("o'neill", 10.0, 20.5)
    "user_id = 'o''neill' and submit_time between 10 and 20.5"
    """
    name = user.replace("'", "''")
    return f"user_id = '{name}' and submit_time between {number(first)} and {number(last)}"


def _flurry_table(rows: list[tuple[Any, ...]], total: int) -> Table:
    return Table(
        "flurries",
        "Flurries found",
        (
            Column("user", "User"),
            Column("first", "First job", "timestamp"),
            Column("last", "Last job", "timestamp"),
            column("jobs"),
            column("jobs_share", "share"),
            column("cpu_seconds"),
        ),
        tuple(
            (user, first, last, jobs, jobs / total, number(seconds))
            for user, first, last, jobs, _, _, seconds in rows[:MAXIMUM_ROWS]
        ),
        note=first_of(MAXIMUM_ROWS, len(rows)),
    )


def _filter_table(rows: list[tuple[Any, ...]]) -> Table:
    return Table(
        "flurries-filters",
        "Filters: the jobs that each flurry is made of",
        (Column("sql", "As a condition in SQL"), Column("range", "As user and numbers of jobs")),
        tuple(
            (sql_filter(user, first, last), f"user={user}, job={lowest}-{highest}")
            for user, first, last, _, lowest, highest, _ in rows[:MAXIMUM_ROWS]
        ),
        note="To keep the others, write: where not (...). The condition is exact; the numbers of jobs are so"
        " where they follow the order of submission.",
    )


def _effect_table(store: Store, query: str) -> FactTable:
    """Return the main figures with and without the flurries; the period stays that of the whole trace."""
    remaining = {name: WITHOUT_FLURRIES.format(flurries=query, table=name) for name in ("jobs", "ran")}
    before, after = _figures(store, "jobs", "ran"), _figures(store, remaining["jobs"], remaining["ran"])
    return FactTable(
        "flurries-effect",
        "What would change without them",
        ("With", "Without", "Change"),
        tuple(
            (
                label,
                facts_of(
                    "flurries",
                    (f"with.{name}", before[name], message("{label}, with flurries", label=label), unit),
                    (f"without.{name}", after[name], message("{label}, without flurries", label=label), unit),
                    (
                        f"change.{name}",
                        _change(before[name], after[name]),
                        message("{label}, change without flurries", label=label),
                        "fraction",
                    ),
                ),
            )
            for name, (label, unit) in COMPARED_FIGURES.items()
        ),
        note="The period and the processors stay those of the whole trace.",
    )


def _figures(store: Store, jobs: str, ran: str) -> dict[str, float | int | None]:
    """Return the main figures of a trace; *jobs* and *ran* are the SQL of its jobs and of those that ran."""
    submitted, users = store.row(USER_COUNT.format(table=jobs))
    ran_jobs, cpu_seconds, processors, sequential = store.row(RAN_TOTALS.format(table=ran))
    start, end = store.row("select min(submit_time), max(end_time) from ran")
    capacity = (store.system.size or 0) * ((end or 0.0) - (start or 0.0))
    run_times = store.sample("run_time", ran)
    days = _jobs_per_day(store, jobs)
    return {
        "jobs": submitted,
        "users": users,
        "jobs_per_day": number(days.mean()),
        "busiest_day": number(days.max()),
        "cpu_seconds": number(cpu_seconds or 0.0),
        "utilization": (cpu_seconds or 0.0) / capacity if capacity > 0 else None,
        "runtime_mean": number(run_times.mean()),
        "runtime_median": number(run_times.median()),
        "procs_mean": processors / ran_jobs if ran_jobs else None,
        "sequential": sequential / ran_jobs if ran_jobs else None,
    }


def _jobs_per_day(store: Store, jobs: str) -> Sample:
    """Return the jobs of each day that has any, by the calendar of the section on arrivals."""
    quarters = counts(store, "submit_time", QUARTER, jobs)
    if not len(quarters.bins):
        return Sample.of([])
    first, last = float(quarters.times[0]), float(quarters.times[-1])
    days = Calendar.of(first, last, store.system.timezone, relative=store.system.relative)
    return Sample.of(quarters.per(days.edges)).restrict(above=0.0)


def _change(before: float | None, after: float | None) -> float | None:
    """Return the change to a tenth of a percent; there is no negative zero."""
    return round((after - before) / before, 3) + 0.0 if before and after is not None else None
