"""Requested times that are not enforced."""

from gwa.analysis.finding import Facts, finding
from gwa.report.formatting import fraction

MINIMUM_SHARE = 0.05


@finding(
    "estimates.time.beyond_far",
    section="estimates",
    advice="A scheduler that plans with these requests, or a simulation that ends jobs at them, is wrong.",
)
def limits_ignored(facts: Facts) -> tuple[float, str] | None:
    """Said where at least 5 % of the jobs run over 5 % and ten minutes longer than they requested."""
    share = facts["estimates.time.beyond_far"]
    if share < MINIMUM_SHARE:
        return None
    text = (
        f"Limits were not enforced: {fraction(share)} of the jobs with a requested time ran more than 5 % and"
        " ten minutes longer."
    )
    return 0.3 + share, text
