"""Jobs that did not end well."""

from gwa.analysis.finding import Facts, finding
from gwa.report.formatting import fraction

MINIMUM_SHARE = 0.1


@finding(
    "jobs.failed.count",
    "jobs.cancelled.count",
    "trace.jobs",
    section="outcomes",
    advice="The section says how much CPU time went into them.",
)
def failures(facts: Facts) -> tuple[float, str] | None:
    """Said where a tenth of the jobs or more failed or were cancelled."""
    jobs = facts["trace.jobs"]
    failed, cancelled = (facts[f"jobs.{name}.count"] / jobs for name in ("failed", "cancelled"))
    if failed + cancelled < MINIMUM_SHARE:
        return None
    parts = [
        f"{fraction(share)} {name}"
        for share, name in ((failed, "failed"), (cancelled, "were cancelled"))
        if share
    ]
    return 0.3 + (failed + cancelled) / 2, f"Of the jobs, {' and '.join(parts)}."
