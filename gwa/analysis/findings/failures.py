"""Jobs that did not end well."""

from gwa.analysis.finding import Facts, finding
from gwa.report.formatting import fraction
from gwa.report.message import joined, message

MINIMUM_SHARE = 0.1


@finding(
    "jobs.completed.count",
    "jobs.failed.count",
    "jobs.cancelled.count",
    "trace.jobs",
    section="outcomes",
    advice="The section shows how much CPU time went into them.",
)
def failures(facts: Facts) -> tuple[float, str] | None:
    """Shown if a tenth of the jobs or more failed or were cancelled, and half of the outcomes are known."""
    known = sum(facts[name] for name in failures.needs[:3])
    if not known or known < facts["trace.jobs"] / 2:
        return None
    failed, cancelled = (facts[f"jobs.{name}.count"] / known for name in ("failed", "cancelled"))
    if failed + cancelled < MINIMUM_SHARE:
        return None
    shares = ((failed, "failed"), (cancelled, message("were cancelled")))
    parts = joined(
        " and ",
        (message("{share} {name}", share=fraction(share), name=name) for share, name in shares if share),
    )
    whose = "jobs" if known == facts["trace.jobs"] else message("jobs whose outcome is recorded")
    return 0.3 + (failed + cancelled) / 2, message("Of the {whose}, {parts}.", whose=whose, parts=parts)
