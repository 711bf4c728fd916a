"""The inequality of users."""

import numpy as np

from gwa.evaluation.job_arrays import JobArrays
from gwa.evaluation.measure import DIFFERENCE, Aspect, measure
from gwa.statistics.sample import Floats, Sample


def _inequality(workload: JobArrays, amounts: Floats) -> float | None:
    """Return the Gini coefficient of the sums of *amounts* of known users."""
    known = workload.user >= 0
    if not known.any():
        return None
    _, user = np.unique(workload.user[known], return_inverse=True)
    return Sample.of(np.bincount(user, weights=amounts[known])).gini()


@measure("Inequality of users by jobs", Aspect.USERS, DIFFERENCE)
def user_skew(workload: JobArrays) -> float | None:
    """Gini coefficient of jobs over users: 0 where all submit equally many, near 1 where one submits all."""
    return _inequality(workload, np.ones(len(workload)))


@measure("Inequality of users by work", Aspect.USERS, DIFFERENCE)
def user_work_skew(workload: JobArrays) -> float | None:
    """Gini coefficient of processors times run time over users."""
    return _inequality(workload, workload.run * workload.procs)
