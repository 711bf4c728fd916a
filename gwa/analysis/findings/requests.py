"""What time jobs request, and how long they run."""

from gwa.analysis import stakes
from gwa.analysis.finding import Facts, finding
from gwa.words.formatting import fraction, seconds
from gwa.words.message import message

MINIMUM_CUT_OFF = 0.03
MAXIMUM_CUT_OFF = 0.5
MINIMUM_RATIO = 2
MAXIMUM_BEYOND = 0.2

MINIMUM_IGNORED = 0.05

MINIMUM_MODE = 0.2
HALF = 0.5
MAXIMUM_USER = 0.75

MAXIMUM_USED = 0.25
MINIMUM_SHOWN = 0.001
"""Smaller shares are written as this, a tenth of a percent."""

MINIMUM_USERS = 0.25


@finding(
    "estimates.time.at_limit",
    "estimates.time.before_limit",
    "estimates.time.beyond",
    section="estimates",
    advice="The system most likely ended them.",
    action="Check whether the work of these jobs was saved.",
    stake=stakes.went_into("limit"),
)
def cut_off(facts: Facts) -> tuple[float, str] | None:
    """
    Shown if at least 3 % of the jobs end within 99 to 105 % of the time that they requested.

    There must be twice as many of them as within 93 to 99 %, and at most a fifth as many may run longer:
    otherwise nothing shows that a limit ended them. Where half of the jobs or more run for as long as
    they requested, requests look made from run times, and it is not shown either.
    """
    at_limit, before, beyond = (facts[name] for name in cut_off.needs)
    piled = at_limit >= MINIMUM_RATIO * before and beyond <= MAXIMUM_BEYOND * at_limit
    if not MINIMUM_CUT_OFF <= at_limit < MAXIMUM_CUT_OFF or not piled:
        return None
    longer = message("{share} run longer", share=fraction(beyond)) if beyond else message("none runs longer")
    text = message(
        "{at_limit} of the jobs with a requested time end just as it runs out; {longer}.",
        at_limit=fraction(at_limit),
        longer=longer,
    )
    return 0.2 + at_limit, text


@finding(
    "estimates.time.beyond_far",
    section="estimates",
    advice="A scheduler that plans with these requests, or a simulation that ends jobs at them, is wrong.",
)
def limits_ignored(facts: Facts) -> tuple[float, str] | None:
    """Shown if at least 5 % of the jobs run over 5 % and ten minutes longer than they requested."""
    share = facts["estimates.time.beyond_far"]
    if share < MINIMUM_IGNORED:
        return None
    text = message(
        "Limits were not enforced: {share} of the jobs with a requested time ran more "
        "than 5 % and ten minutes longer.",
        share=fraction(share),
    )
    return 0.3 + share, text


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
    if mode is None or mode["share"] < MINIMUM_MODE or not several:
        return None
    if facts["estimates.modal_limit"] <= HALF or facts["estimates.modal_top_user"] > MAXIMUM_USER:
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


@finding(
    "estimates.time.median",
    section="estimates",
    advice="Predict run times from users' earlier jobs, not from requests (Tsafrir et al. 2007).",
    action="See who could request less time.",
)
def overestimates(facts: Facts) -> tuple[float, str] | None:
    """
    Shown if the median job with a requested time runs for a quarter of it, or less.

    Requested times that are the same for nearly all jobs of each queue are limits of queues, not requests.
    """
    used = facts["estimates.time.median"]
    if used > MAXIMUM_USED or facts.get("estimates.limits_of_queues"):
        return None
    share = fraction(max(used, MINIMUM_SHOWN))
    return 0.6 - used, message("Half of the jobs that request a time use at most {share} of it.", share=share)


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
    if mode is None or mode["share"] < MINIMUM_MODE or facts.get("estimates.limits_of_queues"):
        return None
    if facts["estimates.modal_top_user"] > MAXIMUM_USER:
        return None
    if others and others[0]["share"] > (1 - mode["share"]) / 2:
        return None
    users = facts["estimates.modal_users"]
    if facts["estimates.modal_limit"] > HALF or users < MINIMUM_USERS:
        return None
    share, time = fraction(mode["share"]), seconds(mode["req_time"])
    text = message(
        "{share} of the jobs that request a time request exactly {time}; {users} of the users",
        share=share,
        time=time,
        users=fraction(users),
    )
    return mode["share"], message("{text} have done so.", text=text)
