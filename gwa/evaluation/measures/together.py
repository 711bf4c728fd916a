"""
Run times beside requests and sizes: what of a job belongs together.

Source of the accuracy of requests: A. W. Mu'alem and D. G. Feitelson, Utilization, predictability, workloads,
and user runtime estimates in scheduling the IBM SP2 with backfilling (2001).
"""

import numpy as np

from gwa.evaluation.job_arrays import JobArrays
from gwa.evaluation.measure import DIFFERENCE, KS, RATIO, Aspect, measure
from gwa.statistics import dependence
from gwa.statistics.sample import Sample

DECIMALS = 4
"""To how many a ratio is rounded, so that a sample of them is small."""


@measure("Run time over requested time", Aspect.TOGETHER, KS)
def request_use(workload: JobArrays) -> Sample:
    """
    Run time divided by requested time, of each job that requested a time (Mu'alem and Feitelson 2001).

    Run times and requests may both be right one by one, and yet not belong to each other.
    """
    asked = workload.requested > 0  # nan is not
    return Sample.of(np.round(workload.run[asked] / workload.requested[asked], DECIMALS))


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
