"""
What users request against what their jobs run.

Source: A. W. Mu'alem and D. G. Feitelson, Utilization, predictability, workloads, and user runtime estimates
in scheduling the IBM SP2 with backfilling (2001): the accuracy of estimates.
"""

import numpy as np

from gwa.evaluation.job_arrays import JobArrays
from gwa.evaluation.measure import KS, Aspect, measure
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
