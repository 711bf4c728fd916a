"""What a schedule does to bags of tasks: make-span and normalised schedule length, by class of size."""

from dataclasses import dataclass
from typing import Final, Self

import numpy as np

from gwa.simulation.engine import Run
from gwa.simulation.jobs import Floats, Integers
from gwa.simulation.tasks import Tasks

CLASSES: Final = ("2-4", "5-9", "10-19", "20-49", "50-99", "100-199", "200+")
"""Classes of bag size, as figure 6.1 of the thesis has them; a bag of one task is in none."""

_MINIMUM_SIZES: Final = (2, 5, 10, 20, 50, 100, 200)


@dataclass(frozen=True)
class Bags:
    """
    Bags, by rising number, in columns of one length.

    *makespan* is the time from the first submission of a task of the bag to the last end of one, in seconds,
    and *nsl*, the normalised schedule length, is that divided by the sum of the tasks' run times on a
    processor of speed 1. Both are NaN where a task did not end, and nsl where no task takes time. *user*
    is who submitted the first task. Source: the thesis, section 6.1.1.
    """

    number: Integers
    user: Integers
    size: Integers
    makespan: Floats
    nsl: Floats

    @classmethod
    def of(cls, tasks: Tasks, run: Run) -> Self:
        """Return the bags of *tasks* as they went in *run*."""
        number, first, bag = tasks.bags
        size = np.bincount(bag, minlength=len(number))
        last = np.full(len(number), -np.inf)
        np.maximum.at(last, bag, np.where(np.isnan(run.end), np.inf, run.end))
        makespan = np.where(np.isinf(last), np.nan, last - tasks.submit[first])
        work = np.bincount(bag, tasks.run, len(number))
        nsl = np.divide(makespan, work, out=np.full(len(number), np.nan), where=work > 0)
        return cls(number, tasks.user[first], size, makespan, nsl)

    @property
    def size_class(self) -> Integers:
        """The place of each bag's class in `CLASSES`, and -1 for bags of one task."""
        return np.searchsorted(np.array(_MINIMUM_SIZES), self.size, side="right").astype(np.int64) - 1
