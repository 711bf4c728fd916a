"""The dependence of run time and size."""

import numpy as np

from gwa.evaluation.job_arrays import JobArrays
from gwa.evaluation.measure import DIFFERENCE, RATIO, Aspect, measure
from gwa.statistics import dependence


@measure("Correlation of run time and processors", Aspect.TOGETHER, DIFFERENCE)
def pearson(workload: JobArrays) -> float:
    """Pearson's correlation of run time and processors (Minh and Wolters 2009, table 3)."""
    return dependence.pearson(workload.run, workload.procs)


@measure("Rank correlation of run time and processors", Aspect.TOGETHER, DIFFERENCE)
def spearman(workload: JobArrays) -> float:
    """Spearman's rank correlation of run time and processors: a few very long jobs do not decide it."""
    return dependence.spearman(workload.run, workload.procs)


@measure("Squashed area of a job", Aspect.TOGETHER, RATIO)
def squashed_area(workload: JobArrays) -> float:
    """Mean of processors times run time, in seconds (Minh and Wolters 2009, section 5.2)."""
    return float((workload.run * workload.procs).mean()) if len(workload) else np.nan
