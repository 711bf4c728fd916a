"""Stretches without any job."""

from gwa.analysis.finding import Facts, finding, knows_starts
from gwa.report.formatting import fraction, number, seconds
from gwa.report.message import message

MINIMUM_COVERED = 0.9


@finding(
    "capacity.outages.count",
    "capacity.outages.seconds",
    "trace.span_seconds",
    "window.first",
    "window.last",
    section="capacity",
    advice="The section lists them: check them against the maintenance log.",
)
def outages(facts: Facts) -> tuple[float, str] | None:
    """
    Shown if the section on outages finds stretches of an hour or more in which nothing ran.

    A job waited all that time, or the system hardly ever idles. The window of observation must cover nine
    tenths of the span of the jobs: what lies outside it may be idle because the log does not know its jobs.
    Nor may the waits of many jobs be unknown: when these ran is then unknown, too.
    """
    count, idle, span = (facts[name] for name in outages.needs[:3])
    length = facts["window.last"] - facts["window.first"]
    if not count or not idle or not knows_starts(facts) or length < MINIMUM_COVERED * max(span, 1):
        return None
    intervals = (
        message("in one interval") if count == 1 else message("in {count} intervals", count=number(count))
    )
    share = fraction(idle / length)
    text = message(
        "No job was running for {idle} in total ({share} of the time), {intervals}",
        idle=seconds(idle),
        share=share,
        intervals=intervals,
    )
    return 0.4 + 5 * idle / length, message("{text} of an hour or more.", text=text)
