"""The integrated model of Minh and Wolters (2010): bags of similar jobs, burstiness and correlation."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Final, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from gwa.errors import ModelError
from gwa.metrics.bags import MINH, RECORDED, bags
from gwa.metrics.papers.anoep2009_users import ranked_users
from gwa.metrics.papers.minh2010 import YEAR_2009, YEAR_2010, jobs
from gwa.models import similar_bags, size_cells
from gwa.models.arrival_process import Arrivals
from gwa.models.arrivals.spectral import Spectral
from gwa.models.arrivals.wavelet import Wavelet
from gwa.models.bag_streams import split_blocks
from gwa.models.base import Model
from gwa.models.clustered import Clustered, LabelledJobs
from gwa.models.parameters import Quantity, positive
from gwa.models.streams import Block
from gwa.models.temporal_locality import LabelRuns
from gwa.statistics.distribution import FitError
from gwa.statistics.sample import Floats, Ints
from gwa.statistics.zipf import Zipf
from gwa.store.store import Store
from gwa.words.message import message

SOURCE = "T. N. Minh and L. Wolters, the integrated model of parallel workloads (2010)"

CALIBRATION_ARRIVALS: Final = 200_000
"""Arrivals that probabilities are calibrated with."""

APPLICATIONS: Final = 256
"""Number of applications, which bags have in turns, so that consecutive bags of a user differ."""


@dataclass(frozen=True, kw_only=True)
class Minh2010Printed(Clustered):
    """
    Minh and Wolters 2010 as printed: jobs in a row with short gaps repeat each other, up to a drawn size.

    A bag ends after a gap of more than *gap* seconds, or with the size that Zipf's law of *sizes* gives. Its
    jobs have one run time, normal, and one number of processors. The law is the maximum-likelihood fit up to
    the largest bag: without an end its mean may be infinite. Jobs are completed ones with the processors
    that they requested; of a trace that does not know them, all that ran.
    """

    sizes: LabelRuns
    gap: Annotated[float, positive("greatest time between jobs of a bag", "s")] = 100.0

    name = "minh2010-printed"
    title = "Minh and Wolters 2010 as printed"
    source = SOURCE

    @classmethod
    def estimate(cls, store: Store) -> Self:
        """
        Fit the model to the completed jobs, or to all that ran.

        Bags are the paper's, or the recorded ones in a trace without users, such as those of this model.
        """
        enough = jobs(store, YEAR_2010) >= cls.minimum_jobs
        selection, definition = (YEAR_2010, MINH) if enough else (YEAR_2009, similar_bags.SIMILAR)
        if not store.has("user_id"):
            definition = RECORDED
        if not store.has(definition.key[0]):
            raise ModelError(
                message(
                    "{model}: no job records {name}, expected users or bags", model=cls.name, name="user_id"
                )
            )
        labels = LabelledJobs.of(store, selection, logarithm=False)
        return cls(
            arrivals=Wavelet.fit(store, labels.table),
            clusters=labels.clusters(store),
            sizes=LabelRuns.fit(store.sample("size", bags(store, definition))),
        )

    def blocks(self, rng: np.random.Generator) -> Iterator[Block]:
        """Yield an endless stream of jobs in the order of submission."""
        when, what = rng.spawn(2)
        number = 0
        for times in split_blocks(self.arrivals.times(when)):
            size = similar_bags.bag_sizes(self.draw_bag_starts(what, times))
            bag = np.repeat(np.arange(size.size), size)
            label = self.sampler.labels(what, size.size)
            yield {
                "submit_time": times,
                "run_time": self.sampler.run_times(what, label)[bag],
                "n_procs": self.sampler.procs(what, label)[bag],
                "job_structure": (size > 1).astype(np.int64)[bag],
                "job_structure_params": number + 1 + bag,
            }
            number += size.size

    def draw_bag_starts(self, rng: np.random.Generator, times: Floats) -> NDArray[np.bool_]:
        """Draw which arrivals start a bag: those after a long gap, or after a bag of the drawn size."""
        starts = np.diff(times, prepend=-np.inf) > self.gap
        row = similar_bags.bag_sizes(starts)
        # Bags follow each other in each row of short gaps; with a size for each job there are enough.
        size = self.sizes.rvs(rng, times.size)
        end = np.cumsum(size)
        end -= np.repeat((end - size)[starts], row)
        next_start = end + np.flatnonzero(starts)[np.cumsum(starts) - 1]
        inside = end < row[np.cumsum(starts) - 1]
        starts[next_start[inside]] = True
        return starts


@dataclass(frozen=True, kw_only=True)
class Minh2010(Model):
    """
    Minh and Wolters 2010 improved: bags that go on as bags of a trace do, with the jobs of such bags.

    The next job joins a bag with a probability *joins* that depends on the size so far and on the gap, and
    is calibrated for the model's arrivals. Run times and processors are drawn together, from the jobs in bags
    of such a size; within a bag the normal scores of run times correlate by *likeness*. Users are drawn for
    each bag by Zipf's law, and the applications of bags that follow each other differ.
    """

    arrivals: Arrivals
    joins: tuple[similar_bags.Joins, ...]
    cells: tuple[size_cells.SizeCell, ...]
    likeness: Annotated[float, Quantity("correlation of run times in a bag, as normal scores", "", 0.0, 1.0)]
    exponent: Annotated[float, Quantity("of Zipf's law of users by jobs", "", 0.0, 50.0)]
    users: Annotated[int, Quantity("how many users there are", "", 1.0, 1e7)]

    name = "minh2010"
    title = "Minh and Wolters 2010 improved"
    source = f"After {SOURCE}"
    needs = ("submit_time", "run_time", "n_procs", "user_id")

    def check(self) -> None:
        """Refuse a wrong number of size classes."""
        if len(self.joins) != similar_bags.SIZE_CLASSES:
            raise ModelError(f"joins has {len(self.joins)} rows, expected {similar_bags.SIZE_CLASSES}")

    @classmethod
    def estimate(cls, store: Store) -> Self:
        """Return the model of all jobs that ran."""
        if store.sample("run_time", "ran").values.size < 2:
            raise FitError("run_time: one value only")
        table = similar_bags.label_jobs(store)
        arrivals = Spectral.fit(store, "ran")
        exponent, users = _fit_users(store)
        sizes = store.sample("size", f"(select * from {table} where place = 1) as first_jobs")
        bags = np.repeat(sizes.values.astype(np.int64), sizes.counts)
        times = arrivals.first_times(np.random.default_rng(0), min(int(sizes.total()), CALIBRATION_ARRIVALS))
        return cls(
            arrivals=arrivals,
            joins=similar_bags.calibrate_joins(similar_bags.fit_joins(store, table), times, bags),
            cells=size_cells.fit_cells(store, table),
            likeness=similar_bags.fit_likeness(store, table),
            exponent=exponent,
            users=users,
        )

    @cached_property
    def sampler(self) -> size_cells.CellSampler:
        """The cells as arrays."""
        return size_cells.CellSampler(self.cells)

    @cached_property
    def _labels(self) -> tuple[Floats, Ints, Ints]:
        """The ends of labels by size class, the labels, and the nearest class with jobs for each class."""
        label = np.flatnonzero(self.sampler.weights)
        known, number = np.unique(label // similar_bags.LABELS_PER_CLASS, return_inverse=True)
        nearest = np.maximum(
            np.searchsorted(known, np.arange(similar_bags.SIZE_CLASSES), side="right") - 1, 0
        )
        return size_cells.cumulative_ends(number, self.sampler.weights[label]), label, nearest

    def blocks(self, rng: np.random.Generator) -> Iterator[Block]:
        """Yield an endless stream of jobs in the order of submission."""
        when, what = rng.spawn(2)
        pairs = size_cells.EvenPairs(what, similar_bags.SIZE_CLASSES)
        number = 0
        for times in split_blocks(self.arrivals.times(when)):
            size = similar_bags.bag_sizes(similar_bags.draw_bag_starts(what, times, self.joins))
            bag = np.repeat(np.arange(size.size), size)
            user = Zipf(self.exponent, self.users).rvs(what, size.size).astype(np.int64)
            yield {
                "submit_time": times,
                **self.draw_jobs(what, size, pairs),
                "user_id": user[bag],
                "executable_id": 1 + (number + bag) % APPLICATIONS,
                "job_structure": (size > 1).astype(np.int64)[bag],
                "job_structure_params": number + 1 + bag,
            }
            number += size.size

    def draw_jobs(self, rng: np.random.Generator, size: Ints, pairs: size_cells.EvenPairs) -> Block:
        """Draw run times and processors of the jobs of bags of each *size*."""
        ends, labels, nearest = self._labels
        size_class = similar_bags.classify_sizes(size)
        first, second = pairs.draw(size_class)
        label = labels[size_cells.locate(ends, nearest[size_class], first)]
        procs = self.sampler.procs(self.sampler.locate(label, second)[0], rng.random(size.size))
        share = np.repeat(second, size)
        in_bag = np.flatnonzero(np.repeat(size > 1, size))
        noise = rng.standard_normal(in_bag.size)
        score = math.sqrt(self.likeness) * ndtri(share[in_bag]) + math.sqrt(1 - self.likeness) * noise
        share[in_bag] = ndtr(score)
        run_time = self.sampler.run_times(*self.sampler.locate(np.repeat(label, size), share))
        return {"run_time": run_time, "n_procs": np.repeat(procs, size)}

    def limit_processors(self, cpus: int) -> Self:
        """Return the model without jobs of more than *cpus* processors."""
        small = tuple(limited for cell in self.cells if (limited := cell.limit_processors(cpus)))
        if not small:
            raise ModelError(f"cpus is {cpus}, too few for any job")
        return replace(self, cells=small)


def _fit_users(store: Store) -> tuple[float, int]:
    """Fit the exponent of Zipf's law of users by jobs; return it and the number of users."""
    if store.row("select count(distinct user_id) from jobs")[0] < 2:
        return 0.0, 1
    law = ranked_users(store).least_squares
    return law.exponent, int(law.ranks)
