"""gwa's own bounds on waits."""

import numpy as np

from gwa.statistics.sample import Floats
from gwa.tasks.baseline import Problem, around, baseline


@baseline("bmbp-own")
def bmbp_own(problem: Problem) -> Floats | None:
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
