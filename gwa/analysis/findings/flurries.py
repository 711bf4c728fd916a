"""Bursts by single users that change the statistics."""

from gwa.analysis.finding import Facts, finding
from gwa.report.formatting import fraction, number


@finding(
    "flurries.count",
    "flurries.jobs_share",
    section="flurries",
    advice="The section gives the filter that removes them; report on both.",
)
def flurries(facts: Facts) -> tuple[float, str] | None:
    """Said where the section on flurries proposes one."""
    count, share = facts["flurries.count"], facts["flurries.jobs_share"]
    if not count:
        return None
    subject = "A flurry of one user holds" if count == 1 else f"{number(count)} flurries of single users hold"
    return 0.3 + share, f"{subject} {fraction(share)} of all jobs: they may not stand for the usual load."
