"""What a maintenance window would meet, and when one as long would meet less."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

import numpy as np

from gwa.analysis.base import Chapter, analysis
from gwa.breakdown.dimensions import WEEKDAYS
from gwa.breakdown.maintenance import (
    MINIMUM_WEEKS,
    RECENT,
    MaintenanceWindow,
    Met,
    met,
    owners,
    quietest,
    still_running,
)
from gwa.breakdown.records import Records
from gwa.metrics.presence import recorded
from gwa.metrics.timeline import Floats
from gwa.report.columns import column
from gwa.report.document import Block, Column, Fact, Facts, Note, list_of, note_of
from gwa.report.facts import number
from gwa.store.store import Store
from gwa.util.units import HOUR
from gwa.words.formatting import number as number_text
from gwa.words.formatting import timestamp
from gwa.words.message import Message, Number, message
from gwa.words.unit import Unit

LABELS: Final[Mapping[str, tuple[Unit, Message, Message]]] = {
    "held": (
        "hours",
        message("Core-hours held in like windows, median"),
        message("Core-hours held in like windows, 90th percentile"),
    ),
    "cut": (
        "count",
        message("Jobs that ran when like windows began, median"),
        message("Jobs that ran when like windows began, 90th percentile"),
    ),
    "held_back": (
        "count",
        message("Jobs that started in like windows, median"),
        message("Jobs that started in like windows, 90th percentile"),
    ),
}

STATED: Final = "window"
"""What a window is called among what is stated of a trace."""


@analysis(
    "Maintenance window",
    Chapter.UTILIZATION,
    facts=("maintenance",),
    needs=("submit_time", "run_time", "n_procs"),
    when=lambda store: isinstance(store.stated.get(STATED), MaintenanceWindow),
    order=3,
)
def maintenance(store: Store) -> Iterator[Block]:
    """
    What the window of --window would meet, by what the same hours of other weeks held, and quieter ones.

    Like it are the windows at the same hours of the week, by the log's clock, in the time in which the log
    knows its load, without gaps of it. Jobs that run when a window begins would be cut, or nothing may start
    so long before it that they end; jobs that would start in it are held back. What is in the window itself,
    if the log has it, is not counted. A job without a known wait is taken to start when it is submitted.
    Limits are requested times: jobs may end earlier.

    The quietest hours of the week are those at which windows as long held least in every other week; how
    often they were quiet is counted in the weeks between, as what is least of many by chance looks quiet in
    the weeks that chose it. Quiet is to have held no more than a quarter of all windows of that length did.
    """
    asked = store.stated.get(STATED)
    if not isinstance(asked, MaintenanceWindow):
        yield Note("No window is stated: --window names one.")
        return
    yield list_of(
        Fact("maintenance.begin", asked.begin, "The window begins", "timestamp"),
        Fact("maintenance.end", asked.end, "The window ends", "timestamp"),
    )
    yield from _running(store, asked)
    found = met(store, asked)
    if found is None:
        yield note_of(
            "What such a window meets is not known: the log knows fewer than {weeks} windows at these"
            " hours of the week.",
            weeks=number_text(MINIMUM_WEEKS),
        )
    else:
        yield from _met(found)
        yield from _users(store, found)
    yield from _quiet(store, asked)


def _met(found: Met) -> Iterator[Block]:
    """Yield what like windows met, as a sentence and facts."""
    values: Mapping[str, Floats] = {
        "held": found.held / HOUR, "cut": found.cut.astype(float), "held_back": found.held_back.astype(float),
    }  # fmt: skip
    medians = {name: float(np.median(of)) for name, of in values.items()}
    tails = {name: float(np.quantile(of, 0.9)) for name, of in values.items()}
    yield note_of(
        "In {n} windows at these hours of other weeks, jobs held {half} core-hours or less in half of"
        " them, and {most} or less in nine of ten. Jobs that ran when one began: {cut} (median); that"
        " started in it: {held}.",
        n=number_text(len(found.windows)),
        half=number_text(medians["held"]),
        most=number_text(tails["held"]),
        cut=number_text(medians["cut"]),
        held=number_text(medians["held_back"]),
    )
    yield list_of(
        Fact("maintenance.windows", len(found.windows), "Like windows in the log", "count"),
        *(
            Fact(f"maintenance.{name}.{part}", number(of[name]), label, unit)
            for name, (unit, *labels) in LABELS.items()
            for part, of, label in zip(("median", "p90"), (medians, tails), labels, strict=True)
        ),
    )


def _users(store: Store, found: Met) -> Iterator[Block]:
    """Yield whose jobs the last like windows met, where users are recorded."""
    people = owners(store, found)
    held = sum(amount for _, _, amount in people)
    rows = [
        {
            "id": user,
            "jobs": jobs,
            "core_hours": number(amount / HOUR),
            "share": amount / held if held else None,
        }
        for user, jobs, amount in people[: store.top]
    ]
    if not rows:
        return
    windows = number_text(min(RECENT, len(found.windows)))
    yield from Records(
        "maintenance.users",
        message("Whose jobs the last {n} such windows met", n=windows),
        (
            Column("id", "User"), column("jobs"), Column("core_hours", "Core-hours in them", "hours"),
            Column("share", "Share", "fraction"),
        ),
        rows,
    ).blocks("maintenance-users")  # fmt: skip


def _running(store: Store, asked: MaintenanceWindow) -> Iterator[Block]:
    """Yield whose jobs may still run when the window begins, by the limits of those that ran at the end."""
    rows: list[dict[str, Any]] = [
        {"id": one.user, **{key: value for key, value in vars(one).items() if key != "user"}}
        for one in still_running(store, asked)
    ]
    if not rows:
        return
    jobs = sum(row["jobs"] for row in rows)
    yield Facts((Fact("maintenance.running", jobs, "Running jobs whose limits reach the window", "count"),))
    yield from Records(
        "maintenance.running_users",
        message("Jobs of the log's end that may, by their limits, still run when the window begins"),
        (
            Column("id", "User"), column("jobs"), column("processors"),
            Column("last", "Latest end by a limit", "timestamp"),
            Column("unlimited", "Without a limit", "count"),
        ),
        rows,
    ).acted_on("maintenance-running")  # fmt: skip


def _quiet(store: Store, asked: MaintenanceWindow) -> Iterator[Block]:
    """Yield when windows as long would meet least, and how often they were quiet in other weeks."""
    span = recorded(store.whole)
    found = quietest(store, asked)
    if not found or span is None:
        return
    rows = [
        {
            "id": _named(one.hour),
            "next": _next(store, one.hour, span[1]),
            "core_hours": number(one.held / HOUR),
            "quiet": one.quiet,
            "weeks": one.weeks,
        }
        for one in found
    ]
    yield from Records(
        "maintenance.quietest",
        message("When windows as long held least, by every other week"),
        (
            Column("id", "From"), Column("next", "Next"),
            Column("core_hours", "Core-hours held in those weeks, mean", "hours"),
            Column("quiet", "Quiet in weeks", "count"), Column("weeks", "of", "count"),
        ),
        rows,
        note=message(
            "Hours are chosen by every other week, and counted in the weeks between. Quiet: no more held than"
            " in a quarter of all windows of that length."
        ),
    ).acted_on("maintenance-quietest")  # fmt: skip


def _named(hour: int) -> Message:
    day, of_day = divmod(hour, 24)
    return message("{day} {time}", day=WEEKDAYS[day], time=Number(f"{of_day:02}:00"))


def _next(store: Store, hour: int, after: float) -> str:
    """Return the date on which an hour of the week comes next."""
    zone = store.system.timezone
    now = datetime.fromtimestamp(after, zone)
    monday = (now - timedelta(days=now.weekday())).replace(hour=0, minute=0, second=0, microsecond=0)
    first = next(
        begin
        for week in (0, 1, 2)
        if (begin := monday + timedelta(weeks=week, days=hour // 24, hours=hour % 24)) > now
    )
    return Number(timestamp(first.timestamp(), zone.key).rpartition(":")[0])
