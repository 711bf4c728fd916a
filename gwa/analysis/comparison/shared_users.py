"""Users that several traces share, and how much of each is theirs."""

from collections.abc import Iterator, Sequence
from typing import Final

from gwa.analysis.comparison.trace_summary import TraceSummary
from gwa.report.document import Block, Column, Note, Table, Value

MOST: Final = 20
"""So many users are listed."""


def moved(sides: Sequence[TraceSummary]) -> Iterator[Block]:
    """
    Users whose name is in two traces or more, and their share of the CPU time of each.

    Who gained or lost most comes first. Pseudonyms are the same in two traces where both were made with
    one key; in traces of different archives equal names, such as U1, mean nothing.
    """
    names = sorted({name for side in sides for name in side.users})
    shared = [name for name in names if sum(name in side.users for side in sides) > 1]
    if not shared:
        yield Note("No user has the same name in two of the traces.")
        return
    shares = {name: [side.users.get(name, (0.0, 0.0))[1] for side in sides] for name in shared}
    first = sorted(shared, key=lambda name: (min(shares[name]) - max(shares[name]), name))[:MOST]
    columns = (
        Column("user", "User"),
        *(Column(f"trace_{n}", side.name, "fraction") for n, side in enumerate(sides, 1)),
        Column("change", "Greatest change", "fraction"),
    )
    rows: tuple[tuple[Value, ...], ...] = tuple(
        (name, *shares[name], max(shares[name]) - min(shares[name])) for name in first
    )
    note = f"{len(shared)} of {len(names)} users are in two traces or more; shares are of the CPU time."
    yield Table("users-moved", "Share of the CPU time", columns, rows, note)
