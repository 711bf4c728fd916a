"""A strong daily cycle."""

from gwa.analysis.finding import Facts, finding
from gwa.words.formatting import decimal, fraction, number
from gwa.words.message import message

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
    Shown if the busiest hour of the day has three times the jobs of the quietest, day after day.

    In at least 70 % of ten days or more, the busiest six hours of the other days must have more jobs
    than their quietest six; by chance, half of the days would.
    """
    busiest, high, quietest, low, days, repeated = (facts[name] for name in daily_cycle.needs)
    minimum = max(MINIMUM_REPEATED, 0.5 + DEVIATIONS * 0.5 / max(days, 1) ** 0.5)
    if days < MINIMUM_DAYS or repeated < minimum or high < MINIMUM_RATIO * low or not high:
        return None
    times = (
        message("{high} times as many as", high=number(round(high / low)))
        if low
        else message("while none arrive")
    )
    zone = (
        message(" ({arrivalscyclezone})", arrivalscyclezone=facts["arrivals.cycle.zone"])
        if facts.get("arrivals.cycle.zone")
        else ""
    )
    hour = message(
        "from {busiest}:00 to {busiest2}:00{zone}",
        busiest=decimal(busiest, "02"),
        busiest2=decimal((busiest + 1) % 24, "02"),
        zone=zone,
    )
    text = message(
        "The busiest hour is {hour}: {high} of all jobs arrive then, {times}",
        hour=hour,
        high=fraction(high),
        times=times,
    )
    return min(0.2 + high, 0.5), message(
        "{text} in the hour from {quietest}:00.", text=text, quietest=decimal(quietest, "02")
    )
