"""Requested times that are not enforced."""

from gwa.analysis.finding import Facts, finding
from gwa.words.formatting import fraction
from gwa.words.message import message

MINIMUM_SHARE = 0.05


@finding(
    "estimates.time.beyond_far",
    section="estimates",
    advice="A scheduler that plans with these requests, or a simulation that ends jobs at them, is wrong.",
)
def limits_ignored(facts: Facts) -> tuple[float, str] | None:
    """Shown if at least 5 % of the jobs run over 5 % and ten minutes longer than they requested."""
    share = facts["estimates.time.beyond_far"]
    if share < MINIMUM_SHARE:
        return None
    text = message(
        "Limits were not enforced: {share} of the jobs with a requested time ran more "
        "than 5 % and ten minutes longer.",
        share=fraction(share),
    )
    return 0.3 + share, text
