"""Plans of made worlds whose larger machine is simulated, too: how often the said interval holds."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pytest

import gwa
from gwa.evaluation.capacity.rule import plan
from gwa.evaluation.whatif.world import World, recorded
from tests.conftest import LOGS
from tests.evaluation.made_months import MACHINES, MONTHS, Made, drawn, submitted

SHARES = (1.05, 1.1, 1.15, 1.2)
"""Sizes of the larger machine; each world is asked for two of them."""

SEEDS = 12

DRAWN = ("KTH-SP2-1996-2.1-cln", "SDSC-Par-1996-3.1-cln", "NASA-iPSC-1993-3.1-cln", "LANL-CM5-1994-4.1-cln")


@dataclass
class Count:
    """Statements that hold, and all that are made and refused."""

    held: list[bool] = field(default_factory=list)
    refused: int = 0

    def add(self, world: World, machine: str, shares: tuple[float, ...]) -> None:
        """Count the plans of a world on a *machine* for each of *shares*."""
        for share in shares:
            made = Made.on(world, machine, share)
            found = plan(made.world, made.asked, capacity_is_stated=True, has_curve=False)
            own = made.held(found)
            self.held += own
            self.refused += len(found.outcomes) - len(own)

    def __str__(self) -> str:
        return f"{len(self.held)} made, {sum(self.held)} held, {self.refused} refused"


def checked(worlds: dict[str, Iterator[World]], capsys: pytest.CaptureFixture[str]) -> None:
    """Check that at least 75 % of the statements on *worlds* hold, of those of each size and machine."""
    counts: dict[str, Count] = {}
    for source, made in worlds.items():
        for number, world in enumerate(made):
            for machine in MACHINES:
                for share in SHARES[number % 2 :: 2]:
                    for key in ("all", source, machine, f"x {share}"):
                        counts.setdefault(key, Count())
                    one = Count()
                    one.add(world, machine, (share,))
                    for key in ("all", source, machine, f"x {share}"):
                        counts[key].held += one.held
                        counts[key].refused += one.refused
    with capsys.disabled():
        lines = [f"{key}: {count}" for key, count in counts.items()]
        sys.stdout.write("\n".join([f"\n{MONTHS} months", *lines, ""]))

    assert len(counts["all"].held) >= 40
    for count in counts.values():
        assert len(count.held) < 10 or np.mean(count.held) >= 0.75


@pytest.mark.slow
def test_the_wait_that_is_said_of_the_median_month_is_that_of_the_simulated_machine(capsys):
    checked({"made": map(submitted, range(SEEDS))}, capsys)


@pytest.mark.slow
@pytest.mark.skipif(not LOGS.exists(), reason="needs the logs of ../shared")
def test_it_is_so_of_months_drawn_from_real_logs(capsys):
    def worlds(name: str) -> Iterator[World]:
        with gwa.open(LOGS / "swf" / f"{name}.swf.gz") as trace:
            log = recorded(trace.store, "easy")
        return (drawn(log, seed) for seed in range(1, 5))

    checked({name: worlds(name) for name in DRAWN}, capsys)
