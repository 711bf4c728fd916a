"""
How often a sound node is said to fail by the states of jobs: `python -m tests.claims.node_incidents 1000`.

Nodes fail by the hours that they were held: alone, in racks that lose their power, again and again for a day,
as old ones do, in partitions with rates of their own, or after a maintenance. In the last world one fails
twenty times as often.
"""

import sys
from typing import Final

import numpy as np

from gwa.metrics.node_incidents import Lost, incidents, judged

NODES: Final = 100
SPAN: Final = 90 * 86_400.0
BAD: Final = "n07"
WORLDS: Final = (
    "by hours", "racks lose power", "nodes fail again for a day", "old nodes fail three times as often",
    "two partitions with rates of their own", "all in a week after a maintenance", "one node fails",
)  # fmt: skip


def named(world: str, seed: list[int]) -> set[str]:
    """Return the nodes that are named in a log of a *world*."""
    rng = np.random.default_rng(seed)
    names = [f"n{place:02}" for place in range(NODES)]
    hours, rate = rng.gamma(2, 1, NODES) * 500, np.ones(NODES)
    parts = ["a"] * NODES
    if world.startswith("old"):
        rate[:30] = 3
    if world == "one node fails":
        rate[names.index(BAD)] = 20
    if world.startswith("two"):
        parts = ["a"] * 30 + ["b"] * 70
        rate[:30] = 8
    number = rng.poisson(25)
    nodes = rng.choice(NODES, number, p=hours * rate / (hours * rate).sum())
    times = rng.uniform(0, SPAN, number) if "week" not in world else rng.uniform(0, 7 * 86_400, number)
    lost = []
    for moment, node in zip(times, nodes, strict=True):
        again = rng.uniform(0, 20 * 3600, rng.integers(0, 6) if "again" in world else 0)
        lost += [(moment + after, node) for after in (*np.zeros(rng.integers(1, 9)), *again)]
    for _ in range(3 if "racks" in world else 0):
        moment, rack = rng.uniform(0, SPAN), rng.integers(0, 10)
        lost += [(moment + rng.uniform(0, 300), rack * 10 + node) for node in range(rng.integers(3, 10))]
    found = incidents(Lost(names[node], parts[node], moment) for moment, node in lost)
    held = {(name, part): float(time) for name, part, time in zip(names, parts, hours, strict=True)}
    return {one.name for one in judged(found, held) if one.is_named}


def rates(world: str, logs: int, seed: int = 62) -> tuple[float, float]:
    """Return in which share of *logs* a sound node is named, and the bad one found."""
    found = [named(world, [seed, WORLDS.index(world), log]) for log in range(logs)]
    return float(np.mean([bool(one - {BAD}) for one in found])), float(np.mean([BAD in one for one in found]))


if __name__ == "__main__":
    for each in WORLDS:
        sys.stdout.write(f"{each}: {rates(each, int(sys.argv[1]))}\n")
