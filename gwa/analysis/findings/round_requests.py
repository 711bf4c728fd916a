"""Requested times that were not thought about."""

from gwa.analysis.finding import Facts, finding
from gwa.report.formatting import fraction, seconds

MINIMUM_SHARE = 0.2


@finding(
    "estimates.modal",
    section="estimates",
    advice="A value that so many ask for is mostly a default: a shorter default lets backfilling find room.",
)
def round_requests(facts: Facts) -> tuple[float, str] | None:
    """Said where a fifth of the jobs or more request the very same time."""
    if not facts["estimates.modal"]:
        return None
    mode = facts["estimates.modal"][0]
    if mode["share"] < MINIMUM_SHARE:
        return None
    requested = seconds(mode["req_time"])
    return mode["share"], f"{fraction(mode['share'])} of the jobs request exactly {requested}."
