"""Classes of jobs by what is known when they are submitted: numbers, for each job that of its class."""

from typing import Final

import numpy as np

from gwa.evaluation.prediction import WaitingJobs
from gwa.statistics.sample import Ints
from gwa.util.units import HOUR, MINUTE

SIZES: Final = (0.01, 0.05, 0.25)
"""The shares of the machine between the classes of sizes."""

REQUESTS: Final = (15.0 * MINUTE, 1.0 * HOUR, 4.0 * HOUR, 12.0 * HOUR)
"""The requested times between their classes."""

SHORT_RANGE: Final = 8
"""The maximum range of numbers, as a multiple of their count, for renumbering by a table."""


def sizes(jobs: WaitingJobs) -> Ints:
    """Return the class of size of each job: by the share of the machine that it asks for."""
    return np.searchsorted(SIZES, jobs.procs / jobs.cpus).astype(np.int64)


def requests(jobs: WaitingJobs) -> Ints:
    """Return the class of requested time of each job; the last one is of those without."""
    classes = np.searchsorted(REQUESTS, jobs.requested)
    return np.where(jobs.requested > 0, classes, len(REQUESTS) + 1).astype(np.int64)


def crossed(*classes: Ints) -> Ints:
    """
    Return the number of each combination of classes.

    >>> crossed(np.array([0, 0, 1]), np.array([5, 6, 5])).tolist()
    [0, 1, 2]
    """
    numbers = np.zeros(classes[0].size, np.int64)
    for one in classes:
        different = _renumbered(one)
        numbers = _renumbered(numbers * (int(different.max(initial=0)) + 1) + different)
    return numbers


def _renumbered(numbers: Ints) -> Ints:
    """Return whole *numbers* as 0, 1, … in their order; where their range is short, without a sort."""
    low, high = int(numbers.min(initial=0)), int(numbers.max(initial=0))
    if high - low > SHORT_RANGE * numbers.size:
        return np.unique(numbers, return_inverse=True)[1].astype(np.int64)
    occurs = np.zeros(high - low + 1, bool)
    occurs[numbers - low] = True
    renumbered: Ints = (np.cumsum(occurs) - 1)[numbers - low]
    return renumbered
