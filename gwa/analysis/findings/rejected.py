"""Rows that could not be read."""

from gwa.analysis.finding import Facts, finding
from gwa.report.formatting import fraction, number


@finding(
    "conversion.rejected",
    "conversion.rows",
    section="data-quality",
    advice="gwa check lists the reasons. If most rows are rejected, the log is probably in another format.",
)
def rejected_rows(facts: Facts) -> tuple[float, str] | None:
    """Said whenever a row of the source was rejected."""
    rejected, rows = facts["conversion.rejected"], facts["conversion.rows"]
    if not rejected or not rows:
        return None
    share = rejected / rows
    rejects = f"{number(rejected)} of {number(rows)} rows ({fraction(share)})"
    return 0.5 + share * 5, f"{rejects} could not be read and are left out."
