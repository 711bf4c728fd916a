"""Hours with far more jobs than usual."""

from gwa.analysis.finding import Facts, finding
from gwa.report.formatting import number

MANY = 30


@finding(
    "arrivals.hour.max",
    "arrivals.hour.mean",
    section="arrivals",
    advice="A scheduler must survive that hour: test it with a replay.",
)
def bursts(facts: Facts) -> tuple[float, str] | None:
    """Said where the busiest hour has at least thirty times the jobs of the average one, and a hundred."""
    most, mean = facts["arrivals.hour.max"], facts["arrivals.hour.mean"]
    if most < MANY * mean or most < 100:  # noqa: PLR2004 - said above
        return None
    times = most / mean
    return (
        0.3 + min(times, 1000) / 2500,
        f"Jobs come in bursts: {number(most)} in the busiest hour, {times:,.0f} times the average.",
    )
