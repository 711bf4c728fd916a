"""One user with a great part of the jobs."""

from gwa.analysis.finding import Facts, finding
from gwa.report.formatting import fraction

GREAT = 0.25


@finding("users.by_jobs", "users.by_cpu", "trace.users", section="users")
def one_user(facts: Facts) -> tuple[float, str] | None:
    """Said where one of several users has a quarter of the jobs or of the CPU time, or more."""
    if facts["trace.users"] == 1 or not facts["users.by_jobs"] or not facts["users.by_cpu"]:
        return None
    first, busy = facts["users.by_jobs"][0], facts["users.by_cpu"][0]
    said = []
    if first["jobs_share"] >= GREAT:
        said.append(
            (first["jobs_share"], f"{first['id']} submits {fraction(first['jobs_share'])} of the jobs")
        )
    if (busy["cpu_share"] or 0) >= GREAT:
        said.append((busy["cpu_share"], f"{busy['id']} uses {fraction(busy['cpu_share'])} of the CPU time"))
    if not said:
        return None
    return 0.4 + max(said)[0] / 2, f"One user stands out: {' and '.join(text for _, text in said)}."
