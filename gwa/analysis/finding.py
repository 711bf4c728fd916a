"""
What a finding is, and the rules that yield them.

A rule is a function of the facts of a report. Rules see facts only, so they hold for any engine and any form
of a trace. They stand in `gwa.analysis.findings`, and in packages with an entry point in the group
``gwa.findings``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeAlias

from gwa.report.document import Finding
from gwa.util import plugins

Facts: TypeAlias = Mapping[str, Any]
"""The facts of a report by their ids."""

MINIMUM_JOBS: Final = 20
"""A trace of fewer jobs is too small for findings on anything but its data."""

DATA_SECTIONS: Final = {"data-quality"}
SYSTEM_SECTIONS: Final = {"utilization", "capacity"}
"""The sections about the data, and about the system."""

Claim = Callable[[Facts], tuple[float, str] | None]
"""What a rule computes from facts: a weight from 0 to 1 and a sentence, or None."""


@dataclass(frozen=True)
class FindingRule:
    """A rule, the *section* that shows its figures, the facts that it *needs* and its *advice*."""

    id: str
    section: str
    needs: tuple[str, ...]
    help: str
    advice: str
    claim: Claim

    def __call__(self, facts: Facts) -> Finding | None:
        """Return the finding in *facts*; None without one, or where a fact that it needs is unknown."""
        if any(facts.get(name) is None for name in self.needs):
            return None
        claim = self.claim(facts)
        if claim is None:
            return None
        weight, text = claim
        return Finding(self.id, text, self.section, self.help, min(max(weight, 0.0), 1.0), self.advice)


def finding(*needs: str, section: str, advice: str = "") -> Callable[[Claim], FindingRule]:
    """Make a function a rule that is called where the facts of *needs* are known."""

    def register(claim: Claim) -> FindingRule:
        name = claim.__name__.replace("_", "-")
        return FindingRule(name, section, needs, " ".join((claim.__doc__ or "").split()), advice, claim)

    return register


@cache
def rules() -> tuple[FindingRule, ...]:
    """Return all rules, by name."""
    instances = plugins.instances("gwa.analysis.findings", FindingRule, "gwa.findings")
    return tuple(sorted(instances, key=lambda rule: rule.id))


def findings(facts: Facts, *, whole: bool = True) -> tuple[Finding, ...]:
    """
    Return the findings in *facts*, the largest weight first.

    A trace of less than `MINIMUM_JOBS` has findings on its data only; unless the facts are of the *whole*
    trace, or of all jobs of a period, there are none on the system.
    """
    too_few = facts.get("trace.jobs", MINIMUM_JOBS) < MINIMUM_JOBS
    candidates = [rule(facts) for rule in rules() if rule.section in DATA_SECTIONS or not too_few]
    shown = [item for item in candidates if item and (whole or item.section not in SYSTEM_SECTIONS)]
    return tuple(sorted(shown, key=lambda item: (-item.weight, item.id)))
