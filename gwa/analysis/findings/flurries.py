"""Bursts by single users that change the statistics."""

from gwa.analysis.finding import Facts, finding
from gwa.report.formatting import fraction, number

MINIMUM_DAYS = 14
MAXIMUM_DAYS_SHARE = 0.25


@finding(
    "flurries.count",
    "flurries.jobs_share",
    "flurries.days",
    "flurries.submission_days",
    section="flurries",
    advice="Flurries may not be representative: the section has a filter that removes them; report on both.",
)
def flurries(facts: Facts) -> tuple[float, str] | None:
    """
    Said where the section on flurries proposes one, in a trace with jobs submitted on 14 days or more.

    Flurries that last for more than a quarter of these days are the usual load, and nothing is said.
    """
    count, share, days, all_days = (facts[name] for name in flurries.needs)
    if not count or all_days < MINIMUM_DAYS or days > all_days * MAXIMUM_DAYS_SHARE:
        return None
    subject = (
        "One flurry of a single user holds"
        if count == 1
        else f"{number(count)} flurries of single users hold"
    )
    on_days = f"on {number(days)} of {number(all_days)} days"
    return 0.3 + share, f"{subject} {fraction(share)} of all jobs, {on_days}."
