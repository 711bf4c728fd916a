"""The model of Da Costa, Grange and de Courchelle (2018): classes of tasks in a cloud."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Final, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gwa.errors import ModelError
from gwa.models.arrival_process import Arrivals
from gwa.models.arrivals.bursts import Bursts
from gwa.models.bag_streams import split_blocks
from gwa.models.base import Model
from gwa.models.parameters import Parameters, Quantity, positive, share
from gwa.models.streams import Block
from gwa.statistics.distribution import FitError
from gwa.statistics.distributions import Lognormal
from gwa.statistics.kmeans import kmeans, silhouettes
from gwa.statistics.sample import Floats, Sample
from gwa.statistics.search import root
from gwa.store.schema import MAXIMUM_DURATION
from gwa.store.store import Store

ClassIndices: TypeAlias = NDArray[np.intp]
"""The index of the class of each task."""

SCHEDULING_CLASSES: Final = 4
MAXIMUM_CLASSES: Final = 4
MINIMUM_SHARE: Final = 0.01
"""Minimum share of the tasks with a status for a class of its own."""

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
    def fit(cls, run_times: Sample, total: int, rate: float | None, status: int | None) -> Self:
        """Fit a class to the *run_times* of its tasks among a *total* of tasks, by maximum likelihood."""
        lognormal = Lognormal.fit(run_times)
        half = lognormal.sigma**2 / 2
        return cls(run_times.n / total, math.exp(lognormal.mu + half), math.exp(half), rate, status)


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
    longest: Annotated[float, Quantity("longer run times are cut to this", "s", 1.0, MAXIMUM_DURATION)] = (
        MAXIMUM_DURATION
    )

    name = "dacosta"
    title = "Da Costa, Grange and de Courchelle 2018"
    source = (
        "G. Da Costa, L. Grange and I. de Courchelle, Modeling, classifying and generating large-scale"
        " Google-like workload, Sustainable Computing: Informatics and Systems 19 (2018)"
    )
    needs = ("submit_time", "run_time")

    def check(self) -> None:
        """Refuse classes whose frequencies do not add up to 1."""
        total = math.fsum(each.frequency for each in self.classes)
        if abs(total - 1) > 0.002:
            raise ModelError(f"classes have frequencies that add up to {total:g}, expected 1")

    @classmethod
    def estimate(cls, store: Store) -> Self:
        """Fit the model to the jobs that ran for one second or more."""
        run_times = store.sample("run_time", "ran").restrict(low=1.0)
        by_status = _split_by_status(store)
        samples = by_status if len(by_status) > 1 else _split_by_cluster(run_times)
        total = sum(sample.n for sample, _ in samples)
        rate = _fit_rate(store)
        classes = tuple(TaskClass.fit(sample, total, rate, status) for sample, status in samples)
        return cls(Bursts.fit(store, "ran"), classes, run_times.max())

    def blocks(self, rng: np.random.Generator) -> Iterator[Block]:
        """Yield an endless stream of tasks in the order of submission."""
        when, what = rng.spawn(2)
        for times in split_blocks(self.arrivals.times(when)):
            kind = self._draw_classes(what, times.size)
            mean, sigma = (self._column(name)[kind] for name in ("log_mean", "log_sigma"))
            run_time = np.exp(np.minimum(mean + sigma * what.standard_normal(times.size), 100.0))
            block: Block = {
                "submit_time": times,
                "run_time": np.minimum(np.maximum(np.rint(run_time), 1.0), np.floor(self.longest)),
                "n_procs": np.ones(times.size, np.int64),
                "executable_id": kind + 1,
            }
            yield block | self._draw_queues(what, kind) | self._status(kind)

    def _draw_classes(self, rng: np.random.Generator, n: int) -> ClassIndices:
        """Draw the classes of *n* tasks."""
        edges = np.cumsum([each.frequency for each in self.classes])
        return np.searchsorted(edges[:-1] / edges[-1], rng.random(n), side="right")

    def _column(self, name: str) -> Floats:
        """Return the number *name* of each class, nan if it is not given."""
        numbers = [getattr(each, name) for each in self.classes]
        return np.array([math.nan if number is None else number for number in numbers], np.float64)

    def _draw_queues(self, rng: np.random.Generator, kind: ClassIndices) -> Block:
        """Draw the scheduling class of each task as its queue, if the classes have a rate."""
        rate = self._column("rate")
        if np.isnan(rate).any():
            return {}
        draw = -np.log1p(rng.random(kind.size) * np.expm1(-rate[kind])) / rate[kind]
        return {
            "queue_id": np.minimum(np.floor(draw * SCHEDULING_CLASSES), SCHEDULING_CLASSES - 1).astype(
                np.int64
            )
        }

    def _status(self, kind: ClassIndices) -> Block:
        """Return the status of each task, if the classes have one."""
        status = self._column("status")
        return {} if np.isnan(status).any() else {"status": status[kind].astype(np.int64)}

    def limit_processors(self, cpus: int) -> Self:
        """Return the model itself: every task has one processor."""
        del cpus
        return self


def _split_by_status(store: Store) -> list[tuple[Sample, int | None]]:
    """Return the run times and the status of completed and of stopped tasks, if there are enough of them."""
    samples = {
        status: store.sample("run_time", f"(select * from ran where status = {status:g}) as ended").restrict(
            low=1.0
        )
        for status in (COMPLETED, STOPPED)
    }
    total = sum(sample.n for sample in samples.values())
    return [
        (sample, int(status))
        for status, sample in samples.items()
        if sample.n > MINIMUM_SHARE * total and sample.values.size > 1
    ]


def _fit_rate(store: Store) -> float | None:
    """Fit the rate of scheduling classes by maximum likelihood; None if the queues are not 0 to 3."""
    counts = dict(store.rows("select queue_id, count(*) as n from ran group by queue_id order by queue_id"))
    if counts.keys() != set(map(str, range(SCHEDULING_CLASSES))):
        return None
    quarter = np.arange(SCHEDULING_CLASSES)
    excess = quarter - np.average(quarter, weights=[counts[str(number)] for number in quarter])
    # The ratio of each quarter to the quarter before is the same, and less than 1.
    if not float(excess.sum()) > 0:
        return None
    ratio = root(lambda ratio: float((excess * ratio**quarter).sum()), 0.0, 1.0)
    return -SCHEDULING_CLASSES * math.log(ratio)


def _split_by_cluster(run_times: Sample) -> list[tuple[Sample, int | None]]:
    """Return the run times of each cluster of their logarithms; the silhouette decides how many there are."""
    values, counts = run_times.values, run_times.counts
    if values.size <= MAXIMUM_CLASSES:
        raise FitError("run_time: {values} different ones from 1 s on are not classes", values=values.size)
    points = np.log(values)
    labellings = [kmeans(points, k, counts).labels for k in range(2, MAXIMUM_CLASSES + 1)]
    widths = silhouettes(points, labellings, counts)
    labels = labellings[widths.index(max(widths))]
    clusters = [Sample(values[labels == label], counts[labels == label]) for label in np.unique(labels)]
    varied = [cluster for cluster in clusters if cluster.values.size > 1]
    return [(cluster, None) for cluster in varied] if varied else [(run_times, None)]
