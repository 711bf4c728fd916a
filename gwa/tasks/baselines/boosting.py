"""Gradient boosting of the columns, with conformal intervals and calibrated probabilities."""

from typing import Any, Final

import numpy as np

from gwa.statistics.sample import Floats
from gwa.tasks.baseline import LEVELS, SEED, BaselineProblem, baseline, conformal

NEEDS: Final = "sklearn"
EXTRA: Final = "`pip install 'gridworkloads[ml]'`"

OPTIONS: Final[dict[str, Any]] = {
    "max_iter": 100,
    "learning_rate": 0.1,
    "max_leaf_nodes": 31,
    "min_samples_leaf": 50,
    "early_stopping": False,
    "random_state": SEED,
}
"""What was tried on KTH only, and kept for all logs; there is no search."""

THREADS: Final = 1
"""Sums of one thread are the same each time; several would wait for each other on a busy machine."""

MINIMUM_PROBABILITY: Final = 1e-4
"""No probability is nearer to 0 or 1."""


@baseline("boosting", needs=NEEDS, extra=EXTRA)
def boosting(problem: BaselineProblem) -> Floats:
    """
    Boosted trees for each quantile, learnt on the training; the outer ones shifted by errors in validation.

    Source: conformalized quantile regression (Romano, Patterson and Candès 2019), one side at a time.
    """
    from sklearn.ensemble import HistGradientBoostingRegressor
    from threadpoolctl import threadpool_limits

    x, logs = _matrix(problem), problem.task.log(problem.labels)
    train, valid, test = (problem.rows(split) for split in ("train", "valid", "test"))
    found = np.empty((test.size, len(LEVELS)))
    for place, level in enumerate(LEVELS):
        model = HistGradientBoostingRegressor(loss="quantile", quantile=level, **OPTIONS)
        with threadpool_limits(THREADS):
            model.fit(x[train], logs[train])
        shift = 0.0
        if level != LEVELS[1]:
            shift = conformal(np.sort(logs[valid] - model.predict(x[valid])), level)
        found[:, place] = model.predict(x[test]) + shift
    return problem.task.back(np.sort(found, axis=1))


@baseline("boosting", of_failures=True, needs=NEEDS, extra=EXTRA)
def boosting_of_failures(problem: BaselineProblem) -> Floats | None:
    """Boosted trees, whose odds are scaled in validation (Platt 1999)."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    x, labels = _matrix(problem), problem.labels
    train, valid, test = (problem.rows(split) for split in ("train", "valid", "test"))
    if np.ptp(labels[train]) == 0 or np.ptp(labels[valid]) == 0:
        return None
    with threadpool_limits(THREADS):
        model = HistGradientBoostingClassifier(**OPTIONS).fit(x[train], labels[train])
    scale = LogisticRegression().fit(model.decision_function(x[valid])[:, None], labels[valid])
    p: Floats = scale.predict_proba(model.decision_function(x[test])[:, None])[:, 1]
    return np.clip(p, MINIMUM_PROBABILITY, 1 - MINIMUM_PROBABILITY)


def _matrix(problem: BaselineProblem) -> Floats:
    """Return the columns that are known of any job for training, side by side."""
    train = problem.rows("train")
    known = [column for column in problem.columns.values() if not np.isnan(column[train]).all()]
    return np.column_stack(known).astype(np.float32).astype(np.float64)
