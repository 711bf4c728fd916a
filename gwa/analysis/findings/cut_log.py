"""A log that does not know all jobs that ran at its start or end."""

from gwa.analysis.finding import Facts, finding
from gwa.report.formatting import seconds

MISSING = {
    "start": "jobs that were submitted before its start",
    "end": "jobs that had not ended at its end",
    "both": "jobs that ran across its start and its end",
}
"""By the edge that is cut: what the log lacks."""

ADVICE = (
    "Outside this time, running jobs are missing: read levels there as lower bounds. Run times and waits"
    " of long jobs are underrepresented."
)


@finding("window.cut", "trace.span_seconds", section="data-quality", advice=ADVICE)
def cut_log(facts: Facts) -> tuple[float, str] | None:
    """Said where submissions, starts and ends show that the log was cut out of a longer one."""
    missing = MISSING.get(facts["window.cut"])
    if not missing:
        return None
    first, last, span = facts.get("window.first"), facts.get("window.last"), facts["trace.span_seconds"]
    if first is None or last is None:
        return 0.9, f"The log lacks {missing}: utilization and other levels are lower bounds throughout."
    known = f"{seconds(last - first)} of the {seconds(span)} that its jobs span"
    return 0.5 + 0.4 * (1 - min((last - first) / span, 1)), (
        f"The log lacks {missing}: utilization and other levels are known for {known}."
    )
