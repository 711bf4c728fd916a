"""BMBP by the user's own waiting jobs, queue, size and requested time."""

from collections.abc import Sequence

import numpy as np

from gwa.evaluation.prediction import WaitingJobs, crossed, predictor, requests, sizes
from gwa.evaluation.predictors._state import own_waiting
from gwa.statistics.sample import Ints


@predictor("BMBP by own waiting jobs, queue, size and request")
def bmbp_own(jobs: WaitingJobs) -> Sequence[Ints]:
    """
    Jobs of one class of `bmbp` whose user had as many own jobs waiting: 0, 1 to 3, 4 to 15 or more.

    Where these are too few, they are those of `bmbp`. The split by own jobs was chosen on KTH, SDSC-Par and
    HPC2N, and held on LANL, Curie and RICC: bounds are tighter at the same coverage, or hold more often.
    """
    base = crossed(jobs.queue, sizes(jobs), requests(jobs))
    return crossed(base, own_waiting(jobs)), base, jobs.queue, np.zeros_like(jobs.queue)
