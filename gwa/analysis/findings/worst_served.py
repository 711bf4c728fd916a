"""The class of jobs that is served worst."""

from gwa.analysis.finding import Facts, finding
from gwa.analysis.served import worst_jobs, worst_wait
from gwa.words.formatting import fraction, number
from gwa.words.message import message, plural


@finding("wait.worst", section="slowdown", action="Find out why these jobs wait longest.")
def worst_served(facts: Facts) -> tuple[float, str] | None:
    """
    Shown if jobs of one size, queue or user wait at least twice as long as the others.

    The median wait must be at least ten minutes, or the 95th percentile four hours; the class must have
    at least 100 jobs and 2 % of the jobs, and must have waited longer than the others in enough
    intervals of the trace that chance has a probability of at most 1 %, after Bonferroni's correction.
    """
    worst = facts["wait.worst"]
    intervals = message(
        "in {longer} of the {intervals} compared",
        longer=number(worst["longer"]),
        intervals=plural("{n} interval", "{n} intervals", worst["intervals"]),
    )
    return 0.5 + worst["share"] / 2, message(
        "{subject} ({share} of the jobs) wait longer than the others, {intervals}: {claim}.",
        subject=worst_jobs(worst),
        share=fraction(worst["share"]),
        intervals=intervals,
        claim=worst_wait(worst),
    )
