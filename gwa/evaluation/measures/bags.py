"""
Bags of tasks: consecutive jobs of a user with gaps below two minutes.

Source: the text of S. D. Anoep, thesis (2009), section 3.2; `gwa.metrics.bags.TEXT` is the same in SQL.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from gwa.evaluation.job_arrays import JobArrays
from gwa.evaluation.measure import DIFFERENCE, KS, Aspect, measure
from gwa.statistics.sample import Floats, Ints, Sample

GAP: Final = 120.0
MINIMUM_SIZE: Final = 2


@dataclass(frozen=True, eq=False)
class JobBags:
    """The jobs of known users, sorted by bag: the *starts* of bags, run times and processors of jobs."""

    starts: Ints
    run: Floats
    procs: Ints

    @property
    def sizes(self) -> Ints:
        """The number of jobs in each bag."""
        return np.diff(np.append(self.starts, self.run.size))

    def of_several_jobs(self) -> "JobBags":
        """Return the bags of two or more jobs."""
        large = self.sizes >= MINIMUM_SIZE
        inside = np.repeat(large, self.sizes)
        starts = np.cumsum(self.sizes[large]) - self.sizes[large]
        return JobBags(starts, self.run[inside], self.procs[inside])


@lru_cache(maxsize=2)
def _bags(workload: JobArrays) -> JobBags:
    """Return the bags of a workload, cached for the next measure."""
    known = np.flatnonzero(workload.user >= 0)
    order = known[np.argsort(workload.user[known], kind="stable")]
    user, submit = workload.user[order], workload.submit[order]
    is_start = np.ones(order.size, bool)
    is_start[1:] = (np.diff(user) != 0) | (np.diff(submit) >= GAP)
    return JobBags(np.flatnonzero(is_start), workload.run[order], workload.procs[order])


@measure("Jobs in bags of two or more", Aspect.BAGS, DIFFERENCE, orderly=True)
def bag_share(workload: JobArrays) -> float | None:
    """The share of the jobs of known users that are in bags of two or more."""
    bags = _bags(workload)
    return bags.of_several_jobs().run.size / bags.run.size if bags.run.size else None


@measure("Jobs in a bag", Aspect.BAGS, KS, orderly=True)
def bag_size(workload: JobArrays) -> Sample:
    """Sizes of bags, those of one job included."""
    return Sample.of(_bags(workload).sizes)


@measure("Run times alike in a bag", Aspect.BAGS, DIFFERENCE, orderly=True)
def bag_likeness(workload: JobArrays) -> float | None:
    """
    The part of the variance of ln(1 + run time) that is between bags, of jobs in bags of two or more.

    1 where all jobs of a bag run equally long, 0 where they are no more alike than others (the correlation
    ratio, Pearson 1905). Minh and Wolters (2010, table III) give the deviations in bags.
    """
    bags = _bags(workload).of_several_jobs()
    if not bags.run.size:
        return None
    x = np.log1p(bags.run)
    means = np.add.reduceat(x, bags.starts) / bags.sizes
    within, total = float(((x - np.repeat(means, bags.sizes)) ** 2).sum()), float(((x - x.mean()) ** 2).sum())
    return 1 - within / total if total > 0 else None


@measure("Bags of one size of job", Aspect.BAGS, DIFFERENCE, orderly=True)
def bag_uniformity(workload: JobArrays) -> float | None:
    """The share of bags of two or more whose jobs all have equally many processors."""
    bags = _bags(workload).of_several_jobs()
    if not bags.run.size:
        return None
    spread = np.maximum.reduceat(bags.procs, bags.starts) - np.minimum.reduceat(bags.procs, bags.starts)
    return float((spread == 0).mean())
