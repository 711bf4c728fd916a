"""Pace a model so that its workload uses a system as much as wanted (Anoep 2009, section 2.5)."""

import math
from dataclasses import dataclass, replace
from typing import Final, Self

import numpy as np

from gwa.errors import ModelError
from gwa.models.generate import Order

NEAR: Final = 0.002
"""How near the utilisation must come, as a share of the target."""

FAR: Final = 0.02
"""How far off it may be where jobs depend on the pace, or the last one jumps over a quiet night."""

ROUNDS: Final = 12

CROWDED: Final = 0.01
"""Submissions in such a part of the longest run time are as good as all at once."""


@dataclass(frozen=True)
class Load:
    """
    What a workload asks for, every job starting at once.

    *work* is processors times run time in seconds, *span* the time from the first submission to the last
    one, *whole* that to the last end, and *longest* the greatest run time, all in seconds.
    """

    work: float
    span: float
    whole: float
    longest: float

    @classmethod
    def of(cls, order: Order) -> Self:
        """Return the load of the workload of *order*, made in passing; raise `ModelError` if it has none."""
        work, begin, last, end, longest = 0.0, math.inf, 0.0, 0.0, 0.0
        for block in order.blocks():
            if block["submit_time"].size:
                work += float((block["run_time"] * block["n_procs"]).sum())
                begin = min(begin, float(block["submit_time"][0]))
                last = float(block["submit_time"][-1])
                end = max(end, float((block["submit_time"] + block["run_time"]).max()))
                longest = max(longest, float(block["run_time"].max()))
        if not work > 0:
            raise ModelError("utilization: this workload has no work at all")
        return cls(work, max(last - begin, 1.0), max(end - begin, 1.0), max(longest, 1.0))

    def paces(self, target: float, cpus: int) -> tuple[float, float]:
        """Return the logarithms of the least and the greatest pace that can be needed for a *target*."""
        least = math.log(CROWDED * self.longest / self.span)
        return min(least, 0.0), max(math.log(self.work / (cpus * target * self.span)), 0.0) + 1


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
    load = Load.of(order)
    least, most = load.paces(target, cpus)
    paces, errors = [0.0], [math.log(load.work / (cpus * load.whole) / target)]
    for _ in range(ROUNDS):
        slope = (errors[-1] - errors[-2]) / (paces[-1] - paces[-2]) if len(paces) > 1 else -1.0
        pace = paces[-1] - errors[-1] / min(max(slope, -2.0), -0.1)
        pace = min(max(pace, least), most)
        if abs(errors[-1]) <= NEAR or pace in paces:
            break
        paces.append(pace)
        errors.append(math.log(utilization(_paced(order, pace), cpus) / target))
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
    load = Load.of(order)
    return load.work / (cpus * load.whole)
