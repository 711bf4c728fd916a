"""Jobs that did not end well."""

from gwa.analysis.endings import ENDINGS, NOT_COMPLETED, shares, went_into
from gwa.analysis.finding import Facts, finding

MINIMUM_SHARE = 0.1
NOTICEABLE = 0.005


@finding(
    "outcomes.shares",
    "outcomes.jobs.unknown",
    "trace.jobs",
    section="outcomes",
    action="See whose jobs did not complete.",
)
def failures(facts: Facts) -> tuple[float, str] | None:
    """Shown if a tenth of the jobs or core-hours did not complete, and half of the outcomes are known."""
    rows, unknown, jobs = (facts[name] for name in failures.needs)
    by_job, by_hour = shares(rows, "jobs"), shares(rows, "core_hours")
    bad = max(by_job.get(NOT_COMPLETED, 0.0), by_hour.get(NOT_COMPLETED, 0.0))
    if bad < MINIMUM_SHARE or unknown > jobs / 2:
        return None
    names = [name for name in ENDINGS if max(by_job.get(name, 0), by_hour.get(name, 0)) >= NOTICEABLE]
    return 0.3 + bad / 2, went_into(names, by_job, by_hour, is_whole=not unknown)
