"""Jobs that come in bags of tasks."""

from gwa.analysis.finding import Facts, finding
from gwa.report.formatting import fraction, number

MINIMUM_SHARE = 0.5


@finding(
    "bags.text.jobs_in_bags_fraction",
    "bags.text.size.mean",
    section="bags-of-tasks",
    advice="Whoever models or simulates this load should submit bags, not single jobs.",
)
def bags(facts: Facts) -> tuple[float, str] | None:
    """Said where half of the jobs or more belong to bags of tasks, by the definition of the thesis' text."""
    share, mean = facts["bags.text.jobs_in_bags_fraction"], facts["bags.text.size.mean"]
    if share < MINIMUM_SHARE:
        return None
    return (
        share / 2,
        f"{fraction(share)} of the jobs come in bags of tasks, of {number(round(mean, 1))} jobs on average.",
    )
