"""
Many small queues with priorities in a few arrays: pairing heaps.

An item is a number and stands in one heap at most. The lowest key comes first, and of equal keys the
lowest item. Source: Fredman, Sedgewick, Sleator and Tarjan, The pairing heap (1986).
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from gwa.simulation.jobs import Floats, Integers

NOBODY = -1


class Heaps(NamedTuple):
    """The *root* of each heap; the *key*, the first *child* and the next *sibling* of each item."""

    root: Integers
    key: Floats
    child: Integers
    sibling: Integers


@njit()
def empty_heaps(heaps: int, items: int) -> Heaps:
    """Return so many empty *heaps* for so many *items*."""
    return Heaps(
        np.full(heaps, NOBODY),
        np.zeros(items),
        np.full(items, NOBODY),
        np.full(items, NOBODY),
    )


@njit()
def put(heaps: Heaps, heap: int, item: int, key: float) -> None:
    """Put an *item* that stands in no heap into one."""
    heaps.key[item] = key
    heaps.child[item] = heaps.sibling[item] = NOBODY
    heaps.root[heap] = _meld(heaps, heaps.root[heap], item)


@njit()
def take(heaps: Heaps, heap: int) -> int:
    """Take the first item out of a heap that is not empty."""
    sibling = heaps.sibling
    top: int = heaps.root[heap]
    pairs, item = NOBODY, heaps.child[top]
    while item != NOBODY:
        other = sibling[item]
        after = NOBODY if other == NOBODY else sibling[other]
        pair = _meld(heaps, item, other)
        sibling[pair] = pairs
        pairs, item = pair, after
    rest = NOBODY
    while pairs != NOBODY:
        after = sibling[pairs]
        rest = _meld(heaps, rest, pairs)
        pairs = after
    if rest != NOBODY:
        sibling[rest] = NOBODY
    heaps.root[heap] = rest
    return top


@njit()
def _meld(heaps: Heaps, one: int, other: int) -> int:
    """Return the root of two heaps made one."""
    if NOBODY in (one, other):
        return max(one, other)
    if heaps.key[other] < heaps.key[one] or (heaps.key[other] == heaps.key[one] and other < one):
        one, other = other, one
    heaps.sibling[other] = heaps.child[one]
    heaps.child[one] = other
    return one
