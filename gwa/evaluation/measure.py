"""What a measure of realism is: a statistic of a workload, and the distance of two of them."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from inspect import cleandoc
from typing import Any, Final, TypeAlias

import numpy as np
from scipy.stats import wasserstein_distance

from gwa.evaluation.job_arrays import JobArrays
from gwa.statistics.sample import Sample
from gwa.util import plugins


class Aspect(Enum):
    """What the measures look at, in the order of a scorecard."""

    MARGINALS = "One by one"
    TOGETHER = "Together"
    BAGS = "Bags of tasks"
    ORDER = "Repetitions"
    BURSTS = "Bursts and memory"
    USERS = "Users"
    SCHEDULE = "As a scheduler sees it"


Statistic: TypeAlias = float | Sample
Measurer: TypeAlias = Callable[[JobArrays], Statistic | None]
Statistics: TypeAlias = Mapping[str, Statistic | None]


@dataclass(frozen=True)
class Distance:
    """How far two statistics are apart: its *name*, what it *says*, and the function."""

    name: str
    says: str
    between: Callable[[Any, Any], float]

    def __call__(self, one: Statistic, other: Statistic) -> float:
        """Return the distance, 0 or more."""
        return float(self.between(one, other))


def _ks(one: Sample, other: Sample) -> float:
    jumps = (one.values, other.values)
    return max(float(abs(one.cdf(values) - other.cdf(values)).max()) for values in jumps)


def _wasserstein(one: Sample, other: Sample) -> float:
    values, others = np.log1p(one.values), np.log1p(other.values)
    return float(wasserstein_distance(values, others, one.counts, other.counts))


def _ratio(one: float, other: float) -> float:
    if one == other:
        return 0.0
    return abs(math.log(one / other)) if min(one, other) > 0 else math.inf


KS: Final = Distance("KS", "greatest distance of the distribution functions (Smirnov 1939)", _ks)
WASSERSTEIN: Final = Distance(
    "Wasserstein", "mean distance of the quantiles of ln(1 + x) (Vaserstein 1969)", _wasserstein
)
DIFFERENCE: Final = Distance("difference", "absolute difference", lambda one, other: abs(one - other))
RATIO: Final = Distance("log ratio", "absolute natural logarithm of the ratio", _ratio)


@dataclass(frozen=True)
class Measure:
    """
    One line of a scorecard.

    *id* is its name in JSON, *help* the definition with its source. Where *orderly*, the order of the jobs
    or their moments matter, so that resampled jobs say nothing about chance.
    """

    id: str
    title: str
    aspect: Aspect
    distance: Distance
    help: str
    orderly: bool
    statistic: Measurer

    def between(self, one: Statistic | None, other: Statistic | None) -> float | None:
        """Return the distance of two statistics, None where one is missing."""
        return None if one is None or other is None else self.distance(one, other)


def measure(
    title: str, aspect: Aspect, distance: Distance, *, orderly: bool = False
) -> Callable[[Measurer], Measure]:
    """Make a function a measure; its name is the id, its docstring the definition."""

    def register(function: Measurer) -> Measure:
        name = function.__name__.replace("_", "-")
        said = " ".join(cleandoc(function.__doc__ or "").split())
        return Measure(name, title, aspect, distance, said, orderly, function)

    return register


@cache
def measures() -> tuple[Measure, ...]:
    """Return every measure of this package, by aspect, each aspect as its file has it."""
    found = plugins.instances("gwa.evaluation.measures", Measure)
    aspects = list(Aspect)
    return tuple(sorted(found, key=lambda one: aspects.index(one.aspect)))


def measured(workload: JobArrays) -> Statistics:
    """Return the statistic of every measure by its id; None where the workload does not tell it."""
    return {one.id: _known(one.statistic(workload)) for one in measures()}


def _known(found: Statistic | None) -> Statistic | None:
    """Return a statistic that is one: a sample of something, or a finite number."""
    if isinstance(found, Sample):
        return found if found.n else None
    return found if found is not None and math.isfinite(found) else None
