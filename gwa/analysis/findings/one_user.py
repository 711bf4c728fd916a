"""One user with a large part of the jobs."""

from gwa.analysis.finding import Facts, finding, knows_cpu_time
from gwa.report.document import Verbatim
from gwa.report.formatting import fraction
from gwa.report.message import joined, message

MINIMUM_SHARE = 0.25
MINIMUM_RATIO = 2.5
MAXIMUM_SHARE = 0.9


@finding("users.by_jobs", "users.by_cpu", "trace.users", section="users")
def one_user(facts: Facts) -> tuple[float, str] | None:
    """
    Shown if one of several users has a quarter of the jobs or of the CPU time, or more.

    It must also be 2.5 times an equal share (of two users, 90 %). CPU time is left out where many jobs were
    still running.
    """
    users = facts["trace.users"]
    if users < 2 or not facts["users.by_jobs"] or not facts["users.by_cpu"]:  # noqa: PLR2004 - several
        return None
    minimum = max(MINIMUM_SHARE, min(MINIMUM_RATIO / users, MAXIMUM_SHARE))
    by_jobs, by_cpu = facts["users.by_jobs"][0], facts["users.by_cpu"][0]
    top = [(by_jobs, "jobs_share", "submits", "jobs")]
    top += [(by_cpu, "cpu_share", "uses", message("CPU time"))] * knows_cpu_time(facts)
    claims = [
        (
            user[share],
            message(
                "{id} {verb} {user} of the {what}",
                id=Verbatim(user["id"]),
                verb=verb,
                user=fraction(user[share]),
                what=what,
            ),
        )
        for user, share, verb, what in top
        if (user[share] or 0) >= minimum
    ]
    if not claims:
        return None
    return 0.4 + max(claims)[0] / 2, message(
        "One user stands out: {value}.", value=joined(message(" and "), (text for _, text in claims))
    )
