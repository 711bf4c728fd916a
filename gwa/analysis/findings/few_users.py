"""A few users with most of the work."""

from gwa.analysis.finding import Facts, finding, knows_cpu_time
from gwa.report.formatting import number

MAXIMUM_SHARE = 0.1
MINIMUM_USERS = 10
MINIMUM_KNOWN = 0.9


@finding(
    "trace.users",
    "users.half_jobs",
    "users.half_cpu",
    "completeness.user_id",
    section="inequality",
    advice="Changes to their workloads have the largest effect on the load: consult them before changing"
    " policies.",
)
def few_users(facts: Facts) -> tuple[float, str] | None:
    """
    Said where a tenth of the users, of at least ten, or fewer have half of the jobs or of the CPU time.

    The user must be known for nine jobs in ten. CPU time is left out where many jobs were still running.
    """
    users, jobs, cpu, known = (facts[name] for name in few_users.needs)
    if users < MINIMUM_USERS or known < MINIMUM_KNOWN:
        return None
    halves = [(jobs, "submit", "jobs")] + [(cpu, "use", "CPU time")] * knows_cpu_time(facts)
    parts = [
        f"{number(count)}{{}} {verb}{'s' if count == 1 else ''} half of the {what}"
        for count, verb, what in halves
        if count <= users * MAXIMUM_SHARE
    ]
    if not parts:
        return None
    text = ", ".join(parts).format(f" of {number(users)} users", "")
    return 0.7 * (1 - min(count for count, *_ in halves) / users / MAXIMUM_SHARE / 2), f"{text}."
