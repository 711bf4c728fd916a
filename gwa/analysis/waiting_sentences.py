"""What may be said of why jobs waited: each sentence with the conditions under which it holds."""

from collections.abc import Iterator, Sequence
from typing import Final

from gwa.metrics.waiting import Condition, Waiting
from gwa.metrics.waiting_ceilings import Ceiling
from gwa.metrics.waiting_reasons import Reason
from gwa.words.formatting import fraction, number
from gwa.words.message import Message, Verbatim, message

MAXIMUM_CEILINGS: Final = 3
"""Of more ceilings those with most starts are said."""

OWNERS: Final = {
    "user": message("User {id}"),
    "qos": message("QoS {id}"),
    "project": message("Project {id}"),
    "partition": message("Partition {id}"),
}

HELD: Final = {
    "processors": message("it never held more than {most} processors for long"),
    "jobs": message("it never ran more than {most} jobs at once for long"),
}

PHRASES: Final = {
    "cannot": message("Why jobs waited cannot be told: {why}."),
    "too_little": message("These jobs waited too little of the time that all waited to tell why."),
    "full": message("{share} of the waiting was while fewer processors were free than the job asked for."),
    "full_at_least": message(
        "At least {share} of the waiting was while fewer processors were free than the job asked for."
    ),
    "full_at_most": message(
        "At most {share} of the waiting was while fewer processors were free than the job asked for, of"
        " the {most} ever in use at once."
    ),
    "holds_unknown": message("Dependencies and holds are not recorded, and are among these."),
    "held": message("{share} was before jobs could start: dependencies, holds, begin times."),
    "missing": message(
        "Jobs may be missing ({why}): more may have been busy than the log shows, and nothing can be said of"
        " room."
    ),
    "overlapping": message("Partitions share processors: whether there was room for a job cannot be told."),
    "priority": message("At most {share} can be priority, or room kept for larger jobs."),
    "room": message(
        "At least {share} was while there was room for every waiting job, or the owner was at its own"
        " ceiling: no order of jobs explains that; limits, reservations, drained nodes or missing"
        " resources may."
    ),
}
"""What may be said of all jobs and of some, with places for what differs: a page fills them, too."""

SMALLEST: Final = 0.001
"""A share that is "at most" is said to be no smaller: what is less is written with a sign of its own."""

WORTH_SAYING: Final = 0.05
"""Of room that no order of jobs explains it is said from this share on."""


def sentences(waiting: Waiting) -> Iterator[Message]:
    """
    Yield what may be said of why jobs waited.

    What follows from the capacity comes first; of room something is said only where all is known that fills
    it. None says what would have been, or what a scheduler decided.
    """
    if waiting.why_unknown:
        yield phrase("cannot", why=waiting.why_unknown)
        return
    shares = waiting.shares()
    if shares is None:
        yield phrase("too_little")
        return
    if waiting.is_bound != "full_at_least" or shares["full"] >= SMALLEST:
        yield _full(waiting, shares)
    yield from _held(waiting, shares)
    if waiting.is_bound == "full_at_least":
        yield phrase("missing", why=waiting.missing)
        return
    if waiting.partitions == "overlapping":
        yield phrase("overlapping")
        return
    if waiting.is_bound == "none":
        yield _priority(shares)
    yield from _room(waiting, shares)
    for one in _said(waiting):
        yield _ceiling(one)
        yield from noted_limit(one)


def in_short(waiting: Waiting) -> Iterator[Message]:
    """Yield what a bar of the conditions does not say itself: what its shares are, and the most of them."""
    shares = waiting.shares()
    if waiting.why_unknown:
        yield phrase("cannot", why=waiting.why_unknown)
    elif shares is None:
        yield phrase("too_little")
    elif waiting.is_bound == "full_at_least":
        yield phrase("missing", why=waiting.missing)
    else:
        yield from _of_room(waiting, shares)
        if not waiting.knows_holds:
            yield phrase("holds_unknown")


def _of_room(waiting: Waiting, shares: dict[Condition, float]) -> Iterator[Message]:
    if waiting.partitions == "overlapping":
        yield phrase("overlapping")
    elif waiting.is_bound == "room_at_least":
        yield _full(waiting, shares)
    else:
        yield from list(_room(waiting, shares)) or [_priority(shares)]


def phrase(name: str, **values: str) -> Message:
    """Return one of `PHRASES` with *values* in its places."""
    return message(PHRASES[name].template, **values)


def _full(waiting: Waiting, shares: dict[Condition, float]) -> Message:
    share = fraction(shares["full"])
    if waiting.is_bound == "room_at_least":
        return phrase("full_at_most", share=share, most=number(waiting.capacity or 0.0))
    return phrase("full_at_least" if waiting.is_bound == "full_at_least" else "full", share=share)


def _held(waiting: Waiting, shares: dict[Condition, float]) -> Iterator[Message]:
    if not waiting.knows_holds:
        yield phrase("holds_unknown")
    elif shares["held"] > 0:
        yield phrase("held", share=fraction(shares["held"]))


def _priority(shares: dict[Condition, float]) -> Message:
    """Return how much priority can be at most: what is unknown is added, too."""
    most = shares["unused"] + shares["larger"] + shares["cycle"] + shares["unknown"]
    return phrase("priority", share=fraction(max(most, SMALLEST)))


def _room(waiting: Waiting, shares: dict[Condition, float]) -> Iterator[Message]:
    least = shares["open"] + shares["ceiling"]
    if waiting.knows_holds and least >= WORTH_SAYING:
        yield phrase("room", share=fraction(least))


def _said(waiting: Waiting) -> list[Ceiling]:
    """Return the ceilings that are said one by one."""
    own = [one for one in waiting.ceilings if not one.is_common and one.waited]
    return sorted(own, key=lambda one: (-one.starts, one.kind, one.id))[:MAXIMUM_CEILINGS]


def _ceiling(one: Ceiling) -> Message:
    """Return what is seen of a ceiling: a pattern, not a rule."""
    owner = message(OWNERS[one.kind], id=Verbatim(one.id))
    if one.same:
        owner = message("{owner} (or {other}: the same jobs)", owner=owner, other=Verbatim(one.same[0]))
    held = message(HELD[one.unit], most=number(one.most))
    return message(
        "{owner} waited {share} of its time at its own ceiling: {held}, and {own} of these jobs began when"
        " one of its own ended. That may be a limit, or jobs that wait for each other.",
        owner=owner,
        share=fraction(one.waited or 0.0),
        held=held,
        own=fraction(one.own or 0.0),
    )


def noted_limit(one: Ceiling) -> Iterator[Message]:
    """Yield what the scheduler itself noted of the starts that show a ceiling, where it noted limits."""
    if one.limited:
        yield message(
            "Of {share} of these jobs the last reason that the scheduler noted names a limit, most often"
            " {limit}.",
            share=fraction(one.limited),
            limit=Verbatim(one.limit),
        )


def noted_limits(found: Sequence[Reason]) -> Iterator[Message]:
    """Yield the share of the jobs that waited for whose waits limits were noted, if any were."""
    named = [one for one in found if one.is_limit]
    if named:
        yield message(
            "Of {share} of the jobs that waited the last reason that the scheduler noted names a limit, most"
            " often {limit}; a reason is of one moment, not of the whole wait.",
            share=fraction(sum(one.share for one in named)),
            limit=Verbatim(named[0].reason),
        )
