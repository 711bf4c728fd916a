"""When, and whose, jobs did not complete."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from gwa.metrics.outcomes import Ended, by_month, by_user
from gwa.report.document import Block, Column, Fact, Facts, Table
from gwa.report.figures.bars import bars
from gwa.store.store import Store
from gwa.words.formatting import fraction
from gwa.words.message import Verbatim, message

MINIMUM_MONTHS: Final = 2
MAXIMUM_MONTHS: Final = 36
"""Longer figures and tables show the last months."""

COLUMNS: Final = (
    Column("jobs", "Jobs", "count"),
    Column("limit", "Time limit", "count"),
    Column("failed", "Failed", "count"),
    Column("cancelled", "Cancelled", "count"),
    Column("share", "Not completed", "fraction"),
    Column("cpu_seconds", "CPU time not completed", "cpu seconds"),
)


def failures(store: Store) -> Iterator[Block]:
    """Yield the jobs that did not complete by month and by user, where any did not."""
    months = by_month(store)
    users = by_user(store, store.top) if store.has("user_id") else []
    if not any(ended.share for ended in months) and not users:
        return
    yield Facts(
        (
            Fact("jobs.ended_by_month", _rows(months), "Outcomes of jobs by month"),
            Fact("jobs.ended_by_user", _rows(users), "Users with most jobs that did not complete"),
        ),
        listed=False,
    )
    if len(months) >= MINIMUM_MONTHS:
        yield _figure(months[-MAXIMUM_MONTHS:])
        yield _table(
            "outcomes-months", message("Outcomes by month"), message("Month"), months[-MAXIMUM_MONTHS:]
        )
    if users:
        title = message("Users with most jobs that did not complete")
        yield replace(_table("outcomes-users", title, message("User"), users), is_acted_on=True)


def _rows(classes: Sequence[Ended]) -> list[dict[str, Any]]:
    return [
        {
            "id": ended.name,
            "jobs": ended.jobs,
            "limit": ended.limit,
            "failed": ended.failed,
            "cancelled": ended.cancelled,
            "share": ended.share,
            "cpu_seconds": ended.cpu_seconds,
        }
        for ended in classes
    ]


def _figure(months: Sequence[Ended]) -> Block:
    worst = max(months, key=lambda month: month.share)
    return bars(
        "outcomes-months",
        "Jobs that did not complete by month",
        [month.name for month in months],
        [month.share for month in months],
        "Month in which jobs ended",
        "Share of jobs",
        message(
            "The share of the jobs that ended in each month and did not complete: largest in {month},"
            " {share}.",
            month=Verbatim(worst.name),
            share=fraction(worst.share),
        ),
        unit="fraction",
    )


def _table(name: str, title: str, heading: str, classes: Sequence[Ended]) -> Table:
    return Table(
        name,
        title,
        (Column("id", heading), *COLUMNS),
        tuple(tuple(row.values()) for row in _rows(classes)),
        note="Of jobs whose outcome is known.",
    )
