"""Mostly jobs of one processor."""

from gwa.analysis.finding import Facts, finding
from gwa.words.formatting import fraction
from gwa.words.message import message

MINIMUM_SHARE = 0.8


@finding("jobs.sequential.count", "jobs.parallel.count", section="parallelism")
def sequential(facts: Facts) -> tuple[float, str] | None:
    """Shown if four in five of the jobs that ran, or more, used one processor."""
    jobs, parallel = facts["jobs.sequential.count"], facts["jobs.parallel.count"]
    if not jobs or (share := jobs / (jobs + parallel)) < MINIMUM_SHARE:
        return None
    if not parallel:
        return 0.3, message("Every job that ran is recorded on one processor.")
    consumed = [facts.get(f"jobs.{kind}.cpu_seconds") or 0.0 for kind in ("sequential", "parallel")]
    total = sum(consumed)
    used = (
        message("; they used {consumed} of the CPU time", consumed=fraction(consumed[0] / total))
        if total
        else ""
    )
    return 0.4, message(
        "{share} of the jobs that ran used one processor{used}.", share=fraction(share), used=used
    )
