"""One user with a large part of the jobs."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gwa.analysis.finding import Facts, finding, knows_cpu_time
from gwa.words.formatting import fraction
from gwa.words.message import Message, Verbatim, joined, message

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
    largest = [
        (user[share], user, verb, what) for user, share, verb, what in top if (user[share] or 0) >= minimum
    ]
    if not largest:
        return None
    weight = 0.4 + max(share for share, *_ in largest) / 2
    return weight, message("One user stands out: {value}.", value=joined(message(" and "), _claims(largest)))


def _claims(largest: Sequence[tuple[float, Mapping[str, Any], str, str]]) -> Iterator[Message]:
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
