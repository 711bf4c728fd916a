"""Requested times far above what jobs take."""

from gwa.analysis.finding import Facts, finding
from gwa.report.formatting import fraction

MAXIMUM_SHARE = 0.25


@finding(
    "estimates.time.median",
    section="estimates",
    advice="Schedulers plan with the request: closer ones would start short jobs earlier.",
)
def overestimates(facts: Facts) -> tuple[float, str] | None:
    """Said where the median job runs for a quarter of the time that it requested, or less."""
    used = facts["estimates.time.median"]
    if used > MAXIMUM_SHARE:
        return None
    return 0.6 - used, f"Half of the jobs run for {fraction(used)} of the time that they request, or less."
