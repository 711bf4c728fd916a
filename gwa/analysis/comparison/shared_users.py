"""Users that several traces share, and how much of each is theirs."""

from collections.abc import Iterator, Sequence
from typing import Final

from gwa.analysis.comparison.trace_summary import TraceSummary
from gwa.report.document import Block, Column, Note, Table, Value

MAXIMUM_USERS: Final = 20


def shared_users_table(summaries: Sequence[TraceSummary]) -> Iterator[Block]:
    """
    Users whose name is in two traces or more, and their share of the CPU time of each.

    Who gained or lost most comes first. Pseudonyms are the same in two traces where both were made with
    one key; in traces of different archives equal names, such as U1, mean nothing.
    """
    names = sorted({name for summary in summaries for name in summary.users})
    shared = [name for name in names if sum(name in summary.users for summary in summaries) > 1]
    if not shared:
        yield Note("No user has the same name in two of the traces.")
        return
    shares = {name: [summary.users.get(name, (0.0, 0.0))[1] for summary in summaries] for name in shared}
    listed = sorted(shared, key=lambda name: (min(shares[name]) - max(shares[name]), name))[:MAXIMUM_USERS]
    columns = (
        Column("user", "User"),
        *(Column(f"trace_{n}", summary.name, "fraction") for n, summary in enumerate(summaries, 1)),
        Column("change", "Greatest change", "fraction"),
    )
    rows: tuple[tuple[Value, ...], ...] = tuple(
        (name, *shares[name], max(shares[name]) - min(shares[name])) for name in listed
    )
    note = f"{len(shared)} of {len(names)} users are in two traces or more; shares are of the CPU time."
    yield Table("users-moved", "Share of the CPU time", columns, rows, note)
