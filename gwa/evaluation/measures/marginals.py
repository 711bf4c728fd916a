"""The marginal distributions of run time, size, requested time, and interarrival gaps."""

import numpy as np

from gwa.evaluation.job_arrays import JobArrays
from gwa.evaluation.measure import KS, WASSERSTEIN, Aspect, measure
from gwa.statistics.sample import Floats, Sample


def _requests(workload: JobArrays) -> Floats:
    requested: Floats = workload.requested[workload.requested >= 0]  # nan is not
    return requested


@measure("Run time", Aspect.MARGINALS, KS)
def run_time(workload: JobArrays) -> Sample:
    """Run times in seconds."""
    return Sample.of(workload.run)


@measure("Run time", Aspect.MARGINALS, WASSERSTEIN)
def run_time_quantiles(workload: JobArrays) -> Sample:
    """Run times in seconds, of which the logarithm counts: how many times longer, not how much."""
    return Sample.of(workload.run)


@measure("Processors", Aspect.MARGINALS, KS)
def size(workload: JobArrays) -> Sample:
    """Processors of jobs."""
    return Sample.of(workload.procs)


@measure("Processors", Aspect.MARGINALS, WASSERSTEIN)
def size_quantiles(workload: JobArrays) -> Sample:
    """Processors of jobs, of which the logarithm counts."""
    return Sample.of(workload.procs)


@measure("Requested time", Aspect.MARGINALS, KS)
def requested(workload: JobArrays) -> Sample:
    """Requested times in seconds, of jobs that requested one."""
    return Sample.of(_requests(workload))


@measure("Requested time", Aspect.MARGINALS, WASSERSTEIN)
def requested_quantiles(workload: JobArrays) -> Sample:
    """Requested times in seconds, of which the logarithm counts."""
    return Sample.of(_requests(workload))


@measure("Gaps between jobs", Aspect.MARGINALS, KS, orderly=True)
def gaps(workload: JobArrays) -> Sample:
    """Seconds from one submission to the next."""
    return Sample.of(np.diff(workload.submit))


@measure("Gaps between jobs", Aspect.MARGINALS, WASSERSTEIN, orderly=True)
def gaps_quantiles(workload: JobArrays) -> Sample:
    """Seconds from one submission to the next, of which the logarithm counts."""
    return Sample.of(np.diff(workload.submit))
