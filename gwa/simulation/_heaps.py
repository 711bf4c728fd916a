"""
Queues with priorities, which live in the records that queue: pairing heaps.

A heap is known by its first record, or `NOBODY`, and the fields *key*, *child* and *sibling* hold it
together; so a record stands in one heap at most. The lowest key comes first, and of equal keys the lowest
number. Source: Fredman, Sedgewick, Sleator and Tarjan, The pairing heap (1986).
"""

from typing import Any

import numpy as np
from numba import njit

NOBODY = -1

Table = np.recarray[Any, Any]
"""Records of one kind, of which the place is the number."""


@njit()
def put(table: Table, heap: int, number: int, key: float) -> int:
    """Put a record that stands in no heap into one, and return the heap."""
    record = table[number]
    record.key = key
    record.child = record.sibling = NOBODY
    return _meld(table, heap, number)


@njit()
def rest(table: Table, heap: int) -> int:
    """Take the first record out of a heap that is not empty, and return the heap."""
    pairs, number = NOBODY, table[heap].child
    while number != NOBODY:
        other = table[number].sibling
        after = NOBODY if other == NOBODY else table[other].sibling
        pair = _meld(table, number, other)
        table[pair].sibling = pairs
        pairs, number = pair, after
    left = NOBODY
    while pairs != NOBODY:
        after = table[pairs].sibling
        left = _meld(table, left, pairs)
        pairs = after
    return left


@njit()
def _meld(table: Table, one: int, other: int) -> int:
    """Return two heaps made one."""
    if NOBODY in (one, other):
        return max(one, other)
    a, b = table[one], table[other]
    if b.key < a.key or (b.key == a.key and other < one):
        one, other, a, b = other, one, b, a
    b.sibling = a.child
    a.child = other
    return one
