"""The distribution of work over sizes and time, and the long memory of arrivals."""

from functools import lru_cache, partial
from typing import Final

import numpy as np

from gwa.evaluation.job_arrays import JobArrays
from gwa.evaluation.measure import DIFFERENCE, Aspect, RealismMeasure, measure
from gwa.metrics.timeline import QUARTER
from gwa.statistics import dependence
from gwa.statistics.hurst import wavelet
from gwa.statistics.sample import Ints
from gwa.util.units import DAY, HOUR

MINIMUM_QUARTERS: Final = 128
MINIMUM_JOBS: Final = 100
"""Quarters of an hour, and jobs, required to estimate long memory."""

MAXIMUM_INTERVALS: Final = 10_000_000
"""Limit of memory, exceeded only by few jobs in a very long time."""


@lru_cache(maxsize=6)
def _counts(workload: JobArrays, width: float) -> Ints | None:
    """Count the jobs in each interval from the first submission to the last, None if there is only one."""
    if not len(workload):
        return None
    intervals = np.floor((workload.submit - workload.submit[0]) / width)
    if not 1 <= intervals[-1] < MAXIMUM_INTERVALS:
        return None
    return np.bincount(intervals.astype(np.int64))


def _entropy(workload: JobArrays, width: float) -> float | None:
    counts = _counts(workload, width)
    return None if counts is None else dependence.temporal_entropy(counts)


def _autocorrelation(workload: JobArrays, hours: int) -> float | None:
    """Return the autocorrelation of arrivals per hour, None for workloads shorter than two lags."""
    counts = _counts(workload, HOUR)
    if counts is None or counts.size < 2 * hours + 1:
        return None
    complete = counts[:-1].astype(np.float64)
    return float(dependence.autocorrelation(complete, hours)[hours])


@measure("Entropy of run time over sizes", Aspect.BURSTS, DIFFERENCE)
def spatial_entropy(workload: JobArrays) -> float | None:
    """Normalised entropy of run time over sizes, 1 for an even spread (Minh and Wolters 2010, table V)."""
    if not len(workload) or workload.procs.max() < 2:  # noqa: PLR2004 - one size has no spread
        return None
    return dependence.spatial_entropy(workload.procs, workload.run)


def _hurst(workload: JobArrays) -> float | None:
    counts = _counts(workload, QUARTER)
    if (
        counts is None
        or counts.size < MINIMUM_QUARTERS
        or len(workload) < MINIMUM_JOBS
        or counts.min() == counts.max()
    ):
        return None
    return wavelet(counts).h


ARRIVALS: Final = tuple(
    RealismMeasure(name, title, Aspect.BURSTS, DIFFERENCE, about, orderly=True, statistic=statistic)
    for name, title, about, statistic in (
        ("hourly-entropy", "Entropy of arrivals over hours",
         "Normalised entropy of arrivals over hours, 1 for an even spread (Minh and Wolters 2010, figure 6).",
         partial(_entropy, width=HOUR)),
        ("daily-entropy", "Entropy of arrivals over days", "Normalised entropy of arrivals over days.",
         partial(_entropy, width=DAY)),
        ("hurst", "Hurst parameter of arrivals",
         ("H of the arrivals in quarters of an hour, by Haar wavelets (Abry and Veitch 1998), cycles"
          " included."),
         _hurst),
        ("after-an-hour", "Autocorrelation after 1 h",
         "Autocorrelation of the arrivals in an hour with those of the next.",
         partial(_autocorrelation, hours=1)),
        ("after-a-day", "Autocorrelation after 24 h",
         "Autocorrelation of the arrivals in an hour with those of the same hour a day later.",
         partial(_autocorrelation, hours=24)),
        ("after-a-week", "Autocorrelation after 168 h",
         "Autocorrelation of the arrivals in an hour with those of the same hour a week later.",
         partial(_autocorrelation, hours=168)),
    )
)  # fmt: skip
