"""
The numbers of one workload that the test of queues compares, each at its offered load.

Waits are compared by the logarithm of their ratio, a minute added to each; slowdowns and shares by that of
their ratio; numbers that are near 0 or below by their difference.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias

import numpy as np

from gwa.evaluation.job_arrays import JobArrays
from gwa.evaluation.queues.own_weeks import MINIMUM_WEEKS
from gwa.evaluation.queues.replay import LOADS, POLICIES, Replay, offered_load, replay, work
from gwa.statistics.sample import Floats
from gwa.util.units import DAY, MINUTE, WEEK

EASY: Final = "easy"
"""The policy that others are compared with, and of which waits are said."""

SIZES: Final = {"1/32": 1 / 32, "1/8": 1 / 8, "1/3": 1 / 3, "1": 1.0}
"""The largest share of the machine of each class of jobs."""

MINIMUM_CLASS: Final = 30
"""Fewer jobs of a size have no mean wait."""

MAXIMUM_PERIODS: Final = 1_000_000
"""Of more weeks or days there is no variation."""

REQUESTS: Final = "requests"
"""The key of the share of jobs that request a time, which is no number that is compared."""

LEFT_OUT: Final = "left_out.{}"
"""The key of a policy that is not replayed at a load, since its schedule is long: it has no numbers there."""

Numbers: TypeAlias = Mapping[str, float]
"""Values by the key of their number; what is unknown is absent."""


class Scale(Enum):
    """How two values of a number are compared."""

    RATIO = "ratio"
    WAIT = "ratio, a minute added"
    DIFFERENCE = "difference"

    def position(self, value: float) -> float:
        """Return where a value lies on the scale, on which values are subtracted; nan if it has no place."""
        if self is Scale.DIFFERENCE:
            return value
        added = value + (MINUTE if self is Scale.WAIT else 0.0)
        return math.log(added) if added > 0 else math.nan

    def shown(self, difference: float) -> float:
        """Return a difference on the scale as it is read: a ratio, or the difference itself."""
        return difference if self is Scale.DIFFERENCE else math.exp(difference)


@dataclass(frozen=True)
class QueueNumber:
    """
    What is compared of workloads: a number called *id* on a *scale*, with its definition (*help*).

    It is of a replay under a *policy* at a *load*, or of the workload as it is where these are None.
    """

    id: str
    scale: Scale
    help: str
    load: float | None = None
    policy: str | None = None

    @property
    def key(self) -> str:
        """The id with the load, by which values are kept."""
        return self.id if self.load is None else key(self.id, self.load)

    def between(self, real: Numbers, other: Numbers) -> float | None:
        """Return how far *other* is from *real* on the scale, None where either is unknown."""
        if self.key not in real or self.key not in other:
            return None
        found = self.scale.position(other[self.key]) - self.scale.position(real[self.key])
        return found if math.isfinite(found) else None


def key(name: str, load: float) -> str:
    """
    Return what the values of a number at a load are kept by.

    >>> key("waits.easy.mean", 0.7)
    'waits.easy.mean@0.7'
    """
    return f"{name}@{load:g}"


def catalogue(policies: Sequence[str] = ()) -> list[QueueNumber]:
    """Return all numbers, those of the workload as it is first; *policies* are further ones, of one's own."""
    names = (*POLICIES, *policies)
    found = [QueueNumber(name, scale, about) for name, (scale, about) in AS_IT_IS.items()]
    for load in LOADS:
        found += [
            QueueNumber(name.format(policy), scale, about.format(policy), load, policy)
            for policy in names
            for name, (scale, about) in REPLAYED.items()
        ]
        found += [
            QueueNumber(f"policies.{policy}_over_easy", Scale.RATIO, OVER_EASY.format(policy), load, policy)
            for policy in names
            if policy != EASY
        ]
    return found


AS_IT_IS: Final = {
    "load.kept": (Scale.RATIO, "Offered load as submitted, without scaling."),
    "weeks.jobs_cv": (Scale.RATIO, "Coefficient of variation of the jobs of whole weeks."),
    "weeks.work_cv": (Scale.RATIO, "Coefficient of variation of the processor seconds of whole weeks."),
    "days.work_cv": (Scale.RATIO, "Coefficient of variation of the processor seconds of whole days."),
}
"""Numbers of a workload as it is submitted: how each is compared, and its definition."""

REPLAYED: Final = {
    "waits.{}.mean": (Scale.WAIT, "Mean wait in seconds under {}."),
    "waits.{}.median": (Scale.WAIT, "Median wait in seconds under {}."),
    "waits.{}.p95": (Scale.WAIT, "95th percentile of waits in seconds under {}."),
    **{
        f"waits.{{}}.by_size.{name}": (
            Scale.WAIT,
            f"Mean wait in seconds under {{}} of jobs on up to {name} of the machine, 30 at least.",
        )
        for name in SIZES
    },
    "slowdown.{}.mean": (Scale.RATIO, "Mean bounded slowdown (of at least 10 s) under {}."),
    "slowdown.{}.median": (Scale.RATIO, "Median bounded slowdown under {}."),
    "slowdown.{}.p95": (Scale.RATIO, "95th percentile of bounded slowdowns under {}."),
    "queue.{}.cv": (Scale.DIFFERENCE, "Coefficient of variation of the jobs waiting, by hour, under {}."),
    "queue.{}.acf24": (Scale.DIFFERENCE, "Autocorrelation of the jobs waiting at 24 hours under {}."),
    "queue.{}.acf168": (Scale.DIFFERENCE, "Autocorrelation of the jobs waiting at 168 hours under {}."),
}
"""Numbers of a replay: how each is compared, and its definition."""

OVER_EASY: Final = "Mean bounded slowdown under {} over that under EASY."


def left_out(*workloads: Numbers) -> frozenset[str]:
    """Return the keys of policies, with their loads, that are left out of any of some workloads."""
    return frozenset(key for found in workloads for key in found if key.startswith(LEFT_OUT.format("")))


def numbers(
    workload: JobArrays, policies: Sequence[str] = (), but: Collection[str] = frozenset()
) -> dict[str, float]:
    """
    Return the numbers of a workload by their keys; *policies* are further ones, of one's own.

    Those that are left out of what it is compared with (*but*, see `left_out`) are not replayed. A workload
    whose jobs are all submitted at once, or that has no work, has no numbers. Raise `SimulationError` for
    what a policy of one's own does wrong.
    """
    load = offered_load(workload)
    if not load > 0:
        return {}
    called = {**POLICIES, **{name: name for name in policies}}
    found = {REQUESTS: float((workload.requested > 0).mean()), **dict(_as_it_is(workload, load))}
    for wanted in LOADS:
        for name, policy in called.items():
            unused = key(LEFT_OUT.format(name), wanted)
            replayed = None if unused in but else replay(workload, wanted, policy)
            if replayed is None:
                found[unused] = 1.0
                continue
            found |= {key(one.format(name), wanted): value for one, value in _replayed(workload, replayed)}
        easy = found[key(f"slowdown.{EASY}.mean", wanted)]
        found |= {
            key(f"policies.{name}_over_easy", wanted): found[mean] / easy
            for name in called
            if name != EASY and (mean := key(f"slowdown.{name}.mean", wanted)) in found
        }
    return {name: value for name, value in found.items() if math.isfinite(value)}


def _as_it_is(workload: JobArrays, load: float) -> Iterator[tuple[str, float]]:
    yield "load.kept", load
    yield "weeks.jobs_cv", _variation(_by_period(workload, WEEK, np.ones(len(workload))))
    yield "weeks.work_cv", _variation(_by_period(workload, WEEK, work(workload)))
    yield "days.work_cv", _variation(_by_period(workload, DAY, work(workload)))


def _by_period(workload: JobArrays, length: float, amounts: Floats) -> Floats:
    """Return *amounts* of jobs by whole periods from the first submission; none of fewer than six weeks."""
    since = workload.submit - workload.submit[0]
    whole = int(since[-1] // length)
    if since[-1] < MINIMUM_WEEKS * WEEK or whole > MAXIMUM_PERIODS:
        return np.empty(0)
    sums = np.bincount((since // length).astype(np.int64), amounts, whole)
    return np.asarray(sums[:whole], np.float64)


def _replayed(workload: JobArrays, found: Replay) -> Iterator[tuple[str, float]]:
    """Yield the numbers of a replay under the ids of `REPLAYED`."""
    for name, values in (("waits", found.wait), ("slowdown", found.slowdown)):
        median, p95 = np.quantile(values, (0.5, 0.95))
        yield f"{name}.{{}}.mean", float(values.mean())
        yield f"{name}.{{}}.median", float(median)
        yield f"{name}.{{}}.p95", float(p95)
    share, below = found.jobs.procs / workload.cpus, 0.0
    for name, top in SIZES.items():
        of_class = (share > below) & (share <= top)
        if np.count_nonzero(of_class) >= MINIMUM_CLASS:
            yield f"waits.{{}}.by_size.{name}", float(found.wait[of_class].mean())
        below = top
    queue = found.queue()
    yield "queue.{}.cv", _variation(queue)
    yield "queue.{}.acf24", _autocorrelation(queue, 24)
    yield "queue.{}.acf168", _autocorrelation(queue, 168)


def _variation(values: Floats) -> float:
    """Return the coefficient of variation, nan without values or where their mean is 0."""
    return float(values.std() / values.mean()) if values.any() else math.nan


def _autocorrelation(values: Floats, lag: int) -> float:
    """Return the sample autocorrelation at a lag, nan where values do not vary or are too few."""
    deviations = values - values.mean() if values.size > lag else np.zeros(1)
    variance = float(deviations @ deviations)
    return float(deviations[:-lag] @ deviations[lag:]) / variance if variance > 0 else math.nan
