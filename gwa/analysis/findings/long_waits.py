"""Jobs that wait long."""

from gwa.analysis.finding import Facts, finding
from gwa.report.formatting import seconds
from gwa.util.units import DAY, HOUR

MINIMUM_WAIT = 4 * HOUR


@finding(
    "jobs.wait.median", "jobs.wait.p95", section="waits", advice="The section on slowdown says who waits."
)
def long_waits(facts: Facts) -> tuple[float, str] | None:
    """Said where one job in twenty waits for four hours or longer."""
    median, p95 = facts["jobs.wait.median"], facts["jobs.wait.p95"]
    if p95 < MINIMUM_WAIT:
        return None
    half = f"half of the jobs start within {seconds(median)}" if median else "half of the jobs start at once"
    return 0.35 + min(
        p95 / DAY, 10
    ) / 20, f"One job in twenty waits for {seconds(p95)} or longer, while {half}."
