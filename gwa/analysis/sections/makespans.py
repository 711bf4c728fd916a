"""How long jobs take by how they end and by priority, and which kinds of them there are."""

from collections.abc import Iterator
from typing import Final

from gwa.analysis.base import Chapter, analysis
from gwa.metrics.papers.dacosta2018 import (
    GROUPS,
    JOBS,
    Clustering,
    TaskCluster,
    clustering,
    disparity,
    groups,
    makespans,
    shares,
)
from gwa.report.document import Block, Fact, Facts, FactTable, Note, list_of
from gwa.report.facts import facts_of, number
from gwa.report.figures.lines import lines
from gwa.statistics.distribution import Distribution, FitError
from gwa.statistics.distributions import Lognormal
from gwa.statistics.goodness import ks
from gwa.statistics.pareto import Pareto
from gwa.statistics.sample import Sample
from gwa.store.schema import STATUS
from gwa.store.store import Store
from gwa.words.formatting import decimal
from gwa.words.message import joined, message

FITTED: Final[tuple[type[Distribution], ...]] = (Lognormal, Pareto)

MINIMUM_JOBS: Final = 30
"""Fewer jobs are neither fitted nor clustered."""

COLUMNS: Final = (
    message("Jobs"),
    message("Share"),
    message("Mean"),
    message("Median"),
    message("Mean over median"),
)

SHOWN_CLUSTERS: Final = (2, 4)
"""The numbers of clusters that the paper shows; those at the elbow are shown, too."""


@analysis(
    "Make-spans",
    Chapter.MODELLERS,
    facts=("makespan", "clusters", "priority", "fit.makespan"),
    needs=("run_time", "n_procs", "status"),
    order=5,
)
def spans(store: Store) -> Iterator[Block]:
    """
    How long jobs ran by how they ended and, where queues are priorities, by group of priority.

    Da Costa et al. (2018) describe a cloud's tasks so: mean over median, their disparity, is 1 for an even
    spread and large where few jobs take most of the time; a lognormal and a Pareto distribution are fitted to
    the times above 0. Clusters are those of k-means by make-span and priority (or processors), each of mean 0
    and standard deviation 1: the silhouette is near 1 for tight, distant ones, and the elbow is the number
    from which on more of them help little. Of jobs that ran and whose ending is known.
    """
    ended = {name: makespans(store, JOBS, code) for code, name in STATUS.items()}
    ended = {name: sample for name, sample in ended.items() if sample.n}
    if not ended:
        yield Note("No job that ran has a known ending.")
        return
    total = sum(sample.n for sample in ended.values())
    yield FactTable(
        "makespans",
        "Make-span by ending",
        COLUMNS,
        tuple((name, _facts(f"makespan.{name}", sample, total)) for name, sample in ended.items()),
    )
    yield from _fit_table(ended)
    priorities = shares(store, "priority", JOBS)
    if priorities:
        yield from _priority_groups(store, priorities)
    if total >= MINIMUM_JOBS:
        column = "priority" if priorities else "processors"
        yield from _clusters(clustering(store, JOBS, (column,), tuple(STATUS)))


def _facts(prefix: str, sample: Sample, total: int) -> tuple[Fact, ...]:
    """Return the facts of one kind of jobs."""
    label = prefix.removeprefix("makespan.").replace(".", ", ")
    return facts_of(
        prefix,
        ("count", sample.n, message("Jobs: {label}", label=label), "count"),
        ("share", sample.n / total, message("Share of the jobs: {label}", label=label), "fraction"),
        ("mean", number(sample.mean()), message("Mean make-span: {label}", label=label), "seconds"),
        ("median", number(sample.median()), message("Median make-span: {label}", label=label), "seconds"),
        ("disparity", number(disparity(sample)), message("Mean over median: {label}", label=label), ""),
    )


def _fit_table(ended: dict[str, Sample]) -> Iterator[Block]:
    """Yield the lognormal and the Pareto fit of each ending."""
    rows = []
    for name, sample in ended.items():
        positive = sample.restrict(above=0.0)
        facts: list[Fact] = []
        try:
            for distribution in FITTED if positive.n >= MINIMUM_JOBS else ():
                fitted, prefix = distribution.fit(positive), f"fit.makespan.{name}.{distribution.name}"
                for key, value in {**fitted.values(), "ks": ks(positive, fitted)}.items():
                    label = message("{title} {key}: {name}", title=distribution.title, key=key, name=name)
                    facts.append(Fact(f"{prefix}.{key}", number(value), label))
        except FitError:
            continue
        if facts:
            rows.append((name, tuple(facts)))
    if rows:
        columns = (message("Lognormal mu"), "sigma", "KS", message("Pareto shape"), message("minimum"), "KS")
        yield FactTable("makespan-laws", "Make-spans as distributions", columns, tuple(rows))


def _priority_groups(store: Store, priorities: dict[int, float]) -> Iterator[Block]:
    """Yield the shares of groups of priorities, and their make-spans by ending."""
    yield Facts(
        tuple(
            Fact(f"priority.{name}", share, message("Jobs of {name} priority", name=name), "fraction")
            for name, share in groups(priorities).items()
        )
    )
    samples = {
        (group, ending): makespans(store, JOBS, code, group)
        for group in GROUPS
        for code, ending in STATUS.items()
    }
    total = sum(sample.n for sample in samples.values())
    rows = tuple(
        (
            message("{group}, {ending}", group=group, ending=ending),
            _facts(f"makespan.{group}.{ending}", sample, total),
        )
        for (group, ending), sample in samples.items()
        if sample.n
    )
    yield FactTable("makespan-groups", "Make-span by group of priority and ending", COLUMNS, rows)


def _clusters(clustering: Clustering) -> Iterator[Block]:
    """Yield the fit by number of clusters, and the clusters for the paper's numbers and at the elbow."""
    sizes = range(1, len(clustering.inertias) + 1)
    if len(sizes) < 2:  # noqa: PLR2004 - all jobs are alike
        return
    yield list_of(
        Fact("clusters.elbow", clustering.elbow, "Clusters at the elbow", "count"),
        *(
            Fact(f"clusters.{k}.silhouette", number(width), message("Silhouette of {k} clusters", k=k))
            for k, width in zip(sizes, clustering.silhouettes, strict=True)
            if k > 1
        ),
    )
    for k in sorted({*SHOWN_CLUSTERS, clustering.elbow}):
        if k <= len(sizes):
            rows = tuple(
                (f"{rank}", _cluster_facts(f"clusters.{k}.{rank}", cluster, clustering.columns))
                for rank, cluster in enumerate(clustering.clusters[k - 1], 1)
            )
            means = tuple(
                message("Mean {name}", name=name).replace("makespan", "make-span")
                for name in clustering.columns
            )
            columns = (message("Share of jobs"), *means, message("Mean over median"))
            yield FactTable(f"clusters-{k}", message("{k} clusters of jobs", k=k), columns, rows)
    yield lines(
        "clusters",
        "How far jobs are from the nearest centre",
        {"mean square": ([float(k) for k in sizes], list(clustering.inertias))},
        "Clusters",
        "Mean squared distance",
        "Mean squared distance to the nearest centre by number of clusters: "
        + joined(
            ", ",
            (
                message("{value} for {k}", value=decimal(value, ".2f"), k=k)
                for k, value in zip(sizes, clustering.inertias, strict=True)
            ),
        )
        + ".",
        log=(False, False),
        unit="count",
    )


def _cluster_facts(prefix: str, cluster: TaskCluster, columns: tuple[str, ...]) -> tuple[Fact, ...]:
    return (
        Fact(f"{prefix}.share", cluster.share, "Share of the jobs in the cluster", "fraction"),
        *(
            Fact(
                f"{prefix}.{name}",
                number(value),
                message("Mean {name} in the cluster", name=name),
                "seconds" if name == "makespan" else "",
            )
            for name, value in zip(columns, cluster.means, strict=True)
        ),
        Fact(f"{prefix}.disparity", number(cluster.disparity), "Mean over median make-span in the cluster"),
    )
