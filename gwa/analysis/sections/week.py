"""At which hours of the week jobs arrive."""

from collections.abc import Iterator
from typing import Final
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from gwa.analysis.base import Chapter, analysis
from gwa.breakdown.dimensions import WEEKDAYS
from gwa.metrics.calendar import MAXIMUM_DAYS
from gwa.metrics.clock import hours_of_week, local_hours
from gwa.metrics.cycle import daily_repetitions
from gwa.metrics.timeline import QUARTER, Counts, counts
from gwa.report.document import Block, Fact, Facts, Note, list_of, note_of
from gwa.report.figures.heatmap import heatmap
from gwa.store.store import Store
from gwa.util.units import DAY, HOUR
from gwa.words.compared import single_largest
from gwa.words.formatting import decimal
from gwa.words.message import message

HOURS: Final = 24
SATURDAY: Final = 5
WORKING_HOURS: Final = (8, 18)
"""From 8 to 18, Monday to Friday; 50 of 168 hours."""

BUSIEST_LABEL: Final = message("Jobs in the busiest hour (1 of 24 hours is 4.2 %)")


@analysis("Hours of the week", Chapter.ARRIVALS, facts=("arrivals.cycle",), needs=("submit_time",), order=1)
def week(store: Store) -> Iterator[Block]:
    """
    Jobs submitted at each hour of each weekday, by the clock of the trace's own time zone.

    A cell of the map is the number of jobs in that hour, averaged over all such hours from the first to
    the last submission. The shares are of all jobs with a submission time: working hours are from 8 to 18,
    Monday to Friday, 29.8 % of a week; a weekend, Saturday and Sunday, is 28.6 % of it.
    """
    system = store.system
    if system.relative:
        yield Note("Times count from an unknown start, so hours and weekdays are not known.")
        return
    quarters = counts(store, "submit_time", QUARTER)
    if quarters.times[-1] - quarters.times[0] > MAXIMUM_DAYS * DAY:
        yield Note("Submissions lie more than a century apart: some times in the log are wrong.")
        return
    jobs = np.bincount(hours_of_week(quarters.times, system.timezone), quarters.counts, HOURS * 7)
    every = np.arange(quarters.bins[0], quarters.bins[-1] + 1) * QUARTER
    covered = np.bincount(hours_of_week(every, system.timezone), minlength=HOURS * 7) * QUARTER / HOUR
    uncovered = int(np.count_nonzero(covered == 0))
    if uncovered:
        yield note_of(
            "The trace is short: nothing is known of {uncovered} of the {value} hours of a week.",
            uncovered=uncovered,
            value=7 * HOURS,
        )
    grid = jobs.reshape(7, HOURS).astype(np.float64)
    yield Facts(_facts(grid, covered.reshape(7, HOURS) > 0))
    yield from _repeated(quarters, system.timezone)
    with np.errstate(invalid="ignore"):
        means = np.where(covered > 0, jobs / covered, np.nan).reshape(7, HOURS)
    yield _figure(means, system.timezone.key)


def _facts(grid: NDArray[np.float64], covered: NDArray[np.bool_]) -> tuple[Fact, ...]:
    """
    Return the facts on daily and weekly cycles; *grid* has the jobs by weekday and hour.

    Hours that the trace does not cover are left out, and shares unless all hours are *covered*.
    """
    total, of_day = grid.sum(), grid.sum(axis=0)
    busiest, quietest = int(np.argmax(of_day)), int(np.argmin(np.where(covered.any(axis=0), of_day, np.inf)))
    single = single_largest(range(HOURS), lambda hour: float(of_day[hour]))
    others = int((of_day[covered.any(axis=0)] == of_day[quietest]).sum()) - 1
    quiet = message("{first} and {n} more", first=_clock(quietest), n=others) if others else _clock(quietest)
    working = grid[:SATURDAY, slice(*WORKING_HOURS)].sum()
    daily, weekly = bool(covered.any(axis=0).all()), bool(covered.all())

    def share(name: str, value: float, label: str, *, known: bool) -> Fact:
        return Fact(f"arrivals.cycle.{name}", float(value / total) if known else None, label, "fraction")

    facts = (
        Fact("arrivals.cycle.busiest_hour", single, "Busiest hour of the day", text=_clock(busiest)),
        share("busiest_hour_share", of_day[busiest], BUSIEST_LABEL, known=daily),
        Fact("arrivals.cycle.quietest_hour", quietest, "Quietest hour of the day", text=quiet),
        share("quietest_hour_share", of_day[quietest], message("Jobs in the quietest hour"), known=daily),
        share(
            "working_hours_share",
            working,
            message("Jobs in working hours (29.8 % of the week)"),
            known=weekly,
        ),
        share(
            "weekend_share",
            grid[SATURDAY:].sum(),
            message("Jobs at weekends (28.6 % of the week)"),
            known=weekly,
        ),
    )
    return tuple(fact for fact in facts if fact.value is not None)


def _repeated(quarters: Counts, zone: ZoneInfo) -> Iterator[Block]:
    """Yield on how many days the daily cycle of the others repeats itself."""
    local = local_hours(quarters.times, zone)
    local -= local[0] // HOURS * HOURS
    hours = np.bincount(local, quarters.counts, (int(local[-1]) // HOURS + 1) * HOURS)
    days, repeated = daily_repetitions(hours.reshape(-1, HOURS).astype(np.float64))
    if days:
        label = message("Days on which the busiest six hours of other days exceed their quietest six")
        yield list_of(
            Fact("arrivals.cycle.days", days, "Days that can show a daily cycle", "count"),
            Fact("arrivals.cycle.repeated", repeated / days, label, "fraction"),
            Fact("arrivals.cycle.zone", zone.key, "Clock of these hours"),
        )


def _clock(hour: int) -> str:
    return message("{hour}:00 to {hour2}:00", hour=hour, hour2=hour + 1)


def _figure(means: NDArray[np.float64], zone: str) -> Block:
    known = np.nan_to_num(means.ravel(), nan=-1.0)
    busiest = single_largest(range(known.size), lambda place: float(known[place]))
    day, hour = divmod(busiest, HOURS) if busiest is not None else (0, 0)
    return heatmap(
        "week",
        "Jobs submitted in an hour, by weekday",
        means,
        WEEKDAYS,
        [f"{hour}" for hour in range(HOURS)],
        message(
            "Mean jobs in each hour of the week; most arrive on {names} from {hour}, {means} on average.",
            names=WEEKDAYS[day],
            hour=_clock(hour),
            means=decimal(means[day, hour], ".1f"),
        )
        if busiest is not None
        else message("Mean jobs in each hour of the week."),
        xlabel=message("hour of the day in {zone}", zone=zone),
        ylabel="Jobs in an hour",
        unit="count",
    )
