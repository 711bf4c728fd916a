"""BMBP by queue, size and requested time."""

from collections.abc import Sequence

import numpy as np

from gwa.evaluation.prediction import WaitingJobs, crossed, predictor, requests, sizes
from gwa.statistics.sample import Ints


@predictor("BMBP by queue, size and request")
def bmbp(jobs: WaitingJobs) -> Sequence[Ints]:
    """
    Jobs of one queue, size and requested time; where these are too few, of one queue, then all.

    Sizes are shares of the machine up to 1, 5, 25 % or more, requests up to 15 min, 1, 4, 12 h or more.
    Source: Brevik, Nurmi and Wolski 2006, and by class Nurmi, Brevik and Wolski 2007.
    """
    return crossed(jobs.queue, sizes(jobs), requests(jobs)), jobs.queue, np.zeros_like(jobs.queue)
