"""
What Da Costa, Grange and de Courchelle measure of a cloud's tasks: endings, priorities, make-spans, clusters.

Source: G. Da Costa, L. Grange, I. de Courchelle, a Google-like workload model (2018), tables 1 to 9. Their
tasks are those of exactly three events: submitted, started, ended. A make-span runs from the start to the
end. The functions take a table of tasks with the columns ``ending``, ``class``, ``priority`` and ``makespan``
in seconds, such as `JOBS`; a trace records neither the events nor the scheduling class of a task.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from gwa.statistics.kmeans import elbow, kmeans, silhouettes, standardised
from gwa.statistics.sample import Floats, Ints, Sample
from gwa.store.store import Store

GROUPS: Final = {"free": (0, 1), "normal": (2, 8), "production": (9, 10), "monitoring": (11, 12)}
"""The priorities of each group, first and last (table 5); monitoring is apart from production."""

MAXIMUM_CLUSTERS: Final = 6

MAXIMUM_POINTS: Final = 5_000
"""Of more different tasks, as many as this are drawn at random (seed 2018)."""

JOBS: Final = """(
select status as ending, run_time as makespan, n_procs as processors,
    try_cast(case when queue_id like 'P%' then substr(queue_id, 2) end as integer) as priority
from ran where status is not null
) as tasks"""
"""The jobs that ran and whose ending is known, as tasks; a queue such as P9 is a priority."""


def shares(store: Store, column: str, tasks: str) -> dict[int, float]:
    """Return the share of the tasks at each value of a *column*: ending, class, priority (tables 2 to 4)."""
    sample = store.sample(column, tasks)
    return {int(value): float(share) for value, share in zip(sample.values, sample.weights, strict=True)}


def groups(priorities: dict[int, float]) -> dict[str, float]:
    """
    Return the share of each group of priorities (table 5).

    >>> groups({0: 0.25, 4: 0.5, 9: 0.25})
    {'free': 0.25, 'normal': 0.5, 'production': 0.25, 'monitoring': 0}
    """
    return {
        name: sum(share for value, share in priorities.items() if low <= value <= high)
        for name, (low, high) in GROUPS.items()
    }


def makespans(store: Store, tasks: str, ending: int, group: str = "") -> Sample:
    """Return the make-spans of the tasks of an *ending*, of all or of a *group* (tables 6, 7, figure 4)."""
    low, high = GROUPS.get(group, (None, None))
    of_group = f" and priority between {low} and {high}" if group else ""
    return store.sample(
        "makespan", f"(select makespan from {tasks} where ending = {ending}{of_group}) as ended"
    )


def disparity(sample: Sample) -> float:
    """Return mean over median, the paper's measure of how uneven make-spans are; nan where that is 0."""
    median = sample.median()
    return sample.mean() / median if median else math.nan


@dataclass(frozen=True)
class TaskCluster:
    """Tasks that are alike (tables 8 and 9): their *share*, the means of their columns, their disparity."""

    share: float
    means: tuple[float, ...]
    disparity: float


@dataclass(frozen=True)
class Clustering:
    """
    Tasks in clusters, for 1, 2, 3, … of them.

    *inertias* are the mean squared distances to the nearest centre, *silhouettes* the mean widths (nan for
    one cluster), *clusters* for each number of them the clusters, largest first; *elbow* is the number of
    clusters at which the inertias bend.
    """

    columns: tuple[str, ...]
    inertias: tuple[float, ...]
    silhouettes: tuple[float, ...]
    clusters: tuple[tuple[TaskCluster, ...], ...]

    @property
    def elbow(self) -> int:
        """The number of clusters at which more of them help little."""
        return elbow(self.inertias) + 1


def clustering(store: Store, tasks: str, columns: Sequence[str], endings: Sequence[int]) -> Clustering:
    """
    Return the tasks of some *endings* in clusters by make-span (whole seconds) and other *columns*.

    Columns have mean 0 and standard deviation 1: the paper does not say how it made them comparable, and its
    two clusters are not reproduced by any common way; the small one of very long tasks is by this.
    """
    names = ("makespan", *columns)
    selected = ", ".join(("cast(floor(makespan + 0.5) as double) as makespan", *columns))
    known = " and ".join(f"{name} is not null" for name in names)
    among, listed = ", ".join(map(str, endings)), ", ".join(names)
    counted = store.arrays(
        f"select {listed}, count(*) as n from (select {selected} from {tasks} where ending in ({among})) as t"
        f" where {known} group by {listed} order by {listed}"
    )
    points = np.stack([np.asarray(counted[name], np.float64) for name in names], axis=1)
    points, weights = _sample_points(points, np.asarray(counted["n"], np.int64))
    scaled = standardised(points, weights)
    runs = [kmeans(scaled, k, weights) for k in range(1, min(MAXIMUM_CLUSTERS, len(points)) + 1)]
    return Clustering(
        names,
        tuple(run.inertia / float(weights.sum()) for run in runs),
        tuple(silhouettes(scaled, [run.labels for run in runs], weights)),
        tuple(_clusters(points, weights, run.labels) for run in runs),
    )


def _sample_points(points: Floats, weights: Ints) -> tuple[Floats, Ints]:
    """Return at most `MAXIMUM_POINTS` of the tasks and how often each was drawn."""
    if len(points) <= MAXIMUM_POINTS:
        return points, weights
    rng = np.random.default_rng(2018)
    drawn = rng.multinomial(MAXIMUM_POINTS, weights / weights.sum())
    return points[drawn > 0], drawn[drawn > 0]


def _clusters(points: Floats, weights: Ints, labels: Ints) -> tuple[TaskCluster, ...]:
    total = float(weights.sum())
    clusters = []
    for label in range(int(labels.max()) + 1):
        tasks, counts = points[labels == label], weights[labels == label]
        if counts.size:
            means = tuple(
                float(value) for value in (counts[:, np.newaxis] * tasks).sum(axis=0) / counts.sum()
            )
            spans = Sample.weighted(tasks[:, 0], counts)
            clusters.append(TaskCluster(float(counts.sum()) / total, means, disparity(spans)))
    return tuple(clusters)
