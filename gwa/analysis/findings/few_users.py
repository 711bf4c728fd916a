"""A few users with most of the work."""

from collections.abc import Mapping

from gwa.analysis.finding import Facts, finding, knows_cpu_time
from gwa.words.formatting import number
from gwa.words.message import Message, message, plural

MAXIMUM_SHARE = 0.1
MINIMUM_USERS = 10
MINIMUM_KNOWN = 0.9


@finding(
    "trace.users",
    "users.half_jobs",
    "users.half_cpu",
    "completeness.user_id",
    section="inequality",
    advice="Changes to their workloads have the largest effect on the load.",
    action="Consult the largest users before you change policies.",
)
def few_users(facts: Facts) -> tuple[float, str] | None:
    """
    Shown if a tenth of the users, of at least ten, or fewer have half of the jobs or of the CPU time.

    The user must be known for nine jobs in ten. CPU time is left out where many jobs were still running.
    """
    users, jobs, cpu, known = (facts[name] for name in few_users.needs)
    if users < MINIMUM_USERS or known < MINIMUM_KNOWN:
        return None
    halves = {"jobs": jobs} | ({"cpu": cpu} if knows_cpu_time(facts) else {})
    few = {name: count for name, count in halves.items() if count <= users * MAXIMUM_SHARE}
    if not few:
        return None
    return 0.7 * (1 - min(few.values()) / users / MAXIMUM_SHARE / 2), _text(users, few)


def _text(users: int, few: Mapping[str, int]) -> Message:
    """Return who has half of the jobs, of the CPU time, or of both."""
    of = {"users": number(users)}
    if "cpu" not in few:
        return plural(
            "{n} of {users} users submits half of the jobs.",
            "{n} of {users} users submit half of the jobs.",
            few["jobs"],
            **of,
        )
    if "jobs" not in few:
        return plural(
            "{n} of {users} users accounts for half of the CPU time.",
            "{n} of {users} users account for half of the CPU time.",
            few["cpu"],
            **of,
        )
    return message(
        "Half of the jobs come from {jobs} of {users} users, and half of the CPU time from {cpu}.",
        jobs=number(few["jobs"]),
        cpu=number(few["cpu"]),
        **of,
    )
