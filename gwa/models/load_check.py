"""
Whether a fitted model keeps the load of its log, said before it generates a trace.

Some models cannot: the jobs of one have one processor each, another has its run times as printed. And gaps
may have no mean. A warning says so before jobs are generated from them.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Final, Self

import numpy as np

from gwa.models.arrival_process import Arrivals
from gwa.models.base import Model
from gwa.models.generate import GenerationRequest
from gwa.models.streams import Extent
from gwa.models.work import Submitted
from gwa.statistics.sample import Floats
from gwa.util.units import DAY

SEEDS: Final = 10
"""Workloads that are generated to see what a model keeps."""

MAXIMUM_BIAS: Final = 0.05
"""How far the mean over `SEEDS` may be from the log."""

MAXIMUM_ERROR: Final = 0.1
"""How far one workload may typically be from the log: the root of the mean square of its distance."""

MAXIMUM_JOBS: Final = 100_000
"""The maximum number of jobs of a workload, even if the days of the log are not over."""

FIRST_SEED: Final = 1_000_000
"""The seeds are far from those that people use."""


@dataclass(frozen=True)
class MeanRatio:
    """A *mean* over seeds, and the standard *deviation* of one seed."""

    mean: float
    deviation: float

    @classmethod
    def of(cls, values: Floats) -> Self:
        """Return the mean of *values* and their standard deviation, infinite for fewer than two."""
        return cls(float(values.mean()), float(values.std(ddof=1)) if values.size > 1 else math.inf)

    @property
    def error(self) -> float:
        """The distance of one workload from 1, the root of its mean square: bias and spread together."""
        return math.hypot(self.mean - 1, self.deviation)

    @property
    def is_off(self) -> bool:
        """
        Whether the mean is farther from 1 than `MAXIMUM_BIAS`, or one workload than `MAXIMUM_ERROR`.

        A model with the same mean and more spread is never less off.
        """
        return abs(self.mean - 1) > MAXIMUM_BIAS or self.error > MAXIMUM_ERROR


@dataclass(frozen=True)
class LoadCheck:
    """What a fitted model generates over what its log has: busy processors (*load*), and *arrivals* a day."""

    load: MeanRatio
    arrivals: MeanRatio

    @classmethod
    def of(cls, model: Model, log: Submitted) -> Self:
        """Generate as many days as the *log* has with each seed, and compare."""
        found = [_generate(model, log, FIRST_SEED + seed) for seed in range(SEEDS)]
        loads = [each.busy / log.busy for each in found]
        arrivals = [each.per_day / log.per_day for each in found]
        return cls(MeanRatio.of(np.array(loads)), MeanRatio.of(np.array(arrivals)))

    def warnings(self) -> list[str]:
        """Return a sentence for each amount that the model does not keep."""
        amounts = (
            ("load", self.load, "busy processors of the log"),
            ("arrivals", self.arrivals, "jobs a day of the log"),
        )
        return [
            f"{name}: this model generates {ratio.mean:.2f} times the {of} in the mean of {SEEDS} seeds;"
            f" one seed differs from that by {ratio.deviation:.2f} (standard deviation)"
            for name, ratio, of in amounts
            if ratio.is_off
        ]


def _generate(model: Model, log: Submitted, seed: int) -> Submitted:
    """Return the amounts of a workload as long as the *log*, or of its first `MAXIMUM_JOBS` jobs."""
    work, jobs, last = 0.0, 0, 0.0
    for block in GenerationRequest(model, Extent(days=log.seconds / DAY), seed).blocks():
        if block["submit_time"].size:
            work += float(block["n_procs"].astype(np.float64) @ block["run_time"])
            jobs, last = jobs + block["submit_time"].size, float(block["submit_time"][-1])
        if jobs >= MAXIMUM_JOBS:
            return Submitted(jobs, work, max(last, 1.0))
    return Submitted(jobs, work, log.seconds)


def endless_gaps(model: Model) -> list[str]:
    """Return a sentence for each arrival process of *model* whose gaps have no mean."""
    return [
        f"{path}: the gaps have an infinite mean: the more jobs, the fewer come a day;"
        " expected a greatest gap (high), as a new fit has"
        for path, arrivals in _processes(model, "")
        if arrivals.mean_gap() == math.inf
    ]


def _processes(value: object, path: str) -> Iterator[tuple[str, Arrivals]]:
    """Yield the arrival processes in a model, with the names of the parameters that lead to them."""
    if isinstance(value, Arrivals):
        yield path, value
    elif isinstance(value, tuple):
        for i, member in enumerate(value):
            yield from _processes(member, f"{path}[{i}]")
    elif is_dataclass(value):
        for field in fields(value):
            yield from _processes(getattr(value, field.name), f"{path}.{field.name}".lstrip("."))
