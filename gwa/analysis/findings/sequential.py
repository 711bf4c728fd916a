"""Mostly jobs of one processor."""

from gwa.analysis.finding import Facts, finding
from gwa.report.formatting import fraction

MINIMUM_SHARE = 0.8


@finding("jobs.sequential.count", "jobs.parallel.count", section="parallelism")
def sequential(facts: Facts) -> tuple[float, str] | None:
    """Said where four jobs in five or more use one processor."""
    jobs, parallel = facts["jobs.sequential.count"], facts["jobs.parallel.count"]
    if not jobs or (share := jobs / (jobs + parallel)) < MINIMUM_SHARE:
        return None
    if not parallel:
        return 0.3, "Every job uses one processor."
    cpu_share = facts["jobs.sequential.cpu_seconds"] / (
        (facts["jobs.sequential.cpu_seconds"] + facts["jobs.parallel.cpu_seconds"]) or 1
    )
    return (
        0.4,
        f"{fraction(share)} of the jobs use one processor, for {fraction(cpu_share)} of CPU time.",
    )
