"""How good forecasts of a test are: on the whole, by class of jobs, and against others by weeks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gwa.statistics.sample import Floats, Ints
from gwa.tasks.baseline import LEVELS
from gwa.tasks.task import Task
from gwa.util.units import DAY, HOUR, MINUTE, WEEK

WINDOW: Final = 4 * WEEK
MINIMUM_WINDOW: Final = 100
"""A window, or a class, of fewer jobs says nothing of its own."""

DRAWS: Final = 2000
"""Draws of weeks for an interval."""

SEED: Final = 0
INTERVAL: Final = (0.025, 0.975)

HELD: Final = 0.94
"""The share of all jobs that an upper quantile has to cover, and `HELD_IN_WINDOW` in most windows."""

HELD_IN_WINDOW: Final = 0.90
MAXIMUM_WINDOWS: Final = 0.8

MINIMUM_CHANCE: Final = 1e-6
"""A probability nearer to 0 or 1 counts as this near in the log loss."""

SIZES: Final = (1.0, 8.0, 64.0, 512.0)
REQUESTS: Final = (15 * MINUTE, HOUR, 4 * HOUR, DAY)


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The *labels* of a test of a *task*, in its unit; the *submit* times and *columns* of the same jobs."""

    task: Task
    labels: Floats
    submit: Floats
    columns: Mapping[str, Floats]

    @property
    def weeks(self) -> Ints:
        """The number of the week of each job from the first submission on."""
        return self._numbers(WEEK)

    def windows(self) -> list[NDArray[np.bool_]]:
        """Return which jobs are in each window of four weeks that has enough of them."""
        numbers = self._numbers(WINDOW)
        found = [numbers == number for number in np.unique(numbers)]
        return [window for window in found if window.sum() >= MINIMUM_WINDOW]

    def _numbers(self, length: float) -> Ints:
        first = self.submit.min(initial=np.inf)
        return (
            ((self.submit - first) // length).astype(np.int64) if self.submit.size else np.zeros(0, np.int64)
        )

    def losses(self, forecast: Floats) -> Floats:
        """Return what forecasts are ranked by, of each job: the mean pinball loss, or the squared error."""
        if self.task.offset is None:
            return (self.labels - forecast) ** 2
        y, logs = self.task.log(self.labels), self.task.log(forecast)
        each = np.stack([pinball(y, logs[:, place], level) for place, level in enumerate(LEVELS)])
        mean: Floats = each.mean(axis=0)
        return mean

    def classes(self) -> dict[str, NDArray[np.bool_]]:
        """Return which jobs are of each class, by name: of size, request, and whether the user is new."""
        user = self.columns["user"]
        return {
            **_ranges("procs", self.columns["procs"], SIZES),
            **_ranges("request", self.columns["request"], REQUESTS),
            "user: not in the training": user == -1,
            "user: in the training": user >= 0,
        }


def pinball(y: Floats, q: Floats, level: float) -> Floats:
    """
    Return the pinball loss of each quantile *q* of a *level*.

    >>> pinball(np.array([1.0, 3.0]), np.array([2.0, 2.0]), 0.95).round(2).tolist()
    [0.05, 0.95]
    """
    return np.maximum(level * (y - q), (level - 1) * (y - q))


def measures(test: HeldOut, forecast: Floats) -> dict[str, Any]:
    """Return the measures of a *forecast* of all jobs of a *test*, by name; None where one is not defined."""
    if not test.labels.size:
        return {}
    return _of_chances(test, forecast) if test.task.offset is None else _of_quantiles(test, forecast)


def by_class(test: HeldOut, forecast: Floats) -> dict[str, dict[str, Any]]:
    """Return how many jobs each class has, and the loss; of quantiles, how often the upper one held, too."""
    losses, found = test.losses(forecast), {}
    for name, inside in test.classes().items():
        if inside.sum() < MINIMUM_WINDOW:
            continue
        found[name] = {"n": int(inside.sum()), "loss": float(losses[inside].mean())}
        if test.task.offset is not None:
            found[name]["coverage_q95"] = float((test.labels <= forecast[:, 2])[inside].mean())
    return found


def difference(test: HeldOut, one: Floats, other: Floats) -> dict[str, float | None]:
    """Return the loss of *one* forecast minus that of an *other*, and its 95 % interval by weeks."""
    gap = test.losses(one) - test.losses(other)
    means = means_by_weeks(test.weeks, gap[:, None])[:, 0]
    known = np.unique(test.weeks).size > 1
    low, high = np.quantile(means, INTERVAL).tolist() if known else (None, None)
    return {"difference": float(gap.mean()), "low": low, "high": high}


def means_by_weeks(weeks: Ints, losses: Floats) -> Floats:
    """Return the mean of each column of *losses* in each draw of weeks, with replacement: a row a draw."""
    number = np.unique(weeks, return_inverse=True)[1]
    counts = np.bincount(number)
    sums = np.stack([np.bincount(number, column) for column in losses.T], axis=1)
    picks = np.random.default_rng(SEED).integers(0, counts.size, (DRAWS, counts.size))
    times = np.stack([np.bincount(pick, minlength=counts.size) for pick in picks]).astype(np.float64)
    return (times @ sums) / (times @ counts)[:, None]


def _of_quantiles(test: HeldOut, forecast: Floats) -> dict[str, Any]:
    y, logs = test.task.log(test.labels), test.task.log(forecast)
    low, middle, high = (logs[:, place] for place in range(3))
    error, held = np.abs(y - middle), test.labels <= forecast[:, 2]
    windows = test.windows()
    shares = [float(held[window].mean()) for window in windows]
    worst = [float(test.losses(forecast)[window].mean()) for window in windows]
    coverage = float(held.mean())
    mostly = bool(np.mean(np.array(shares) >= HELD_IN_WINDOW) >= MAXIMUM_WINDOWS) if shares else None
    whole, told = test.labels + (test.task.offset or 0.0), forecast[:, 1] + (test.task.offset or 0.0)
    near = np.abs(test.labels - forecast[:, 1]) <= MINUTE
    return {
        "loss": float(test.losses(forecast).mean()),
        "mae_log": float(error.mean()),
        **{
            f"pinball_{level:g}": float(pinball(y, logs[:, place], level).mean())
            for place, level in enumerate(LEVELS)
        },
        "coverage_q95": coverage,
        "coverage_q05_q95": float((held & (test.labels >= forecast[:, 0])).mean()),
        "worst_4_weeks_coverage_q95": min(shares, default=None),
        "worst_4_weeks_loss": max(worst, default=None),
        "q95_holds": coverage >= HELD and mostly is not False,
        "within_factor_2": float(((whole <= 2 * told) & (told <= 2 * whole)).mean()),
        "within_1_min": float(near.mean()) if test.task.unit == "s" else None,
        "median_width": float(np.exp(np.median(high - low))),
    }


def _of_chances(test: HeldOut, chance: Floats) -> dict[str, Any]:
    y = test.labels
    kept = np.clip(chance, MINIMUM_CHANCE, 1 - MINIMUM_CHANCE)
    windows = [float(((y - chance) ** 2)[window].mean()) for window in test.windows()]
    return {
        "loss": float(((y - chance) ** 2).mean()),
        "brier": float(((y - chance) ** 2).mean()),
        "log_loss": float(-(y * np.log(kept) + (1 - y) * np.log(1 - kept)).mean()),
        "auc": area(y, chance),
        "average_precision": average_precision(y, chance),
        "share": float(y.mean()),
        "worst_4_weeks_loss": max(windows, default=None),
    }


def area(y: Floats, chance: Floats) -> float | None:
    """
    Return the area below the ROC curve: how often a failure has the higher chance, ties count half.

    >>> area(np.array([0.0, 1.0, 1.0]), np.array([0.2, 0.2, 0.9]))
    0.75
    """
    from scipy.stats import rankdata

    bad = y == 1
    if bad.all() or not bad.any():
        return None
    ranks, count = rankdata(chance), int(bad.sum())
    return float((ranks[bad].sum() - count * (count + 1) / 2) / (count * (y.size - count)))


def average_precision(y: Floats, chance: Floats) -> float | None:
    """
    Return the average precision: that at each distinct chance, weighted by the failures it adds.

    >>> average_precision(np.array([0.0, 1.0, 1.0]), np.array([0.5, 0.2, 0.9]))
    0.8333333333333333
    """
    if not (y == 1).any():
        return None
    order = np.argsort(-chance, kind="stable")
    last = np.append(np.flatnonzero(np.diff(chance[order])), y.size - 1)
    found = np.cumsum(y[order])[last]
    added = np.diff(found, prepend=0.0) / found[-1]
    return float((added * found / (last + 1)).sum())


def _ranges(name: str, values: Floats, edges: Sequence[float]) -> dict[str, NDArray[np.bool_]]:
    """Return which *values* are between *edges*, by a name such as ``procs: 2 to 8``."""
    place = np.where(np.isnan(values), -1, np.searchsorted(edges, np.nan_to_num(values)))
    labels = [f"up to {edges[0]:g}"]
    labels += [f"above {low:g} to {high:g}" for low, high in pairwise(edges)]
    labels.append(f"above {edges[-1]:g}")
    return {f"{name}: {label}": place == number for number, label in enumerate(labels)}
