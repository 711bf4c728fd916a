"""Jobs that wait long."""

from gwa.analysis.finding import Facts, finding
from gwa.util.units import DAY, HOUR
from gwa.words.formatting import seconds
from gwa.words.message import message

MINIMUM_WAIT = 4 * HOUR


@finding(
    "jobs.wait.median",
    "jobs.wait.p95",
    "completeness.ran_without_wait",
    "trace.ran",
    section="waits",
    action="See which jobs wait, and for what.",
)
def long_waits(facts: Facts) -> tuple[float, str] | None:
    """Shown if one job in twenty waits for four hours or longer, and half of the waits are known."""
    median, p95, unknown, ran = (facts[name] for name in long_waits.needs)
    if p95 < MINIMUM_WAIT or unknown > ran / 2:
        return None
    half = (
        message("half wait for {median} at most", median=seconds(median))
        if median
        else message("half do not wait")
    )
    text = message("One job in twenty waits for {p95} or longer, while {half}.", p95=seconds(p95), half=half)
    return 0.35 + min(p95 / DAY, 10) / 20, text
