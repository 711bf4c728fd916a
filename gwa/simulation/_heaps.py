"""
Queues with priorities, which live in the records that queue: pairing heaps.

A heap is known by its first record, or `NONE`, and the fields *key*, *child* and *sibling* hold it
together; so a record stands in one heap at most. The lowest key comes first, and of equal keys the lowest
number. Source: Fredman, Sedgewick, Sleator and Tarjan, The pairing heap (1986).
"""

from typing import Any

import numpy as np

from gwa.simulation.jobs import NONE
from gwa.util.compiled import jit

Table = np.recarray[Any, Any]
"""Records of one kind, of which the place is the number."""


@jit()
def push(table: Table, heap: int, number: int, key: float) -> int:
    """Put a record that stands in no heap into one, and return the heap."""
    record = table[number]
    record.key = key
    record.child = record.sibling = NONE
    return _meld(table, heap, number)


@jit()
def pop(table: Table, heap: int) -> int:
    """Take the first record out of a heap that is not empty, and return the heap."""
    pairs, number = NONE, table[heap].child
    while number != NONE:
        sibling = table[number].sibling
        after = NONE if sibling == NONE else table[sibling].sibling
        pair = _meld(table, number, sibling)
        table[pair].sibling = pairs
        pairs, number = pair, after
    merged = NONE
    while pairs != NONE:
        after = table[pairs].sibling
        merged = _meld(table, merged, pairs)
        pairs = after
    return merged


@jit()
def _meld(table: Table, first: int, second: int) -> int:
    """Return two heaps made one."""
    if NONE in (first, second):
        return max(first, second)
    a, b = table[first], table[second]
    if b.key < a.key or (b.key == a.key and second < first):
        first, second, a, b = second, first, b, a
    b.sibling = a.child
    a.child = second
    return first
