"""Bursts by single users that change the statistics."""

from gwa.analysis.finding import Facts, finding
from gwa.words.formatting import fraction, number
from gwa.words.message import message

MINIMUM_DAYS = 14
MAXIMUM_DAYS_SHARE = 0.25


@finding(
    "flurries.count",
    "flurries.jobs_share",
    "flurries.days",
    "flurries.submission_days",
    section="flurries",
    advice="Flurries may not be representative: the section has a filter that removes them; report on both.",
)
def flurries(facts: Facts) -> tuple[float, str] | None:
    """
    Shown if the section on flurries proposes one, in a trace with jobs submitted on 14 days or more.

    Flurries that last for more than a quarter of these days are the usual load, and the finding is not shown.
    """
    count, share, days, all_days = (facts[name] for name in flurries.needs)
    if not count or all_days < MINIMUM_DAYS or days > all_days * MAXIMUM_DAYS_SHARE:
        return None
    subject = (
        message("One flurry of a single user holds")
        if count == 1
        else message("{count} flurries of single users hold", count=number(count))
    )
    on_days = message("on {days} of {all_days} days", days=number(days), all_days=number(all_days))
    return 0.3 + share, message(
        "{subject} {share} of all jobs, {on_days}.", subject=subject, share=fraction(share), on_days=on_days
    )
