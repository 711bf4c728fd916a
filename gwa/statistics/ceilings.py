"""
Ceilings: whether an amount that an owner never exceeded is a limit, by how its waiting ends.

Where a limit holds an owner back, its next job starts when one of its own ends, and would have gone above the
limit before. A ceiling is a pattern, not a rule: chains of jobs that wait for each other look the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import scipy  # imports scipy.special, which is slow, at its first use

MINIMUM_STARTS: Final = 20
MINIMUM_DAYS: Final = 3
"""Fewer starts after a wait with room, or on fewer days, show no ceiling."""

SHARE: Final = 0.8
"""The least share of these starts that would have gone above it, and that follow an own end."""

FACTOR: Final = 2.0
"""Own ends must come more than this many times as often before starts as by chance: they come in bursts."""

MAXIMUM_CHANCE: Final = 0.5
"""Where own ends are as frequent, that one came before a start says nothing."""

ALPHA: Final = 0.05


@dataclass(frozen=True)
class Evidence:
    """
    What is seen at those *starts* of an owner that came after a wait with room on the machine.

    *above* of them would have gone above the most that the owner ever held, *own* of them, on *days* days,
    follow an end of one of its own jobs, and *both* do both. *chance* is how often such an end comes before
    a moment at which it waited.
    """

    starts: int
    above: int
    own: int
    both: int
    chance: float
    days: int

    @property
    def expected(self) -> float:
        """The share of starts after an own end that is granted to chance."""
        return min(0.9, max(self.chance, 1 / self.starts) * FACTOR)

    @property
    def p_value(self) -> float:
        """How likely as many starts, or more, are by chance."""
        return float(scipy.special.bdtrc(self.both - 1, self.starts, self.expected))

    @property
    def is_a_pattern(self) -> bool:
        """Whether the starts are enough, and nearly all as a ceiling would have them."""
        return (
            self.starts >= MINIMUM_STARTS
            and self.days >= MINIMUM_DAYS
            and self.above >= SHARE * self.starts
            and self.own >= SHARE * self.starts
            and self.expected <= MAXIMUM_CHANCE
        )


def found(evidence: Sequence[Evidence], tests: int) -> list[bool]:
    """
    Return of which of *evidence*, the most likely of *tests* owners that were looked at, there is a ceiling.

    Probabilities are those of Holm (1979), over all tests; those that are not given have none.

    >>> strong, weak = Evidence(40, 40, 39, 39, 0.1, 9), Evidence(40, 40, 33, 33, 0.3, 2)
    >>> found([strong, weak], tests=900)
    [True, False]
    """
    order = sorted(range(len(evidence)), key=lambda place: evidence[place].p_value)
    holds = [False] * len(evidence)
    for rank, place in enumerate(order):
        if evidence[place].p_value * (tests - rank) > ALPHA:
            break
        holds[place] = evidence[place].is_a_pattern
    return holds
