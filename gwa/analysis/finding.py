"""
What a finding is, and the rules that yield them.

A rule is a function of the facts of a report. Rules see facts only, so they hold for any engine and any form
of a trace. They stand in `gwa.analysis.findings`, and in packages with an entry point in the group
``gwa.findings``.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final, TypeAlias

from gwa.analysis.stakes import StakeOf
from gwa.report.document import Finding
from gwa.util import plugins
from gwa.words.message import message

Facts: TypeAlias = Mapping[str, Any]
"""The facts of a report by their ids."""

MINIMUM_JOBS: Final = 20
"""A trace of fewer jobs is too small for findings on anything but its data."""

DATA_SECTIONS: Final = {"data-quality"}
SYSTEM_SECTIONS: Final = {"utilization", "capacity", "stretches"}
"""The sections about the data, and about the system."""

JOB_SECTIONS: Final = {
    "estimates", "parallelism", "powers-of-two", "processors", "run-times", "sizes-and-run-times", "week"
}  # fmt: skip
MODEL_SECTIONS: Final = {
    "arrivals", "bags-of-tasks", "burstiness", "dependence-over-time", "fits", "locality", "makespans",
    "models",
}  # fmt: skip
"""The sections that describe jobs, and those for who models them. All others answer what people ask first."""

Claim = Callable[[Facts], tuple[float, str] | None]
"""What a rule computes from facts: a weight from 0 to 1 and a sentence, or None."""


@dataclass(frozen=True)
class FindingRule:
    """
    A rule, the *section* that shows its figures, the facts that it *needs*, its *advice* and *action*.

    What is at *stake* in the action is computed from facts, None where it never is known.
    """

    id: str
    section: str
    needs: tuple[str, ...]
    help: str
    advice: str
    action: str
    claim: Claim
    stake: StakeOf | None = None

    def __call__(self, facts: Facts) -> Finding | None:
        """Return the finding in *facts*; None without one, or where a fact that it needs is unknown."""
        if any(facts.get(name) is None for name in self.needs):
            return None
        claim = self.claim(facts)
        if claim is None:
            return None
        weight, text = claim
        found = Finding(
            self.id, text, self.section, self.help, min(max(weight, 0.0), 1.0), self.advice, self.action
        )
        return self._with_stake(found, facts) if self.action else found

    def _with_stake(self, found: Finding, facts: Facts) -> Finding:
        """Return a finding with what is at stake in its action."""
        stake = self.stake(facts) if self.stake else None
        if stake is None:
            return replace(found, stake=message("What is at stake is not known in hours."))
        return replace(
            found,
            stake=stake.text(facts),
            stake_hours=stake.hours,
            stake_share=stake.share(facts),
            stake_unit=stake.unit,
        )


def finding(
    *needs: str, section: str, advice: str = "", action: str = "", stake: StakeOf | None = None
) -> Callable[[Claim], FindingRule]:
    """
    Make a function a rule that is called where the facts of *needs* are known.

    What an operator should do about it, with what *section* lists, is its *action*; *stake* returns what is
    at stake in that.
    """

    def register(claim: Claim) -> FindingRule:
        name = claim.__name__.replace("_", "-")
        return FindingRule(
            name, section, needs, " ".join((claim.__doc__ or "").split()), advice, action, claim, stake
        )

    return register


@cache
def rules() -> tuple[FindingRule, ...]:
    """Return all rules, by name."""
    instances = plugins.instances("gwa.analysis.findings", FindingRule, "gwa.findings")
    return tuple(sorted(instances, key=lambda rule: rule.id))


def findings(
    facts: Facts, sections: Collection[str] | None = None, *, whole: bool = True
) -> tuple[Finding, ...]:
    """
    Return the findings in *facts*: the first `rank` first, and within it the largest weight.

    A trace of less than `MINIMUM_JOBS` has findings on its data only; unless the facts are of the *whole*
    trace, or of all jobs of a period, there are none on the system. Only those of *sections* are returned, if
    these are named.
    """
    too_few = facts.get("trace.jobs", MINIMUM_JOBS) < MINIMUM_JOBS
    wanted = [rule for rule in rules() if sections is None or rule.section in sections]
    candidates = [rule(facts) for rule in wanted if rule.section in DATA_SECTIONS or not too_few]
    shown = [item for item in candidates if item and (whole or item.section not in SYSTEM_SECTIONS)]
    return tuple(sorted(shown, key=lambda item: (rank(item.section), -item.weight, item.id)))


def rank(section: str) -> int:
    """
    Return how early the findings of a section are told: before all those of a larger number.

    First (0) come the data, the system, users, waits, failures and changes, then (1) what jobs are like,
    last (2) what matters to models.

    >>> rank("utilization"), rank("estimates"), rank("fits")
    (0, 1, 2)
    """
    return (section in JOB_SECTIONS) + 2 * (section in MODEL_SECTIONS)


def knows_starts(facts: Facts) -> bool:
    """Whether at most one job in ten that ran has an unknown wait, so that its start is a guess."""
    return bool((facts.get("completeness.ran_without_wait") or 0) * 10 <= facts.get("trace.ran", 0))
