"""
What a report says of changes over the life of a log, everywhere in the same words: from facts.

A change is worded as what was measured: what moved, from which value to which. Nothing is said of causes or
of the future. Where no change is found, the sentence says what would not have been found either.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from gwa.metrics.interval_values import MEASURES
from gwa.statistics.changes import MINIMUM_LENGTH
from gwa.words.compared import look_equal
from gwa.words.formatting import show
from gwa.words.message import Message, capitalized, joined, message, plural

TWO_YEARS: Final = 104
"""Of fewer weeks, a season cannot be told from a change."""

MAXIMUM_FACTOR: Final = 100.0
"""The weeks of a measure of which no smaller change would be seen vary too much to say anything of it."""

Change = Mapping[str, Any]
"""An item of the fact ``changes``."""


class Words(NamedTuple):
    """How sentences name a measure: its *subject*, that it is *more* or *less*, and an *amount* of it."""

    subject: str
    more: str
    less: str
    amount: str


WORDS: Final[Mapping[str, Words]] = {
    "busy": Words(
        message("busy processors"),
        message("more processors were busy"),
        message("fewer processors were busy"),
        message("{value} on average"),
    ),
    "users": Words(
        message("users"),
        message("more users submitted jobs"),
        message("fewer users submitted jobs"),
        message("{value} a week"),
    ),
    "jobs": Words(
        message("jobs"),
        message("more jobs were submitted"),
        message("fewer jobs were submitted"),
        message("{value} a week"),
    ),
    "wait": Words(
        message("mean waits"),
        message("mean waits were longer"),
        message("mean waits were shorter"),
        "{value}",
    ),
    "median_wait": Words(
        message("median waits"),
        message("median waits were longer"),
        message("median waits were shorter"),
        "{value}",
    ),
    "failed": Words(
        message("the share of core-hours in jobs that failed or reached their limit"),
        message("a larger share of core-hours went into jobs that failed or reached their limit"),
        message("a smaller share of core-hours went into jobs that failed or reached their limit"),
        "{value}",
    ),
    "runtime": Words(
        message("median run times"),
        message("median run times were longer"),
        message("median run times were shorter"),
        "{value}",
    ),
    "processors": Words(
        message("processors per job"),
        message("jobs used more processors"),
        message("jobs used fewer processors"),
        message("{value} on average"),
    ),
}


def size(change: Change) -> float:
    """Return how large a change or a difference of a measure is: 1 is a factor of 4, or 40 points."""
    return min(MEASURES[change["what"]].size(change["before"], change["after"]), 3.0)


def is_seen(change: Change) -> bool:
    """Whether both values of a measure are shown, and look different."""
    measure = MEASURES[change["what"]]
    return None not in (change["before"], change["after"]) and not look_equal(
        change["before"], change["after"], measure.unit
    )


def largest_first(changes: Iterable[Change]) -> list[Change]:
    """Return *changes* with the largest first."""
    return sorted(changes, key=size, reverse=True)


def change_sentence(change: Change) -> str:
    """Return a change in words: a step with its week, a line by the median weeks of its thirds."""
    words = WORDS[change["what"]]
    before, after = (shown(change["what"], change[side]) for side in ("before", "after"))
    is_more = change["after"] > change["before"]
    if change["shape"] == "step":
        return message(
            "From about the week of {when}, {comparison}: {after} (median of weeks) against {before} before.",
            when=change["when"],
            comparison=words.more if is_more else words.less,
            after=message(words.amount, value=after),
            before=before,
        )
    return message(
        "Over the log, {subject} rose: {before} in the median week of the first third, {after} of the last."
        if is_more
        else "Over the log, {subject} fell: {before} in the median week of the first third,"
        " {after} of the last.",
        subject=words.subject,
        before=before,
        after=after,
    )


def changes_sentence(changes: Sequence[Change], weeks: int) -> str:
    """Return the largest of *changes* in a sentence, and which other measures changed."""
    first, *others = largest_first(changes)
    text = change_sentence(first)
    if others:
        names = joined(", ", (WORDS[other["what"]].subject for other in others))
        text += message(" Also changed: {names}.", names=names)
    if weeks < TWO_YEARS:
        text += message(" In less than two years a season may look like this.")
    return text


def no_change_sentence(
    largest: Change | None,
    visible: Sequence[Mapping[str, Any]],
    small: Sequence[str] = (),
    doubtful: Change | None = None,
) -> str:
    """
    Return that no change is found, with the *largest* difference and what would not have been found.

    *visible* has the rise of each measure that would have been found half of the time, as ``what``, ``from``,
    ``to`` and the ``factor`` between them;
    *small* names the measures that changed by so little that it is not said, *doubtful* is the measure of
    which the evidence is strong, but too weak to say that it changed.
    """
    if doubtful:
        return _doubtful_sentence(doubtful) + _not_visible(visible)
    text = message("No measure changed by more than its weeks vary")
    if small:
        names = joined(", ", (WORDS[name].subject for name in small))
        text = message(
            "Apart from small changes ({names}), no measure changed by more than its weeks vary", names=names
        )
    if largest:
        text += message(
            ": {subject}, for example, went from {before} to {after} (median weeks of the first and last"
            " third).",
            subject=WORDS[largest["what"]].subject,
            before=shown(largest["what"], largest["before"]),
            after=shown(largest["what"], largest["after"]),
        )
    else:
        text += message(".")
    return text + _not_visible(visible)


def _doubtful_sentence(change: Change) -> str:
    """Return that a measure may have changed, and that the others did not by more than their weeks vary."""
    return message(
        "{subject} may have changed, from {before} to {after} (median weeks of the first and last third), but"
        " their weeks vary nearly as much. No other measure changed by more than its weeks vary.",
        subject=capitalized(WORDS[change["what"]].subject),
        before=shown(change["what"], change["before"]),
        after=shown(change["what"], change["after"]),
    )


def _not_visible(visible: Sequence[Mapping[str, Any]]) -> str:
    """Return the sentence on the changes that would not have been found; nothing where that is not known."""
    ordered = sorted(visible, key=lambda one: float(one["factor"]))
    if not ordered:
        return ""
    least, most = ordered[0], ordered[-1]
    if least["factor"] > MAXIMUM_FACTOR:
        return message(" The weeks of this log vary so much that hardly any change would be seen.")
    text = message(" A rise of {rise} might not be seen", rise=_rise(least))
    if most["factor"] > MAXIMUM_FACTOR:
        text += message(", and of {subject} hardly any would be", subject=WORDS[most["what"]].subject)
    elif most is not least:
        text += message(", nor one of {rise}", rise=_rise(most))
    return text + message(".")


def _rise(visible: Mapping[str, Any]) -> Message:
    """Return the rise of a measure, in its unit, that would be found half of the time."""
    name = visible["what"]
    return message(
        "{subject} from {before} to less than {after}",
        subject=WORDS[name].subject,
        before=shown(name, visible["from"]),
        after=message(WORDS[name].amount, value=shown(name, visible["to"])),
    )


def not_judged_sentence(weeks: int, unknown: int, measures: Sequence[Change]) -> str:
    """
    Return why a log is not judged, with the jobs of its first and last third.

    Its *weeks* are too few, or too many of them are *unknown*.
    """
    if weeks >= MINIMUM_LENGTH:
        return message(
            "Too many weeks are unknown to judge what changed: {unknown} of {weeks}.",
            unknown=unknown,
            weeks=weeks,
        )
    if not weeks:
        return message("The log has no whole week, which is too little to judge what changed.")
    text = plural("{n} week is too few to judge", "{n} weeks are too few to judge", weeks)
    jobs = next((one for one in measures if one["what"] == "jobs"), None)
    if jobs is None or None in (jobs["before"], jobs["after"]):
        return text + message(".")
    if not is_seen(jobs):
        both = shown("jobs", jobs["before"])
        return text + message(
            "; jobs a week: {both} in the median weeks of the first third and of the last.", both=both
        )
    return text + message(
        "; jobs a week: {before} in the median week of the first third, {after} of the last.",
        before=shown("jobs", jobs["before"]),
        after=shown("jobs", jobs["after"]),
    )


def shown(measure: str, value: float) -> str:
    """Return a value of a *measure* in its unit."""
    return show(value, MEASURES[measure].unit)
