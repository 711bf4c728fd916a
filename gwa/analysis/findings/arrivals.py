"""When jobs arrive."""

from gwa.analysis.finding import Facts, finding
from gwa.analysis.sections.dependence_over_time import in_words
from gwa.words.formatting import decimal, fraction, number
from gwa.words.message import message

MINIMUM_BURST = 30
MINIMUM_BURST_JOBS = 100

WEIGHT_OF_BUSY_TIMES, WEIGHT_OF_MEMORY = 0.15, 0.2
"""A question of modelling comes after everything that concerns the system."""

MINIMUM_CYCLE = 3
MINIMUM_DAYS = 10
MINIMUM_REPEATED = 0.7
DEVIATIONS = 3
"""How many standard deviations of a fair coin the share of days must lie above one half."""


@finding(
    "arrivals.hour.max",
    "arrivals.hour.mean",
    section="arrivals",
    advice="Replay that hour to test how a scheduler copes with it.",
)
def bursts(facts: Facts) -> tuple[float, str] | None:
    """Shown if the busiest hour has at least thirty times the jobs of the mean hour, and a hundred."""
    maximum, mean = facts["arrivals.hour.max"], facts["arrivals.hour.mean"]
    if maximum < MINIMUM_BURST * mean or maximum < MINIMUM_BURST_JOBS:
        return None
    ratio = maximum / mean
    return (
        0.2 + min(ratio, 1000) / 5000,
        message(
            "In the busiest hour {maximum} jobs are submitted, {ratio} times the hourly mean.",
            maximum=number(maximum),
            ratio=decimal(ratio, ",.0f"),
        ),
    )


@finding(
    "dependence.verdict",
    "dependence.counts",
    "dependence.roots",
    "dependence.memory_time",
    section="dependence-over-time",
    advice="Model arrivals with busy and quiet times of this length; long-range dependence is not needed.",
)
def busy_times(facts: Facts) -> tuple[float, str] | None:
    """Shown if the spectrum of arrivals has one memory time, which the log is long enough to measure."""
    return (
        (WEIGHT_OF_BUSY_TIMES, in_words(facts)) if facts["dependence.verdict"] == "one memory time" else None
    )


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
    if days < MINIMUM_DAYS or repeated < minimum or high < MINIMUM_CYCLE * low or not high:
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


@finding(
    "dependence.verdict",
    "dependence.counts",
    "dependence.roots",
    "dependence.hurst",
    "dependence.scale.min",
    "dependence.scale.max",
    section="dependence-over-time",
    advice="A model with independent arrivals tends to underestimate queues.",
)
def memory_of_load(facts: Facts) -> tuple[float, str] | None:
    """Shown if the spectrum of arrivals is a power law."""
    return (WEIGHT_OF_MEMORY, in_words(facts)) if facts["dependence.verdict"] == "power law" else None
