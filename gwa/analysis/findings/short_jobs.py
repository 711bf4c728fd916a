"""Jobs that are over at once."""

from gwa.analysis.finding import Facts, finding
from gwa.words.formatting import fraction
from gwa.words.message import message

MINIMUM_SHARE = 0.05


@finding(
    "jobs.runtime.one_second",
    "jobs.runtime.resolution",
    section="run-times",
    advice="Such jobs often fail at once. They dominate mean slowdowns.",
    action="Check how the shortest jobs ended.",
)
def short_jobs(facts: Facts) -> tuple[float, str] | None:
    """Shown if at least 5 % of the jobs that ran took one second or less, by a clock of seconds."""
    share, resolution = (facts[name] for name in short_jobs.needs)
    if share < MINIMUM_SHARE or resolution > 1:
        return None
    return 0.2 + share, message(
        "{share} of the jobs that ran took one second or less.", share=fraction(share)
    )
