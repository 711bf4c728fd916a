"""The class of jobs that is served worst."""

from gwa.analysis.finding import Facts, finding
from gwa.report.formatting import counted, fraction, number, seconds
from gwa.util.units import HOUR, MINUTE

MAXIMUM_P_VALUE = 0.01
MINIMUM_RATIO = 2

MINIMUM_MEDIAN = 10 * MINUTE
MINIMUM_P95 = 4 * HOUR
"""Shorter waits are not worth a sentence, however they compare."""

SUBJECTS = {"size": "Jobs on {} processors", "queue": "Jobs in queue {}", "user": "Jobs of {}"}


@finding("wait.worst", section="slowdown", advice="The section on slowdown compares all classes.")
def worst_served(facts: Facts) -> tuple[float, str] | None:
    """
    Said where jobs of one size, queue or user wait at least twice as long as the others.

    The median wait must be at least ten minutes, or the 95th percentile four hours; the class must have
    at least 100 jobs and 2 % of the jobs, and must have waited longer than the others in so many
    intervals of the trace that chance has a probability of at most 1 %, after Bonferroni's correction.
    """
    worst = facts["wait.worst"]
    if worst["p_value"] > MAXIMUM_P_VALUE:
        return None
    intervals = f"in {number(worst['longer'])} of the {counted(worst['intervals'], 'interval')} compared"
    name = worst["id"].replace(" and more", " or more")
    subject = SUBJECTS[worst["kind"]].format(name).replace("on 1 processors", "on 1 processor")
    subject += f" ({fraction(worst['share'])} of the jobs) wait longer than the others"
    median, other_median = worst["median"], worst["others_median"]
    if median >= max(MINIMUM_MEDIAN, MINIMUM_RATIO * other_median):
        claim = f"half wait for {seconds(median)} or longer, against {seconds(other_median)}"
    elif worst["p95"] >= max(MINIMUM_P95, MINIMUM_RATIO * worst["others_p95"]):
        others = seconds(worst["others_p95"])
        claim = f"one in twenty waits for {seconds(worst['p95'])} or longer, against {others}"
    else:
        return None
    return 0.5 + worst["share"] / 2, f"{subject}, {intervals}: {claim}."
