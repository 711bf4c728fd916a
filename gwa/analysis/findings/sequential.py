"""Mostly jobs of one processor."""

from gwa.analysis.finding import Facts, finding
from gwa.report.formatting import fraction

MOST = 0.8


@finding("jobs.sequential.count", "jobs.parallel.count", section="parallelism")
def sequential(facts: Facts) -> tuple[float, str] | None:
    """Said where four jobs in five or more use one processor."""
    one, more = facts["jobs.sequential.count"], facts["jobs.parallel.count"]
    if not one or one / (one + more) < MOST:
        return None
    if not more:
        return 0.3, "Every job uses one processor."
    time = facts["jobs.sequential.cpu_seconds"] / (
        (facts["jobs.sequential.cpu_seconds"] + facts["jobs.parallel.cpu_seconds"]) or 1
    )
    return (
        0.4,
        f"{fraction(one / (one + more))} of the jobs use one processor, for {fraction(time)} of CPU time.",
    )
