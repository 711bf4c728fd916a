"""Jobs that ended without running."""

from gwa.analysis.finding import Facts, finding
from gwa.words.formatting import fraction, number
from gwa.words.message import message

MINIMUM_SHARE = 0.02


@finding(
    "jobs.never_ran.count",
    "trace.jobs",
    section="outcomes",
    advice="They count as submitted jobs: leave them out of studies of run times.",
)
def never_ran(facts: Facts) -> tuple[float, str] | None:
    """Shown if at least 2 % of the jobs failed or were cancelled with a run time of 0 s or none."""
    never, jobs = facts["jobs.never_ran.count"], facts["trace.jobs"]
    if not jobs or never < jobs * MINIMUM_SHARE:
        return None
    share = never / jobs
    text = message(
        "{never} jobs ({share}) failed or were cancelled with no run time or one of 0 s.",
        never=number(never),
        share=fraction(share),
    )
    return 0.3 + share / 2, text
