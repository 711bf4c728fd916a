"""BMBP by the state of the machine at submission."""

from collections.abc import Sequence

import numpy as np

from gwa.evaluation.prediction import WaitingJobs, crossed, predictor, requests, sizes
from gwa.evaluation.predictors._state import backlogs, fits, own_waiting
from gwa.statistics.sample import Ints


@predictor("BMBP by state of the machine")
def bmbp_state(jobs: WaitingJobs) -> Sequence[Ints]:
    """
    Jobs that met the same state: what waits, whether they fit at once, and how many own jobs wait.

    The backlog is processors times requested time of all waiting jobs, in hours of the whole machine. Classes
    are crossed with size and requested time; where jobs are too few, they are those of `bmbp`.
    """
    state = crossed(backlogs(jobs), fits(jobs), own_waiting(jobs), sizes(jobs), requests(jobs))
    return state, crossed(jobs.queue, sizes(jobs), requests(jobs)), jobs.queue, np.zeros_like(jobs.queue)
