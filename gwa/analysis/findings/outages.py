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
    times, lost, span = (facts[name] for name in outages.needs)
    if not times or not span:
        return None
    often = "once" if times == 1 else f"{number(times)} times"
    text = f"Nothing ran {often}, for {seconds(lost)} in all ({fraction(lost / span)} of the span): outages?"
    return 0.4 + 5 * lost / span, text
