"""
What a user submits next, how like the user's job before it is, and how unequal users are.

Source: D. Tsafrir, Y. Etsion and D. G. Feitelson, Backfilling using system-generated predictions rather than
user runtime estimates (2007), where the run times of a user's last jobs predict that of the next.
"""

from typing import NamedTuple

import numpy as np

from gwa.evaluation.job_arrays import JobArrays
from gwa.evaluation.measure import DIFFERENCE, Aspect, measure
from gwa.statistics import dependence
from gwa.statistics.sample import Floats, Ints, Sample

MINIMUM_PAIRS = 30
"""Fewer pairs of jobs show no correlation."""


class JobPairs(NamedTuple):
    """The places of jobs, and of the next job of the same user."""

    job: Ints
    following: Ints


def _pairs(workload: JobArrays) -> JobPairs | None:
    """Return every pair of consecutive jobs of a known user, None if there are few."""
    known = np.flatnonzero(workload.user >= 0)
    order = known[np.argsort(workload.user[known], kind="stable")]
    same = np.diff(workload.user[order]) == 0
    pairs = JobPairs(order[:-1][same], order[1:][same])
    return pairs if pairs.job.size >= MINIMUM_PAIRS else None


@measure("Next job of a user of the same size", Aspect.USERS, DIFFERENCE, orderly=True)
def next_size(workload: JobArrays) -> float | None:
    """The share of jobs that have as many processors as the job that their user submitted before."""
    pairs = _pairs(workload)
    return (
        None
        if pairs is None
        else float((workload.procs[pairs.job] == workload.procs[pairs.following]).mean())
    )


@measure("Run times of consecutive jobs of a user", Aspect.USERS, DIFFERENCE, orderly=True)
def next_run_time(workload: JobArrays) -> float | None:
    """
    Spearman's rank correlation of the run times of a job and of the next one of its user.

    Near 1 where the last job of a user predicts the run time of the next (Tsafrir and others 2007).
    """
    pairs = _pairs(workload)
    return (
        None if pairs is None else dependence.spearman(workload.run[pairs.job], workload.run[pairs.following])
    )


def _inequality(workload: JobArrays, amounts: Floats) -> float | None:
    """Return the Gini coefficient of the sums of *amounts* of known users."""
    known = workload.user >= 0
    if not known.any():
        return None
    _, user = np.unique(workload.user[known], return_inverse=True)
    return Sample.of(np.bincount(user, weights=amounts[known])).gini()


@measure("Inequality of users by jobs", Aspect.USERS, DIFFERENCE)
def user_skew(workload: JobArrays) -> float | None:
    """Gini coefficient of jobs over users: 0 where all submit equally many, near 1 where one submits all."""
    return _inequality(workload, np.ones(len(workload)))


@measure("Inequality of users by work", Aspect.USERS, DIFFERENCE)
def user_work_skew(workload: JobArrays) -> float | None:
    """Gini coefficient of processors times run time over users."""
    return _inequality(workload, workload.run * workload.procs)
