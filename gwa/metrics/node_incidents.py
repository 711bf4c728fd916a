"""
On which nodes jobs are lost to a failure of the node more often than chance would have it, by their states.

A scheduler that loses a node ends its jobs as ``NODE_FAIL``, or ``BOOT_FAIL`` where it did not come up. Jobs
of a node that follow each other within a day are one *incident*: a node that comes back ill fails again.
Incidents of three nodes within a quarter of an hour are of their power or network, and of no node.

Under chance an incident is of a node with the probability of its share of the time in which nodes of the same
partition were held, so the number of a node is binomial, and a sum of binomials over partitions. Counted are
jobs on one node: of several it is not recorded which failed.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import scipy  # imports scipy.special, which is slow, at its first use

from gwa.store.hosts import on_nodes
from gwa.store.schema import SITE
from gwa.store.store import Store
from gwa.util.units import DAY, MINUTE

SAME: Final = float(DAY)
"""Jobs of a node that are lost within this time of each other are one incident."""

COMMON: Final = 15.0 * MINUTE
COMMON_NODES: Final = 3
"""Incidents of as many nodes within this time are of something that nodes share."""

MINIMUM_INCIDENTS: Final = 3
ALPHA: Final = 0.05
"""The largest probability under chance, multiplied by the number of nodes, at which a node is named."""

PART: Final = f"concat(coalesce({SITE}, ''), ' ', coalesce(partition_id, ''))"

ALONE: Final = f"""
select host, {PART} as part, start_time, end_time, upper(coalesce(state, '')) as state
from {{placed}} as placed where share > 0.999999
"""

LOST: Final = """
select distinct host, part, floor(end_time) as moment from ({alone}) as alone
where state like 'NODE_FAIL%' or state like 'BOOT_FAIL%' order by moment, host, part
"""

HELD: Final = """
select host, part,
    sum(greatest(end_time - greatest(start_time, coalesce(before, start_time)), 0.0)) as seconds
from (
    select *, max(end_time) over (
        partition by host, part order by start_time, end_time rows between unbounded preceding and 1 preceding
    ) as before
    from ({alone}) as alone
) as run group by host, part order by host, part
"""
"""How long jobs on one node held each node: a time that several shared counts once."""


@dataclass(frozen=True)
class Lost:
    """A job on a *host*, in a *part* of the system, that was lost to its node at a *moment*."""

    host: str
    part: str
    moment: float


@dataclass(frozen=True)
class FailedNode:
    """A node with its *incidents*, those *expected* under chance, and whether it *is_named*."""

    name: str
    incidents: int
    expected: float
    is_named: bool


def failed_nodes(store: Store) -> tuple[int, list[FailedNode]]:
    """Return the number of incidents of single nodes, and the nodes that had some, those with most first."""
    if not store.has("state"):
        return 0, []
    alone = ALONE.format(placed=on_nodes(store, "ran"))
    lost = [Lost(host, part, moment) for host, part, moment in store.rows(LOST.format(alone=alone))]
    if not lost:
        return 0, []
    held = {(host, part): seconds for host, part, seconds in store.rows(HELD.format(alone=alone))}
    found = incidents(lost)
    return len(found), judged(found, held)


def incidents(lost: Iterable[Lost]) -> list[Lost]:
    """Return the first job that was lost in each incident of one node, by time."""
    last: dict[str, float] = {}
    first = []
    for one in sorted(lost, key=lambda one: one.moment):
        if one.moment - last.get(one.host, -np.inf) > SAME:
            first.append(one)
        last[one.host] = one.moment
    moments = np.array([one.moment for one in first])
    low, high = (
        np.searchsorted(moments, moments - COMMON, "right"),
        np.searchsorted(moments, moments + COMMON),
    )
    return [
        one
        for one, begin, end in zip(first, low, high, strict=True)
        if len({other.host for other in first[begin:end]}) < COMMON_NODES
    ]


def judged(found: Sequence[Lost], held: Mapping[tuple[str, str], float]) -> list[FailedNode]:
    """Return the nodes of the incidents *found*, by the seconds that jobs *held* nodes in each part."""
    of_part, of_host = Counter(one.part for one in found), Counter(one.host for one in found)
    whole: defaultdict[str, float] = defaultdict(float)
    for (_, part), seconds in held.items():
        whole[part] += seconds
    shares: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for (host, part), seconds in held.items():
        if of_part[part] and whole[part] > 0:
            shares[host].append((of_part[part], seconds / whole[part]))
    nodes = sum(any(share > 0 for _, share in some) for some in shares.values())
    rows = []
    for host, number in of_host.items():
        chance = _at_least(number, shares[host]) * nodes
        expected = sum(count * share for count, share in shares[host])
        rows.append(FailedNode(host, number, expected, number >= MINIMUM_INCIDENTS and chance <= ALPHA))
    return sorted(rows, key=lambda one: (-one.incidents, one.name))


def _at_least(number: int, draws: Sequence[tuple[int, float]]) -> float:
    """
    Return the probability that *draws*, numbers and chances of binomials, have a sum of *number* or more.

    >>> _at_least(2, [(2, 0.5)]), _at_least(2, [(1, 0.5), (1, 0.5)])
    (0.25, 0.25)
    """
    below = np.ones(1)
    for count, share in draws:
        up_to = scipy.special.bdtr(np.minimum(np.arange(number), count), count, min(share, 1.0))
        below = np.convolve(below, np.diff(up_to, prepend=0.0))[:number]
    return float(max(1 - below.sum(), 0.0)) if number else 1.0
