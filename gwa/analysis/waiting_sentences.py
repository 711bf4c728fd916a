"""What may be said of why jobs waited: each sentence with the conditions under which it holds."""

from collections.abc import Iterator
from typing import Final

from gwa.metrics.waiting import Condition, Waiting
from gwa.words.formatting import fraction, number
from gwa.words.message import Message, message

WORTH_SAYING: Final = 0.05
"""Of room that no order of jobs explains it is said from this share on."""


def sentences(waiting: Waiting) -> Iterator[Message]:
    """
    Yield what may be said of why jobs waited.

    What follows from the capacity comes first; of room something is said only where all is known that fills
    it. None says what would have been, or what a scheduler decided.
    """
    if waiting.why_unknown:
        yield message("Why jobs waited cannot be told: {why}.", why=waiting.why_unknown)
        return
    shares = waiting.shares()
    if shares is None:
        yield message("These jobs waited too little of the time that all waited to tell why.")
        return
    yield _full(waiting, shares)
    yield from _held(waiting, shares)
    if waiting.is_bound == "full_at_least":
        yield _missing(waiting)
        return
    if waiting.partitions == "overlapping":
        yield message("Partitions share processors: whether there was room for a job cannot be told.")
        return
    if waiting.is_bound == "none":
        yield _priority(shares)
    yield from _room(waiting, shares)


def _full(waiting: Waiting, shares: dict[Condition, float]) -> Message:
    share = fraction(shares["full"])
    if waiting.is_bound == "full_at_least":
        return message(
            "At least {share} of the waiting was while fewer processors were free than the job asked for.",
            share=share,
        )
    if waiting.is_bound == "room_at_least":
        return message(
            "At most {share} of the waiting was while fewer processors were free than the job asked for, of"
            " the {most} ever in use at once.",
            share=share,
            most=number(waiting.capacity or 0.0),
        )
    return message(
        "{share} of the waiting was while fewer processors were free than the job asked for.", share=share
    )


def _held(waiting: Waiting, shares: dict[Condition, float]) -> Iterator[Message]:
    if not waiting.knows_holds:
        yield message("Dependencies and holds are not recorded, and are among these.")
    elif shares["held"] > 0:
        yield message(
            "{share} was before jobs could start: dependencies, holds, begin times.",
            share=fraction(shares["held"]),
        )


def _missing(waiting: Waiting) -> Message:
    """Return why nothing is said of room."""
    return message(
        "Jobs may be missing ({why}): more was busy than the log shows, and nothing can be said of room.",
        why=waiting.missing,
    )


def _priority(shares: dict[Condition, float]) -> Message:
    """Return how much priority can be at most: what is unknown is added, too."""
    most = shares["unused"] + shares["larger"] + shares["cycle"] + shares["unknown"]
    return message("At most {share} can be priority, or room kept for larger jobs.", share=fraction(most))


def _room(waiting: Waiting, shares: dict[Condition, float]) -> Iterator[Message]:
    least = shares["open"] + shares["ceiling"]
    if waiting.knows_holds and least >= WORTH_SAYING:
        yield message(
            "At least {share} was while there was room for every waiting job, or the owner was at its own"
            " ceiling: no order of jobs explains that; limits, reservations, drained nodes or missing"
            " resources may.",
            share=fraction(least),
        )
