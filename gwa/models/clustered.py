"""Clusters of run times: mixtures of normal distributions, and the label of each job."""

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
from gwa.store.schema import MAXIMUM_DURATION
from gwa.store.store import Store

MAXIMUM_CLUSTERS: Final = 9
"""Maximum number of clusters, as in MCLUST."""


@dataclass(frozen=True)
class RunTimeCluster(Parameters):
    """
    One cluster of run times, which are normal, and the processors of its jobs.

    As printed, run times below 0 are possible, up to 16 % of a log; they count as 0. The papers draw a label
    of parallelism by its share of the jobs of the cluster, then a size by its share of the label: together, a
    size by its share of the jobs of the cluster.
    """

    weight: Annotated[float, share("of the mixture")]
    mean: Annotated[float, Quantity("mean run time", "s", -MAXIMUM_DURATION, MAXIMUM_DURATION)]
    sigma: Annotated[float, positive("standard deviation of run times", "s")]
    procs: Annotated[tuple[int, ...], Quantity("sizes", "processors", 1.0, 1e9)]
    jobs: Annotated[tuple[int, ...], Quantity("jobs of each size", "", 1.0)]

    def check(self) -> None:
        """Refuse sizes without their numbers of jobs."""
        if not len(self.procs) == len(self.jobs) > 0:
            raise ModelError("procs and jobs have different lengths, expected one of each for a size")


class RunTimeClusters:
    """Clusters as arrays, for drawing run times and processors of given labels."""

    def __init__(self, clusters: Sequence[RunTimeCluster]) -> None:
        self.clusters = clusters

    @cached_property
    def mixture(self) -> GaussianMixture:
        """The mixture of all run times."""
        total = sum(cluster.weight for cluster in self.clusters)
        columns = [(cluster.weight / total, cluster.mean, cluster.sigma) for cluster in self.clusters]
        return GaussianMixture(*zip(*columns, strict=True))

    @cached_property
    def _sizes(self) -> tuple[Floats, Ints]:
        """Where the share of each size ends on a line with length 1 for each cluster, and the processors."""
        shares = [np.cumsum(each.jobs) / sum(each.jobs) + label for label, each in enumerate(self.clusters)]
        procs = np.concatenate([cluster.procs for cluster in self.clusters]).astype(np.int64)
        return np.concatenate(shares), procs

    def labels(self, rng: np.random.Generator, n: int) -> Ints:
        """Draw *n* labels by the weights of the mixture."""
        return rng.choice(len(self.clusters), size=n, p=self.mixture.weights).astype(np.int64)

    def run_times(self, rng: np.random.Generator, label: Ints) -> Floats:
        """Draw a run time for each label, in whole seconds."""
        seconds = rng.normal(np.array(self.mixture.means)[label], np.array(self.mixture.sigmas)[label])
        return np.clip(np.rint(seconds), 0.0, MAXIMUM_DURATION)

    def procs(self, rng: np.random.Generator, label: Ints) -> Ints:
        """Draw processors for each label."""
        ends, procs = self._sizes
        size = np.searchsorted(ends, label + rng.random(label.size), side="right")
        last = np.searchsorted(ends, label + 1.0 - 1e-9)
        return procs[np.minimum(size, last)]


@dataclass(frozen=True, kw_only=True)
class Clustered(Model):
    """A model, as printed, whose jobs come from clusters."""

    arrivals: Arrivals
    clusters: tuple[RunTimeCluster, ...]

    def check(self) -> None:
        """Refuse clusters whose weights do not add up to 1."""
        total = sum(cluster.weight for cluster in self.clusters)
        if abs(total - 1) > 0.002:
            raise ModelError(f"clusters have weights that add up to {total:g}, expected 1")

    @cached_property
    def sampler(self) -> RunTimeClusters:
        """The clusters as arrays."""
        return RunTimeClusters(self.clusters)

    def limit_processors(self, cpus: int) -> Self:
        """Return the model without sizes above *cpus*; raise `ModelError` if a cluster has no others."""
        limited = []
        for cluster in self.clusters:
            sizes = [pair for pair in zip(cluster.procs, cluster.jobs, strict=True) if pair[0] <= cpus]
            if not sizes:
                raise ModelError(
                    f"cpus is {cpus}, expected at least {min(cluster.procs)}, or jobs are too large"
                )
            procs, jobs = zip(*sizes, strict=True)
            limited.append(replace(cluster, procs=procs, jobs=jobs))
        return replace(self, clusters=tuple(limited))


@dataclass(frozen=True)
class LabelledJobs:
    """
    Jobs, each with the label of the most probable cluster of its run time.

    The *table* has ``submit_time``, ``job_id``, ``run_time`` in whole seconds, ``n_procs`` and ``label``.
    """

    mixture: GaussianMixture
    table: str

    @classmethod
    def of(cls, store: Store, selection: JobSelection = YEAR_2009, *, logarithm: bool) -> Self:
        """Label the jobs of a *selection* by clusters of run times, of ln(1 + x) if *logarithm*."""
        seconds = "round(run_time)"
        times = store.sample(seconds, selection.jobs)
        k = range(1, MAXIMUM_CLUSTERS + 1)
        # Without logarithm, components are as narrow as the resolution of seconds.
        fits = of_seconds(times, k) if logarithm else select(times, k, floor=1e-9, width=np.ones_like)
        mixture = fits.best
        label = labels(seconds, mixture, times, np.log1p if logarithm else None)
        table = store.keep(
            f"labelled_{selection.name}_{'log' if logarithm else 'raw'}",
            f"select submit_time, job_id, {seconds} as run_time, procs as n_procs, {label} as label"
            f" from {selection.jobs}",
        )
        return cls(mixture, table)

    def row_lengths(self, store: Store, column: str) -> Sample:
        """Return the lengths of rows of consecutive jobs with the same value in *column*."""
        return repetitions(store, column, self.table)

    def clusters(self, store: Store, procs: str = "n_procs") -> tuple[RunTimeCluster, ...]:
        """
        Return the clusters, with sizes by the SQL expression *procs*.

        As printed, the weights are those of the mixture, not the shares of labels. A component without jobs,
        for which the papers have no processors, gets those of all jobs.
        """
        all_jobs = -1
        sizes: dict[int, list[tuple[int, int]]] = {}
        for label in (str(all_jobs), "label"):
            for cluster, size, n in store.rows(
                f"select {label} as cluster, {procs} as size, count(*) as n from {self.table}"
                " group by cluster, size order by cluster, size"
            ):
                sizes.setdefault(cluster, []).append((int(size), n))
        columns = zip(self.mixture.weights, self.mixture.means, self.mixture.sigmas, strict=True)
        return tuple(
            RunTimeCluster(*column, *map(tuple, zip(*sizes.get(label, sizes[all_jobs]), strict=True)))
            for label, column in enumerate(columns)
        )
