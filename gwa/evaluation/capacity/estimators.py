"""
Estimators: each learns on some windows, and predicts the waits of any windows from their load.

Only these are tried. Isotonic fits cannot predict what lies beyond the loads seen, and M/M/c and Kingman's
formula are worse on held-out months than the median month.
"""

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from gwa.evaluation.capacity.windows import Windows
from gwa.statistics.dependence import spearman
from gwa.statistics.sample import Floats, Ints

Teller = Callable[[Windows], Floats]
"""What was learnt: it returns the logarithm of the waits of windows."""

Estimator = Callable[[Windows, Ints], Teller]
"""A function that learns on the windows with the numbers that it is given."""

PENALTY: Final = 0.1
"""The penalty of the ridge, for a window and a standard deviation of a feature."""


def no_change(windows: Windows, learnt: Ints) -> Teller:
    """Predict the median of the windows that were learnt: what every other estimator has to beat."""
    median = float(np.median(windows.wait[learnt]))
    return lambda others: np.full(len(others), median)


def shifted_replay(windows: Windows, learnt: Ints) -> Teller:
    """Predict the waits of the replay, times the median of how much longer recorded ones are."""
    shift = float(np.median(windows.wait[learnt] - windows.replay[learnt]))
    return lambda others: others.replay + shift


def joint(windows: Windows, learnt: Ints) -> Teller:
    """
    Predict waits from the replay, the backlog and the load together, by a ridge regression.

    The share at which the fluid machine drains is the one whose backlogs rank the windows best (Spearman).
    Features are standardized (Hoerl and Kennard 1970).
    """
    wait = windows.wait[learnt]
    ranks = [spearman(row[learnt], wait) for row in windows.backlog]
    drain = int(np.argmax(np.nan_to_num(ranks, nan=-1.0)))

    def features(of: Windows) -> Floats:
        return np.stack([of.replay, of.backlog[drain], of.load], axis=1)

    own = features(windows)[learnt]
    mean, deviation, middle = own.mean(axis=0), own.std(axis=0) + 1e-9, float(wait.mean())
    known = (own - mean) / deviation
    penalty = PENALTY * wait.size * np.eye(known.shape[1])
    weights = np.linalg.solve(known.T @ known + penalty, known.T @ (wait - middle))
    return lambda others: (features(others) - mean) / deviation @ weights + middle


ESTIMATORS: Final[Mapping[str, Estimator]] = {"joint": joint, "replay": shifted_replay}
"""The estimators that may answer."""
