"""Stretches without any job."""

from gwa.analysis.finding import Facts, finding
from gwa.report.formatting import fraction, number, seconds


@finding(
    "capacity.outages.count",
    "capacity.outages.seconds",
    "trace.span_seconds",
    section="capacity",
    advice="The section lists them: compare with the log of maintenance.",
)
def outages(facts: Facts) -> tuple[float, str] | None:
    """Said where the section on outages finds a stretch in which nothing ran though something should."""
    count, idle, span = (facts[name] for name in outages.needs)
    if not count or not span:
        return None
    times = "once" if count == 1 else f"{number(count)} times"
    text = f"Nothing ran {times}, for {seconds(idle)} in all ({fraction(idle / span)} of the span): outages?"
    return 0.4 + 5 * idle / span, text
