"""When, and whose, jobs did not complete."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from gwa.breakdown.records import Records
from gwa.metrics.outcomes import Ended, by_month, by_user
from gwa.report.columns import column
from gwa.report.document import Block, Column
from gwa.report.figures.bars import bars
from gwa.store.store import Store
from gwa.words.compared import single_largest
from gwa.words.formatting import fraction
from gwa.words.message import Verbatim, message

MINIMUM_MONTHS: Final = 2
MAXIMUM_MONTHS: Final = 36
"""Longer figures and tables show the last months."""

COLUMNS: Final = (
    column("jobs"),
    column("limit_jobs", "limit"),
    column("failed_jobs", "failed"),
    column("cancelled_jobs", "cancelled"),
    column("not_completed_share", "share"),
    column("not_completed_cpu_seconds", "cpu_seconds"),
)


def failures(store: Store) -> Iterator[Block]:
    """Yield the jobs that did not complete by month and by user, where any did not."""
    months = by_month(store)
    users = by_user(store, store.top) if store.has("user_id") else []
    if not any(ended.share for ended in months) and not users:
        return
    titles = message("Outcomes of jobs by month"), message("Users with most jobs that did not complete")
    by_months = _records("jobs.ended_by_month", titles[0], message("Month"), months)
    by_users = _records("jobs.ended_by_user", titles[1], message("User"), users)
    yield by_months.fact
    yield by_users.fact
    if len(months) >= MINIMUM_MONTHS:
        yield _figure(months[-MAXIMUM_MONTHS:])
        shown = replace(by_months, rows=by_months.rows[-MAXIMUM_MONTHS:])
        yield shown.table("outcomes-months", message("Outcomes by month"))
    if users:
        yield replace(by_users.table("outcomes-users"), is_acted_on=True)


def _records(id: str, title: str, heading: str, classes: Sequence[Ended]) -> Records:  # noqa: A002 - as blocks call it
    rows = [
        {"id": one.name, **{column.key: getattr(one, column.key) for column in COLUMNS}} for one in classes
    ]
    note = message("Of jobs whose outcome is known.")
    return Records(id, title, (Column("id", heading), *COLUMNS), rows, note)


def _figure(months: Sequence[Ended]) -> Block:
    worst = single_largest(months, lambda month: month.share)
    what = message("The share of the jobs that ended in each month and did not complete")
    return bars(
        "outcomes-months",
        "Jobs that did not complete by month",
        [month.name for month in months],
        [month.share for month in months],
        "Month in which jobs ended",
        "Share of jobs",
        message(
            "{what}: largest in {month}, {share}.",
            what=what,
            month=Verbatim(worst.name),
            share=fraction(worst.share),
        )
        if worst
        else message("{what}.", what=what),
        unit="fraction",
    )
