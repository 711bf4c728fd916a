"""
The sentence that says what the hours of a machine became, and that of some of its jobs.

The first situation applies: nothing ran, too little ran for a hundred, only some of the jobs are looked at,
the log does not know all that ran, the size of the machine is not known, or it is. A part of which the whole
number is 0 is not mentioned, and numbers add up to 100. A page that filters itself fills the same templates.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from gwa.breakdown.budget import Budget, Part, hundred
from gwa.metrics.outcomes import BAD_OUTCOMES
from gwa.util.units import HOUR, MINUTE
from gwa.words.formatting import number, significant
from gwa.words.message import Message, Number, Verbatim, joined, message, plural

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

GPU_CLAUSES: Final[Mapping[str, Callable[[int, str], Message]]] = {
    "computed": lambda count, n: plural("{n} computed", "{n} computed", count, n=n),
    "still": lambda count, n: plural(
        "{n} was held without computing", "{n} were held without computing", count, n=n
    ),
    "unmeasured": lambda count, n: plural(
        "{n} was held and not measured", "{n} were held and not measured", count, n=n
    ),
    "held": lambda count, n: plural("{n} was held", "{n} were held", count, n=n),
    "not_held": lambda count, n: plural("{n} was not held", "{n} were not held", count, n=n),
}
"""The same of the hours of GPUs."""

HELD: Final[Mapping[str, Callable[[int, str, str], Message]]] = {
    "machine": lambda count, who, share: plural(
        "{who} held {share} of the machine", "{who} held {share} of the machine", count, who=who, share=share
    ),
    "used": lambda count, who, share: plural(
        "{who} held {share} of the processor-hours used",
        "{who} held {share} of the processor-hours used",
        count,
        who=who,
        share=share,
    ),
}
"""How much some held of all, by what that is, and by how many they are."""

SENTENCES: Final[Mapping[str, Message]] = {
    "of": message("Of every 100 {unit}, {clauses}"),
    "of_period": message("{period}: of every 100 {unit}, {clauses}"),
    "in_period": message("{period}: {sentence}"),
    "less_used": message("Of every 100 {unit}, less than 1 was used."),
    "level": message("jobs held {mean} processors on average"),
    "nothing": message("Nothing of {who} ran in the time counted."),
    "nothing_ran": message("nothing ran in the time counted."),
    "not_counted": message("the log does not tell what ran."),
    "bad": message("{share} of that did not finish"),
    "bad_at_least": message("at least {share} of that did not finish"),
    "all_finished": message("all of it became finished work"),
    "no_ends": message("how jobs ended is not recorded"),
    "no_runs": message("what earlier runs of jobs held is not recorded"),
    "no_use": message("whether they computed is not recorded"),
    "at_most": message("at most {n}"),
    "at_least": message("at least {n}"),
    "more_than_99": message("more than 99"),
    "less_than_1": message("less than 1 %"),
    "share": message("{n} %"),
    "and": message("{first} and {last}"),
    "or": message("{first} or {last}"),
    "together": message("{who} together"),
    "several_user": message("{n} users together"),
    "several_project": message("{n} projects together"),
    "several_queue": message("{n} queues together"),
    "several": message("{heading}: {n} of them together"),
    "one": message("{heading} {name}"),
    "one_size": message("Jobs on {name} processors"),
    "gpu_hours": message("GPUs were held for {hours}"),
    "gpus": message("Of every 100 GPU-hours, {clauses}"),
    "gpus_held": message("Of every 100 GPU-hours held, {clauses}"),
}
"""What sentences are made of, with places for what differs."""

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
        return _filled("less_used", unit=unit)
    clauses = _filled("of", unit=unit, clauses=listed(list(clauses_of(found).values())))
    return message("{parts}.", parts=joined("; ", [clauses, *_unrecorded(found)]))


def selection_sentence(who: Sequence[str], found: Budget, whole: Budget) -> Message:
    """
    Return how much some jobs held of the *whole*, and how much of that did not finish.

    *found* is what those jobs held in the same time, and *who* names whose they are.
    """
    names = _filled("several_user", n=Number(len(who)))
    if len(who) < 3:  # noqa: PLR2004 - a pair is named
        names = listed([Verbatim(name) for name in who])
        names = names if len(who) == 1 else _filled("together", who=names)
    if not found.used:
        return _filled("nothing", who=names)
    of = HELD["machine" if whole.kind == "machine" else "used"]
    total = whole.total if whole.kind == "machine" else whole.used
    held = of(len(who), names, share_text(found.used / (total or 1.0)))
    return message("{parts}.", parts=joined("; ", [held, *_ended(found), *_unrecorded(found)]))


def gpu_sentence(parts: Mapping[str, float | None]) -> Message:
    """Return what became of the hours of GPUs, of which *parts* are known, as `gpu_parts` returns them."""
    known = known_gpu_parts(parts)
    is_measured = "held" not in known
    if not is_measured and "not_held" not in known:
        held = _filled("gpu_hours", hours=_hours(known["held"] / HOUR))
    else:
        clauses = listed(list(gpu_clauses(known).values()))
        held = _filled("gpus" if "not_held" in known else "gpus_held", clauses=clauses)
    return message("{parts}.", parts=joined("; ", [held, *([] if is_measured else [SENTENCES["no_use"]])]))


def gpu_clauses(known: Mapping[str, float]) -> dict[str, Message]:
    """Return what is said of each of the *known* parts of the hours of GPUs."""
    numbers = {name: count for name, count in hundred(known).items() if count}
    return {
        name: GPU_CLAUSES[name](count, _number_text(count, known, name)) for name, count in numbers.items()
    }


def phrases() -> dict[str, tuple[str, ...]]:
    """Return all templates by name, each for one and for many, for who fills them elsewhere."""
    found: dict[str, tuple[str, ...]] = {name: (text,) for name, text in SENTENCES.items()}
    found |= {f"unit_{kind}": (unit,) for kind, unit in UNITS.items()}
    for name, clause in (*CLAUSES.items(), *GPU_CLAUSES.items()):
        found[f"clause_{name}"] = (clause(1, "{n}"), clause(2, "{n}"))
    for kind, held in HELD.items():
        found[f"held_{kind}"] = (held(1, "{who}", "{share}"), held(2, "{who}", "{share}"))
    found["hours"] = (_hours(1, "{n}"), _hours(2, "{n}"))
    return found


def _hours(count: float, n: str = "") -> Message:
    return plural("{n} hour", "{n} hours", count, n=n or _amount_text(count))


def known_gpu_parts(parts: Mapping[str, float | None]) -> dict[str, float]:
    """Return the *parts* of the hours of GPUs that are known and do not overlap, in the order of a bar."""
    names = (
        ["held", "not_held"]
        if parts.get("computed") is None
        else ["computed", "still", "unmeasured", "not_held"]
    )
    return {name: value for name in names if (value := parts.get(name)) is not None}


def share_text(share: float) -> Message:
    """
    Return a share as a whole number of percent, of which only nothing is 0 and only all is 100.

    >>> share_text(0.0), share_text(0.004), share_text(0.155), share_text(0.9999), share_text(1.0)
    ('0 %', 'less than 1 %', '16 %', '99 %', '100 %')
    """
    if 0 < share < 0.01:  # noqa: PLR2004 - one percent
        return SENTENCES["less_than_1"]
    whole = int(100 * share + 0.5)
    return _filled("share", n=Number(99 if whole == 100 and share < 1 else whole))  # noqa: PLR2004 - all


def listed(clauses: Sequence[str]) -> Message:
    """
    Return *clauses* one after the other, with "and" before the last.

    >>> listed(["one"]), listed(["one", "two", "three"])
    ('one', 'one, two and three')
    """
    if len(clauses) == 1:
        return joined("", clauses)
    *first, last = clauses
    return _filled("and", first=joined(", ", first), last=last)


def _filled(name: str, **arguments: object) -> Message:
    """Return one of `SENTENCES`, filled."""
    return message(SENTENCES[name].template, **arguments)


def _unrecorded(found: Budget) -> Iterator[Message]:
    """Yield what the log does not record of what was held."""
    if not found.is_told:
        yield SENTENCES["no_ends"]
    if found.has_unknown_runs:
        yield SENTENCES["no_runs"]


def clauses_of(found: Budget) -> dict[Part, Message]:
    """Return what is said of each part, in the order of the bar."""
    parts, said = dict(found.parts), {}
    for part, count in hundred(parts).items():
        if not count:
            continue
        text = _number_text(count, parts, part)
        if found.is_bound and part == "finished":
            text = _filled("at_most", n=text)
        if found.is_bound and part == "unfinished":
            text = _filled("at_least", n=text)
        said[part] = CLAUSES[part](count, text)
    return said


def _number_text(count: int, parts: Mapping[Part, float] | Mapping[str, float], part: str) -> str:
    """Return the number of a *part*: 100 only where all others are nothing."""
    others = sum(value for name, value in parts.items() if name != part)
    return SENTENCES["more_than_99"] if count == 100 and others else Number(count)  # noqa: PLR2004 - all


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
        yield SENTENCES["all_finished"]
    elif found.is_bound:
        yield _filled("bad_at_least", share=share_text(bad / found.used))
    elif bad or is_whole:
        yield _filled("bad", share=share_text(bad / found.used))


def _amount(seconds: float) -> Message:
    """Return processor-seconds in the unit that suits: of less than an hour, minutes or seconds."""
    if seconds >= HOUR:
        return message("{n} processor-hours", n=_amount_text(seconds / HOUR))
    if seconds >= MINUTE:
        return message("{n} processor-minutes", n=_amount_text(seconds / MINUTE))
    return message("{n} processor-seconds", n=_amount_text(seconds))


def _amount_text(amount: float) -> Number:
    return number(round(amount)) if amount >= MINIMUM_WHOLE else significant(amount, 3)
