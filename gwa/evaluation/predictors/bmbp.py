"""BMBP by classes of jobs: queue, size and request, the user's own waiting jobs, the state of the machine."""

from collections.abc import Sequence

import numpy as np

from gwa.evaluation.job_classes import crossed, requests, sizes
from gwa.evaluation.prediction import WaitingJobs, predictor
from gwa.evaluation.predictors._state import backlogs, fits, own_waiting
from gwa.statistics.sample import Ints
from gwa.words.message import message


@predictor(message("BMBP by queue, size and request"))
def bmbp(jobs: WaitingJobs) -> Sequence[Ints]:
    """
    Jobs of one queue, size and requested time; where these are too few, of one queue, then all.

    Sizes are shares of the machine up to 1, 5, 25 % or more, requests up to 15 min, 1, 4, 12 h or more.
    Source: Brevik, Nurmi and Wolski 2006, and by class Nurmi, Brevik and Wolski 2007.
    """
    return crossed(jobs.queue, sizes(jobs), requests(jobs)), jobs.queue, np.zeros_like(jobs.queue)


@predictor(message("BMBP by own waiting jobs, queue, size and request"))
def bmbp_own(jobs: WaitingJobs) -> Sequence[Ints]:
    """
    Jobs of one class of `bmbp` whose user had as many own jobs waiting: 0, 1 to 3, 4 to 15 or more.

    Where these are too few, they are those of `bmbp`. The split by own jobs was chosen on KTH, SDSC-Par and
    HPC2N, and held on LANL, Curie and RICC: bounds are tighter at the same coverage, or hold more often.
    """
    base = crossed(jobs.queue, sizes(jobs), requests(jobs))
    return crossed(base, own_waiting(jobs)), base, jobs.queue, np.zeros_like(jobs.queue)


@predictor(message("BMBP by queue"))
def bmbp_queue(jobs: WaitingJobs) -> Sequence[Ints]:
    """Jobs of one queue, else of all queues (Brevik, Nurmi and Wolski 2006, section 4)."""
    return jobs.queue, np.zeros_like(jobs.queue)


@predictor(message("BMBP by state of the machine"))
def bmbp_state(jobs: WaitingJobs) -> Sequence[Ints]:
    """
    Jobs that met the same state: what waits, whether they fit at once, and how many own jobs wait.

    The backlog is processors times requested time of all waiting jobs, in hours of the whole machine. Classes
    are crossed with size and requested time; where jobs are too few, they are those of `bmbp`.
    """
    state = crossed(backlogs(jobs), fits(jobs), own_waiting(jobs), sizes(jobs), requests(jobs))
    return state, crossed(jobs.queue, sizes(jobs), requests(jobs)), jobs.queue, np.zeros_like(jobs.queue)
