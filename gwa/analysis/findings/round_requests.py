"""A requested time that looks like a default."""

from gwa.analysis.finding import Facts, finding
from gwa.words.formatting import fraction, seconds
from gwa.words.message import message

MINIMUM_SHARE = 0.2
MINIMUM_USERS = 0.25
MAXIMUM_LIMIT = 0.5
MAXIMUM_USER = 0.75


@finding(
    "estimates.modal",
    "estimates.modal_limit",
    "estimates.modal_users",
    "estimates.modal_top_user",
    section="estimates",
    advice="It looks like a default: a shorter one would let backfilling find room for more jobs.",
    action="Shorten the default of requested times.",
)
def round_requests(facts: Facts) -> tuple[float, str] | None:
    """
    Shown if a fifth of the jobs or more request the same time, and a quarter of the users do.

    It must not be the longest that is requested in the queues of most of these jobs (but for 1 % of the
    jobs there): that is a limit of the queue, see the finding on longest requests. Nor may half of the
    other jobs agree on one other time: then users choose between a few classes. Nor may nearly all jobs of
    each queue request the same time, which is then the limit of the queue.
    And no user may submit over three quarters of these jobs: that is a habit.
    """
    mode, *others = facts["estimates.modal"] or [None]
    if mode is None or mode["share"] < MINIMUM_SHARE or facts.get("estimates.limits_of_queues"):
        return None
    if facts["estimates.modal_top_user"] > MAXIMUM_USER:
        return None
    if others and others[0]["share"] > (1 - mode["share"]) / 2:
        return None
    users = facts["estimates.modal_users"]
    if facts["estimates.modal_limit"] > MAXIMUM_LIMIT or users < MINIMUM_USERS:
        return None
    share, time = fraction(mode["share"]), seconds(mode["req_time"])
    text = message(
        "{share} of the jobs that request a time request exactly {time}; {users} of the users",
        share=share,
        time=time,
        users=fraction(users),
    )
    return mode["share"], message("{text} have done so.", text=text)
