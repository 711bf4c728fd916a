"""A strong daily cycle."""

from gwa.analysis.finding import Facts, finding
from gwa.report.formatting import fraction
from gwa.util.units import DAY

MINIMUM_RATIO = 3
MINIMUM_DAYS = 3


@finding(
    "arrivals.cycle.busiest_hour",
    "arrivals.cycle.busiest_hour_share",
    "arrivals.cycle.quietest_hour",
    "arrivals.cycle.quietest_hour_share",
    "trace.span_seconds",
    section="week",
)
def daily_cycle(facts: Facts) -> tuple[float, str] | None:
    """Said where, in three days or more, the busiest hour has three times the jobs of the quietest."""
    busiest, high, quietest, low, span = (facts[name] for name in daily_cycle.needs)
    if span < MINIMUM_DAYS * DAY or high < MINIMUM_RATIO * low or not high:
        return None
    times = f"{high / low:.0f} times as many as" if low else "while none come"
    hour = f"from {busiest:02}:00 to {(busiest + 1) % 24:02}:00"
    text = f"Most jobs come {hour}: {fraction(high)} of them, {times} in the hour from {quietest:02}:00."
    return min(0.2 + high, 0.5), text
