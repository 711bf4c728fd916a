"""What may be said of values that are compared: one is the largest, and what looks equal is no change."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from gwa.words.formatting import show
from gwa.words.unit import Unit, Value

Item = TypeVar("Item")


def single_largest(items: Iterable[Item], value: Callable[[Item], float]) -> Item | None:
    """
    Return the one of *items* whose *value* is larger than those of all others; None without one.

    >>> single_largest(["ab", "c", "def"], len), single_largest(["ab", "cd"], len)
    ('def', None)
    """
    first = sorted(items, key=value, reverse=True)[:2]
    is_single = len(first) == 1 or (len(first) > 1 and value(first[0]) > value(first[1]))
    return first[0] if is_single else None


def look_equal(before: Value, after: Value, unit: Unit = "") -> bool:
    """
    Whether two values are shown alike, so that no sentence and no column has a difference of them.

    >>> look_equal(7.1, 7.4, "count"), look_equal(3600, 3620, "seconds"), look_equal(0.5, 0.51, "fraction")
    (False, True, False)
    """
    return show(before, unit) == show(after, unit)
