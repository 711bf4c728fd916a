"""Model-based clustering with localized sampling: run times whose clusters come in rows (Li et al. 2007)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, Self

import numpy as np

from gwa.errors import ModelError
from gwa.models.arrival_process import Arrivals
from gwa.models.arrivals.spectral import Spectral
from gwa.models.arrivals.wavelet import Wavelet
from gwa.models.bag_streams import pieces
from gwa.models.base import Model
from gwa.models.families._clustered import Clustered, Labelled
from gwa.models.families._size_cells import Deck, SizeCell, Spread, fitted
from gwa.models.families._temporal_locality import LabelRuns, cut, gathered
from gwa.models.parameters import Quantity
from gwa.models.streams import Block
from gwa.statistics.sample import Ints
from gwa.store.store import Store

GOLDEN = (5**0.5 - 1) / 2
"""Multiples of it, whole numbers taken off, are spread most evenly between 0 and 1."""

NEAR = 512
"""Jobs among which a row is moved at random."""

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
    def fitted(cls, store: Store) -> Self:
        """Return the model of all jobs that ran."""
        return cls(arrivals=Wavelet.fit(store), **cls.content(store, Labelled.of(store, logarithm=False)))

    @classmethod
    def content(cls, store: Store, jobs: Labelled) -> dict[str, Any]:
        """Return the parameters of labelled *jobs*."""
        return {"clusters": jobs.clusters(store, "1"), "rows": LabelRuns.fit(jobs.rows(store, "label"))}

    def blocks(self, rng: np.random.Generator) -> Iterator[Block]:
        """Yield jobs in the order of submission, without end."""
        when, what = rng.spawn(2)
        for times in pieces(self.arrivals.times(when)):
            yield {"submit_time": times, **self.jobs(what, times.size)}

    def jobs(self, rng: np.random.Generator, n: int) -> Block:
        """Return the content of *n* jobs."""
        label, _ = self.labels(rng, n)
        return {
            "run_time": self.laid_out.run_times(rng, label),
            "n_procs": self.laid_out.procs(rng, label),
        }

    def labels(self, rng: np.random.Generator, n: int) -> tuple[Ints, Ints]:
        """Return the labels of *n* jobs, and the lengths of the rows that they are in."""
        label = self.laid_out.labels(rng, n)
        label = label[gathered(label, self.window)]
        lengths = cut(self.rows.rvs(rng, n), n)
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
        labels = {one.label for one in self.cells}
        if labels != set(range(len(self.rows))) or not labels:
            raise ModelError(f"rows has {len(self.rows)} laws, expected one for each label of cells, from 0")

    @classmethod
    def fitted(cls, store: Store) -> Self:
        """Return the model of all jobs that ran."""
        table = dense(store, Labelled.of(store, logarithm=True).table)
        return cls(arrivals=Spectral.fit(store), **cls.content(store, table))

    @classmethod
    def content(cls, store: Store, table: str) -> dict[str, Any]:
        """Return the parameters of the jobs in a labelled *table*."""
        return {"cells": fitted(store, table), "rows": rows(store, table)}

    @cached_property
    def deck(self) -> Deck:
        """The cells as arrays."""
        return Deck(self.cells)

    def blocks(self, rng: np.random.Generator) -> Iterator[Block]:
        """Yield jobs in the order of submission, without end."""
        when, what = rng.spawn(2)
        spread = Spread(what, len(self.rows))
        before = 0
        for times in pieces(self.arrivals.times(when)):
            label = self.labels(what, before, times.size)
            yield {"submit_time": times, **self.jobs(what, label, spread)}
            before += times.size

    def jobs(self, rng: np.random.Generator, label: Ints, spread: Spread) -> Block:
        """Return a job for each label."""
        del rng
        first, second = spread.pairs(label)
        cell, inside = self.deck.found(label, first)
        return {"run_time": self.deck.run_times(cell, inside), "n_procs": self.deck.procs(cell, second)}

    def labels(self, rng: np.random.Generator, before: int, n: int) -> Ints:
        """
        Return the labels of *n* jobs after others: each as often as its share says, in rows, in random order.

        The rows of each label are spread evenly, and each is moved at random among its `NEAR` jobs.
        """
        jobs = self._due(before, n)
        lengths = [cut(law.rvs(rng, many), many) for law, many in zip(self.rows, jobs, strict=True) if many]
        label = np.repeat(np.flatnonzero(jobs), [one.size for one in lengths])
        places = [(np.arange(one.size) + rng.random(one.size)) / one.size for one in lengths]
        order = np.argsort(np.concatenate(places) + rng.random(label.size) * NEAR / n)
        order = order[gathered(label[order], self.window)]
        return np.repeat(label[order], np.concatenate(lengths)[order])

    def _due(self, before: int, n: int) -> Ints:
        """Return how many of *n* jobs after others have each label, by a golden sequence of shares."""
        edges = np.cumsum(self.deck.weights) / self.deck.weights.sum()
        shares = (before + np.arange(1, n + 1)) * GOLDEN % 1.0
        label = np.searchsorted(edges, shares, side="right")
        return np.bincount(label, minlength=edges.size).astype(np.int64)

    def paced(self, factor: float) -> Self:
        """Return the model with times between arrivals that are *factor* times as long."""
        return replace(self, arrivals=self.arrivals.paced(factor))

    def within(self, cpus: int) -> Self:
        """Return the model without jobs of more than *cpus* processors."""
        small = [cell for one in self.cells if (cell := one.within(cpus))]
        if {one.label for one in small} != {one.label for one in self.cells}:
            raise ModelError(f"cpus is {cpus}, too few for the jobs of some label")
        return replace(self, cells=tuple(small))


def dense(store: Store, table: str) -> str:
    """Return a labelled table in which no label is without jobs."""
    return store.keep(
        f"{table}_dense",
        "select submit_time, job_id, run_time, n_procs, dense_rank() over (order by label) - 1 as label"
        f" from {table}",
    )


def rows(store: Store, table: str) -> tuple[LabelRuns, ...]:
    """Return the law of rows of each label."""
    order = "order by submit_time, job_id"
    found = store.arrays(
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
    jobs, longest = found["jobs"].astype(np.float64), found["longest"]
    wanted = jobs / found["n"]
    mean = wanted
    for _ in range(50):
        many = jobs / mean
        mean = np.maximum(wanted * (1 - many / many.sum()), 1.0)
    return tuple(LabelRuns.of_mean(float(m), int(most)) for m, most in zip(mean, longest, strict=True))
