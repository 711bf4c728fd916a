"""
What is known of tests: the ledger of this checkout, and the list of long tests that is part of the project.

The ledger says what each test cost and entered when it last passed, and a signature of all that: it is the
same as long as nothing that the test entered is different. A test that failed is not in it. The list names
the tests that take long wherever they run, so that a fresh clone knows them without a ledger.
"""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple

from tests.reach.digests import Checkout, write_whole

SHORT: Final = 0.3
"""CPU seconds up to which a test is short."""

STEADY: Final = 1.5
"""The factor by which a cost may differ from the one on the list without being written anew."""

STEPS: Final = (0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200)
"""The costs that stand on the list."""

FIRST: Final = "*"
"""The mark of the tests that enter together what no short test does."""

HEAD: Final = f"""\
# The tests that take more than {SHORT} CPU seconds, and about how many; `make whole` renews this list.
# A name without parameters stands for all of them. The {FIRST} ones enter together what no short one does.
"""


class Entry(NamedTuple):
    """A test that passed: its *cost* in CPU seconds, what it *entered*, and its *signature*."""

    cost: float
    entered: frozenset[str]
    signature: int


Ledger = Mapping[str, Entry]


def read_ledger(path: Path) -> tuple[dict[str, Entry], dict[str, int]]:
    """
    Return the ledger in a file, and the digests of files of tests that are in it with all their tests.

    Both are empty where there is none, or one that cannot be read.
    """
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        names = kept["names"]
        tests = {
            test: Entry(cost, frozenset(names[number] for number in entered), signature)
            for test, (cost, signature, entered) in kept["tests"].items()
        }
        return tests, dict(kept["files"])
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return {}, {}


def write_ledger(path: Path, ledger: Ledger, files: Mapping[str, int]) -> None:
    """Write a ledger and the digests of *files* of tests, each name of a piece once."""
    names = sorted({name for entry in ledger.values() for name in entry.entered})
    place = {name: number for number, name in enumerate(names)}
    tests = {
        test: (entry.cost, entry.signature, sorted(place[name] for name in entry.entered))
        for test, entry in sorted(ledger.items())
    }
    write_whole(
        path, json.dumps({"names": names, "tests": tests, "files": files}, separators=(",", ":")).encode()
    )


def signed(seen: Mapping[str, tuple[float, Collection[str]]], checkout: Checkout) -> dict[str, Entry]:
    """Return the entries of tests that passed, from what each cost and entered."""
    return {
        test: Entry(cost, frozenset(entered), checkout.signature(entered))
        for test, (cost, entered) in seen.items()
    }


# --- Long tests ---


@dataclass(frozen=True)
class Long:
    """A long test, or all with that name: about what each costs, and whether it is among the `FIRST`."""

    cost: float
    is_first: bool = False


def family(test: str) -> str:
    """
    Return the name of a test without its parameters.

    >>> family("tests/test_a.py::test_b[c-d]")
    'tests/test_a.py::test_b'
    """
    return test.partition("[")[0]


def file_of(test: str) -> str:
    """Return the file of a test."""
    return test.partition("::")[0]


def find(test: str, long: Mapping[str, Long]) -> Long | None:
    """Return what the list says of a test, itself or its family; none if it is short."""
    return long.get(test) or long.get(family(test))


def read_long(lines: Iterable[str]) -> dict[str, Long]:
    """Return the long tests of a list, from its lines."""
    cut = 5  # the width of a cost
    return {
        line[cut + 3 :]: Long(float(line[:cut]), line[cut + 1] == FIRST)
        for line in lines
        if line and not line.startswith("#")
    }


def written(long: Mapping[str, Long]) -> str:
    """Return the text of a list."""
    lines = (
        f"{entry.cost:>5g} {FIRST if entry.is_first else ' '} {test}\n"
        for test, entry in sorted(long.items())
    )
    return HEAD + "".join(lines)


def rounded(cost: float) -> float:
    """
    Return the nearest of the `STEPS`, by its ratio.

    >>> rounded(0.8), rounded(1200)
    (0.7, 200)
    """
    return min(STEPS, key=lambda step: max(step / cost, cost / step))


def renewed(
    before: Mapping[str, Long], costs: Mapping[str, float], there: Collection[str] = ()
) -> dict[str, Long]:
    """
    Return the list by what tests cost now; it changes only where costs do.

    What is on the list and has no cost now, as it failed, stays while it is *there*.

    A test is long above `SHORT`; one that is on the list stays until it costs less than that by `STEADY`. A
    family of which most of the time goes into long tests is one entry, with their mean cost.
    """
    families: dict[str, dict[str, float]] = defaultdict(dict)
    for test, cost in costs.items():
        families[family(test)][test] = cost
    found = {test: one for test, one in before.items() if test in there and family(test) not in families}
    for name, members in families.items():
        long = {test: cost for test, cost in members.items() if _is_long(test, cost, before)}
        if not long:
            continue
        mean = sum(members.values()) / len(members)
        if name in members or len(long) > len(members) / 2:
            found[name] = _steady(before.get(name), mean)
        else:
            found |= {test: _steady(before.get(test), cost) for test, cost in long.items()}
    return found


def _is_long(test: str, cost: float, before: Mapping[str, Long]) -> bool:
    return cost > (SHORT / STEADY if find(test, before) else SHORT)


def _steady(before: Long | None, cost: float) -> Long:
    """Return an entry with its mark of before, and its cost of before if that is about as it was."""
    if before and before.cost / STEADY <= cost <= before.cost * STEADY:
        return before
    return Long(rounded(cost), bool(before and before.is_first))


def with_first(long: Mapping[str, Long], before: Mapping[str, Long], ledger: Ledger) -> dict[str, Long]:
    """
    Mark the long tests that enter together all that long tests enter and no short test does.

    The next is always the one that enters most of what is left for its cost; those of *before* stay where
    others are not better by `STEADY`.
    """
    left = {name for test, entry in ledger.items() if find(test, long) for name in entry.entered}
    for test, entry in ledger.items():
        if not find(test, long):
            left -= entry.entered
    gains: dict[str, set[str]] = {}
    for test, entry in ledger.items():
        name = test if test in long else family(test)
        if name in long and entry.entered & left:
            gains.setdefault(name, set()).update(entry.entered & left)
    chosen: set[str] = set()
    while left:
        best = max(
            sorted(gains),
            key=lambda name: (
                len(gains[name] & left)
                / long[name].cost
                * (STEADY if name in before and before[name].is_first else 1)
            ),
        )
        if not gains[best] & left:
            break
        chosen.add(best)
        left -= gains.pop(best)
    return {test: replace(entry, is_first=test in chosen) for test, entry in long.items()}
