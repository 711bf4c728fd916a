"""The marginal distributions of run time, size, requested time, and interarrival gaps."""

from collections.abc import Callable
from typing import Final

import numpy as np

from gwa.evaluation.job_arrays import JobArrays
from gwa.evaluation.measure import KS, WASSERSTEIN, Aspect, RealismMeasure
from gwa.statistics.sample import Floats, Ints, Sample


def _sample(values: Callable[[JobArrays], Floats | Ints]) -> Callable[[JobArrays], Sample]:
    return lambda workload: Sample.of(values(workload))


RUN_TIMES: Final = _sample(lambda jobs: jobs.run)
SIZES: Final = _sample(lambda jobs: jobs.procs)
REQUESTS: Final = _sample(lambda jobs: jobs.requested[jobs.requested >= 0])  # nan is not
GAPS: Final = _sample(lambda jobs: np.diff(jobs.submit))

MARGINALS: Final = tuple(
    RealismMeasure(name, title, Aspect.MARGINALS, distance, about, orderly, statistic)
    for name, title, distance, about, orderly, statistic in (
        ("run-time", "Run time", KS, "Run times in seconds.", False, RUN_TIMES),
        ("run-time-quantiles", "Run time", WASSERSTEIN,
         "Run times in seconds, of which the logarithm counts: how many times longer, not how much.",
         False, RUN_TIMES),
        ("size", "Processors", KS, "Processors of jobs.", False, SIZES),
        ("size-quantiles", "Processors", WASSERSTEIN,
         "Processors of jobs, of which the logarithm counts.", False, SIZES),
        ("requested", "Requested time", KS,
         "Requested times in seconds, of jobs that requested one.", False, REQUESTS),
        ("requested-quantiles", "Requested time", WASSERSTEIN,
         "Requested times in seconds, of which the logarithm counts.", False, REQUESTS),
        ("gaps", "Gaps between jobs", KS, "Seconds from one submission to the next.", True, GAPS),
        ("gaps-quantiles", "Gaps between jobs", WASSERSTEIN,
         "Seconds from one submission to the next, of which the logarithm counts.", True, GAPS),
    )
)  # fmt: skip
