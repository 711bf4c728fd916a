"""What changed over the life of the log: steps in weekly arrivals, load, wait times, failures and users."""

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from gwa.analysis.base import Chapter, analysis
from gwa.analysis.sections._weeks import BIN, Weeks
from gwa.metrics.timeline import Floats, exact_sum, level
from gwa.report.document import Block, Column, Fact, Facts, Note, Table, Unit, Value
from gwa.report.facts import number
from gwa.report.figures.series import series
from gwa.report.formatting import counted, show
from gwa.statistics.changes import MINIMUM_LENGTH, Shift, shifts, window_length
from gwa.store.store import Store
from gwa.util.units import MINUTE, WEEK


class Measure(NamedTuple):
    """
    Something that is measured each week.

    Steps are sought in the logarithm of the value and an *offset*, which no small value shall dominate, or
    in the value itself, if it is a *share*; *least* is the smallest step that is kept, on that scale.
    """

    title: str
    unit: Unit
    least: float = 0.18
    offset: float = 0.0
    is_share: bool = False


MEASURES: Final = {
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

KNOWN_SHARE: Final = 0.75
"""A measure that fewer weeks have, such as run times in a log with long gaps, is left out."""

SUBMITTED: Final = """
select week, count(*) as jobs, count(distinct user_id) as users, count(wait) as waits, {wait} as waited
from (
    select cast(floor((submit_time - {origin!r}) / {width!r}) as bigint) as week, user_id,
        case when wait_time >= 0 then wait_time end as wait
    from jobs where submit_time is not null
) as job group by week order by week
"""

RAN: Final = """
with timed as (
    select cast(floor((submit_time - {origin!r}) / {width!r}) as bigint) as week, run_time, count(*) as jobs,
        sum(n_procs) as procs
    from ran where submit_time is not null group by week, run_time
), ranked as (
    select week, run_time, procs, jobs,
        sum(jobs) over (partition by week order by run_time) as upto, sum(jobs) over (partition by week) as n
    from timed
)
select week, min(case when 2 * upto >= n then run_time end) as low,
    min(case when 2 * upto > n then run_time end) as high,
    cast(sum(procs) as double) / cast(sum(jobs) as double) as procs
from ranked group by week order by week
"""
"""Mean processors and the two run times in the middle, between which the median lies."""

ENDED: Final = """
select cast(floor((end_time - {origin!r}) / {width!r}) as bigint) as week, count(*) as jobs,
    sum(case when status = 0 then 1 else 0 end) as failed
from ran where status is not null and end_time is not null group by week order by week
"""


class Change(NamedTuple):
    """A step of a *measure* in a week, and the medians of the weeks before and after it."""

    measure: str
    week: int
    before: float
    after: float


@analysis(
    "Changes over time",
    Chapter.CHANGES,
    facts=("changes",),
    needs=("submit_time",),
)
def changes(store: Store) -> Iterator[Block]:
    """
    Steps in weekly values: what rose or fell at some time and stayed there for weeks.

    Weeks are whole and begin on Mondays. Jobs, users, wait times, run times and processors are those of jobs
    submitted in the week, failures those of jobs that ended in it; wait times are of jobs that record one.
    Steps are sought by self-normalised sums over nested windows (Shao and Zhang 2010; Zhao, Jiang and Shao
    2022) of the winsorised logarithm, that of shares in the share itself, at 1 % for each series. Steps of
    less than about a fifth (a tenth for the maximum of busy processors, three percentage points for
    failures), less than the usual variation between weeks, or no more than growth or a yearly cycle explains
    are not shown. Before and after are the medians of the weeks from the step to the next one.

    A step close to either end of the log is not found. In a log of less than two years, a season may look
    like a step. Causes are not known: fewer busy processors may be a smaller system, or less work.
    """
    weeks = Weeks.of(store)
    if weeks.count < MINIMUM_LENGTH:
        yield Note(
            f"What changed is unknown: the log has {counted(weeks.count, 'whole week')}, not 26 or more."
        )
        yield Facts((Fact("changes", None, "Changes of level", text="unknown"),))
        return
    values = {name: known for name, known in weekly(store, weeks).items() if _is_known(known)}
    if "jobs" not in values:
        yield Note("What changed is unknown: too many weeks have no jobs.")
        yield Facts((Fact("changes", None, "Changes of level", text="unknown"),))
        return
    found = [change for name, known in values.items() for change in steps(name, known)]
    yield Facts((_fact(found, weeks, store),), listed=False)
    edge = counted(window_length(weeks.count), "week")
    if not found:
        yield Note(
            f"No step is found in {weeks.count} weeks. None would be found in the first and last {edge}."
        )
        return
    yield _table(found, weeks, store)
    for name, known in values.items():
        if own := [change for change in found if change.measure == name]:
            yield _figure(name, known, own, weeks)


def weekly(store: Store, weeks: Weeks) -> dict[str, Floats]:
    """Return the values of each measure that the trace records, one for each week; nan where unknown."""
    place = {"origin": weeks.origin, "width": float(WEEK)}
    submitted = _columns(store, SUBMITTED.format(wait=exact_sum("wait"), **place), weeks.count)
    values = {"jobs": submitted["jobs"]}
    if store.has("user_id"):
        values["users"] = submitted["users"]
    if store.has("wait_time"):
        with np.errstate(invalid="ignore"):
            values["wait"] = submitted["waited"] / submitted["waits"]
    if store.has("run_time") and store.has("n_procs"):
        values |= _of_jobs_that_ran(store, weeks, place)
    return {name: values[name] for name in MEASURES if name in values}


def _of_jobs_that_ran(store: Store, weeks: Weeks, place: dict[str, float]) -> dict[str, Floats]:
    first, last = store.row("select min(submit_time), max(end_time) from ran")
    if first is None or last <= first:
        return {}
    busy = level(store, "n_procs", ("start_time", "end_time"), "ran", width=BIN, period=(first, last))
    ran = _columns(store, RAN.format(**place), weeks.count)
    values = {
        "peak": weeks.peaks(busy),
        "busy": busy.between(weeks.edges),
        "runtime": (ran["low"] + ran["high"]) / 2,
        "processors": ran["procs"],
    }
    if store.has("status"):
        ended = _columns(store, ENDED.format(**place), weeks.count)
        with np.errstate(invalid="ignore"):
            values["failed"] = ended["failed"] / ended["jobs"]
    return values


def _columns(store: Store, query: str, count: int) -> dict[str, Floats]:
    """Return the columns of a query, a value for each of the weeks; nan for weeks without."""
    columns = store.arrays(query)
    week = np.asarray(columns.pop("week"), np.int64)
    inside = (week >= 0) & (week < count)
    placed = {}
    for name, values in columns.items():
        placed[name] = np.full(count, np.nan)
        known = np.ma.filled(np.ma.asarray(values).astype(np.float64), np.nan)
        placed[name][week[inside]] = known[inside]
    return placed


def _is_known(values: Floats) -> bool:
    """Return whether enough weeks have a value."""
    return bool(np.isfinite(values).mean() >= KNOWN_SHARE)


def steps(name: str, values: Floats) -> list[Change]:
    """Return the steps of the measure called *name*, in order."""
    measure = MEASURES[name]
    week, known = np.arange(values.size), np.isfinite(values)
    filled = np.interp(week, week[known], values[known])
    if not measure.is_share:
        positive = filled[filled > 0]
        floor = float(positive.min()) if positive.size else 1.0
        filled = np.log(filled + measure.offset if measure.offset else np.maximum(filled, floor))
    found = shifts(filled, measure.least)
    return [change for change in _medians(name, values, found) if change.before != change.after]


def _medians(name: str, values: Floats, found: list[Shift]) -> list[Change]:
    """Return the steps with the medians of the weeks between them."""
    parts = np.split(values, [shift.place for shift in found])
    levels = [float(np.nanmedian(part)) for part in parts]
    return [
        Change(name, shift.place, before, after)
        for shift, before, after in zip(found, levels[:-1], levels[1:], strict=True)
        if (after > before) == (shift.after > shift.before)
    ]


def _fact(found: list[Change], weeks: Weeks, store: Store) -> Fact:
    """Return the fact that lists all changes, by their weeks."""
    ordered = sorted(found, key=lambda change: (change.week, list(MEASURES).index(change.measure)))
    value: Value = [
        {
            "what": change.measure,
            "when": weeks.label(change.week, store),
            "before": number(change.before),
            "after": number(change.after),
        }
        for change in ordered
    ]
    return Fact("changes", value, "Changes of level", text=counted(len(found), "change") if found else "none")


def _table(found: list[Change], weeks: Weeks, store: Store) -> Table:
    return Table(
        "changes",
        "Changes of weekly values, by measure",
        (
            Column("what", "Weekly value"),
            Column("when", "From the week of"),
            Column("before", "Before"),
            Column("after", "After"),
            Column("change", "Change", "fraction"),
        ),
        tuple(
            (
                MEASURES[change.measure].title,
                weeks.label(change.week, store),
                show(number(change.before), MEASURES[change.measure].unit),
                show(number(change.after), MEASURES[change.measure].unit),
                (change.after - change.before) / change.before if change.before else None,
            )
            for change in found
        ),
    )


def _figure(name: str, values: Floats, found: list[Change], weeks: Weeks) -> Block:
    """Return the figure of a measure with its levels between the steps."""
    measure = MEASURES[name]
    places = [change.week for change in found]
    parts = np.split(values, places)
    levels = np.concatenate([np.full(part.size, np.nanmedian(part)) for part in parts])
    words = ", then ".join(show(float(np.nanmedian(part)), measure.unit) for part in parts)
    return series(
        f"changes-{name}",
        f"{measure.title} per week",
        weeks.edges[:-1],
        {"week": values, "median": levels},
        measure.title,
        f"{measure.title} in each of {weeks.count} weeks, with the median between changes: {words}.",
        unit=measure.unit,
        zone=weeks.zone,
    )
