"""Rows that could not be read."""

from gwa.analysis.finding import Facts, finding
from gwa.words.formatting import fraction, number
from gwa.words.message import message


@finding(
    "conversion.rejected",
    "conversion.rows",
    section="data-quality",
    advice="gwa check lists the reasons. If most rows are rejected, the log is probably in another format.",
)
def rejected_rows(facts: Facts) -> tuple[float, str] | None:
    """Shown whenever a row of the source was rejected."""
    rejected, rows = facts["conversion.rejected"], facts["conversion.rows"]
    if not rejected or not rows:
        return None
    share = rejected / rows
    rejects = message(
        "{rejected} of {rows} rows ({share})",
        rejected=number(rejected),
        rows=number(rows),
        share=fraction(share),
    )
    return 0.5 + share * 5, message("{rejects} could not be read and are left out.", rejects=rejects)
