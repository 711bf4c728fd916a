"""
How much of the waiting of a log a change touches, and where rules that no replay knows forbid an answer.

A change touches the waiting under some conditions (`gwa.metrics.waiting`) directly: processors that are
added end that for processors. What was waited with room for every waiting job, or at a ceiling of the
owner, follows from rules of the machine that a replay does not have.

Waiting for a dependency is touched indirectly: it ends earlier where the other job does. With twenty times
the processors, in 59 of 60 made logs no more of the waiting vanished than what is touched and that together,
within 5 points.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from gwa.metrics.waiting import Condition, Waiting
from gwa.words.formatting import fraction
from gwa.words.message import Message, joined, message

MAXIMUM_BY_RULES: Final = 0.2
"""With more of the waiting by rules that a replay does not have, it is not about this machine."""

SEEN: Final = 0.001
"""A condition that holds less is not named."""

REPLAYED: Final[tuple[Condition, ...]] = ("full", "unused", "larger", "cycle")
"""What processors and the order of jobs touch: all that a replay has."""

PHRASES: Final[Mapping[Condition, Message]] = {
    "full": message("{share} while fewer processors were free than the job asked for"),
    "gpu": message("{share} while fewer GPUs were free than the job asked for"),
    "ceiling": message("{share} at a ceiling of the owner"),
    "larger": message("{share} beside a larger job that waited"),
    "unused": message("{share} beside processors that no job used for a day"),
    "cycle": message("{share} in the last minute before the start"),
}
"""What is said of the conditions that changes touch, in the order in which it is."""

SENTENCES: Final[Mapping[str, Message]] = {
    "none": message("{share} of the waiting was under conditions that this change touches: {parts}."),
    "at_most": message(
        "At most {share} of the waiting was under conditions that this change touches: {parts}."
    ),
    "at_least": message(
        "At least {share} of the waiting was under conditions that this change touches: {parts} ({why})."
    ),
}
"""How much is touched, by what the share is."""


@dataclass(frozen=True)
class TouchedWaiting:
    """
    The *shares* of the waiting of a log that was under the conditions that a change touches.

    *is_bound* says what they are: values; ``at_most`` where the machine may be larger than known;
    ``at_least`` where the log lacks what filled it, and only that it was full is known; or ``unknown``.
    *why* says why they are no values. *by_rules* is the least share that rules kept waiting which a replay
    does not have, None where that cannot be told; *with_ceilings* says whether ceilings of owners are among
    them.
    """

    shares: Mapping[Condition, float]
    is_bound: Literal["none", "at_most", "at_least", "unknown"] = "none"
    why: str = ""
    by_rules: float | None = None
    with_ceilings: bool = True

    @property
    def share(self) -> float | None:
        """The share of the waiting that the change touches; None where it is unknown."""
        return None if self.is_bound == "unknown" else sum(self.shares.values())

    @property
    def is_by_rules(self) -> bool:
        """Whether rules kept so much waiting that a replay is not about this machine."""
        return self.by_rules is not None and self.by_rules > MAXIMUM_BY_RULES

    def sentence(self) -> Message:
        """Return how much of the waiting the change touches."""
        if self.share is None:
            return message("How much of the waiting this change touches cannot be told: {why}.", why=self.why)
        named = [name for name in PHRASES if self.shares.get(name, 0.0) >= SEEN]
        if not named:
            return message("Hardly any of the waiting was under conditions that this change touches.")
        parts = joined(", ", (message(PHRASES[name], share=fraction(self.shares[name])) for name in named))
        return message(SENTENCES[self.is_bound], share=fraction(self.share), parts=parts, why=self.why)

    def rules(self) -> Message:
        """Return how much of the waiting was by rules that a replay does not have."""
        share = fraction(self.by_rules or 0.0)
        if self.with_ceilings:
            return message(
                "{share} of the waiting was with room for every waiting job or at a ceiling of the owner, for"
                " reasons that no replay knows",
                share=share,
            )
        return message(
            "{share} of the waiting was with room for every waiting job, for reasons that no replay knows",
            share=share,
        )

    def reason(self) -> Message:
        """Return why a replay is not about the machine."""
        return message(
            "{rules}, expected at most {most}", rules=self.rules(), most=fraction(MAXIMUM_BY_RULES)
        )

    def plain(self) -> Mapping[str, Any]:
        """Return what JSON holds of it."""
        return {
            "touched": self.share,
            "shares": self.shares,
            "is_bound": self.is_bound,
            "by_rules": self.by_rules,
            "sentence": self.sentence(),
        }


def touched(
    waiting: Waiting, conditions: Sequence[Condition], *, with_ceilings: bool = True
) -> TouchedWaiting:
    """
    Return how much of the *waiting* was under *conditions*, which a change touches.

    *with_ceilings* says whether ceilings of owners are rules that the replay does not have.
    """
    shares, why = waiting.shares(), waiting.why_unknown
    if shares is None or why:
        why = why or message("the jobs waited too little of the time that all waited")
        return TouchedWaiting({}, "unknown", why)
    if not waiting.knows_room:
        why = waiting.missing or message("partitions share processors")
        full: dict[Condition, float] = {"full": shares["full"]} if "full" in conditions else {}
        return TouchedWaiting(full, "at_least" if full else "unknown", why)
    rules = shares["open"] + (shares["ceiling"] if with_ceilings else 0.0)
    return TouchedWaiting(
        {name: shares[name] for name in conditions},
        "at_most" if waiting.is_inferred else "none",
        by_rules=rules,
        with_ceilings=with_ceilings,
    )


def user_ceilings(waiting: Waiting) -> dict[str, int]:
    """Return to how many processors the log shows that users were held, by user."""
    ceilings: dict[str, int] = {}
    for one in waiting.ceilings:
        if one.unit == "processors":
            owners = (f"{one.kind} {one.id}", *one.same)
            ceilings |= {
                name.removeprefix("user "): int(one.most) for name in owners if name.startswith("user ")
            }
    return ceilings
