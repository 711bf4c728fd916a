"""The model of Da Costa, Grange and de Courchelle (2018): classes of tasks in a cloud."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Final, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from gwa.errors import ModelError
from gwa.models.arrival_process import Arrivals
from gwa.models.arrivals.bursts import Bursts
from gwa.models.bag_streams import pieces
from gwa.models.base import Model
from gwa.models.parameters import Parameters, Quantity, positive, share
from gwa.models.streams import Block
from gwa.statistics.distribution import FitError
from gwa.statistics.distributions import Lognormal
from gwa.statistics.kmeans import kmeans, silhouette
from gwa.statistics.sample import Floats, Sample
from gwa.store.schema import LONGEST
from gwa.store.store import Store

Places: TypeAlias = NDArray[np.intp]
"""The place of the class of each task."""

SCHEDULING_CLASSES: Final = 4
MOST_CLASSES: Final = 4
LEAST_SHARE: Final = 0.01
"""A way to end is a class of its own where so many tasks end in it."""

COMPLETED, STOPPED = 1.0, 5.0


@dataclass(frozen=True)
class TaskClass(Parameters):
    """
    A class of tasks: how many there are, and their run times, which are lognormal.

    The run time has mean *mass* and median *mass* / *disparity*, so that sigma is sqrt(2 ln *disparity*).
    Tasks are in one of four scheduling classes, the quarters of an exponential of *rate* cut off at 1. The
    paper calls it priority and never gives the rate; 7.3 gives the shares of its table 3. *status* is how
    tasks of the class end.
    """

    frequency: Annotated[float, share("of tasks in this class")]
    mass: Annotated[float, positive("mean run time", "s")]
    disparity: Annotated[float, Quantity("mean over median of run times", "", 1.0)]
    rate: Annotated[float | None, positive("rate of the truncated exponential of scheduling classes")] = None
    status: Annotated[int | None, Quantity("1 completed, 0 failed, 5 cancelled", "", 0.0, 5.0)] = None

    @property
    def log_mean(self) -> float:
        """The mean of ln(run time), the logarithm of the median."""
        return math.log(self.mass / self.disparity)

    @property
    def log_sigma(self) -> float:
        """The standard deviation of ln(run time)."""
        return math.sqrt(2 * math.log(self.disparity))

    @classmethod
    def of(cls, run_times: Sample, total: int, rate: float | None, status: int | None) -> Self:
        """Return the class of the most likely lognormal of *run_times*, of a *total* of tasks."""
        found = Lognormal.fit(run_times)
        half = found.sigma**2 / 2
        return cls(run_times.n / total, math.exp(found.mu + half), math.exp(half), rate, status)


@dataclass(frozen=True)
class DaCosta(Model):
    """
    Classes of tasks on one processor each, that arrive in bursts.

    As printed, tasks arrive one by one, with Pareto gaps. A trace that records how its tasks ended
    is fitted with the paper's two classes, tasks that finished and services that were stopped; any other
    with the classes that k-means finds among the logarithms of run times, two to four by silhouette. Where
    queues are 0 to 3, as those of this model are, they count as scheduling classes.
    """

    arrivals: Arrivals
    classes: tuple[TaskClass, ...]
    longest: Annotated[float, Quantity("longer run times are cut to this", "s", 1.0, LONGEST)] = LONGEST

    name = "dacosta"
    title = "Da Costa, Grange and de Courchelle 2018"
    source = (
        "G. Da Costa, L. Grange and I. de Courchelle, Modeling, classifying and generating large-scale"
        " Google-like workload, Sustainable Computing: Informatics and Systems 19 (2018)"
    )
    needs = ("submit_time", "run_time")

    def check(self) -> None:
        """Refuse classes that are not all tasks."""
        total = math.fsum(one.frequency for one in self.classes)
        if abs(total - 1) > 0.002:
            raise ModelError(f"classes have frequencies that add up to {total:g}, expected 1")

    @classmethod
    def fitted(cls, store: Store) -> Self:
        """Return the model of the jobs that ran for a second or more."""
        every = store.sample("run_time", "ran").restrict(low=1.0)
        ended = _ended(store)
        found = ended if len(ended) > 1 else _clusters(every)
        total = sum(sample.n for sample, _ in found)
        rate = _rate(store)
        classes = tuple(TaskClass.of(sample, total, rate, status) for sample, status in found)
        return cls(Bursts.fit(store), classes, every.max())

    def blocks(self, rng: np.random.Generator) -> Iterator[Block]:
        """Yield tasks in the order of submission, without end."""
        when, what = rng.spawn(2)
        for times in pieces(self.arrivals.times(when)):
            kind = self._kinds(what, times.size)
            mean, sigma = (self._column(name)[kind] for name in ("log_mean", "log_sigma"))
            run_time = np.exp(np.minimum(mean + sigma * what.standard_normal(times.size), 100.0))
            block: Block = {
                "submit_time": times,
                "run_time": np.minimum(np.maximum(np.rint(run_time), 1.0), np.floor(self.longest)),
                "n_procs": np.ones(times.size, np.int64),
                "executable_id": kind + 1,
            }
            yield block | self._scheduling(what, kind) | self._status(kind)

    def _kinds(self, rng: np.random.Generator, n: int) -> Places:
        """Return the places of classes in their list."""
        edges = np.cumsum([one.frequency for one in self.classes])
        return np.searchsorted(edges[:-1] / edges[-1], rng.random(n), side="right")

    def _column(self, name: str) -> Floats:
        """Return a number of each class; nan where it is not given."""
        numbers = [getattr(one, name) for one in self.classes]
        return np.array([math.nan if number is None else number for number in numbers], np.float64)

    def _scheduling(self, rng: np.random.Generator, kind: Places) -> Block:
        """Return the scheduling class of each task as its queue, where the classes have a rate."""
        rate = self._column("rate")
        if np.isnan(rate).any():
            return {}
        draw = -np.log1p(rng.random(kind.size) * np.expm1(-rate[kind])) / rate[kind]
        return {
            "queue_id": np.minimum(np.floor(draw * SCHEDULING_CLASSES), SCHEDULING_CLASSES - 1).astype(
                np.int64
            )
        }

    def _status(self, kind: Places) -> Block:
        """Return how each task ends, where the classes say."""
        status = self._column("status")
        return {} if np.isnan(status).any() else {"status": status[kind].astype(np.int64)}

    def paced(self, factor: float) -> Self:
        """Return the model with times between arrivals that are *factor* times as long."""
        return replace(self, arrivals=self.arrivals.paced(factor))

    def within(self, cpus: int) -> Self:
        """Return the model itself: every task has one processor."""
        del cpus
        return self


def _ended(store: Store) -> list[tuple[Sample, int | None]]:
    """Return the run times of tasks that completed, and of those that were stopped, where they are enough."""
    found: list[tuple[Sample, int | None]] = []
    samples = {
        status: store.sample("run_time", f"(select * from ran where status = {status:g}) as ended").restrict(
            low=1.0
        )
        for status in (COMPLETED, STOPPED)
    }
    total = sum(sample.n for sample in samples.values())
    for status, sample in samples.items():
        if sample.n > LEAST_SHARE * total and sample.values.size > 1:
            found.append((sample, int(status)))
    return found


def _rate(store: Store) -> float | None:
    """Return the most likely rate of scheduling classes, None where the queues are no such classes."""
    counts = dict(store.rows("select queue_id, count(*) as n from ran group by queue_id order by queue_id"))
    if counts.keys() != set(map(str, range(SCHEDULING_CLASSES))):
        return None
    place = np.arange(SCHEDULING_CLASSES)
    excess = place - np.average(place, weights=[counts[str(one)] for one in place])
    # Each quarter has the same part of the one before it, less than all of it.
    if not float(excess.sum()) > 0:
        return None
    part = brentq(lambda part: float((excess * part**place).sum()), 0.0, 1.0)
    return -SCHEDULING_CLASSES * math.log(part)


def _clusters(every: Sample) -> list[tuple[Sample, int | None]]:
    """Return the run times of the clusters of their logarithms, as many as have the greatest silhouette."""
    if every.values.size <= MOST_CLASSES:
        raise FitError(f"run_time: {every.values.size} different ones from 1 s on are no classes")
    points = np.log(every.values)
    tried = [kmeans(points, k, every.counts).labels for k in range(2, MOST_CLASSES + 1)]
    labels = max(tried, key=lambda labels: silhouette(points, labels, every.counts))
    parts = [Sample(every.values[labels == one], every.counts[labels == one]) for one in np.unique(labels)]
    several = [part for part in parts if part.values.size > 1]
    return [(part, None) for part in several] if several else [(every, None)]
