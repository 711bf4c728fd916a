"""
Bags of tasks: what a user submits with less than two minutes between the jobs.

Source: S. D. Anoep, thesis (2009), section 3.2, as its text says; `gwa.metrics.bags.TEXT` is the same in the
engine.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from gwa.evaluation.job_arrays import JobArrays
from gwa.evaluation.measure import DIFFERENCE, KS, Aspect, measure
from gwa.statistics.sample import Floats, Ints, Sample

GAP: Final = 120.0
SEVERAL: Final = 2


@dataclass(frozen=True, eq=False)
class JobBags:
    """The jobs of known users, bag by bag: where each bag *starts*, and run time and size of each job."""

    starts: Ints
    run: Floats
    procs: Ints

    @property
    def sizes(self) -> Ints:
        """How many jobs each bag has."""
        return np.diff(np.append(self.starts, self.run.size))

    def several(self) -> "JobBags":
        """Return the bags of two jobs or more."""
        large = self.sizes >= SEVERAL
        inside = np.repeat(large, self.sizes)
        starts = np.cumsum(self.sizes[large]) - self.sizes[large]
        return JobBags(starts, self.run[inside], self.procs[inside])


@lru_cache(maxsize=2)
def _bags(workload: JobArrays) -> JobBags:
    """Return the bags of a workload; those of the last are kept, for there are several measures."""
    known = np.flatnonzero(workload.user >= 0)
    order = known[np.argsort(workload.user[known], kind="stable")]
    user, submit = workload.user[order], workload.submit[order]
    begins = np.ones(order.size, bool)
    begins[1:] = (np.diff(user) != 0) | (np.diff(submit) >= GAP)
    return JobBags(np.flatnonzero(begins), workload.run[order], workload.procs[order])


@measure("Jobs in bags of two or more", Aspect.BAGS, DIFFERENCE, orderly=True)
def bag_share(workload: JobArrays) -> float | None:
    """The share of the jobs of known users that are in bags of two or more."""
    bags = _bags(workload)
    return bags.several().run.size / bags.run.size if bags.run.size else None


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
    bags = _bags(workload).several()
    if not bags.run.size:
        return None
    x = np.log1p(bags.run)
    means = np.add.reduceat(x, bags.starts) / bags.sizes
    within, total = float(((x - np.repeat(means, bags.sizes)) ** 2).sum()), float(((x - x.mean()) ** 2).sum())
    return 1 - within / total if total > 0 else None


@measure("Bags of one size of job", Aspect.BAGS, DIFFERENCE, orderly=True)
def bag_uniformity(workload: JobArrays) -> float | None:
    """The share of bags of two or more whose jobs all have equally many processors."""
    bags = _bags(workload).several()
    if not bags.run.size:
        return None
    spread = np.maximum.reduceat(bags.procs, bags.starts) - np.minimum.reduceat(bags.procs, bags.starts)
    return float((spread == 0).mean())
