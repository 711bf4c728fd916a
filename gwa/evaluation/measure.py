"""Measures of realism: a statistic of a workload, and the distance between two of its values."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from inspect import cleandoc
from typing import Any, Final, TypeAlias

import numpy as np

from gwa.evaluation.job_arrays import JobArrays
from gwa.statistics.sample import Sample
from gwa.util import plugins


class Aspect(Enum):
    """The aspects of a workload that are measured, in the order of a scorecard."""

    MARGINALS = "One by one"
    TOGETHER = "Together"
    BAGS = "Bags of tasks"
    ORDER = "Repetitions"
    BURSTS = "Bursts and memory"
    USERS = "Users"


Statistic: TypeAlias = float | Sample
Measurer: TypeAlias = Callable[[JobArrays], Statistic | None]
Statistics: TypeAlias = Mapping[str, Statistic | None]


@dataclass(frozen=True)
class Distance:
    """A distance between two statistics: its *name*, a *description*, and the function."""

    name: str
    description: str
    between: Callable[[Any, Any], float]

    def __call__(self, a: Statistic, b: Statistic) -> float:
        """Return the distance, 0 or more."""
        return float(self.between(a, b))


def _ks(a: Sample, b: Sample) -> float:
    return max(float(abs(a.cdf(values) - b.cdf(values)).max()) for values in (a.values, b.values))


def _wasserstein(a: Sample, b: Sample) -> float:
    """Return the area between the distribution functions of the logarithms."""
    values = np.union1d(a.values, b.values)[:-1]
    widths = np.diff(np.log1p(np.union1d(a.values, b.values)))
    return float(np.abs(a.cdf(values) - b.cdf(values)) @ widths)


def _log_ratio(a: float, b: float) -> float:
    if a == b:
        return 0.0
    return abs(math.log(a / b)) if min(a, b) > 0 else math.inf


KS: Final = Distance("KS", "maximum distance of the distribution functions (Smirnov 1939)", _ks)
WASSERSTEIN: Final = Distance(
    "Wasserstein", "mean distance of the quantiles of ln(1 + x) (Vaserstein 1969)", _wasserstein
)
DIFFERENCE: Final = Distance("difference", "absolute difference", lambda a, b: abs(a - b))
RATIO: Final = Distance("log ratio", "absolute natural logarithm of the ratio", _log_ratio)


@dataclass(frozen=True)
class RealismMeasure:
    """
    One line of a scorecard.

    *id* is its name in JSON, *help* the definition with its source. If *orderly*, it depends on the order of
    the jobs or on their submission times, so that resampled jobs give no noise floor.
    """

    id: str
    title: str
    aspect: Aspect
    distance: Distance
    help: str
    orderly: bool
    statistic: Measurer

    def between(self, a: Statistic | None, b: Statistic | None) -> float | None:
        """Return the distance between two statistics, None if either is missing."""
        return None if a is None or b is None else self.distance(a, b)


def measure(
    title: str, aspect: Aspect, distance: Distance, *, orderly: bool = False
) -> Callable[[Measurer], RealismMeasure]:
    """Make a function a measure; its name is the id, its docstring the definition."""

    def register(function: Measurer) -> RealismMeasure:
        name = function.__name__.replace("_", "-")
        definition = " ".join(cleandoc(function.__doc__ or "").split())
        return RealismMeasure(name, title, aspect, distance, definition, orderly, function)

    return register


@cache
def measures() -> tuple[RealismMeasure, ...]:
    """Return all measures, sorted by aspect and, within an aspect, in the order of their modules."""
    unsorted = plugins.instances("gwa.evaluation.measures", RealismMeasure)
    aspects = list(Aspect)
    return tuple(sorted(unsorted, key=lambda measure: aspects.index(measure.aspect)))


def measure_all(workload: JobArrays, wanted: Sequence[RealismMeasure] | None = None) -> Statistics:
    """Return the statistic of every measure, or of those *wanted*, by its id; None if it is unknown."""
    chosen = measures() if wanted is None else wanted
    return {measure.id: _finite_or_none(measure.statistic(workload)) for measure in chosen}


def _finite_or_none(statistic: Statistic | None) -> Statistic | None:
    """Return None for an empty sample and for a number that is not finite."""
    if isinstance(statistic, Sample):
        return statistic if statistic.n else None
    return statistic if statistic is not None and math.isfinite(statistic) else None
