"""A few users with most of the work."""

from gwa.analysis.finding import Facts, finding
from gwa.report.formatting import number

MAXIMUM_SHARE = 0.1


@finding(
    "trace.users",
    "users.half_jobs",
    "users.half_cpu",
    section="inequality",
    advice="What is changed for these few users is felt everywhere: ask them first.",
)
def few_users(facts: Facts) -> tuple[float, str] | None:
    """Said where a tenth of the users, of at least ten, or fewer have half of the jobs or of the CPU time."""
    users, jobs, cpu = (facts[name] for name in ("trace.users", "users.half_jobs", "users.half_cpu"))
    if users < 1 / MAXIMUM_SHARE or min(jobs, cpu) > users * MAXIMUM_SHARE:
        return None
    half = f"{number(jobs)} of {number(users)} users submit half of the jobs"
    text = f"{half}, {number(cpu)} use half of the CPU time."
    return 0.7 * (1 - min(jobs, cpu) / users / MAXIMUM_SHARE / 2), text
