"""Rows that could not be read."""

from gwa.analysis.finding import Facts, finding
from gwa.report.formatting import fraction, number


@finding(
    "conversion.rejected",
    "conversion.rows",
    section="data-quality",
    advice="gwa check lists the reasons; where most are refused, the log is likely of another format.",
)
def rejected_rows(facts: Facts) -> tuple[float, str] | None:
    """Said whenever a row of the source was refused."""
    rejected, rows = facts["conversion.rejected"], facts["conversion.rows"]
    if not rejected:
        return None
    share = rejected / rows
    rejects = f"{number(rejected)} of {number(rows)} rows ({fraction(share)})"
    text = f"{rejects} could not be read and are left out."
    return 0.5 + share * 5, text
