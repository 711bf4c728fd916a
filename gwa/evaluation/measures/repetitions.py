"""
Repetitions: the lengths of rows of consecutive equal jobs.

Source: T. N. Minh and L. Wolters, the temporal locality model (2009), section 3.3.
"""

import numpy as np

from gwa.evaluation.job_arrays import JobArrays
from gwa.evaluation.measure import RATIO, Aspect, measure
from gwa.statistics.sample import Floats, Ints


def _mean_length(values: Floats | Ints) -> float | None:
    return values.size / (1 + np.count_nonzero(np.diff(values))) if values.size else None


@measure("Jobs in a row of one run time", Aspect.ORDER, RATIO, orderly=True)
def run_time_repetitions(workload: JobArrays) -> float | None:
    """Mean number of jobs in a row that run equally long, to the second (2009, section 3.3)."""
    return _mean_length(np.rint(workload.run))


@measure("Jobs in a row of one size", Aspect.ORDER, RATIO, orderly=True)
def size_repetitions(workload: JobArrays) -> float | None:
    """Mean number of jobs in a row that have equally many processors."""
    return _mean_length(workload.procs)
