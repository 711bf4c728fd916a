"""
The core facts: what an operator reads, some 1,500 values at most whatever the length of the log.

`gwa facts` prints them unless every fact or a prefix is asked for. They are the facts of the sections for
operators, of which lists have the rows and keys that `LISTS` and `MOST_ROWS` leave.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Final

from gwa.breakdown.dimensions import MOST_MONTHS
from gwa.report.document import Fact
from gwa.words.unit import Value

MOST_ROWS: Final = MOST_MONTHS
"""Longer lists are asked for by name: where months are too many, there are years."""

OF_A_CLASS: Final = (
    "id", "jobs", "cpu_seconds", "gpu_seconds", "cost", "wait_median", "not_completed_share",
)  # fmt: skip
OF_A_TIME: Final = ("id", "jobs", "wait_median")

LISTS: Final = (
    ("waste.applications", ()),
    ("waste.arrays", ()),
    ("hours.by_cpu", OF_A_TIME),
    ("weekdays.by_cpu", OF_A_TIME),
    ("*.by_cpu", OF_A_CLASS),
    ("*.by_*", ()),
    ("wait.longest_by_month", ()),
    ("jobs.ended_by_*", ("id", "jobs", "share")),
    ("efficiency.requests.*", ("id", "unneeded")),
    ("changes.measures", ()),
    ("waste.*", ("id", "cpu_hours", "gpu_hours", "cpu_efficiency", "gpu_efficiency")),
)
"""The keys of the rows of a list by the first pattern that its id has; without keys the list is left out."""


def core(facts: Iterable[Fact]) -> Iterator[Fact]:
    """Yield the core facts among *facts*, of lists with the main keys of their rows."""
    for fact in facts:
        if not isinstance(fact.value, list | tuple):
            yield fact
            continue
        keys = next((keys for pattern, keys in LISTS if fnmatchcase(fact.id, pattern)), None)
        if len(fact.value) <= MOST_ROWS and keys != ():
            yield replace(fact, value=[_row(row, keys) for row in fact.value])


def _row(row: Value, keys: tuple[str, ...] | None) -> Value:
    """Return a row with those of *keys* that it has; as it is where there are none to choose."""
    if keys is None or not isinstance(row, dict):
        return row
    return {key: row[key] for key in keys if key in row}


def values(facts: Iterable[Fact]) -> int:
    """Return how many values *facts* have: the leaves of their JSON."""
    return sum(_leaves(fact.value) for fact in facts)


def _leaves(value: Value) -> int:
    if isinstance(value, dict):
        return sum(map(_leaves, value.values()))
    if isinstance(value, list | tuple):
        return sum(map(_leaves, value))
    return 1
