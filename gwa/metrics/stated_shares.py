"""
The shares of a machine that Slurm was told to give accounts and users, as ``sshare -a -P`` prints them.

An account divides its share among its sub-accounts and users by their raw shares, whatever NormShares are,
which the algorithm of fair trees and the classic one normalize differently. A user who has ``parent`` for
shares has none of their own; an account that has it is none: what is below it stands beside it.

Source: the Fair Tree algorithm, https://slurm.schedmd.com/fair_tree.html (FairShare=parent).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from gwa.errors import DefinitionError

COLUMNS: Final = ("Account", "User", "RawShares")

COMMAND: Final = "'sshare -a -P'"

PARENT: Final = "parent"

MAXIMUM_DIGITS: Final = 10
"""Slurm keeps raw shares in 32 bits."""


@dataclass(frozen=True)
class StatedShares:
    """
    The share of the machine, from 0 to 1, of each project, an account without sub-accounts, and each user.

    A user's is the sum of those in all accounts.
    """

    projects: Mapping[str, float]
    users: Mapping[str, float]


@dataclass
class _Node:
    """An account, or a user in one, at a *depth* of the tree."""

    name: str
    is_user: bool
    depth: int
    raw: int | None
    children: "list[_Node]" = field(default_factory=list)

    def own(self) -> "Iterator[_Node]":
        """Yield the children, those of an account without shares in its place."""
        for child in self.children:
            if child.is_user or child.raw is not None or child.depth == 0:
                yield child
            else:
                yield from child.own()


def read_shares(path: Path) -> StatedShares:
    """Return the shares that the file *path* states; raise `DefinitionError` where it states none."""
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    head, *lines = text.splitlines() or [""]
    names = [name.strip() for name in head.split("|")]
    if missing := [name for name in COLUMNS if name not in names]:
        raise DefinitionError(f"{path}: has no column {missing[0]}, expected what {COMMAND} prints")
    top = _Node("", is_user=False, depth=-1, raw=None)
    above = [top]
    for number, line in enumerate(lines, 2):
        if not line.strip():
            continue
        node = _node(f"{path}:{number}", names, line.split("|"))
        while above[-1].depth >= node.depth or above[-1].is_user:
            above.pop()
        above[-1].children.append(node)
        above.append(node)
    if len(top.children) > 1:
        raise DefinitionError(
            f"{path}: has {len(top.children)} accounts that are in no other, expected the tree that {COMMAND}"
            " prints of one cluster, with the blanks before its names"
        )
    projects: dict[str, float] = {}
    users: dict[str, float] = {}
    _divide(top, 1.0, projects, users)
    if not (projects or users):
        raise DefinitionError(f"{path}: states no shares above 0, expected what {COMMAND} prints")
    return StatedShares(projects, users)


def _node(where: str, names: list[str], cells: list[str]) -> _Node:
    job = dict(zip(names, cells, strict=False))
    account, user, raw = (job.get(name, "") for name in COLUMNS)
    if not account.strip() or not (raw.strip() in ("", PARENT) or raw.strip().isdecimal()):
        raise DefinitionError(f"{where}: has no account with shares, expected what {COMMAND} prints")
    depth = len(account) - len(account.lstrip())
    own = int(raw) if raw.strip().isdecimal() and len(raw.strip()) <= MAXIMUM_DIGITS else None
    return _Node(user.strip() or account.strip(), bool(user.strip()), depth, own)


def _divide(account: _Node, share: float, projects: dict[str, float], users: dict[str, float]) -> None:
    """Add the shares of all below an *account*, which has a *share* of the machine."""
    is_top = not account.name
    children = list(account.own())
    total = sum(one.raw or 0 for one in children)
    for one in children:
        own = share if is_top else share * (one.raw or 0) / total if total else 0.0
        if one.is_user and own:
            users[one.name] = users.get(one.name, 0.0) + own
        elif not one.is_user:
            if own and not any(not child.is_user for child in one.children):
                projects[one.name] = projects.get(one.name, 0.0) + own
            _divide(one, own, projects, users)
