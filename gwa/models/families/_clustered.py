"""Clusters of run times: mixtures of normal distributions, and the label that they give each job."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Final, Self

import numpy as np

from gwa.errors import ModelError
from gwa.metrics.papers.minh2010 import YEAR_2009, JobSelection, labels, repetitions
from gwa.models.arrival_process import Arrivals
from gwa.models.base import Model
from gwa.models.parameters import Parameters, Quantity, positive, share
from gwa.statistics.mixture import GaussianMixture, of_seconds, select
from gwa.statistics.sample import Floats, Ints, Sample
from gwa.store.schema import LONGEST
from gwa.store.store import Store

MOST: Final = 9
"""The number of clusters is chosen up to this one, as MCLUST does."""


@dataclass(frozen=True)
class RunTimeCluster(Parameters):
    """
    One cluster of run times, which are normal, and the processors of its jobs.

    As printed, a run time below 0 is possible, up to 16 % of a log; it counts as 0. A label of parallelism is
    drawn by its share among the jobs of the cluster, then a size by its share in the label: together, a size
    by its share among the jobs of the cluster.
    """

    weight: Annotated[float, share("of the mixture")]
    mean: Annotated[float, Quantity("mean run time", "s", -LONGEST, LONGEST)]
    sigma: Annotated[float, positive("standard deviation of run times", "s")]
    procs: Annotated[tuple[int, ...], Quantity("sizes", "processors", 1.0, 1e9)]
    jobs: Annotated[tuple[int, ...], Quantity("jobs of each size", "", 1.0)]

    def check(self) -> None:
        """Refuse sizes without their numbers of jobs."""
        if not len(self.procs) == len(self.jobs) > 0:
            raise ModelError("procs and jobs have different lengths, expected one of each for a size")


class RunTimeClusters:
    """Clusters laid out as arrays."""

    def __init__(self, clusters: Sequence[RunTimeCluster]) -> None:
        self.clusters = clusters

    @cached_property
    def mixture(self) -> GaussianMixture:
        """The mixture of all run times."""
        total = sum(one.weight for one in self.clusters)
        columns = [(one.weight / total, one.mean, one.sigma) for one in self.clusters]
        return GaussianMixture(*zip(*columns, strict=True))

    @cached_property
    def _sizes(self) -> tuple[Floats, Ints]:
        """Where the share of each size ends, a unit for each cluster, and the processors."""
        shares = [np.cumsum(one.jobs) / sum(one.jobs) + place for place, one in enumerate(self.clusters)]
        procs = np.concatenate([one.procs for one in self.clusters]).astype(np.int64)
        return np.concatenate(shares), procs

    def labels(self, rng: np.random.Generator, n: int) -> Ints:
        """Return *n* labels, by the weights of the mixture."""
        return rng.choice(len(self.clusters), size=n, p=self.mixture.weights).astype(np.int64)

    def run_times(self, rng: np.random.Generator, label: Ints) -> Floats:
        """Return a run time for each label, in whole seconds."""
        found = rng.normal(np.array(self.mixture.means)[label], np.array(self.mixture.sigmas)[label])
        return np.clip(np.rint(found), 0.0, LONGEST)

    def procs(self, rng: np.random.Generator, label: Ints) -> Ints:
        """Return processors for each label."""
        ends, procs = self._sizes
        place = np.searchsorted(ends, label + rng.random(label.size), side="right")
        last = np.searchsorted(ends, label + 1.0 - 1e-9)
        return procs[np.minimum(place, last)]


@dataclass(frozen=True, kw_only=True)
class Clustered(Model):
    """A model, as printed, whose jobs come from clusters."""

    arrivals: Arrivals
    clusters: tuple[RunTimeCluster, ...]

    def check(self) -> None:
        """Refuse clusters that are not all jobs."""
        total = sum(one.weight for one in self.clusters)
        if abs(total - 1) > 0.002:
            raise ModelError(f"clusters have weights that add up to {total:g}, expected 1")

    @cached_property
    def laid_out(self) -> RunTimeClusters:
        """The clusters as arrays."""
        return RunTimeClusters(self.clusters)

    def paced(self, factor: float) -> Self:
        """Return the model with times between arrivals that are *factor* times as long."""
        return replace(self, arrivals=self.arrivals.paced(factor))

    def within(self, cpus: int) -> Self:
        """Return the model without jobs of more than *cpus* processors."""
        return replace(self, clusters=smaller(self.clusters, cpus))


def raw(times: Sample) -> GaussianMixture:
    """Return the mixture of run times on their own scale, components as narrow as seconds allow."""
    return select(times, range(1, MOST + 1), floor=1e-9, width=np.ones_like).best


def smaller(clusters: Sequence[RunTimeCluster], cpus: int) -> tuple[RunTimeCluster, ...]:
    """Return clusters without sizes above *cpus*; raise `ModelError` where a cluster has no other."""
    found = []
    for one in clusters:
        sizes = [(procs, jobs) for procs, jobs in zip(one.procs, one.jobs, strict=True) if procs <= cpus]
        if not sizes:
            raise ModelError(f"cpus is {cpus}, expected at least {min(one.procs)}, or jobs are too large")
        found.append(RunTimeCluster(one.weight, one.mean, one.sigma, *map(tuple, zip(*sizes, strict=True))))
    return tuple(found)


@dataclass(frozen=True)
class Labelled:
    """
    Jobs with the label of the cluster that their run time most probably comes from.

    The *table* has ``submit_time``, ``job_id``, ``run_time`` in whole seconds, ``n_procs`` and ``label``.
    """

    mixture: GaussianMixture
    table: str

    @classmethod
    def of(cls, store: Store, selection: JobSelection = YEAR_2009, *, logarithm: bool) -> Self:
        """Return the jobs of a *selection* with clusters of run times, of ln(1 + x) if *logarithm*."""
        seconds = "round(run_time)"
        times = store.sample(seconds, selection.jobs)
        mixture = of_seconds(times, range(1, MOST + 1)).best if logarithm else raw(times)
        label = labels(seconds, mixture, times, np.log1p if logarithm else None)
        table = store.keep(
            f"labelled_{selection.name}_{'log' if logarithm else 'raw'}",
            f"select submit_time, job_id, {seconds} as run_time, procs as n_procs, {label} as label"
            f" from {selection.jobs}",
        )
        return cls(mixture, table)

    def rows(self, store: Store, column: str) -> Sample:
        """Return how many jobs in a row, in the order of submission, have the same value in *column*."""
        return repetitions(store, column, self.table)

    def clusters(self, store: Store, procs: str = "n_procs") -> tuple[RunTimeCluster, ...]:
        """
        Return the clusters, with sizes by the expression *procs*.

        As printed, the weights are those of the mixture, not the shares of labels; a component that no job
        most probably comes from, for which the papers have no processors, has those of all jobs.
        """
        found: dict[int, list[tuple[int, int]]] = {}
        for label in ("-1", "label"):
            for place, size, n in store.rows(
                f"select {label} as place, {procs} as size, count(*) as n from {self.table}"
                " group by place, size order by place, size"
            ):
                found.setdefault(place, []).append((int(size), n))
        columns = zip(self.mixture.weights, self.mixture.means, self.mixture.sigmas, strict=True)
        return tuple(
            RunTimeCluster(*one, *map(tuple, zip(*found.get(label, found[-1]), strict=True)))
            for label, one in enumerate(columns)
        )
