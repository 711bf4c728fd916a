"""Users that several traces share, and how much of each is theirs."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from math import sqrt
from typing import Final

from gwa.analysis.comparison.trace_summary import TraceSummary
from gwa.report.document import Block, Column, Note, Table
from gwa.words.unit import Value

MAXIMUM_USERS: Final = 20

BLOCK: Final = 50
"""The width of the blocks in which numbers as names are compared: numbering is dense here and thin there."""

DEVIATIONS: Final = 4
"""How many standard deviations above chance a number of equal names must be to count as evidence."""

MINIMUM_SHARED, MINIMUM_SHARE = 5, 0.4
"""How many other names, and which share of those of the smaller trace, are evidence if they are equal."""

_NUMBERED: Final = re.compile(r"(\D*)(\d+)")


def shared_users_table(summaries: Sequence[TraceSummary]) -> Iterator[Block]:
    """
    Users whose name is in two traces or more, and their share of the CPU time of each.

    Equal names of different archives, such as U1, mean nothing. So users are compared between traces of one
    site (Installation in the header), and between traces that share more names than chance explains: of
    numbered users, more numbers than two systems that number theirs alike; of others, at least 5 and
    two fifths of those of the smaller trace. The largest change comes first.
    """
    groups = comparable(summaries)
    if not groups:
        yield Note(
            "Users are not compared: no two traces are known to be of one site, or share more user names than"
            " chance explains."
        )
    for position, group in enumerate(groups, 1):
        yield from _table(group, "users-moved" if position == 1 else f"users-moved-{position}")


def comparable(summaries: Sequence[TraceSummary]) -> list[list[TraceSummary]]:
    """Return the groups of two traces and more whose users may be the same, in the order of the traces."""
    groups = [[summary] for summary in summaries]
    for first, second in combinations(summaries, 2):
        if not may_share_users(first, second):
            continue
        one, other = (next(group for group in groups if summary in group) for summary in (first, second))
        if one is not other:
            one.extend(other)
            groups.remove(other)
    return [group for group in groups if len(group) > 1]


def may_share_users(first: TraceSummary, second: TraceSummary) -> bool:
    """Whether equal names in both traces are likely to be the same users."""
    if first.site and second.site:
        return first.site.casefold() == second.site.casefold()
    return beyond_chance(set(first.users), set(second.users))


def beyond_chance(first: set[str], second: set[str]) -> bool:
    """
    Whether two sets of names have more in common than sets of unrelated systems.

    >>> numbered = {f"u{n}" for n in range(90)}
    >>> beyond_chance(numbered, numbered), beyond_chance({"ann", "bo", "cy", "di", "ed"}, {"bo", "cy"})
    (False, False)
    """
    equal = first & second
    others = [{name for name in names if not _NUMBERED.fullmatch(name)} for names in (first, second)]
    shared = len(others[0] & others[1])
    if shared >= max(MINIMUM_SHARED, MINIMUM_SHARE * min(map(len, others))):
        return True
    blocks = [Counter(map(_block, names - kept)) for names, kept in zip((first, second), others, strict=True)]
    expected = sum(count * blocks[1][block] / BLOCK for block, count in blocks[0].items())
    found = len(equal) - shared
    return found >= MINIMUM_SHARED and found > expected + DEVIATIONS * sqrt(max(expected, 1.0))


def _block(name: str) -> tuple[str, int, int]:
    """Return the block of a numbered name: what is before the number, its digits, and its fiftieth."""
    found = _NUMBERED.fullmatch(name)
    prefix, digits = found.groups() if found else (name, "0")
    return prefix, len(digits) if digits[0] == "0" else 0, int(digits) // BLOCK


def _table(group: Sequence[TraceSummary], name: str) -> Iterator[Block]:
    """Yield the table of users that two traces of a *group* have, those who changed most first."""
    names = sorted({name for summary in group for name in summary.users})
    shared = [name for name in names if sum(name in summary.users for summary in group) > 1]
    if not shared:
        yield Note("No user has the same name in two of the traces.")
        return
    shares = {user: [summary.users.get(user, (0.0, 0.0))[1] for summary in group] for user in shared}
    listed = sorted(shared, key=lambda user: (min(shares[user]) - max(shares[user]), user))[:MAXIMUM_USERS]
    columns = (
        Column("user", "User"),
        *(Column(f"trace_{n}", summary.name, "fraction") for n, summary in enumerate(group, 1)),
        Column("change", "Largest change", "fraction"),
    )
    rows: tuple[tuple[Value, ...], ...] = tuple(
        (user, *shares[user], max(shares[user]) - min(shares[user])) for user in listed
    )
    note = f"{len(shared)} of {len(names)} users are in two traces or more; shares are of the CPU time."
    yield Table(name, "Share of the CPU time", columns, rows, note)
