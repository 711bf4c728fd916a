"""
Baselines: forecasts of the jobs of a test by what was known before, to compare others with.

A baseline is a function under `baseline`, which forecasts the test of a `BaselineProblem`. It sees the
columns of all jobs, and the labels of those for training and validation; those of the test are nan.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from inspect import cleandoc
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gwa.statistics.sample import Floats, Ints
from gwa.tasks.task import Task
from gwa.util import plugins

LEVELS: Final = (0.05, 0.5, 0.95)
"""The quantiles that are forecast."""

SEED: Final = 0
"""What baselines that draw begin with."""


@dataclass(frozen=True, eq=False)
class BaselineProblem:
    """
    A *task* for a baseline: its *columns* by name, the *split* and the *labels* of its rows.

    Labels are in the unit of the task, nan but for training and validation. *bound* is gwa's own upper
    bound on a wait, as it was known at the submission, nan where there is none.
    """

    task: Task
    columns: Mapping[str, Floats]
    split: NDArray[np.str_]
    labels: Floats
    bound: Floats

    def rows(self, split: str) -> Ints:
        """Return the numbers of the rows of a *split*."""
        return np.flatnonzero(self.split == split)

    @property
    def learnt(self) -> Floats:
        """The labels of training and validation."""
        found: Floats = self.labels[(self.split == "train") | (self.split == "valid")]
        return found


Forecaster = Callable[[BaselineProblem], Floats | None]
"""Returns three quantiles or one probability of each row of the test; None if it has nothing to go by."""


@dataclass(frozen=True)
class Baseline:
    """A forecaster with a *name* and a *help*; it is for failures (*of_failures*), or for quantities."""

    name: str
    help: str
    of_failures: bool
    forecast: Forecaster
    needs: str = ""
    """A module that need not be installed."""
    extra: str = ""
    """The extra of gwa, or the package, that installs it."""

    def missing(self) -> str:
        """Return a sentence on what is not installed, or nothing."""
        if not self.needs or find_spec(self.needs) is not None:
            return ""
        return f"{self.name} is left out: it needs {self.needs}, which {self.extra} installs"


def baseline(
    name: str, *, of_failures: bool = False, needs: str = "", extra: str = ""
) -> Callable[[Forecaster], Baseline]:
    """Make a baseline called *name* of a function, whose docstring is the help."""

    def register(function: Forecaster) -> Baseline:
        text = " ".join(cleandoc(function.__doc__ or "").split())
        return Baseline(name, text, of_failures, function, needs, extra)

    return register


@cache
def baselines() -> tuple[Baseline, ...]:
    """Return all baselines, those of other packages last."""
    return tuple(plugins.instances("gwa.tasks.baselines", Baseline, "gwa.baselines"))


def around(problem: BaselineProblem, middle: Floats) -> Floats:
    """
    Return quantiles of the test around the *middle* forecast of each row, by its errors in validation.

    Where the middle is nan, the median of the training stands for it. The errors are those of the logarithm.
    """
    task, labels = problem.task, problem.labels
    logs = task.log(np.where(np.isnan(middle), np.median(problem.learnt), middle))
    valid, test = problem.rows("valid"), problem.rows("test")
    errors = np.sort(task.log(labels[valid]) - logs[valid])
    low, high = conformal(errors, LEVELS[0]), conformal(errors, LEVELS[2])
    found = np.column_stack([logs[test] + min(low, 0.0), logs[test], logs[test] + max(high, 0.0)])
    return task.back(found)


def conformal(errors: Floats, level: float) -> float:
    """
    Return the order statistic of the sorted *errors* that one more of them stays below with chance *level*.

    Source: split conformal prediction (Papadopoulos et al. 2002; Romano, Patterson and Candès 2019).

    >>> conformal(np.arange(99.0), 0.95), conformal(np.arange(99.0), 0.05)
    (94.0, 4.0)
    """
    place = (
        np.ceil((errors.size + 1) * level) - 1
        if level > LEVELS[1]
        else np.floor((errors.size + 1) * level) - 1
    )
    return float(errors[int(np.clip(place, 0, errors.size - 1))])
