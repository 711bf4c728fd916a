"""Requested times that were not thought about."""

from gwa.analysis.finding import Facts, finding
from gwa.report.formatting import fraction, seconds

OFTEN = 0.2


@finding(
    "estimates.modal",
    section="estimates",
    advice="A value that so many ask for is mostly a default: a shorter default lets backfilling find room.",
)
def round_requests(facts: Facts) -> tuple[float, str] | None:
    """Said where a fifth of the jobs or more request the very same time."""
    if not facts["estimates.modal"]:
        return None
    most = facts["estimates.modal"][0]
    if most["share"] < OFTEN:
        return None
    asked = seconds(most["req_time"])
    return most["share"], f"{fraction(most['share'])} of the jobs request exactly {asked}."
