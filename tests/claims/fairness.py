"""
How often somebody is said to hold more than a share, or to go ahead: `python -m tests.claims.fairness 100`.

In each world it is known how the scheduler chose: in the order of arrival, with or without backfilling, or
whose user held least lately, of all users alike or with one whom it favours.
"""

import sys
from dataclasses import dataclass, replace
from typing import Final

from gwa.breakdown.fairness import asked
from gwa.breakdown.going_ahead import orders
from tests.claims import Counted
from tests.claims.waiting import CPUS, Scheduler, World
from tests.conftest import filled

JOBS: Final = 3200
DAYS: Final = 112.0
FAVOURED: Final = "u00"

EQUAL: Final = World(load=1.0, is_equal=True)

WORLDS: Final = {
    "equal users in order": replace(EQUAL, load=0.8, backfills=False),
    "equal users, backfilled": EQUAL,
    "equal users, overloaded in order": replace(EQUAL, load=1.2, backfills=False),
    "equal users by what they held": replace(EQUAL, is_fair=True, load=1.2),
    "unequal users in order": World(load=0.8, backfills=False),
    "unequal users, backfilled": World(load=1.0),
    "unequal users by what they held": World(load=1.2, is_fair=True),
    "one of equal users is favoured twice": replace(EQUAL, is_fair=True, load=1.2, favour=2.0),
}


class Unlimited(Scheduler):
    """A machine without limits of users, of which nobody asks why jobs wait."""

    def is_limited(self, job: int) -> bool:
        """Return that nothing limits a job."""
        del job
        return False

    def why(self, job: int, now: float) -> str:
        """Return no reason."""
        del job, now
        return ""


@dataclass(frozen=True)
class Said(Counted):
    """
    In how many *logs* anybody was said to hold more than the split, and to go ahead as well (*favoured*).

    In *found* of them it was the first user; in *wrongly* another one.
    """

    logs: int = 0
    above: int = 0
    favoured: int = 0
    found: int = 0
    wrongly: int = 0


def judged(name: str, seed: int) -> Said:
    """Return what is said of one log of a world."""
    columns, _ = Unlimited(WORLDS[name], seed, JOBS, DAYS).log()
    header = (("MaxProcs", str(CPUS)), ("Times", "Unix seconds, UTC"), ("TimeZoneString", "UTC"))
    with filled(header, columns) as store:
        shares, order = asked(store, "users"), orders(store) or {}
        assert shares is not None
        above = {one.name for one in shares.shares() if one.is_above}
    favoured = {user for user in above if order[user].goes_ahead}
    return Said(1, bool(above), bool(favoured), FAVOURED in favoured, bool(favoured - {FAVOURED}))


def rates(name: str, seeds: range) -> Said:
    """Return what is said of several logs of a world."""
    return sum((judged(name, seed) for seed in seeds), Said())


if __name__ == "__main__":
    for each in WORLDS:
        sys.stdout.write(f"{each}: {rates(each, range(700, 700 + int(sys.argv[1])))}\n")
        sys.stdout.flush()
