"""Jobs that end at their limit."""

from gwa.analysis.finding import Facts, finding
from gwa.report.formatting import fraction

MINIMUM_SHARE = 0.1


@finding(
    "estimates.time.limit",
    section="estimates",
    advice="Such jobs were most likely ended by the system: see whether their work was saved.",
)
def cut_off(facts: Facts) -> tuple[float, str] | None:
    """Said where a tenth of the jobs or more run for as long as they requested, to 1 %, or longer."""
    share = facts["estimates.time.limit"]
    if share < MINIMUM_SHARE:
        return None
    return 0.2 + share, f"{fraction(share)} of the jobs end when the time that they requested is over."
