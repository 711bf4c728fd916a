"""Model-based clustering with localized sampling: rows of run times from a cluster (Li et al. 2007)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, Self

import numpy as np

from gwa.errors import ModelError
from gwa.models.arrival_process import Arrivals
from gwa.models.arrivals.spectral import Spectral
from gwa.models.arrivals.wavelet import Wavelet
from gwa.models.bag_streams import split_blocks
from gwa.models.base import Model
from gwa.models.clustered import Clustered, LabelledJobs
from gwa.models.parameters import Quantity
from gwa.models.size_cells import CellSampler, EvenPairs, SizeCell, fit_cells
from gwa.models.streams import Block
from gwa.models.temporal_locality import LabelRuns, permute_clusters, truncate_lengths
from gwa.statistics.sample import Ints
from gwa.store.store import Store

GOLDEN_RATIO = (5**0.5 - 1) / 2
"""The fractional parts of its multiples are spread most evenly between 0 and 1."""

SHUFFLED_JOBS = 512
"""Number of jobs within which a row is moved at random."""

WINDOW = Quantity("labels of rows that are put in order together, to raise the autocorrelation", "", 1.0, 1e6)


@dataclass(frozen=True, kw_only=True)
class MbcLsPrinted(Clustered):
    """
    MBC-LS as printed: clusters of run times in rows, on one processor.

    Labels are drawn by the weights of a mixture of normal distributions, *window* of them at a time permuted
    so that equal ones come together, and repeated as often as Zipf's law says; each repetition draws a run
    time of its own. Normal run times below 0 count as 0. Jobs have one processor, and the authors leave
    arrivals to the multifractal wavelet model.
    """

    rows: LabelRuns
    window: Annotated[int, WINDOW] = 1

    name = "mbc-ls-printed"
    title = "MBC-LS 2007 as printed"
    source = (
        "H. Li, M. Muskulus and L. Wolters, Modeling correlated workloads by combining model based clustering"
        " and a localized sampling algorithm, International Conference on Supercomputing (2007)"
    )

    @classmethod
    def estimate(cls, store: Store) -> Self:
        """Return the model of all jobs that ran."""
        return cls(
            arrivals=Wavelet.fit(store, "ran"),
            **cls.content_parameters(store, LabelledJobs.of(store, logarithm=False)),
        )

    @classmethod
    def content_parameters(cls, store: Store, jobs: LabelledJobs) -> dict[str, Any]:
        """Fit the parameters, other than arrivals, to labelled *jobs*."""
        return {
            "clusters": jobs.clusters(store, "1"),
            "rows": LabelRuns.fit(jobs.row_lengths(store, "label")),
        }

    def blocks(self, rng: np.random.Generator) -> Iterator[Block]:
        """Yield an endless stream of jobs in the order of submission."""
        when, what = rng.spawn(2)
        for times in split_blocks(self.arrivals.times(when)):
            yield {"submit_time": times, **self.draw_jobs(what, times.size)}

    def draw_jobs(self, rng: np.random.Generator, n: int) -> Block:
        """Draw run times and processors of *n* jobs."""
        label, _ = self.draw_labels(rng, n)
        return {"run_time": self.sampler.run_times(rng, label), "n_procs": self.sampler.procs(rng, label)}

    def draw_labels(self, rng: np.random.Generator, n: int) -> tuple[Ints, Ints]:
        """Draw the labels of *n* jobs, and the lengths of their rows."""
        label = self.sampler.labels(rng, n)
        label = label[permute_clusters(label, self.window)]
        lengths = truncate_lengths(self.rows.rvs(rng, n), n)
        return np.repeat(label[: lengths.size], lengths), lengths


@dataclass(frozen=True, kw_only=True)
class MbcLs(Model):
    """
    MBC-LS improved: run time and processors drawn together from cells, whose labels come in rows.

    Clusters are those of ln(1 + run time). Each label has the share of its jobs, and rows of a length of its
    own, that of Zipf's law with the trace's mean once rows that follow each other by chance are one. Draws
    are spread evenly over the cells, so that work and correlation vary little from seed to seed.
    """

    arrivals: Arrivals
    cells: tuple[SizeCell, ...]
    rows: tuple[LabelRuns, ...]
    window: Annotated[int, WINDOW] = 1

    name = "mbc-ls"
    title = "MBC-LS 2007 improved"
    source = f"After {MbcLsPrinted.source}"

    def check(self) -> None:
        """Refuse labels without cells or rows."""
        labels = {cell.label for cell in self.cells}
        if labels != set(range(len(self.rows))) or not labels:
            raise ModelError(f"rows has {len(self.rows)} laws, expected one for each label of cells, from 0")

    @classmethod
    def estimate(cls, store: Store) -> Self:
        """Return the model of all jobs that ran."""
        table = densify_labels(store, LabelledJobs.of(store, logarithm=True).table)
        return cls(arrivals=Spectral.fit(store, "ran"), **cls.content_parameters(store, table))

    @classmethod
    def content_parameters(cls, store: Store, table: str) -> dict[str, Any]:
        """Fit the parameters, other than arrivals, to the jobs in a labelled *table*."""
        return {"cells": fit_cells(store, table), "rows": fit_rows(store, table)}

    @cached_property
    def sampler(self) -> CellSampler:
        """The cells as arrays."""
        return CellSampler(self.cells)

    def blocks(self, rng: np.random.Generator) -> Iterator[Block]:
        """Yield an endless stream of jobs in the order of submission."""
        when, what = rng.spawn(2)
        pairs = EvenPairs(what, len(self.rows))
        drawn = 0
        for times in split_blocks(self.arrivals.times(when)):
            label = self.draw_labels(what, drawn, times.size)
            yield {"submit_time": times, **self.draw_jobs(what, label, pairs)}
            drawn += times.size

    def draw_jobs(self, rng: np.random.Generator, label: Ints, pairs: EvenPairs) -> Block:
        """Draw run time and processors of a job for each label."""
        del rng
        first, second = pairs.draw(label)
        cell, inside = self.sampler.locate(label, first)
        return {"run_time": self.sampler.run_times(cell, inside), "n_procs": self.sampler.procs(cell, second)}

    def draw_labels(self, rng: np.random.Generator, drawn: int, n: int) -> Ints:
        """
        Draw the labels of *n* jobs after *drawn* jobs: rows in random order, each label by its share.

        The rows of each label are spread evenly, and each is moved at random within `SHUFFLED_JOBS` jobs.
        """
        jobs = self._count_labels(drawn, n)
        lengths = [
            truncate_lengths(law.rvs(rng, count), count)
            for law, count in zip(self.rows, jobs, strict=True)
            if count
        ]
        label = np.repeat(np.flatnonzero(jobs), [rows.size for rows in lengths])
        position = [(np.arange(rows.size) + rng.random(rows.size)) / rows.size for rows in lengths]
        order = np.argsort(np.concatenate(position) + rng.random(label.size) * SHUFFLED_JOBS / n)
        order = order[permute_clusters(label[order], self.window)]
        return np.repeat(label[order], np.concatenate(lengths)[order])

    def _count_labels(self, drawn: int, n: int) -> Ints:
        """Return the number of jobs of each label among *n* jobs after *drawn* jobs, by a golden sequence."""
        edges = np.cumsum(self.sampler.weights) / self.sampler.weights.sum()
        shares = (drawn + np.arange(1, n + 1)) * GOLDEN_RATIO % 1.0
        label = np.searchsorted(edges, shares, side="right")
        return np.bincount(label, minlength=edges.size).astype(np.int64)

    def limit_processors(self, cpus: int) -> Self:
        """Return the model without jobs of more than *cpus* processors."""
        small = [limited for cell in self.cells if (limited := cell.limit_processors(cpus))]
        if {cell.label for cell in small} != {cell.label for cell in self.cells}:
            raise ModelError(f"cpus is {cpus}, too few for the jobs of some label")
        return replace(self, cells=tuple(small))


def densify_labels(store: Store, table: str) -> str:
    """Create a copy of a labelled table with labels renumbered from 0 without gaps."""
    return store.keep(
        f"{table}_dense",
        "select submit_time, job_id, run_time, n_procs, dense_rank() over (order by label) - 1 as label"
        f" from {table}",
    )


def fit_rows(store: Store, table: str) -> tuple[LabelRuns, ...]:
    """Fit the law of row lengths of each label, of which consecutive rows count as one in the trace."""
    order = "order by submit_time, job_id"
    columns = store.arrays(
        f"""
        select label, sum(length) as jobs, count(*) as n, max(length) as longest from (
            select label, count(*) as length from (
                select label,
                sum(begins) over ({order} rows between unbounded preceding and current row) as place from (
                    select *, case when label = lag(label) over ({order}) then 0 else 1 end as begins
                    from {table}
                ) as marked
            ) as numbered group by label, place
        ) as lengths group by label order by label
        """
    )
    jobs, longest = columns["jobs"].astype(np.float64), columns["longest"]
    observed = jobs / columns["n"]
    mean = observed
    for _ in range(50):
        rows = jobs / mean
        mean = np.maximum(observed * (1 - rows / rows.sum()), 1.0)
    return tuple(LabelRuns.of_mean(float(m), int(maximum)) for m, maximum in zip(mean, longest, strict=True))
