"""Hours with far more jobs than usual."""

from gwa.analysis.finding import Facts, finding
from gwa.report.formatting import number

MINIMUM_RATIO = 30


@finding(
    "arrivals.hour.max",
    "arrivals.hour.mean",
    section="arrivals",
    advice="A scheduler must survive that hour: test it with a replay.",
)
def bursts(facts: Facts) -> tuple[float, str] | None:
    """Said where the busiest hour has at least thirty times the jobs of the average one, and a hundred."""
    maximum, mean = facts["arrivals.hour.max"], facts["arrivals.hour.mean"]
    if maximum < MINIMUM_RATIO * mean or maximum < 100:  # noqa: PLR2004 - see the docstring
        return None
    ratio = maximum / mean
    return (
        0.3 + min(ratio, 1000) / 2500,
        f"Jobs come in bursts: {number(maximum)} in the busiest hour, {ratio:,.0f} times the average.",
    )
