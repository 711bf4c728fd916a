"""What projects, groups and users have used of what they may use."""

from collections.abc import Iterator
from typing import Any, Final

from gwa.analysis.base import Chapter, analysis
from gwa.breakdown.records import Records
from gwa.metrics.quotas import Quotas, uses
from gwa.report.document import Block, Column, Fact, Note, list_of
from gwa.report.facts import number
from gwa.store.store import Store
from gwa.words.message import message

SINGULAR: Final = {"projects": "project", "groups": "group", "users": "user"}

WHAT: Final = {
    "cpu_hours": message("CPU hours"),
    "gpu_hours": message("GPU hours"),
    "node_hours": message("node hours"),
}


@analysis(
    "Quotas",
    Chapter.USERS,
    facts=("quota",),
    when=lambda store: isinstance(store.stated.get("quota"), Quotas),
    order=2,
)
def quotas(store: Store) -> Iterator[Block]:
    """
    Hours that projects, groups and users have used of what a file given with --quota lets them use.

    Hours are those of jobs that ran, for the part between the first and the last day of the quota. The days
    left are those until the limit is reached if use goes on as in the last thirty days of the log.
    """
    stated = store.stated.get("quota")
    if not isinstance(stated, Quotas):
        yield Note("No quotas are stated: --quota FILE.toml names them.")
        return
    rows: list[dict[str, Any]] = [
        {
            "id": use.name, "of": SINGULAR[use.kind], "limit": number(use.limit), "used": number(use.used),
            "share": use.used / use.limit, "recent": number(use.recent), "days_left": number(use.days_left),
        }
        for use in uses(store, stated)
    ]  # fmt: skip
    what = WHAT[stated.of]
    columns = (
        Column("id", "Name"), Column("of", "Of a"),
        Column("limit", message("Quota, {what}", what=what), "hours"),
        Column("used", "Hours used", "hours"), Column("share", "Share used", "fraction"),
        Column("recent", "Last 30 days", "hours"), Column("days_left", "Days left", "count"),
    )  # fmt: skip
    records = Records("quota.used", message("{what} used of quotas", what=what), columns, rows)
    over = sum(row["used"] > row["limit"] for row in rows)
    yield records.fact
    yield list_of(
        Fact("quota.count", len(rows), "Quotas", "count"),
        Fact("quota.exceeded", over, "Quotas that are exceeded", "count"),
    )
    yield records.table("quotas")
