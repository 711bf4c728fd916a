"""What is foretold by the request, and by what became of the user's last jobs."""

import numpy as np

from gwa.statistics.sample import Floats
from gwa.tasks.baseline import Problem, around, baseline

LAST: dict[str, str] = {
    "wait": "wait_like_last",
    "run_time": "run_two",
    "max_memory": "memory_last",
    "energy": "energy_last",
}
"""The column that says what the last ones of each task were."""


@baseline("request")
def request(problem: Problem) -> Floats | None:
    """
    The requested time as the run time and as its upper bound; of run times only.

    The lower quantile is that of the errors in validation.
    """
    requested = problem.columns["request"]
    if problem.task.name != "run_time" or np.isnan(requested).all():
        return None
    found = around(problem, requested)
    return np.column_stack([found[:, 0], found[:, 1], found[:, 1]])


@baseline("last")
def last(problem: Problem) -> Floats:
    """
    The mean of the user's last two ended jobs, or the last wait, peak memory or energy.

    Source of that on run times: Tsafrir, Etsion and Feitelson 2007. Intervals are of the errors in
    validation; where there is no earlier job, it is the median of the training.
    """
    return around(problem, problem.columns[LAST[problem.task.name]])


@baseline("recent-share", of_failures=True)
def recent_share(problem: Problem) -> Floats:
    """The share of failures of the user's last 50 jobs of the kind, else of all kinds, else of everybody."""
    like, any_kind = problem.columns["bad_like"], problem.columns["bad_mean"]
    known = np.where(np.isnan(like), any_kind, like)
    return np.where(np.isnan(known), problem.learnt.mean(), known)[problem.rows("test")]
