"""How a report words how jobs ended, from the facts of the section on outcomes."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gwa.metrics.outcomes import KNOWN_OUTCOMES, OUTCOMES
from gwa.words.formatting import fraction
from gwa.words.message import Message, joined, message

ENDINGS: Final = {
    "limit": message("reached their time limit"),
    "failed": message("failed"),
    "cancelled": message("were cancelled"),
}
"""What jobs did that did not complete."""

ENDINGS_OF_ONE: Final = {
    "limit": message("reached its time limit"),
    "failed": message("failed"),
    "cancelled": message("was cancelled"),
}
"""What a single job did that did not complete."""

NOTICEABLE: Final = 0.005
"""Shares below this are not mentioned."""

Shares = Mapping[str, float]
"""Shares by outcome, and of all that did not complete together, of the jobs whose outcome is known."""

NOT_COMPLETED: Final = "not completed"
"""The name of all outcomes of `ENDINGS` together."""


def shares(rows: Sequence[Mapping[str, Any]] | None, amount: str) -> Shares:
    """Return the shares of an *amount*, jobs or core-hours, from the *rows* of ``outcomes.shares``."""
    return {row["id"]: row[amount] for row in rows or () if row[amount] is not None}


def core_hour_shares(facts: Mapping[str, Any]) -> Shares:
    """
    Return the shares of core-hours by outcome, as the first screen of a page counts them.

    They are of what jobs held while the log knows the load; where it knows it nowhere, of all that they took.
    """
    told = _held(facts, KNOWN_OUTCOMES)
    total = math.fsum(told.values())
    if not total:
        return shares(facts.get("outcomes.shares"), "core_hours")
    found: dict[str, float] = {name: amount / total for name, amount in told.items()}
    bad = [told[name] for name in ENDINGS if name in told]
    return {**found, NOT_COMPLETED: math.fsum(bad) / total}


def known_share(facts: Mapping[str, Any]) -> float | None:
    """Return the share of the core-hours held whose outcome is known; None where nothing is held."""
    told, held = (math.fsum(_held(facts, names).values()) for names in (KNOWN_OUTCOMES, OUTCOMES))
    return told / held if held else None


def _held(facts: Mapping[str, Any], names: Iterable[str]) -> dict[str, float]:
    """Return what jobs of the outcomes *names* held, of those that the log tells."""
    held = {name: facts.get(f"usage.outcomes.{name}") for name in names}
    return {name: amount for name, amount in held.items() if amount is not None}


@dataclass(frozen=True)
class Whose:
    """Of which *jobs* and core-*hours* shares are, in words; none where all outcomes are known."""

    jobs: str = ""
    hours: str = ""


def whose(facts: Mapping[str, Any]) -> Whose:
    """Return to which jobs and core-hours what is known of outcomes is restricted."""
    if not facts.get("outcomes.jobs.unknown") and not facts.get("outcomes.jobs.running"):
        return Whose()
    share = known_share(facts)
    if share is None or share > 1 - NOTICEABLE:
        hours = message(" of jobs whose outcome is known")
    else:
        hours = message(" of jobs whose outcome is known ({share} of all)", share=fraction(share))
    return Whose(message(" whose outcome is known"), hours)


def went_into(names: Collection[str], jobs: Shares, hours: Shares, of: Whose) -> Message:
    """Return the sentence on the shares of the outcomes *names* and of what they are."""
    if not hours:
        parts = [
            message("{share} {ending}", share=fraction(jobs[name]), ending=ENDINGS[name]) for name in names
        ]
        return message("Of the jobs{whose}, {jobs}.", whose=of.jobs, jobs=_listed(parts))
    first, *others = names
    parts = [
        message("{share} went into jobs that {ending}", share=fraction(hours[first]), ending=ENDINGS[first]),
        *(
            message("{share} into jobs that {ending}", share=fraction(hours[name]), ending=ENDINGS[name])
            for name in others
        ),
    ]
    return message(
        "Of the core-hours{whose}, {hours} (of the jobs: {jobs}).",
        whose=of.hours,
        hours=_listed(parts),
        jobs=_listed([fraction(jobs[name]) for name in names]),
    )


def _listed(parts: Sequence[str]) -> Message:
    """Return *parts* as a list in words."""
    *first, last = parts
    return joined(message(" and "), (joined(", ", first), last)) if first else joined("", [last])
