"""Bags, sizes, clusters and repetitions of jobs, as Minh and Wolters measure them."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from gwa.analysis.base import Chapter, analysis
from gwa.metrics.bags import MINH, bag_spans, forget, gaps
from gwa.metrics.papers import minh2010
from gwa.report.document import Block, Column, Fact, Facts, FactTable, Figure, Note, Table
from gwa.report.facts import facts_of, number
from gwa.report.figures.cdf import cdf
from gwa.statistics.mixture import GaussianMixture, of_seconds
from gwa.statistics.sample import Floats, Sample
from gwa.store.store import Store
from gwa.words.formatting import decimal, fraction
from gwa.words.message import joined, message

RANGES: Final = (
    message("up to 100 s"),
    message("100 to 1,000 s"),
    message("1,000 to 10,000 s"),
    message("10,000 to 100,000 s"),
    "longer",
)
"""The ranges of mean run times in words."""

SIZES_LISTED: Final = 12
"""Further sizes of a group are only counted."""

MAXIMUM_CLUSTERS: Final = 9
"""MCLUST, which the papers used, tries one to nine clusters."""


@analysis(
    "Similar jobs",
    Chapter.MODELLERS,
    facts=("bags.minh", "clusters.runtime", "jobs.squashed_area", "repetitions"),
    needs=("submit_time", "run_time", "n_procs"),
    order=4,
)
def similar(store: Store) -> Iterator[Block]:
    """
    How alike jobs are that are submitted together, by the measures of Minh and Wolters (2009, 2010).

    Bags are theirs: completed jobs, alike in user, group, queue, executable, requested time and processors,
    next to each other in the trace. A group of parallelism holds sizes that are about as common: its label
    is the binary logarithm of their number of jobs, rounded, plus 1. Repetitions are how many jobs in a row,
    of any user, have the same run time, the same processors, or a run time of the same cluster; clusters are
    normal distributions of ln(1 + seconds), as many as BIC prefers, none narrower than a second. The squashed
    area is processors times seconds of all jobs.
    """
    if store.has("user_id") and minh2010.jobs(store, minh2010.YEAR_2010):
        yield from _bags(store)
    forget(store, MINH)
    run_times = store.sample("run_time", minh2010.YEAR_2009.jobs)
    if not run_times.n:
        yield Note("No job ran.")
        return
    several = run_times.values.size > 1
    clusters = of_seconds(run_times, range(1, MAXIMUM_CLUSTERS + 1)).best if several else None
    yield Facts(_facts(store, run_times, clusters))
    yield _groups(minh2010.groups(store, minh2010.YEAR_2009))
    if clusters:
        yield _clusters(clusters)
    else:
        yield Note("All run times are equal: there is one cluster.")


def _facts(store: Store, run_times: Sample, clusters: GaussianMixture | None) -> tuple[Fact, ...]:
    """Return the mean repetitions of values, and the squashed area."""
    values = {"runtime": ("run_time", message("run time")), "procs": ("procs", "processors")}
    if clusters:
        label = minh2010.labels("run_time", clusters, run_times, np.log1p)
        values["cluster"] = (label, message("cluster of run times"))
    lengths = minh2010.mean_repetitions(store, [expression for expression, _ in values.values()])
    repeated = (
        Fact(
            f"repetitions.{name}",
            number(length),
            message("Jobs in a row of the same {what}, mean", what=what),
        )
        for (name, (_, what)), length in zip(values.items(), lengths, strict=True)
    )
    area = number(minh2010.squashed_area(store))
    return (*repeated, Fact("jobs.squashed_area", area, "Squashed area", "cpu seconds"))


def _bags(store: Store) -> Iterator[Block]:
    """Yield the gaps between jobs of bags, and the variability of their run times."""
    gaps_between, bag_durations = gaps(store, MINH), bag_spans(store, MINH)
    ranges = [(name, *numbers) for name, numbers in zip(RANGES, minh2010.variability(store), strict=True)]
    yield Facts(_closeness(gaps_between, bag_durations))
    if gaps_between.n:
        yield _figure(gaps_between, bag_durations)
    if any(bags for _, _, bags in ranges):
        yield FactTable(
            "bags-variability",
            "Standard deviation of run times in a bag, by their mean",
            ("Mean standard deviation", "Bags"),
            tuple(
                (row[0], _variability(f"variability.{place}", *row)) for place, row in enumerate(ranges, 1)
            ),
        )


def _variability(id_: str, name: str, mean: float, bags: int) -> tuple[Fact, ...]:
    label = message("Standard deviation of run times in bags whose mean is {name}", name=name)
    of_bags = message("Bags of mean {name}", name=name)
    return facts_of(
        "bags.minh", (id_, number(mean), label, "seconds"), (f"{id_}.bags", bags, of_bags, "count")
    )


def _closeness(gaps: Sample, durations: Sample) -> tuple[Fact, ...]:
    """Return the facts on gaps and durations; without two alike jobs they are undefined."""
    return facts_of(
        "bags.minh",
        ("gap.median", number(gaps.median()), message("Gap of alike jobs, median"), "seconds"),
        ("gap.p90", number(gaps.quantile(0.9)), message("Gap of alike jobs, 90th percentile"), "seconds"),
        ("gap.below_100s", _below(gaps, 100), message("Gaps below 100 s"), "fraction"),
        ("within_1000s", _below(durations, 1000), message("Bags submitted in 1000 s"), "fraction"),
        unknown="undefined",
    )


def _below(sample: Sample, limit: float) -> float | None:
    return sample.restrict(below=limit).n / sample.n if sample.n else None


def _figure(gaps: Sample, durations: Sample) -> Figure:
    curves: dict[str, tuple[Floats, Floats]] = {message("gap between alike jobs"): gaps.ecdf()}
    if durations.n:
        curves[message("submission of a bag")] = durations.ecdf()
    return cdf(
        "bags-times",
        "Times between alike jobs, and of whole bags",
        curves,
        "Time",
        message(
            "Cumulative fraction of the gaps between alike jobs: half are at most {median} "
            "s, {n} are below 100 s.",
            median=decimal(gaps.median(), ".0f"),
            n=fraction(gaps.restrict(below=100).n / gaps.n),
        ),
        unit="seconds",
        ylabel="Fraction",
    )


def _groups(groups: dict[int, list[int]]) -> Table:
    """Return the groups of parallelism, the most common sizes first."""
    rows = []
    for label, sizes in sorted(groups.items(), reverse=True):
        remainder = (
            message(", and {sizes} more", sizes=len(sizes) - SIZES_LISTED)
            if len(sizes) > SIZES_LISTED
            else ""
        )
        rows.append((label, len(sizes), joined(", ", map(str, sizes[:SIZES_LISTED])) + remainder))
    columns = (
        Column("label", "Label", "count"),
        Column("sizes", "Sizes", "count"),
        Column("procs", "Numbers of processors"),
    )
    return Table("parallelism-groups", "Groups of parallelism", columns, tuple(rows))


def _clusters(mixture: GaussianMixture) -> FactTable:
    """Return the clusters of run times: share, median, and the range of about two thirds."""
    rows = []
    parts = zip(mixture.weights, mixture.means, mixture.sigmas, strict=True)
    for place, (weight, mean, sigma) in enumerate(parts, 1):
        low, middle, high = (max(float(np.expm1(mean + sign * sigma)), 0.0) for sign in (-1, 0, 1))
        prefix, label = f"clusters.runtime.{place}", message("cluster {place}", place=place)
        facts = facts_of(
            prefix,
            ("share", weight, message("Share of {label}", label=label), "fraction"),
            ("median", middle, message("Median run time of {label}", label=label), "seconds"),
            ("low", low, message("Run time of {label} one sigma below", label=label), "seconds"),
            ("high", high, message("Run time of {label} one sigma above", label=label), "seconds"),
        )
        rows.append((str(place), facts))
    return FactTable(
        "runtime-clusters",
        "Clusters of run times",
        ("Share of jobs", "Median", "Most from", "to"),
        tuple(rows),
        "Most: about two thirds of the jobs of a cluster.",
    )
