"""How full the system is, when it stood still, and what changed."""

from gwa.analysis import change_sentences, stakes
from gwa.analysis.answers.stretches import length, long_still, missing_sentence, of_kind, still_sentence
from gwa.analysis.finding import Facts, finding, knows_starts
from gwa.util.units import WEEK
from gwa.words.formatting import fraction, seconds
from gwa.words.message import message, plural

MINIMUM_FULL = 0.8
MAXIMUM_IDLE = 0.3
MAXIMUM_OVER = 0.02
"""Where more processors than there are are busy for longer than this, their number means nothing; and where
the log does not tell for longer what ran, so does the mean."""


@finding("utilization.mean", "trace.cpus_inferred", "window.first", "window.last", section="utilization")
def fullness(facts: Facts) -> tuple[float, str] | None:
    """
    Shown if at least 80 %, or at most 30 %, of the processors are busy on average over the window.

    The window of observation must be a week long, and the number of processors stated: the most that were
    ever busy says nothing about how many stood idle. It is not shown if more processors than there
    are are busy for over 2 % of the time, or if rows are missing or nothing was submitted and nothing ran in
    as much of it.
    """
    mean, length = facts["utilization.mean"], facts["window.last"] - facts["window.first"]
    over = facts.get("utilization.above_capacity") or 0
    unaccounted = (facts.get("capacity.unaccounted_seconds") or 0) / max(length, 1)
    if facts["trace.cpus_inferred"] or length < WEEK or max(over, unaccounted) > MAXIMUM_OVER:
        return None
    busy = message("on average, {mean} of the processors are busy, over", mean=fraction(mean))
    if mean >= MINIMUM_FULL:
        return 0.3 + mean / 2, message(
            "The system is nearly full: {busy} {length}.", busy=busy, length=seconds(length)
        )
    if mean <= MAXIMUM_IDLE:
        return 0.6 - mean, message(
            "As far as this log shows, the system is mostly idle: {busy} {length}.",
            busy=busy,
            length=seconds(length),
        )
    return None


@finding(
    "capacity.outages.count",
    "capacity.outages.seconds",
    "capacity.idle_seconds",
    "capacity.idle",
    section="stretches",
    action="Check the outages against the maintenance log.",
    stake=stakes.nothing_ran,
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


@finding(
    "changes",
    "changes.weeks",
    section="changes",
    action="Compare the dates with changes of the system, its scheduler and its users.",
)
def changes(facts: Facts) -> tuple[float, str] | None:
    """Shown if jobs, users, load, waits, run times, sizes or failures moved by more than weeks vary."""
    changed = facts["changes"]
    if not changed:
        return None
    weight = 0.4 + 0.3 * min(max(map(change_sentences.size, changed)), 1)
    return weight, change_sentences.changes_sentence(changed, facts["changes.weeks"])
