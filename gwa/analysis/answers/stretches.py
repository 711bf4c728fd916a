"""What the first screen says of outages, of missing rows, and of stretches in which the log is still."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from gwa.analysis.answers.base import Known
from gwa.util.units import DAY
from gwa.words.formatting import number, seconds
from gwa.words.message import message, plural

Found = Mapping[str, Any]
"""A stretch as the fact ``stretches`` has it."""

SECONDS: Final = re.compile(r"(?<=\d\d:\d\d):\d\d$")

MINIMUM_STILL: Final = DAY
"""Shorter stretches in which nothing was submitted and nothing ran are not mentioned."""


def outages(known: Known) -> str:
    """Return the sentence on outages, with a space before it; nothing without any."""
    found = of_kind(known.facts, "outage")
    return message(" {sentence}", sentence=outage_sentence(found)) if found else ""


def unaccounted_sentences(facts: Mapping[str, Any]) -> list[str]:
    """Return a sentence on missing rows and one on stillness of a day or more, where there are any."""
    missing, still = of_kind(facts, "missing"), long_still(facts)
    return [
        sentence(found) for sentence, found in ((missing_sentence, missing), (still_sentence, still)) if found
    ]


def of_kind(facts: Mapping[str, Any], kind: str) -> list[Found]:
    """Return the stretches of a *kind*, the longest first."""
    found = [one for one in facts.get("stretches") or () if one["kind"] == kind]
    return sorted(found, key=lambda one: (-length(one), one["begin"]))


def long_still(facts: Mapping[str, Any]) -> list[Found]:
    """Return the stretches of a day or more in which nothing was submitted and nothing ran, in no outage."""
    outages = of_kind(facts, "outage")
    return [
        one
        for one in of_kind(facts, "still")
        if length(one) >= MINIMUM_STILL
        and not any(outage["begin"] <= one["begin"] and one["end"] <= outage["end"] for outage in outages)
    ]


def length(one: Found) -> float:
    """Return how many seconds a stretch lasts."""
    return float(one["end"] - one["begin"])


def outage_sentence(found: Sequence[Found]) -> str:
    """Return the sentence on outages, the longest first."""
    longest = found[0]
    waited = _waiting(longest)
    if len(found) == 1:
        return message(
            "Nothing ran for {time} from {begin} while {waited} waited: an outage or maintenance.",
            time=seconds(length(longest)),
            begin=_to_the_minute(longest["from"]),
            waited=waited,
        )
    return message(
        "In {count} stretches, {total} in all, nothing ran while jobs waited: outages or maintenance."
        " In the longest, {time} from {begin}, {waited} waited.",
        count=number(len(found)),
        total=seconds(sum(map(length, found))),
        time=seconds(length(longest)),
        begin=_to_the_minute(longest["from"]),
        waited=waited,
    )


def missing_sentence(found: Sequence[Found]) -> str:
    """Return the sentence on missing rows, the longest stretch first."""
    longest = found[0]
    jump = message(
        "{time} from {begin} to {end}, job numbers jump by {passed}",
        time=seconds(length(longest)),
        begin=_to_the_minute(longest["from"]),
        end=_to_the_minute(longest["to"]),
        passed=number(longest["numbers_passed"]),
    )
    if len(found) == 1:
        return message("Rows are missing: over {jump}.", jump=jump)
    return message(
        "Rows are missing in {count} stretches, {total} in all: over the longest, {jump}.",
        count=number(len(found)),
        total=seconds(sum(map(length, found))),
        jump=jump,
    )


def still_sentence(found: Sequence[Found]) -> str:
    """Return the sentence on stretches in which nothing was submitted and nothing ran, the longest first."""
    longest = found[0]
    when = message(
        "for {time} from {begin} to {end}",
        time=seconds(length(longest)),
        begin=_to_the_minute(longest["from"]),
        end=_to_the_minute(longest["to"]),
    )
    reason = (
        message("the machine was down or closed; job numbers show that no rows are missing")
        if all(one["rows_complete"] for one in found)
        else message("the machine was down or closed, or rows are missing; the log does not tell")
    )
    if len(found) == 1 and (since := _to_the_minute(longest["unknown_from"])) != _to_the_minute(
        longest["from"]
    ):
        return message(
            "Nothing was submitted from {since} on, and nothing ran {when}: {reason}.",
            since=since,
            when=when,
            reason=reason,
        )
    if len(found) == 1:
        return message("Nothing was submitted and nothing ran {when}: {reason}.", when=when, reason=reason)
    return message(
        "Nothing was submitted and nothing ran in {count} stretches of a day or more, {total} in all, the"
        " longest {when}: {reason}.",
        count=number(len(found)),
        total=seconds(sum(map(length, found))),
        when=when,
        reason=reason,
    )


def _to_the_minute(moment: str) -> str:
    """Return a date and time without its seconds, which the table has."""
    return SECONDS.sub("", moment) if SECONDS.search(moment) else moment


def _waiting(one: Found) -> str:
    jobs = plural("{n} job", "{n} jobs", one["jobs"])
    if one["users"] is None:
        return jobs
    return message("{jobs} of {users}", jobs=jobs, users=plural("{n} user", "{n} users", one["users"]))
