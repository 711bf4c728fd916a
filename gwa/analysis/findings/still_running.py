"""Many jobs that still ran when the log ended."""

from gwa.analysis.finding import Facts, finding
from gwa.words.formatting import fraction, number
from gwa.words.message import message

MINIMUM_SHARE = 0.02


@finding(
    "utilization.unfinished",
    "trace.jobs",
    section="data-quality",
    advice="Run times are those of the jobs that ended, so long ones are underrepresented.",
)
def still_running(facts: Facts) -> tuple[float, str] | None:
    """Shown if at least 2 % of the jobs still ran when the log ended."""
    running, jobs = facts["utilization.unfinished"], facts["trace.jobs"]
    if not jobs or running < jobs * MINIMUM_SHARE:
        return None
    share = running / jobs
    many = message(
        "{running} of {jobs} jobs ({share})",
        running=number(running),
        jobs=number(jobs),
        share=fraction(share),
    )
    return 0.5 + share / 2, message(
        "{many} were still running when the log ended: how long they ran is unknown.", many=many
    )
