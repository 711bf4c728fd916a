"""One user with a great part of the jobs."""

from gwa.analysis.finding import Facts, finding
from gwa.report.formatting import fraction

MINIMUM_SHARE = 0.25


@finding("users.by_jobs", "users.by_cpu", "trace.users", section="users")
def one_user(facts: Facts) -> tuple[float, str] | None:
    """Said where one of several users has a quarter of the jobs or of the CPU time, or more."""
    if facts["trace.users"] == 1 or not facts["users.by_jobs"] or not facts["users.by_cpu"]:
        return None
    by_jobs, by_cpu = facts["users.by_jobs"][0], facts["users.by_cpu"][0]
    claims = []
    if by_jobs["jobs_share"] >= MINIMUM_SHARE:
        share = by_jobs["jobs_share"]
        claims.append((share, f"{by_jobs['id']} submits {fraction(share)} of the jobs"))
    if (by_cpu["cpu_share"] or 0) >= MINIMUM_SHARE:
        share = by_cpu["cpu_share"]
        claims.append((share, f"{by_cpu['id']} uses {fraction(share)} of the CPU time"))
    if not claims:
        return None
    return 0.4 + max(claims)[0] / 2, f"One user stands out: {' and '.join(text for _, text in claims)}."
