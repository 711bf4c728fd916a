"""Outages, missing rows, and stretches in which nothing was submitted and nothing ran."""

from gwa.analysis.answers.stretches import length, long_still, missing_sentence, of_kind, still_sentence
from gwa.analysis.finding import Facts, finding, knows_starts
from gwa.words.formatting import fraction, seconds
from gwa.words.message import message, plural


@finding(
    "capacity.outages.count",
    "capacity.outages.seconds",
    "capacity.idle_seconds",
    "capacity.idle",
    section="stretches",
    action="Check the outages against the maintenance log.",
)
def outages(facts: Facts) -> tuple[float, str] | None:
    """
    Shown if the section on outages finds stretches in which nothing ran and jobs waited.

    The waits of most jobs must be known: when jobs ran is unknown otherwise.
    """
    count, lost, idle, share = (facts[name] for name in outages.needs)
    if not count or not knows_starts(facts):
        return None
    if idle - lost < 1:
        return 0.4 + 5 * share, message(
            "Nothing ran for {idle} ({share} of the time), all of it in {outages}.",
            idle=seconds(idle),
            share=fraction(share),
            outages=_periods(count),
        )
    return 0.4 + 5 * lost * share / max(idle, 1.0), message(
        "Nothing ran for {idle} ({share} of the time), {lost} of it in {outages}; of the rest the log does"
        " not tell idleness from outage.",
        idle=seconds(idle),
        share=fraction(share),
        lost=seconds(lost),
        outages=_periods(count),
    )


@finding(
    "stretches",
    "trace.span_seconds",
    section="stretches",
    advice="Means over time, such as utilization, are wrong as long as rows are missing.",
    action="Look for the missing rows.",
)
def missing(facts: Facts) -> tuple[float, str] | None:
    """Shown if job numbers jump over stretches in which nothing was submitted: rows are missing."""
    found = of_kind(facts, "missing")
    if not found:
        return None
    share = sum(map(length, found)) / max(facts["trace.span_seconds"], 1.0)
    return 0.7 + share, missing_sentence(found)


@finding(
    "stretches",
    "trace.span_seconds",
    section="stretches",
    advice="Means over time, such as utilization, depend on which it was.",
    action="Find out whether the system stood still or rows are missing.",
)
def still(facts: Facts) -> tuple[float, str] | None:
    """Shown if nothing was submitted and nothing ran for a day or more, and chance hardly explains it."""
    found = long_still(facts)
    if not found:
        return None
    share = sum(map(length, found)) / max(facts["trace.span_seconds"], 1.0)
    return 0.4 + 2 * share, still_sentence(found)


def _periods(count: int) -> str:
    return plural("{n} outage or maintenance period", "{n} outages or maintenance periods", count)
