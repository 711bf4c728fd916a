"""
Which tests a suite runs.

- ``whole``: all that pytest is given.
- ``test``: all short tests; of the long ones, within a budget, first those that failed last, then those that
  a change reaches, the most particular first, then those of which nothing is known here.
- ``rest``: those that the last ``test`` left.
- ``quick``, within a budget: the short tests that failed last, that a change reaches, or of which nothing is
  known here, those of changed rooms first.

A test is reached if what it entered when it last passed is not as it was then (`tests.reach.ledger`). The
choice depends on the ledger, the list of long tests and the sources only, not on the order of tests, so that
all worker processes choose the same.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Final, Literal, NamedTuple

from tests.reach.ledger import Long, file_of, find

Suite = Literal["quick", "test", "rest", "whole"]

UNKNOWN_COST: Final = 0.06
"""CPU seconds that a short test takes on average."""

BUDGETS: Final[Mapping[Suite, float]] = {"quick": 50, "test": 310}
"""CPU seconds for what a suite chooses, besides the short tests that ``test`` always runs."""

TESTED_IN: Final = {"converters": "converters", "templates": "browser"}
"""The room of the tests of other folders."""


class Status(NamedTuple):
    """What the ledger says of a test: its *cost*, how much it *entered*, and whether that is the *same*."""

    cost: float
    entered: int
    is_same: bool


@dataclass(frozen=True)
class Known:
    """
    All that a choice depends on, besides the tests themselves.

    *changed* are the files that differ from the last commit; *rest* the tests that the last ``test`` left.
    """

    status: Mapping[str, Status] = field(default_factory=dict)
    long: Mapping[str, Long] = field(default_factory=dict)
    failed: Collection[str] = ()
    changed: Collection[str] = ()
    rest: Collection[str] | None = None

    def cost(self, test: str) -> float:
        """Return what a test probably costs."""
        if test in self.status:
            return self.status[test].cost
        long = find(test, self.long)
        return long.cost if long else UNKNOWN_COST


@dataclass(frozen=True)
class Choice:
    """The tests that *run*, those that the budget leaves *out*, and those that are not reached: *idle*."""

    run: frozenset[str]
    out: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()


def choose(suite: Suite, tests: Collection[str], known: Known, budget: float | None = None) -> Choice:
    """Choose from *tests*."""
    if suite == "whole" or (suite == "rest" and known.rest is None):
        return Choice(frozenset(tests))
    if suite == "rest":
        return Choice(frozenset(tests) & frozenset(known.rest or ()))
    failed = {test for test in tests if test in known.failed}
    short = {test for test in tests if not find(test, known.long)}
    always = short if suite == "test" else set()
    candidates = {*short, *failed} if suite == "quick" else {*tests} - short
    idle = {test for test in candidates - failed if test in known.status and known.status[test].is_same}
    run, out, left = set(always), [], BUDGETS[suite] if budget is None else budget
    for test in _in_order(candidates - idle, failed, known):
        cost = known.cost(test)
        if cost <= left:
            left -= cost
            run.add(test)
        else:
            out.append(test)
    return Choice(frozenset(run), tuple(out), tuple(sorted(idle)))


def _in_order(tests: Collection[str], failed: Collection[str], known: Known) -> Iterator[str]:
    """Yield those that failed, those that are reached, and those of which nothing is known."""
    reached = {test for test in tests if test in known.status} - {*failed}
    yield from sorted({*tests} & {*failed})
    yield from sorted(reached, key=lambda test: (known.status[test].entered, test))
    yield from _in_turn({*tests} - reached - {*failed}, known)


def _in_turn(tests: Iterable[str], known: Known) -> list[str]:
    """
    Return tests of which nothing is known: those of changed rooms first, then those with a mark on the list.

    After that, of each file its cheapest, then of each its next: each room, command and output has its turn.
    """
    of_file: dict[tuple[bool, str], list[str]] = defaultdict(list)
    rooms = {_room(file) for file in known.changed} - {""}
    ranks = {}
    for test in tests:
        of_file[_is_first(test, known), file_of(test)].append(test)
    for (is_first, file), members in of_file.items():
        members.sort(key=lambda test: (known.cost(test), test))
        is_near = file in known.changed or _room(file) in rooms
        for turn, test in enumerate(members):
            ranks[test] = (not is_near, not is_first, turn, known.cost(test), test)
    return sorted(ranks, key=ranks.__getitem__)


def _is_first(test: str, known: Known) -> bool:
    long = find(test, known.long)
    return bool(long and long.is_first)


def is_near(file: str, text: str, changed: Collection[str]) -> bool:
    """Whether a file of tests, with this *text*, is of a room that changed, or names a module that did."""
    if file in changed or _room(file) in {_room(one) for one in changed} - {""}:
        return True
    modules = (one.removesuffix(".py").replace("/", ".") for one in changed if one.endswith(".py"))
    return any(module in text for module in modules)


def _room(file: str) -> str:
    """
    Return the room that a module or a file of tests belongs to.

    >>> _room("gwa/report/html.py"), _room("tests/report/test_html.py"), _room("README.md")
    ('report', 'report', '')
    >>> _room("converters/lsf.sql"), _room("templates/static/explorer/draw.js")
    ('converters', 'browser')
    """
    top, *folders = PurePosixPath(file).parent.parts or ("",)
    if top in {"gwa", "tests"}:
        return folders[0] if folders else ""
    return TESTED_IN.get(top, "")
