"""What is foretold by bounds, by requests, by the last jobs, or without looking at the job at all."""

import numpy as np

from gwa.statistics.sample import Floats
from gwa.tasks.baseline import LEVELS, BaselineProblem, around, baseline


@baseline("bmbp-own")
def bmbp_own(problem: BaselineProblem) -> Floats | None:
    """
    The upper bound on the wait that `gwa wait` gives, around the last wait; of waits only.

    Where there is no bound, as of jobs that could not start at once, the upper quantile is that of `last`.
    """
    if problem.task.name != "wait":
        return None
    found = around(problem, problem.columns["wait_like_last"])
    bound = problem.bound[problem.rows("test")]
    upper = np.where(np.isnan(bound), found[:, 2], bound)
    return np.column_stack([np.minimum(found[:, :2], upper[:, None]), upper])


LAST: dict[str, str] = {
    "wait": "wait_like_last",
    "run_time": "run_two",
    "max_memory": "memory_last",
    "energy": "energy_last",
}
"""The column that says what the last ones of each task were."""


@baseline("request")
def request(problem: BaselineProblem) -> Floats | None:
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
def last(problem: BaselineProblem) -> Floats:
    """
    The mean of the user's last two ended jobs, or the last wait, peak memory or energy.

    Source of that on run times: Tsafrir, Etsion and Feitelson 2007. Intervals are of the errors in
    validation; where there is no earlier job, it is the median of the training.
    """
    return around(problem, problem.columns[LAST[problem.task.name]])


@baseline("recent-share", of_failures=True)
def recent_share(problem: BaselineProblem) -> Floats:
    """The share of failures of the user's last 50 jobs of the kind, else of all kinds, else of everybody."""
    like, any_kind = problem.columns["bad_like"], problem.columns["bad_mean"]
    known = np.where(np.isnan(like), any_kind, like)
    return np.where(np.isnan(known), problem.learnt.mean(), known)[problem.rows("test")]


@baseline("train-median")
def train_median(problem: BaselineProblem) -> Floats:
    """The quantiles of the training and validation."""
    quantiles = np.quantile(problem.learnt, LEVELS, method="inverted_cdf")
    return np.tile(quantiles, (problem.rows("test").size, 1))


@baseline("train-share", of_failures=True)
def train_share(problem: BaselineProblem) -> Floats:
    """The share of failures in the training and validation."""
    return np.full(problem.rows("test").size, problem.learnt.mean())
