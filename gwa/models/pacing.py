"""Scale the arrivals of a model to reach a utilization (Anoep 2009, section 2.5)."""

import math
from dataclasses import dataclass, replace
from typing import Final, Self

import numpy as np

from gwa.errors import ModelError
from gwa.models.generate import GenerationRequest

TOLERANCE: Final = 0.002
"""Relative error of the utilization at which the search stops."""

MAXIMUM_ERROR: Final = 0.02
"""Relative error allowed at the end, for jobs may depend on the pace, or the last skip a quiet night."""

MAXIMUM_ITERATIONS: Final = 12

MINIMUM_SPAN: Final = 0.01
"""Span of submissions, as a share of the longest run time, that is as good as all at once."""


@dataclass(frozen=True)
class Load:
    """
    The load of a workload, if every job starts when it is submitted.

    *work* is processors times run time, *span* the time from the first submission to the last, *makespan*
    that to the last end, and *longest* the maximum run time, all in seconds.
    """

    work: float
    span: float
    makespan: float
    longest: float

    @classmethod
    def of(cls, request: GenerationRequest) -> Self:
        """Generate the workload of *request* and return its load; raise `ModelError` if it has no work."""
        work, first, last, end, longest = 0.0, math.inf, 0.0, 0.0, 0.0
        for block in request.blocks():
            if block["submit_time"].size:
                work += float((block["run_time"] * block["n_procs"]).sum())
                first = min(first, float(block["submit_time"][0]))
                last = float(block["submit_time"][-1])
                end = max(end, float((block["submit_time"] + block["run_time"]).max()))
                longest = max(longest, float(block["run_time"].max()))
        if not work > 0:
            raise ModelError("utilization: this workload has no work at all")
        return cls(work, max(last - first, 1.0), max(end - first, 1.0), max(longest, 1.0))

    def pace_bounds(self, target: float, cpus: int) -> tuple[float, float]:
        """Return the logarithms of the minimum and maximum pace that a *target* can require."""
        minimum = math.log(MINIMUM_SPAN * self.longest / self.span)
        return min(minimum, 0.0), max(math.log(self.work / (cpus * target * self.span)), 0.0) + 1


def reach_utilization(request: GenerationRequest, cpus: int, target: float) -> GenerationRequest:
    """
    Return *request* with arrivals scaled so that its jobs use the share *target* of *cpus* processors.

    Utilization is processors times run time over *cpus* times the time from the first submission to the last
    end, if every job starts when it is submitted. The workload is generated at each step of a secant search,
    for heavy tails take its work far from the expected value. Raise `ModelError` if no pace meets the target.
    """
    if cpus < 1:
        raise ModelError(f"cpus is {cpus}, expected at least 1")
    if not 0 < target <= 1:
        raise ModelError(f"utilization is {target}, expected a share above 0 and at most 1")
    request = replace(request, model=request.model.limit_processors(cpus))
    load = Load.of(request)
    minimum, maximum = load.pace_bounds(target, cpus)
    paces, errors = [0.0], [math.log(load.work / (cpus * load.makespan) / target)]
    for _ in range(MAXIMUM_ITERATIONS):
        slope = (errors[-1] - errors[-2]) / (paces[-1] - paces[-2]) if len(paces) > 1 else -1.0
        pace = paces[-1] - errors[-1] / min(max(slope, -2.0), -0.1)
        pace = min(max(pace, minimum), maximum)
        if abs(errors[-1]) <= TOLERANCE or pace in paces:
            break
        paces.append(pace)
        errors.append(math.log(utilization(_with_pace(request, pace), cpus) / target))
    best = int(np.argmin(np.abs(errors)))
    if abs(errors[best]) > MAXIMUM_ERROR:
        reached = target * math.exp(errors[best])
        message = f"utilization is {target:g}, which this workload does not reach on {cpus} processors"
        raise ModelError(f"{message}: the nearest is {reached:.3g}; more jobs or fewer processors may do")
    return _with_pace(request, paces[best])


def _with_pace(request: GenerationRequest, pace: float) -> GenerationRequest:
    return replace(request, model=request.model.scale_gaps(math.exp(pace)))


def utilization(request: GenerationRequest, cpus: int) -> float:
    """Return the utilization of *cpus* processors if every job of *request* starts when it is submitted."""
    load = Load.of(request)
    return load.work / (cpus * load.makespan)
