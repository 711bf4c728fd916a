"""Users of one period who have no jobs in the period beside it: those who are new, and those who are gone."""

from collections.abc import Iterator
from typing import Final

from gwa.analysis.comparison.trace_summary import USER_TOTALS
from gwa.report.columns import column
from gwa.report.document import Block, Column, Fact, Facts, Note, Table
from gwa.store.store import Store
from gwa.words.message import message, plural
from gwa.words.unit import Value

MAXIMUM_USERS: Final = 20

FIRST_JOBS: Final = (
    "select user_id, min(submit_time) as first from jobs where user_id is not null group by user_id"
)


def changed_users(before: Store, after: Store) -> Iterator[Block]:
    """
    Users with jobs in one of two periods only, those with the most CPU time first.

    New are those who had never submitted a job before in the log, back those who had, but not in the period
    before; gone are those who submitted jobs in that, and none since.
    """
    earlier, later = (_totals(store) for store in (before, after))
    if not earlier or not later:
        yield Note("New and vanished users are not known: the trace does not record users.")
        return
    first = dict(after.whole.rows(FIRST_JOBS))
    begin = after.period[0] if after.period else 0.0
    rows: list[tuple[Value, ...]] = [
        (user, "back" if first.get(user) is not None and first[user] < begin else "new", *later[user])
        for user in later.keys() - earlier.keys()
    ]
    rows += [(user, "gone", *earlier[user]) for user in earlier.keys() - later.keys()]
    counts = {kind: sum(row[1] == kind for row in rows) for kind in ("new", "back", "gone")}
    labels = {"new": "New users", "back": "Users who are back", "gone": "Users who are gone"}
    yield Facts(
        tuple(
            Fact(f"differences.users.{kind}", counts[kind], label, "count") for kind, label in labels.items()
        )
    )
    if not rows:
        yield Note("The same users submitted jobs in both periods.")
        return
    columns = (
        Column("user", "User"),
        Column("what", "Since then"),
        column("jobs"),
        column("cpu_seconds"),
    )
    listed = sorted(rows, key=lambda row: (-float(str(row[3])), str(row[0])))[:MAXIMUM_USERS]
    note = message(
        "{users} in all; jobs and CPU time are of the period in which they had any.",
        users=plural("{n} user", "{n} users", len(rows)),
    )
    yield Table("users-changed", "Users with jobs in one period only", columns, tuple(listed), note)


def _totals(store: Store) -> dict[str, tuple[int, float]]:
    """Return the jobs and the CPU seconds of each user."""
    return {user: (jobs, float(seconds)) for user, jobs, seconds in store.rows(USER_TOTALS)}
