"""What is foretold without looking at the job: the quantiles, or the share of failures, of the training."""

import numpy as np

from gwa.statistics.sample import Floats
from gwa.tasks.baseline import LEVELS, Problem, baseline


@baseline("train-median")
def train_median(problem: Problem) -> Floats:
    """The quantiles of the training and validation."""
    quantiles = np.quantile(problem.learnt, LEVELS, method="inverted_cdf")
    return np.tile(quantiles, (problem.rows("test").size, 1))


@baseline("train-share", of_failures=True)
def train_share(problem: Problem) -> Floats:
    """The share of failures in the training and validation."""
    return np.full(problem.rows("test").size, problem.learnt.mean())
