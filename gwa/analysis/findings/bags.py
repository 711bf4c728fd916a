"""Jobs that come in bags of tasks."""

from gwa.analysis.finding import Facts, finding
from gwa.words.formatting import fraction, number
from gwa.words.message import message

MINIMUM_SHARE = 0.5
MAXIMUM_RATIO = 2 / 3


@finding(
    "bags.text.jobs_in_bags_fraction",
    "bags.text.single_if_even",
    "bags.text.size.mean",
    section="bags-of-tasks",
    advice="To model or simulate this load, submit bags of tasks, not single jobs.",
)
def bags(facts: Facts) -> tuple[float, str] | None:
    """
    Shown if half of the jobs or more are submitted within two minutes of another job of the same user.

    Users who submit many jobs do so by chance, too: jobs without another one so near must be at most two
    thirds of what they would be if each user's jobs of a day were spread evenly at random over eight hours.
    """
    share, expected, mean = (facts[name] for name in bags.needs)
    if share < MINIMUM_SHARE or 1 - share > MAXIMUM_RATIO * expected:
        return None
    text = message(
        "{share} of the jobs come in bags of tasks: submitted less than two minutes "
        "from another job of the same user, {mean} jobs a bag on average.",
        share=fraction(share),
        mean=number(round(mean, 1)),
    )
    return share / 2, text
