"""BMBP by queue alone."""

from collections.abc import Sequence

import numpy as np

from gwa.evaluation.prediction import WaitingJobs, predictor
from gwa.statistics.sample import Ints


@predictor("BMBP by queue")
def bmbp_queue(jobs: WaitingJobs) -> Sequence[Ints]:
    """Jobs of one queue, else of all queues (Brevik, Nurmi and Wolski 2006, section 4)."""
    return jobs.queue, np.zeros_like(jobs.queue)
