"""A strong daily cycle."""

from gwa.analysis.finding import Facts, finding
from gwa.report.formatting import fraction, number

MINIMUM_RATIO = 3
MINIMUM_DAYS = 10
MINIMUM_REPEATED = 0.7
DEVIATIONS = 3
"""How many standard deviations of a fair coin the share of days must lie above one half."""


@finding(
    "arrivals.cycle.busiest_hour",
    "arrivals.cycle.busiest_hour_share",
    "arrivals.cycle.quietest_hour",
    "arrivals.cycle.quietest_hour_share",
    "arrivals.cycle.days",
    "arrivals.cycle.repeated",
    section="week",
)
def daily_cycle(facts: Facts) -> tuple[float, str] | None:
    """
    Said where the busiest hour of the day has three times the jobs of the quietest, day after day.

    In at least 70 % of ten days or more, the busiest six hours of the other days must have more jobs
    than their quietest six; by chance, half of the days would.
    """
    busiest, high, quietest, low, days, repeated = (facts[name] for name in daily_cycle.needs)
    minimum = max(MINIMUM_REPEATED, 0.5 + DEVIATIONS * 0.5 / max(days, 1) ** 0.5)
    if days < MINIMUM_DAYS or repeated < minimum or high < MINIMUM_RATIO * low or not high:
        return None
    times = f"{number(round(high / low))} times as many as" if low else "while none arrive"
    zone = f" ({facts['arrivals.cycle.zone']})" if facts.get("arrivals.cycle.zone") else ""
    hour = f"from {busiest:02}:00 to {(busiest + 1) % 24:02}:00{zone}"
    text = f"The busiest hour is {hour}: {fraction(high)} of all jobs arrive then, {times}"
    return min(0.2 + high, 0.5), f"{text} in the hour from {quietest:02}:00."
