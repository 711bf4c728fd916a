"""Users who stand out."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gwa.analysis.finding import Facts, finding
from gwa.words.formatting import fraction, number
from gwa.words.message import Message, Verbatim, joined, message, plural

MAXIMUM_FEW = 0.1
MINIMUM_USERS = 10
MINIMUM_KNOWN = 0.9

MINIMUM_DAYS = 14
MAXIMUM_DAYS_SHARE = 0.25

MINIMUM_OF_ONE = 0.25
MINIMUM_RATIO = 2.5
OF_TWO = 0.9


@finding(
    "trace.users",
    "users.half_jobs",
    "users.half_held",
    "completeness.user_id",
    section="inequality",
    advice="Changes to their workloads have the largest effect on the load.",
    action="Consult the largest users before you change policies.",
)
def few_users(facts: Facts) -> tuple[float, str] | None:
    """
    Shown if a tenth of the users, of at least ten, or fewer have half of the jobs or of the CPU time.

    The user must be known for nine jobs in ten. CPU time is what was held while the log knows the load.
    """
    users, jobs, cpu, known = (facts[name] for name in few_users.needs)
    if users < MINIMUM_USERS or known < MINIMUM_KNOWN:
        return None
    halves = {"jobs": jobs, "cpu": cpu}
    few = {name: count for name, count in halves.items() if count <= users * MAXIMUM_FEW}
    if not few:
        return None
    return 0.7 * (1 - min(few.values()) / users / MAXIMUM_FEW / 2), _text(users, few)


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


@finding(
    "flurries.count",
    "flurries.jobs_share",
    "flurries.days",
    "flurries.submission_days",
    section="flurries",
    advice="Flurries may not be representative: the section has a filter that removes them; report on both.",
)
def flurries(facts: Facts) -> tuple[float, str] | None:
    """
    Shown if the section on flurries finds one, in a trace with jobs submitted on 14 days or more.

    Flurries that last for more than a quarter of these days are the usual load, and the finding is not shown.
    """
    count, share, days, all_days = (facts[name] for name in flurries.needs)
    if not count or all_days < MINIMUM_DAYS or days > all_days * MAXIMUM_DAYS_SHARE:
        return None
    subject = (
        message("One flurry of a single user holds")
        if count == 1
        else message("{count} flurries of single users hold", count=number(count))
    )
    on_days = message("on {days} of {all_days} days", days=number(days), all_days=number(all_days))
    return 0.3 + share, message(
        "{subject} {share} of all jobs, {on_days}.", subject=subject, share=fraction(share), on_days=on_days
    )


@finding("users.by_jobs", "users.by_held", "trace.users", section="users")
def one_user(facts: Facts) -> tuple[float, str] | None:
    """
    Shown if one of several users has a quarter of the jobs or of the CPU time, or more.

    It must also be 2.5 times an equal share (of two users, 90 %). CPU time is what was held while the log
    knows the load.
    """
    users = facts["trace.users"]
    if users < 2 or not facts["users.by_jobs"] or not facts["users.by_held"]:  # noqa: PLR2004 - several
        return None
    minimum = max(MINIMUM_OF_ONE, min(MINIMUM_RATIO / users, OF_TWO))
    by_jobs, by_held = facts["users.by_jobs"][0], facts["users.by_held"][0]
    top = [(by_jobs, "jobs_share", "submits", "jobs")]
    top += [(by_held, "held_share", "uses", message("CPU time"))]
    largest = [
        (user[share], user, verb, what) for user, share, verb, what in top if (user[share] or 0) >= minimum
    ]
    if not largest:
        return None
    weight = 0.4 + max(share for share, *_ in largest) / 2
    return weight, message(
        "One user stands out: {value}.", value=joined(message(" and "), _largest_claims(largest))
    )


def _largest_claims(largest: Sequence[tuple[float, Mapping[str, Any], str, str]]) -> Iterator[Message]:
    """Yield what the largest users do; one who is named already is not named twice."""
    named = None
    for share, user, verb, what in largest:
        if user["id"] == named:
            yield message("{verb} {share} of the {what}", verb=verb, share=fraction(share), what=what)
        else:
            yield message(
                "{id} {verb} {user} of the {what}",
                id=Verbatim(user["id"]),
                verb=verb,
                user=fraction(share),
                what=what,
            )
        named = user["id"]
