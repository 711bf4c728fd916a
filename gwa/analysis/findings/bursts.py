"""An hour with far more jobs than usual."""

from gwa.analysis.finding import Facts, finding
from gwa.words.formatting import decimal, number
from gwa.words.message import message

MINIMUM_RATIO = 30
MINIMUM_JOBS = 100


@finding(
    "arrivals.hour.max",
    "arrivals.hour.mean",
    section="arrivals",
    advice="Replay that hour to test how a scheduler copes with it.",
)
def bursts(facts: Facts) -> tuple[float, str] | None:
    """Shown if the busiest hour has at least thirty times the jobs of the mean hour, and a hundred."""
    maximum, mean = facts["arrivals.hour.max"], facts["arrivals.hour.mean"]
    if maximum < MINIMUM_RATIO * mean or maximum < MINIMUM_JOBS:
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
