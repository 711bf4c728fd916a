"""Requested times far above what jobs take."""

from gwa.analysis.finding import Facts, finding
from gwa.words.formatting import fraction
from gwa.words.message import message

MAXIMUM_SHARE = 0.25

MINIMUM_SHARE = 0.001
"""Smaller shares are written as this, a tenth of a percent."""


@finding(
    "estimates.time.median",
    section="estimates",
    advice="Predict run times from users' earlier jobs, not from requests (Tsafrir et al. 2007).",
    action="See who could request less time.",
)
def overestimates(facts: Facts) -> tuple[float, str] | None:
    """
    Shown if the median job with a requested time runs for a quarter of it, or less.

    Requested times that are the same for nearly all jobs of each queue are limits of queues, not requests.
    """
    used = facts["estimates.time.median"]
    if used > MAXIMUM_SHARE or facts.get("estimates.limits_of_queues"):
        return None
    share = fraction(max(used, MINIMUM_SHARE))
    return 0.6 - used, message("Half of the jobs that request a time use at most {share} of it.", share=share)
