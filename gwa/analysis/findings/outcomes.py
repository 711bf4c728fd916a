"""How jobs ended."""

from gwa.analysis.endings import ENDINGS, NOT_COMPLETED, shares, went_into
from gwa.analysis.finding import Facts, finding
from gwa.words.formatting import fraction, number
from gwa.words.message import message

MINIMUM_NOT_COMPLETED = 0.1
NOTICEABLE = 0.005

MINIMUM_NEVER_RAN = 0.02


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
    if bad < MINIMUM_NOT_COMPLETED or unknown > jobs / 2:
        return None
    names = [name for name in ENDINGS if max(by_job.get(name, 0), by_hour.get(name, 0)) >= NOTICEABLE]
    return 0.3 + bad / 2, went_into(names, by_job, by_hour, is_whole=not unknown)


@finding(
    "jobs.never_ran.count",
    "trace.jobs",
    section="outcomes",
    advice="They count as submitted jobs: leave them out of studies of run times.",
)
def never_ran(facts: Facts) -> tuple[float, str] | None:
    """Shown if at least 2 % of the jobs failed or were cancelled with a run time of 0 s or none."""
    never, jobs = facts["jobs.never_ran.count"], facts["trace.jobs"]
    if not jobs or never < jobs * MINIMUM_NEVER_RAN:
        return None
    share = never / jobs
    text = message(
        "{never} jobs ({share}) failed or were cancelled with no run time or one of 0 s.",
        never=number(never),
        share=fraction(share),
    )
    return 0.3 + share / 2, text
