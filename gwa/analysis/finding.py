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

LEAST: Final = 20
"""Of fewer jobs nothing is typical."""

QUALITY: Final = {"data-quality"}
SYSTEM: Final = {"utilization", "capacity"}
"""The sections about the data, and about the system."""

Say = Callable[[Facts], tuple[float, str] | None]
"""What a rule is: from facts to how remarkable they are, from 0 to 1, and the sentence."""


@dataclass(frozen=True)
class FindingRule:
    """A rule, the *section* that shows its figures, the facts that it *needs* and its *advice*."""

    id: str
    section: str
    needs: tuple[str, ...]
    help: str
    advice: str
    say: Say

    def __call__(self, facts: Facts) -> Finding | None:
        """Return what is found in *facts*; nothing where one that it needs is not known."""
        if any(facts.get(name) is None for name in self.needs):
            return None
        said = self.say(facts)
        if said is None:
            return None
        weight, text = said
        return Finding(self.id, text, self.section, self.help, min(max(weight, 0.0), 1.0), self.advice)


def finding(*needs: str, section: str, advice: str = "") -> Callable[[Say], FindingRule]:
    """Make a function a rule; the facts of *needs* are known where it is called."""

    def register(say: Say) -> FindingRule:
        name = say.__name__.replace("_", "-")
        return FindingRule(name, section, needs, " ".join((say.__doc__ or "").split()), advice, say)

    return register


@cache
def rules() -> tuple[FindingRule, ...]:
    """Return all rules, by name."""
    found = plugins.instances("gwa.analysis.findings", FindingRule, "gwa.findings")
    return tuple(sorted(found, key=lambda rule: rule.id))


def findings(facts: Facts, *, whole: bool = True) -> tuple[Finding, ...]:
    """
    Return what is found in *facts*, the most remarkable first.

    Of a few jobs only the quality of the data is remarkable; and unless they are the *whole* of the jobs
    of their time, nothing can be said of the system.
    """
    few = facts.get("trace.jobs", LEAST) < LEAST
    said = [rule(facts) for rule in rules() if rule.section in QUALITY or not few]
    found = [one for one in said if one and (whole or one.section not in SYSTEM)]
    return tuple(sorted(found, key=lambda one: (-one.weight, one.id)))
