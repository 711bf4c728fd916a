"""
The sentence that says what the hours of a machine became.

The first situation applies: nothing ran, too little ran for a hundred, only some of the jobs are looked at,
the log does not know all that ran, the size of the machine is not known, or it is. A part of which the whole
number is 0 is not mentioned, and numbers add up to 100.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from gwa.breakdown.budget import Budget, Part, hundred
from gwa.metrics.outcomes import BAD_OUTCOMES
from gwa.util.units import HOUR, MINUTE
from gwa.words.formatting import fraction, number, significant
from gwa.words.message import Message, Number, joined, message, plural

UNITS: Final[Mapping[str, Message]] = {
    "machine": message("processor-hours"),
    "used": message("processor-hours used"),
    "log": message("processor-hours in the log"),
}

CLAUSES: Final[Mapping[Part, Callable[[int, str], Message]]] = {
    "finished": lambda count, n: plural("{n} became finished work", "{n} became finished work", count, n=n),
    "unfinished": lambda count, n: plural(
        "{n} ran without finishing", "{n} ran without finishing", count, n=n
    ),
    "running": lambda count, n: plural(
        "{n} was held by jobs that still ran at the end",
        "{n} were held by jobs that still ran at the end",
        count,
        n=n,
    ),
    "unknown": lambda count, n: plural(
        "{n} went to jobs whose end is not recorded", "{n} went to jobs whose end is not recorded", count, n=n
    ),
    "used": lambda count, n: plural("{n} was used", "{n} were used", count, n=n),
    "restarted": lambda count, n: plural(
        "{n} went into runs that were started again", "{n} went into runs that were started again", count, n=n
    ),
    "unused": lambda count, n: plural("{n} went unused", "{n} went unused", count, n=n),
    "outages": lambda count, n: plural("{n} fell to outages", "{n} fell to outages", count, n=n),
}
"""What is said of a part, by its number and how that is written: languages tell one and several apart."""

MINIMUM_USED: Final = 0.005
"""Of a machine of which less was used, no part is said."""

MINIMUM_WHOLE: Final = 10
"""Smaller amounts are said with three digits."""


def budget_sentence(found: Budget, *, is_selection: bool = False, most: int | None = None) -> Message:
    """
    Return what became of the hours of *found*.

    *is_selection* says that other jobs may be left out, so that nothing is said of the machine. *most* is the
    maximum of busy processors in the time counted, which is said where neither size nor outcomes are known.
    """
    if found.kind == "none":
        return message("No job ran for any time.")
    if found.kind == "used" and not found.is_told and not found.has_too_much and most and found.seconds:
        return message(
            "Jobs held {mean} processors on average and at most {most} at once; neither the size of the"
            " machine nor how jobs ended is recorded.",
            mean=_amount_text(found.used / found.seconds),
            most=number(most),
        )
    is_divided = found.kind == "machine" or (found.kind != "count" and found.is_told)
    if is_selection or not is_divided:
        return _as_it_is(found, is_selection=is_selection)
    unit = UNITS[found.kind]
    if found.kind == "machine" and found.used < MINIMUM_USED * (found.total or 0.0):
        return message("Of every 100 {unit}, less than 1 was used.", unit=unit)
    clauses = message("Of every 100 {unit}, {clauses}", unit=unit, clauses=_listed(list(_clauses(found))))
    return message("{parts}.", parts=joined("; ", [clauses, *_unrecorded(found)]))


def _unrecorded(found: Budget) -> Iterator[Message]:
    """Yield what the log does not record of what was held."""
    if not found.is_told:
        yield message("how jobs ended is not recorded")
    if found.has_unknown_runs:
        yield message("what earlier runs of jobs held is not recorded")


def _clauses(found: Budget) -> Iterator[Message]:
    """Yield what is said of each part, in the order of the bar."""
    numbers = hundred(found.parts)
    for part, count in numbers.items():
        if not count:
            continue
        others = sum(value for name, value in found.parts.items() if name != part)
        text: str = message("more than 99") if count == sum(numbers.values()) and others else Number(count)
        if found.is_bound and part == "finished":
            text = message("at most {n}", n=text)
        if found.is_bound and part == "unfinished":
            text = message("at least {n}", n=text)
        yield CLAUSES[part](count, text)


def _listed(clauses: list[Message]) -> Message:
    if len(clauses) == 1:
        return clauses[0]
    *first, last = clauses
    return message("{first} and {last}", first=joined(", ", first), last=last)


def _as_it_is(found: Budget, *, is_selection: bool) -> Message:
    """Return how much jobs held, and how much of that did not finish."""
    hours = _amount(found.used)
    held = (
        message("These jobs held {hours}", hours=hours)
        if is_selection
        else plural(
            "{n} job held {hours}", "{n} jobs held {hours}", found.jobs, n=number(found.jobs), hours=hours
        )
    )
    return message("{parts}.", parts=joined("; ", [held, *_ended(found), *_unrecorded(found)]))


def _ended(found: Budget) -> Iterator[Message]:
    """Yield how much of what was held did not finish, where that is known."""
    if not found.used or not found.is_told:
        return
    bad = sum(found.outcomes[name] for name in BAD_OUTCOMES)
    is_whole = not (found.is_bound or found.has_unknown_runs)
    if is_whole and found.outcomes["completed"] == found.used:
        yield message("all of it became finished work")
    elif found.is_bound:
        yield message("at least {share} of that did not finish", share=fraction(bad / found.used))
    elif bad or is_whole:
        yield message("{share} of that did not finish", share=fraction(bad / found.used))


def _amount(seconds: float) -> Message:
    """Return processor-seconds in the unit that suits: of less than an hour, minutes or seconds."""
    if seconds >= HOUR:
        return message("{n} processor-hours", n=_amount_text(seconds / HOUR))
    if seconds >= MINUTE:
        return message("{n} processor-minutes", n=_amount_text(seconds / MINUTE))
    return message("{n} processor-seconds", n=_amount_text(seconds))


def _amount_text(amount: float) -> Number:
    return number(round(amount)) if amount >= MINIMUM_WHOLE else significant(amount, 3)
