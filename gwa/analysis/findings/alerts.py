"""What is wasted, by the rules on which alerts are raised: a finding for each."""

from collections.abc import Callable
from typing import Final

from gwa.analysis.finding import Facts, FindingRule
from gwa.analysis.stakes import HeldHours, StakeOf
from gwa.metrics.alert_rules import RULES, Rule
from gwa.metrics.alerts import claim, measured
from gwa.words.formatting import seconds
from gwa.words.message import joined, message

HIGHEST: Final = 0.8
STEP: Final = 0.02
"""The first rules are the most remarkable ones; each is a little less so than the one before."""

NUMBERS: Final = ("users", "jobs", "hours", "known", "about", "minimum_run")


def _claim(rule: Rule, place: int) -> Callable[[Facts], tuple[float, str] | None]:
    """Return what makes the sentence of a rule from its facts."""

    def made(facts: Facts) -> tuple[float, str] | None:
        users, jobs, hours, known, about, minimum = (facts[name] for name in _needs(rule))
        if not users:
            return None
        text = measured(rule, known, about)
        counted = (
            message(
                "Measured: {measured}; judged: those of {run} or longer.", measured=text, run=seconds(minimum)
            )
            if minimum
            else message("Measured: {measured}.", measured=text)
        )
        return HIGHEST - STEP * place, joined(" ", (claim(rule, users, jobs, hours), counted))

    return made


def _stake(rule: Rule) -> StakeOf | None:
    """Return what the hours at stake are; those of requests that were not used were never held."""
    hours = f"alerts.{rule.key}.hours"
    return (lambda facts: HeldHours(facts[hours], rule.stake, of_all_jobs=True)) if rule.is_held else None


def _needs(rule: Rule) -> tuple[str, ...]:
    return tuple(f"alerts.{rule.key}.{name}" for name in NUMBERS)


DEFAULTS: Final = message("These thresholds are the defaults; those of --thresholds take their place.")

ALERTS: Final = tuple(
    FindingRule(
        rule.id,
        "alerts",
        _needs(rule),
        joined(" ", (rule.shown, DEFAULTS)),
        rule.do,
        rule.action,
        _claim(rule, place),
        _stake(rule),
    )
    for place, rule in enumerate(RULES)
)
