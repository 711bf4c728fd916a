"""Pace a model so that its workload uses a system as much as wanted (Anoep 2009, section 2.5)."""

import math
from dataclasses import replace
from typing import Final

import numpy as np

from gwa.errors import ModelError
from gwa.models.workload import Order

NEAR: Final = 0.002
"""How near the utilisation must come, as a share of the target."""

FAR: Final = 0.02
"""How far off it may be where jobs depend on the pace, or the last one jumps over a quiet night."""

ROUNDS: Final = 12


def at_utilization(order: Order, cpus: int, target: float) -> Order:
    """
    Return *order* with arrivals so paced that its very jobs use *target* of *cpus* processors.

    Utilisation is processors times run time over *cpus* times the span from the first submission to the last
    end, every job starting at once. The workload is made several times over, in passing, since heavy tails
    leave its work far from what is expected. Raise `ModelError` for a target that no pace meets.
    """
    if cpus < 1:
        raise ModelError(f"cpus is {cpus}, expected at least 1")
    if not 0 < target <= 1:
        raise ModelError(f"utilization is {target}, expected a share above 0 and at most 1")
    order = replace(order, model=order.model.within(cpus))
    paces, errors = [0.0], [math.log(utilization(order, cpus) / target)]
    for _ in range(ROUNDS):
        if abs(errors[-1]) <= NEAR:
            break
        slope = (errors[-1] - errors[-2]) / (paces[-1] - paces[-2]) if len(paces) > 1 else -1.0
        paces.append(paces[-1] - errors[-1] / min(max(slope, -2.0), -0.1))
        errors.append(math.log(utilization(_paced(order, paces[-1]), cpus) / target))
    best = int(np.argmin(np.abs(errors)))
    if abs(errors[best]) > FAR:
        reached = target * math.exp(errors[best])
        message = f"utilization is {target:g}, which this workload does not reach on {cpus} processors"
        raise ModelError(f"{message}: the nearest is {reached:.3g}; more jobs or fewer processors may do")
    return _paced(order, paces[best])


def _paced(order: Order, pace: float) -> Order:
    return replace(order, model=order.model.paced(math.exp(pace)))


def utilization(order: Order, cpus: int) -> float:
    """Return the utilisation of *cpus* processors by the workload of *order*, every job starting at once."""
    work, begin, end = 0.0, math.inf, 0.0
    for block in order.blocks():
        if block["submit_time"].size:
            work += float((block["run_time"] * block["n_procs"]).sum())
            begin = min(begin, float(block["submit_time"][0]))
            end = max(end, float((block["submit_time"] + block["run_time"]).max()))
    if not work > 0:
        raise ModelError("utilization: this workload has no work at all")
    return work / (cpus * max(end - begin, 1.0))
