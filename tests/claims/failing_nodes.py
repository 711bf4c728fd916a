"""
How often a sound node is said to fail, and a bad one found: `python -m tests.claims.failing_nodes 100`.

No node fails more than another; users, scripts and the file system do. A job that fails ends at once and
frees its node, which the scheduler hands out again: as the first that is free, or as the one that was freed
last. Of each log there is another, in which three in ten jobs fail more on one node.
"""

import heapq
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from gwa.metrics.failing_nodes import tried_nodes
from gwa.store.store import Store
from tests.claims import Counted

JOBS: Final = 4000
NODES: Final = 40
USERS: Final = 25
SPAN: Final = 30 * 86_400.0
HOUR: Final = 3600.0

AMISS: Final = 5
MORE: Final = 0.3

Chance = Callable[[int, int, float], float]
"""How likely a job fails: of a user, an application, and when it starts."""


def _usual(rng: np.random.Generator) -> Chance:
    rates = rng.beta(0.6, 8, (USERS, 3))
    return lambda user, app, _: float(rates[user, app])


def _stretches(rng: np.random.Generator, every: float, last: float) -> list[tuple[float, float]]:
    """Return stretches that begin once in *every* seconds and *last* so long, both on average."""
    begins = np.sort(rng.uniform(0, SPAN, rng.poisson(SPAN / every)))
    return [(begin, begin + rng.exponential(last)) for begin in begins]


def _within(stretches: list[tuple[float, float]], at: float) -> bool:
    return any(low <= at < high for low, high in stretches)


def broken_scripts(rng: np.random.Generator) -> Chance:
    """Return that of users whose scripts are broken for hours."""
    usual, broken = _usual(rng), [_stretches(rng, 40 * HOUR, 4 * HOUR) for _ in range(USERS)]
    return lambda user, app, at: 0.97 if _within(broken[user], at) else usual(user, app, at)


def outages(rng: np.random.Generator) -> Chance:
    """Return that of a file system that is away for hours."""
    usual, away = _usual(rng), _stretches(rng, 96 * HOUR, 2 * HOUR)
    return lambda user, app, at: 0.95 if _within(away, at) else usual(user, app, at)


def two_scripts(rng: np.random.Generator) -> Chance:
    """Return that of users who run two scripts under one name, of which one fails, by turns of 90 minutes."""
    usual, turns = _usual(rng), rng.random((USERS, 1000)) < 0.11
    return lambda user, app, at: 0.95 if turns[user, int(at // (1.5 * HOUR)) % 1000] else usual(user, app, at)


def full_quotas(rng: np.random.Generator) -> Chance:
    """Return that of users whose quota is full for a day, so that most of what they run fails."""
    usual, full = _usual(rng), [_stretches(rng, 300 * HOUR, 20 * HOUR) for _ in range(USERS)]
    return lambda user, app, at: 0.8 if _within(full[user], at) else usual(user, app, at)


def licences(rng: np.random.Generator) -> Chance:
    """Return that of one application whose licences are used up, for all users, in the afternoons."""
    usual = _usual(rng)
    return lambda user, app, at: 0.6 if app == 0 and 14 <= at / HOUR % 24 < 17 else usual(user, app, at)


def debugging(rng: np.random.Generator) -> Chance:
    """Return that of users who begin anew every few days, and fail less with each hour after that."""
    usual = _usual(rng)
    begins = [np.sort(rng.uniform(0, SPAN, 8)) for _ in range(USERS)]

    def chance(user: int, app: int, at: float) -> float:
        place = int(np.searchsorted(begins[user], at)) - 1
        hours = (at - begins[user][place]) / HOUR if place >= 0 else np.inf
        return max(usual(user, app, at), 0.9 * float(np.exp(-hours / 3)))

    return chance


def nights(rng: np.random.Generator) -> Chance:
    """Return that of a network that loses four in ten jobs between two and four at night."""
    usual = _usual(rng)
    return lambda user, app, at: 0.4 if 2 <= at / HOUR % 24 < 4 else usual(user, app, at)


@dataclass(frozen=True)
class World:
    """What makes jobs fail, and whether users have a *home*: a node that they ask for, and mostly get."""

    fails: Callable[[np.random.Generator], Chance]
    has_homes: bool = False


WORLDS: Final = {
    "jobs fail as they do": World(_usual),
    "scripts are broken for hours": World(broken_scripts),
    "the same, and users have favourite nodes": World(broken_scripts, has_homes=True),
    "the file system is away for hours": World(outages),
    "two scripts have one name": World(two_scripts),
    "quotas are full for a day": World(full_quotas),
    "licences are used up in the afternoons": World(licences),
    "users begin anew and learn": World(debugging),
    "the network loses jobs at night": World(nights),
}

PLACEMENTS: Final = ("first free", "last freed")


@dataclass(frozen=True)
class Named(Counted):
    """
    In how many *logs* a sound node was *wrongly* named; of those with a bad one, in how many it was *found*.

    In as many *another* was named. *visible* are the logs in whose twin without a bad node it was said that
    it would be seen, *kept* the ones of them in which it was.
    """

    logs: int = 0
    wrongly: int = 0
    found: int = 0
    another: int = 0
    visible: int = 0
    kept: int = 0


def logged(world: World, placement: str, seed: list[int], *, bad: int | None) -> dict[str, list[Any]]:
    """Return the columns of a log, in which more jobs fail on the node *bad*."""
    rng = np.random.default_rng(seed)
    chance, homes = world.fails(rng), rng.integers(0, NODES, USERS)
    weights = rng.zipf(1.6, USERS).clip(1, 60).astype(float)
    free, busy, rows = list(range(NODES)), list[tuple[float, int]](), []
    at, left, user, app = 0.0, 0, 0, 0
    for _ in range(JOBS):
        if left == 0:
            user, app = int(rng.choice(USERS, p=weights / weights.sum())), int(rng.integers(0, 3))
            left = 1 + int(rng.geometric(1 / 6))
            at += rng.exponential(7 * SPAN / JOBS)
        left, at = left - 1, at + rng.exponential(20)
        while busy and (busy[0][0] <= at or not free):
            end, node = heapq.heappop(busy)
            at = max(at, end)
            free.append(node)
        node = int(homes[user])
        if not (world.has_homes and rng.random() < 0.8 and node in free):
            node = min(free) if placement == "first free" else free[-1]
        free.remove(node)
        fails = min(chance(user, app, at), 0.98)
        fails = 1 - (1 - fails) * (1 - MORE) if node == bad else fails
        failed = rng.random() < fails
        lasted = rng.exponential(60) if failed else rng.lognormal(8.5, 1.3)
        heapq.heappush(busy, (at + lasted, node))
        rows.append((at, 0.0, lasted, 1, 0 if failed else 1, f"U{user}", f"X{app}", f"n{node:02}"))
    names = (
        "submit_time",
        "wait_time",
        "run_time",
        "n_procs",
        "status",
        "user_id",
        "executable_id",
        "node_list",
    )
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


def named(columns: dict[str, list[Any]]) -> tuple[set[str], set[str]]:
    """Return the nodes of a log that are said to fail, and those that would be seen."""
    with Store.create() as store:
        store.begin(["job_id", *columns])
        store.insert("recorded", list(zip(range(1, JOBS + 1), *columns.values(), strict=True)))
        tried = tried_nodes(store)
    return {one.name for one in tried if one.is_named}, {one.name for one in tried if one.would_be_seen}


def judged(world: str, placement: str, seed: list[int]) -> Named:
    """Return what is said of a log, and of the same with a bad node."""
    bad = f"n{AMISS:02}"
    sound, seen = named(logged(WORLDS[world], placement, seed, bad=None))
    found, _ = named(logged(WORLDS[world], placement, seed, bad=AMISS))
    is_visible = bad in seen
    return Named(1, bool(sound), bad in found, bool(found - {bad}), is_visible, is_visible and bad in found)


def rates(world: str, placement: str, logs: int, seed: int = 7) -> Named:
    """Return what comes of several logs of a world."""
    number = list(WORLDS).index(world)
    seeds: Iterator[list[int]] = ([seed, number, PLACEMENTS.index(placement), log] for log in range(logs))
    return sum((judged(world, placement, one) for one in seeds), Named())


if __name__ == "__main__":
    for each in WORLDS:
        for how in PLACEMENTS:
            sys.stdout.write(f"{each}, {how}: {rates(each, how, int(sys.argv[1]))}\n")
            sys.stdout.flush()
