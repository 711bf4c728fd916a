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

MARGIN: Final = 0.03
"""How far the mean over `SEEDS` may be from the log, besides two standard errors."""

MAXIMUM_JOBS: Final = 100_000
"""A workload ends with so many jobs, even if the days of the log are not over."""

FIRST_SEED: Final = 1_000_000
"""The seeds are far from those that people use."""


@dataclass(frozen=True)
class Ratio:
    """A *mean* over seeds, and its standard *error*."""

    mean: float
    error: float

    @classmethod
    def of(cls, values: Floats) -> Self:
        """Return the mean of *values* and its standard error, infinite for fewer than two."""
        error = float(values.std(ddof=1)) / math.sqrt(values.size) if values.size > 1 else math.inf
        return cls(float(values.mean()), error)

    @property
    def is_off(self) -> bool:
        """Tell whether the mean is farther from 1 than `MARGIN` and two standard errors."""
        return abs(self.mean - 1) > MARGIN + 2 * self.error

    def __str__(self) -> str:
        """Return the ratio in words."""
        return f"{self.mean:.2f} ± {self.error:.2f} times"


@dataclass(frozen=True)
class Kept:
    """What a fitted model generates over what its log has: busy processors (*load*), and *arrivals* a day."""

    load: Ratio
    arrivals: Ratio

    @classmethod
    def of(cls, model: Model, log: Submitted) -> Self:
        """Generate as many days as the *log* has with each seed, and compare."""
        found = [_generate(model, log, FIRST_SEED + seed) for seed in range(SEEDS)]
        loads = [each.work / each.seconds / (log.work / log.seconds) for each in found]
        arrivals = [each.jobs / each.seconds / (log.jobs / log.seconds) for each in found]
        return cls(Ratio.of(np.array(loads)), Ratio.of(np.array(arrivals)))

    def warnings(self) -> list[str]:
        """Return a sentence for each amount that the model does not keep."""
        said = (
            ("load", self.load, "busy processors of the log"),
            ("arrivals", self.arrivals, "jobs a day of the log"),
        )
        return [
            f"{name}: this model generates {ratio} the {of} (mean of {SEEDS} seeds and its standard error)"
            for name, ratio, of in said
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
