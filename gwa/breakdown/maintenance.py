"""
What a maintenance window would meet, by what the same hours of other weeks held, and when it would be less.

A window is the time from one moment to another. Like it are the windows at the same hours of the week, by the
clock of the log's time zone, in the time in which the log knows its load.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gwa.breakdown.held import held_jobs
from gwa.errors import ArgumentError
from gwa.metrics.clock import HOURS_OF_WEEK, MONDAY, clock, local_hours
from gwa.metrics.outcomes import outcome
from gwa.metrics.presence import counted, present, recorded
from gwa.metrics.stillness import unaccounted_in
from gwa.metrics.timeline import Floats, Ints, exact_sum, level
from gwa.metrics.window import RUNNING, window
from gwa.store.runs import START
from gwa.store.store import Period, Store
from gwa.store.subset import moment
from gwa.store.system import System
from gwa.util.units import HOUR, WEEK

MAXIMUM_DAYS: Final = 14
"""Longer windows have no hours of the week."""

MINIMUM_WEEKS: Final = 4
"""Of fewer past weeks nothing is said."""

RECENT: Final = 12
"""Whose jobs a window meets is told of as many weeks, the last ones."""

CHOSEN: Final = 5
"""As many windows are named as the quietest."""

QUIET: Final = 0.25
"""Quiet is a window that held no more than this share of all windows of its length did."""

IN_WINDOWS: Final = """
{table} as met inner join (values {windows}) as windows(place, since, until)
on start_time < until and end_time > since
"""
"""What jobs held, once for each window that they ran in."""

HELD: Final = exact_sum("n_procs * (least(end_time, until) - greatest(start_time, since))")
"""The SQL of the processor-seconds that were held in windows."""

MET: Final = f"""
select place, {{jobs_cut}} as cut, {{jobs_held}} as held_back, {HELD} as held
from {IN_WINDOWS} group by place order by place
"""

OWNERS: Final = f"""
select user_id, {{jobs}} as jobs, {HELD} as held
from {IN_WINDOWS} where user_id is not null group by user_id order by held desc, user_id
"""

STILL_RUNNING: Final = """
select user_id, count(*) as jobs, sum(n_procs) as processors, max(ends) as last,
    count(*) filter (where ends is null) as unlimited
from (
    select user_id, n_procs, case when req_time > 0 then {start} + req_time end as ends
    from jobs where {outcome} = 'running' and wait_time >= 0 and n_procs >= 1
) as running
where ends > {begin!r} or ends is null group by user_id order by processors desc, user_id
"""


@dataclass(frozen=True)
class MaintenanceWindow:
    """A window, from *begin* to *end* in seconds by the log's time."""

    begin: float
    end: float

    @classmethod
    def parse(cls, text: str, system: System) -> "MaintenanceWindow":
        """
        Return the window that a text such as ``2026-12-01T06:00..2026-12-01T18:00`` says.

        Raise `ArgumentError` where it says none, or where the log's times have no dates.

        >>> MaintenanceWindow.parse("2026-12-01T06:00..2026-12-02", System(zone="UTC", relative=False))
        MaintenanceWindow(begin=1796104800.0, end=1796169600.0)
        """
        if system.relative:
            raise ArgumentError("a window is of dates, and times of this trace count from an unknown start")
        first, _, last = text.partition("..")
        try:
            begin, end = (moment(one)[0].replace(tzinfo=system.timezone).timestamp() for one in (first, last))
        except (ValueError, OverflowError):
            raise ArgumentError(
                f"the window is '{text}', expected two moments such as 2026-12-01T06:00..2026-12-01T18:00"
            ) from None
        if not 0 < end - begin <= MAXIMUM_DAYS * 24 * HOUR:
            raise ArgumentError(
                f"the window is '{text}', expected an end after its begin, by {MAXIMUM_DAYS} days at most"
            )
        return cls(begin, end)

    def like(self, system: System, known: Period, gaps: Sequence[Period]) -> list[Period]:
        """Return the windows at the same hours of all weeks that lie in what is *known*, outside *gaps*."""
        begin = datetime.fromtimestamp(self.begin, system.timezone)
        length = self.end - self.begin
        first = ceil((known[0] - self.begin) / WEEK) - 1
        last = int((known[1] - self.begin) // WEEK) + 1
        # Local arithmetic keeps the hour of the clock where it is put back or forward.
        begins = ((begin + timedelta(weeks=week)).timestamp() for week in range(first, last + 1))
        found = ((one, one + length) for one in begins)
        return [
            (since, until)
            for since, until in found
            if known[0] <= since
            and until <= known[1]
            and since != self.begin
            and not any(gap < until and since < end for gap, end in gaps)
        ]


@dataclass(frozen=True)
class Met:
    """
    What like *windows* met, a number each.

    *cut* are the jobs that ran when one began, *held_back* those that started in it, and *held* the
    processor-seconds that jobs held in it.
    """

    windows: Sequence[Period]
    cut: Ints
    held_back: Ints
    held: Floats


@dataclass(frozen=True)
class StillRunning:
    """
    The *jobs* of a *user*, with their *processors*, whose limits allow them to run on.

    *last* is the latest end that a limit allows; of as many as are *unlimited* no limit is recorded.
    """

    user: str | None
    jobs: int
    processors: int
    last: float | None
    unlimited: int


@dataclass(frozen=True)
class QuietHours:
    """
    The windows that begin at an *hour* of the week; 0 is Monday at midnight.

    They held *held* processor-seconds on average in the weeks that chose them. Of the other *weeks*, they
    were quiet in *quiet*.
    """

    hour: int
    held: float
    quiet: int
    weeks: int


def met(store: Store, asked: MaintenanceWindow) -> Met | None:
    """Return what the windows like the one that is *asked* met; None where fewer than four are known."""
    known = window(store).period
    windows = asked.like(store.system, known, unaccounted_in(store, known)) if known else []
    if len(windows) < MINIMUM_WEEKS:
        return None
    cut, started = counted(store, "start_time < since"), counted(store, "start_time >= since")
    rows = store.rows(
        MET.format(jobs_cut=cut, jobs_held=started, table=held_jobs(store), windows=_values(windows))
    )
    found = np.zeros((3, len(windows)))
    for place, *values in rows:
        found[:, place] = [value or 0 for value in values]
    return Met(windows, found[0].astype(np.int64), found[1].astype(np.int64), found[2])


def owners(store: Store, found: Met) -> list[tuple[str, int, float]]:
    """Return whose jobs the last windows met: user, jobs, and processor-seconds held in them."""
    windows = _values(found.windows[-RECENT:])
    query = OWNERS.format(jobs=counted(store), table=held_jobs(store), windows=windows)
    return [(str(user), int(jobs), float(held or 0.0)) for user, jobs, held in store.rows(query)]


def _values(windows: Sequence[Period]) -> str:
    return ", ".join(f"({place}, {since!r}, {until!r})" for place, (since, until) in enumerate(windows))


def still_running(store: Store, asked: MaintenanceWindow) -> list[StillRunning]:
    """
    Return, of the jobs that ran when the log ended, those that may run when a window begins, by user.

    Nothing is returned for a window that begins before the log ends.
    """
    span = recorded(store.whole)
    if span is None or asked.begin < span[1] or not (store.has("wait_time") and store.has("n_procs")):
        return []
    return [
        StillRunning(user, int(jobs), int(processors or 0), last, int(unlimited))
        for user, jobs, processors, last, unlimited in store.rows(
            STILL_RUNNING.format(start=START, outcome=outcome(store), begin=asked.begin)
        )
    ]


def quietest(store: Store, asked: MaintenanceWindow) -> list[QuietHours]:
    """
    Return the hours of the week at which windows as long as the one that is *asked* held least.

    They are chosen by the first, third, … week that is known, and whether they are quiet is counted in the
    second, fourth, …: what is lowest of many by chance would look quiet in the weeks that chose it.
    """
    known = window(store).period
    if known is None:
        return []
    length = ceil((asked.end - asked.begin) / HOUR)
    begins, held = hourly(store, known, length)
    if not len(begins):
        return []
    hours, weeks = hours_and_weeks(store, begins)
    return list(_quietest(hours, held, weeks % 2 == weeks[0] % 2, length))


def hours_and_weeks(store: Store, begins: Floats) -> tuple[Ints, Ints]:
    """Return the hour of the week of each of *begins*, 0 on Monday at midnight, and its week."""
    weeks, hours = np.divmod(local_hours(begins, clock(store)) + int(MONDAY) // HOUR, HOURS_OF_WEEK)
    return hours, weeks


def hourly(store: Store, known: Period, hours: int) -> tuple[Floats, Floats]:
    """Return when windows of that many *hours* begin, and what each held; those with a gap are left out."""
    offset = datetime.fromtimestamp(known[0], store.system.timezone).utcoffset() or timedelta()
    shift = offset.total_seconds() % HOUR
    first = ceil((known[0] + shift) / HOUR) * HOUR - shift
    number = int((known[1] - first) // HOUR)
    if number < hours:
        return np.empty(0), np.empty(0)
    busy = level(store, "n_procs", RUNNING, present(store), width=HOUR, period=(first, first + number * HOUR))
    area = np.repeat(busy.values, busy.lengths) * HOUR
    is_known = np.ones(number)
    for begin, end in unaccounted_in(store, known):
        is_known[max(0, int((begin - first) // HOUR)) : ceil((end - first) / HOUR)] = 0
    every = np.ones(hours)
    whole = np.convolve(is_known, every, "valid") > hours - 0.5
    begins: Floats = first + HOUR * np.arange(number - hours + 1, dtype=np.float64)
    return begins[whole], np.convolve(area, every, "valid")[whole]


def _quietest(hours: Ints, held: Floats, chooses: NDArray[np.bool_], length: int) -> Iterator[QuietHours]:
    """Yield the quietest hours of the week, of windows that do not overlap, the quietest first."""
    counted_in = ~chooses
    if not counted_in.any():
        return
    limit = float(np.quantile(held[counted_in], QUIET))
    means: Mapping[int, float] = {
        hour: float(held[chooses & (hours == hour)].mean()) for hour in np.unique(hours[chooses]).tolist()
    }
    named: list[int] = []
    for hour in sorted(means, key=lambda hour: (means[hour], hour)):
        apart = [min((hour - other) % HOURS_OF_WEEK, (other - hour) % HOURS_OF_WEEK) for other in named]
        others = held[counted_in & (hours == hour)]
        if all(gap >= length for gap in apart) and len(others) >= MINIMUM_WEEKS // 2:
            named.append(hour)
            yield QuietHours(hour, means[hour], int((others <= limit).sum()), len(others))
        if len(named) == CHOSEN:
            return
