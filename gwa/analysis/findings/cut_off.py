"""Jobs that end at their limit."""

from gwa.analysis.finding import Facts, finding
from gwa.words.formatting import fraction
from gwa.words.message import message

MINIMUM_SHARE = 0.03
MAXIMUM_SHARE = 0.5
MINIMUM_RATIO = 2
MAXIMUM_BEYOND = 0.2


@finding(
    "estimates.time.at_limit",
    "estimates.time.before_limit",
    "estimates.time.beyond",
    section="estimates",
    advice="The system most likely ended them.",
    action="Check whether the work of these jobs was saved.",
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
    if not MINIMUM_SHARE <= at_limit < MAXIMUM_SHARE or not piled:
        return None
    text = message(
        "{at_limit} of the jobs with a requested time end just when it is over, {beyond} run longer.",
        at_limit=fraction(at_limit),
        beyond=fraction(beyond),
    )
    return 0.2 + at_limit, text
