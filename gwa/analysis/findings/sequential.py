"""Mostly jobs of one processor."""

from gwa.analysis.finding import Facts, finding
from gwa.report.formatting import fraction

MINIMUM_SHARE = 0.8


@finding("jobs.sequential.count", "jobs.parallel.count", section="parallelism")
def sequential(facts: Facts) -> tuple[float, str] | None:
    """Said where four in five of the jobs that ran, or more, used one processor."""
    jobs, parallel = facts["jobs.sequential.count"], facts["jobs.parallel.count"]
    if not jobs or (share := jobs / (jobs + parallel)) < MINIMUM_SHARE:
        return None
    if not parallel:
        return 0.3, "Every job that ran is recorded on one processor."
    consumed = [facts.get(f"jobs.{kind}.cpu_seconds") or 0.0 for kind in ("sequential", "parallel")]
    total = sum(consumed)
    used = f"; they used {fraction(consumed[0] / total)} of the CPU time" if total else ""
    return 0.4, f"{fraction(share)} of the jobs that ran used one processor{used}."
