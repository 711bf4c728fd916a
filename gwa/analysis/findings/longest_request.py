"""Many jobs that request the longest time there is."""

from gwa.analysis.finding import Facts, finding
from gwa.words.formatting import fraction, seconds
from gwa.words.message import message

MINIMUM_SHARE = 0.2
MINIMUM_LIMIT = 0.5
MAXIMUM_USER = 0.75


@finding(
    "estimates.modal",
    "estimates.modal_limit",
    "estimates.modal_top_user",
    "estimates.distinct",
    section="estimates",
    advice="It is probably the limit of a queue: such requests say little about how long the jobs run.",
)
def longest_request(facts: Facts) -> tuple[float, str] | None:
    """
    Shown if a fifth of the jobs or more request the same time, and most of them could not request more.

    The time is, for over half of these jobs, the longest that is requested in their queue (where queues
    are not recorded, in the log), but for 1 % of the jobs there. There must be three different requests,
    and no user may submit over three quarters of these jobs: that is a habit.
    """
    mode = next(iter(facts["estimates.modal"]), None)
    several = facts["estimates.distinct"] >= 3  # noqa: PLR2004 - see the docstring
    if mode is None or mode["share"] < MINIMUM_SHARE or not several:
        return None
    if facts["estimates.modal_limit"] <= MINIMUM_LIMIT or facts["estimates.modal_top_user"] > MAXIMUM_USER:
        return None
    where = message(" in their queues") if facts.get("completeness.queue_id") else ""
    text = message(
        "{share} of the jobs that request a time request exactly {req_time}, and "
        "hardly any job{where} requests more.",
        share=fraction(mode["share"]),
        req_time=seconds(mode["req_time"]),
        where=where,
    )
    return mode["share"], text
