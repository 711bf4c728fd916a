"""How unevenly work is spread over sizes and over time, and how long arrivals remember."""

from functools import lru_cache
from typing import Final

import numpy as np

from gwa.evaluation.job_arrays import JobArrays
from gwa.evaluation.measure import DIFFERENCE, Aspect, measure
from gwa.metrics.timeline import QUARTER
from gwa.statistics import dependence
from gwa.statistics.hurst import wavelet
from gwa.statistics.sample import Floats, Ints
from gwa.util.units import DAY, HOUR

BINS: Final = 128
JOBS: Final = 100
"""Fewer quarters of an hour, or jobs, tell nothing of long memory."""

MOST: Final = 10_000_000
"""More bins are those of a few jobs in ages."""


@lru_cache(maxsize=6)
def _counts(workload: JobArrays, width: float) -> Ints | None:
    """Return the jobs in each interval from the first submission to the last; None where that is one."""
    if not len(workload):
        return None
    places = np.floor((workload.submit - workload.submit[0]) / width)
    if not 1 <= places[-1] < MOST:
        return None
    return np.bincount(places.astype(np.int64))


def _entropy(workload: JobArrays, width: float) -> float | None:
    counts = _counts(workload, width)
    return None if counts is None else dependence.temporal_entropy(counts)


def _memory(workload: JobArrays, hours: int) -> float | None:
    """Return the autocorrelation of arrivals in an hour; None for what is shorter than two lags."""
    counts = _counts(workload, HOUR)
    if counts is None or counts.size < 2 * hours + 1:
        return None
    return _lags(_whole(counts[:-1]), hours)


def _whole(counts: Ints) -> Floats:
    """Return counts as numbers, without the last interval, which is not over."""
    return counts.astype(np.float64)


def _lags(counts: Floats, lag: int) -> float:
    return float(dependence.autocorrelation(counts, lag)[lag])


@measure("Entropy of run time over sizes", Aspect.BURSTS, DIFFERENCE)
def spatial_entropy(workload: JobArrays) -> float | None:
    """Normalised entropy of run time over sizes, 1 for an even spread (Minh and Wolters 2010, table V)."""
    if not len(workload) or workload.procs.max() < 2:  # noqa: PLR2004 - one size has no spread
        return None
    return dependence.spatial_entropy(workload.procs, workload.run)


@measure("Entropy of arrivals over hours", Aspect.BURSTS, DIFFERENCE, orderly=True)
def hourly_entropy(workload: JobArrays) -> float | None:
    """Normalised entropy of arrivals over hours, 1 for an even spread (Minh and Wolters 2010, figure 6)."""
    return _entropy(workload, HOUR)


@measure("Entropy of arrivals over days", Aspect.BURSTS, DIFFERENCE, orderly=True)
def daily_entropy(workload: JobArrays) -> float | None:
    """Normalised entropy of arrivals over days."""
    return _entropy(workload, DAY)


@measure("Hurst parameter of arrivals", Aspect.BURSTS, DIFFERENCE, orderly=True)
def hurst(workload: JobArrays) -> float | None:
    """H of the arrivals in quarters of an hour, by Haar wavelets (Abry and Veitch 1998), cycles included."""
    counts = _counts(workload, QUARTER)
    if counts is None or counts.size < BINS or len(workload) < JOBS or counts.min() == counts.max():
        return None
    return wavelet(counts).h


@measure("Autocorrelation after 1 h", Aspect.BURSTS, DIFFERENCE, orderly=True)
def after_an_hour(workload: JobArrays) -> float | None:
    """Autocorrelation of the arrivals in an hour with those of the next."""
    return _memory(workload, 1)


@measure("Autocorrelation after 24 h", Aspect.BURSTS, DIFFERENCE, orderly=True)
def after_a_day(workload: JobArrays) -> float | None:
    """Autocorrelation of the arrivals in an hour with those of the same hour a day later."""
    return _memory(workload, 24)


@measure("Autocorrelation after 168 h", Aspect.BURSTS, DIFFERENCE, orderly=True)
def after_a_week(workload: JobArrays) -> float | None:
    """Autocorrelation of the arrivals in an hour with those of the same hour a week later."""
    return _memory(workload, 168)
