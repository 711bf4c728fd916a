"""The class of jobs that is served worst."""

from gwa.analysis.finding import Facts, finding
from gwa.report.document import Verbatim
from gwa.report.formatting import fraction, number, seconds
from gwa.report.message import Message, message, plural
from gwa.util.units import HOUR, MINUTE

MAXIMUM_P_VALUE = 0.01
MINIMUM_RATIO = 2

MINIMUM_MEDIAN = 10 * MINUTE
MINIMUM_P95 = 4 * HOUR
"""Shorter waits are not worth a sentence, however they compare."""


@finding("wait.worst", section="slowdown", advice="The section on slowdown compares all classes.")
def worst_served(facts: Facts) -> tuple[float, str] | None:
    """
    Shown if jobs of one size, queue or user wait at least twice as long as the others.

    The median wait must be at least ten minutes, or the 95th percentile four hours; the class must have
    at least 100 jobs and 2 % of the jobs, and must have waited longer than the others in so many
    intervals of the trace that chance has a probability of at most 1 %, after Bonferroni's correction.
    """
    worst = facts["wait.worst"]
    if worst["p_value"] > MAXIMUM_P_VALUE:
        return None
    intervals = message(
        "in {longer} of the {intervals} compared",
        longer=number(worst["longer"]),
        intervals=plural("{n} interval", "{n} intervals", worst["intervals"]),
    )
    subject = _subject(worst["kind"], worst["id"])
    median, other_median = worst["median"], worst["others_median"]
    if median >= max(MINIMUM_MEDIAN, MINIMUM_RATIO * other_median):
        claim = message(
            "half wait for {median} or longer, against {other_median}",
            median=seconds(median),
            other_median=seconds(other_median),
        )
    elif worst["p95"] >= max(MINIMUM_P95, MINIMUM_RATIO * worst["others_p95"]):
        others = seconds(worst["others_p95"])
        claim = message(
            "one in twenty waits for {p95} or longer, against {others}",
            p95=seconds(worst["p95"]),
            others=others,
        )
    else:
        return None
    return 0.5 + worst["share"] / 2, message(
        "{subject} ({share} of the jobs) wait longer than the others, {intervals}: {claim}.",
        subject=subject,
        share=fraction(worst["share"]),
        intervals=intervals,
        claim=claim,
    )


def _subject(kind: str, name: str) -> Message:
    """Return which jobs are meant."""
    match kind:
        case "size" if name == "1":
            return message("Jobs on 1 processor")
        case "size":
            size = message(name.replace(" and more", " or more"))
            return message("Jobs on {size} processors", size=size)
        case "queue":
            return message("Jobs in queue {name}", name=Verbatim(name))
        case _:
            return message("Jobs of {name}", name=Verbatim(name))
