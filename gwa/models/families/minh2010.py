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
from gwa.metrics.bags import MINH, bags
from gwa.metrics.papers.anoep2009_users import ranked_users
from gwa.metrics.papers.minh2010 import YEAR_2009, YEAR_2010, jobs
from gwa.models.arrival_process import Arrivals
from gwa.models.arrivals.spectral import Spectral
from gwa.models.arrivals.wavelet import Wavelet
from gwa.models.bag_streams import pieces
from gwa.models.base import Model
from gwa.models.families._clustered import Clustered, Labelled
from gwa.models.families._similar_bags import (
    CLASSES,
    GROUPS,
    SIMILAR,
    Joins,
    beginning,
    calibrated,
    firsts,
    fitted_joins,
    labelled,
    lengths,
    likeness,
    size_class,
)
from gwa.models.families._size_cells import Deck, SizeCell, Spread, ends, fitted, found
from gwa.models.families._temporal_locality import LabelRuns
from gwa.models.families.thesis import RECORDED
from gwa.models.parameters import Quantity, positive
from gwa.models.streams import Block
from gwa.statistics.distribution import FitError
from gwa.statistics.sample import Floats, Ints
from gwa.statistics.zipf import Zipf
from gwa.store.store import Store

SOURCE = "T. N. Minh and L. Wolters, the integrated model of parallel workloads (2010)"

PROBE: Final = 200_000
"""Arrivals with which probabilities are calibrated."""

APPLICATIONS: Final = 256
"""Applications whose bags take turns, so that a bag differs from the next one, of the same user or not."""


@dataclass(frozen=True, kw_only=True)
class Minh2010Printed(Clustered):
    """
    Minh and Wolters 2010 as printed: jobs in a row with short gaps repeat each other, up to a drawn size.

    A bag ends after a gap of more than *gap* seconds, or with the size that Zipf's law of *sizes* gives. Its
    jobs have one run time, normal, and one number of processors. The law is that of greatest likelihood up to
    the largest bag: without an end its mean may be infinite. Jobs are completed ones with the processors
    that they requested; of a trace that does not know them, all that ran.
    """

    sizes: LabelRuns
    gap: Annotated[float, positive("greatest time between jobs of a bag", "s")] = 100.0

    name = "minh2010-printed"
    title = "Minh and Wolters 2010 as printed"
    source = SOURCE

    @classmethod
    def fitted(cls, store: Store) -> Self:
        """
        Return the model of the completed jobs, or of all that ran.

        Bags are the paper's; of a trace without users, such as this model makes, those that it records.
        """
        enough = jobs(store, YEAR_2010) >= cls.fewest
        selection, definition = (YEAR_2010, MINH) if enough else (YEAR_2009, SIMILAR)
        if not store.has("user_id"):
            definition = RECORDED
        if not store.has(definition.key[0]):
            raise ModelError(f"{cls.name}: no job records user_id, expected users or bags")
        labels = Labelled.of(store, selection, logarithm=False)
        return cls(
            arrivals=Wavelet.fit(store, labels.table),
            clusters=labels.clusters(store),
            sizes=LabelRuns.fit(store.sample("size", bags(store, definition))),
        )

    def blocks(self, rng: np.random.Generator) -> Iterator[Block]:
        """Yield jobs in the order of submission, without end."""
        when, what = rng.spawn(2)
        number = 0
        for times in pieces(self.arrivals.times(when)):
            size = lengths(self.begins(what, times))
            bag = np.repeat(np.arange(size.size), size)
            label = self.laid_out.labels(what, size.size)
            yield {
                "submit_time": times,
                "run_time": self.laid_out.run_times(what, label)[bag],
                "n_procs": self.laid_out.procs(what, label)[bag],
                "job_structure": (size > 1).astype(np.int64)[bag],
                "job_structure_params": number + 1 + bag,
            }
            number += size.size

    def begins(self, rng: np.random.Generator, times: Floats) -> NDArray[np.bool_]:
        """Return which arrivals begin a bag: after a long gap, or after as many as were drawn."""
        found = np.diff(times, prepend=-np.inf) > self.gap
        row = lengths(found)
        # In each row of short gaps bags follow each other; of sizes as many as jobs, the first suffice.
        size = self.sizes.rvs(rng, times.size)
        passed = np.cumsum(size)
        passed -= np.repeat((passed - size)[found], row)
        start = passed + np.flatnonzero(found)[np.cumsum(found) - 1]
        inside = passed < row[np.cumsum(found) - 1]
        found[start[inside]] = True
        return found


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
    joins: tuple[Joins, ...]
    cells: tuple[SizeCell, ...]
    likeness: Annotated[float, Quantity("correlation of run times in a bag, as normal scores", "", 0.0, 1.0)]
    exponent: Annotated[float, Quantity("of Zipf's law of users by jobs", "", 0.0, 50.0)]
    users: Annotated[int, Quantity("how many users there are", "", 1.0, 1e7)]

    name = "minh2010"
    title = "Minh and Wolters 2010 improved"
    source = f"After {SOURCE}"
    needs = ("submit_time", "run_time", "n_procs", "user_id")

    def check(self) -> None:
        """Refuse classes of sizes that are not all there."""
        if len(self.joins) != CLASSES:
            raise ModelError(f"joins has {len(self.joins)} rows, expected {CLASSES}")

    @classmethod
    def fitted(cls, store: Store) -> Self:
        """Return the model of all jobs that ran."""
        if store.sample("run_time", "ran").values.size < 2:
            raise FitError("run_time: one value only")
        table = labelled(store)
        arrivals = Spectral.fit(store)
        exponent, users = _users(store)
        sizes = store.sample("size", f"(select * from {table} where place = 1) as firsts")
        every = np.repeat(sizes.values.astype(np.int64), sizes.counts)
        probe = beginning(arrivals, min(int(sizes.total()), PROBE))
        return cls(
            arrivals=arrivals,
            joins=calibrated(fitted_joins(store, table), probe, every),
            cells=fitted(store, table),
            likeness=likeness(store, table),
            exponent=exponent,
            users=users,
        )

    @cached_property
    def deck(self) -> Deck:
        """The cells as arrays."""
        return Deck(self.cells)

    @cached_property
    def _labels(self) -> tuple[Floats, Ints, Ints]:
        """Where labels end on the line of classes of sizes, the labels, and what stands for each class."""
        label = np.flatnonzero(self.deck.weights)
        known, place = np.unique(label // GROUPS, return_inverse=True)
        stands = np.maximum(np.searchsorted(known, np.arange(CLASSES), side="right") - 1, 0)
        return ends(place, self.deck.weights[label]), label, stands

    def blocks(self, rng: np.random.Generator) -> Iterator[Block]:
        """Yield jobs in the order of submission, without end."""
        when, what = rng.spawn(2)
        spread = Spread(what, CLASSES)
        number = 0
        for times in pieces(self.arrivals.times(when)):
            size = lengths(firsts(what, times, self.joins))
            bag = np.repeat(np.arange(size.size), size)
            user = Zipf(self.exponent, self.users).rvs(what, size.size).astype(np.int64)
            yield {
                "submit_time": times,
                **self.jobs(what, size, spread),
                "user_id": user[bag],
                "executable_id": 1 + (number + bag) % APPLICATIONS,
                "job_structure": (size > 1).astype(np.int64)[bag],
                "job_structure_params": number + 1 + bag,
            }
            number += size.size

    def jobs(self, rng: np.random.Generator, size: Ints, spread: Spread) -> Block:
        """Return run times and processors of the jobs of bags of such sizes."""
        edges, labels, stands = self._labels
        sizes = size_class(size)
        first, second = spread.pairs(sizes)
        label = labels[found(edges, stands[sizes], first)]
        procs = self.deck.procs(self.deck.found(label, second)[0], rng.random(size.size))
        share = np.repeat(second, size)
        several = np.flatnonzero(np.repeat(size > 1, size))
        own = rng.standard_normal(several.size)
        score = math.sqrt(self.likeness) * ndtri(share[several]) + math.sqrt(1 - self.likeness) * own
        share[several] = ndtr(score)
        run_time = self.deck.run_times(*self.deck.found(np.repeat(label, size), share))
        return {"run_time": run_time, "n_procs": np.repeat(procs, size)}

    def paced(self, factor: float) -> Self:
        """Return the model with times between arrivals that are *factor* times as long."""
        return replace(self, arrivals=self.arrivals.paced(factor))

    def within(self, cpus: int) -> Self:
        """Return the model without jobs of more than *cpus* processors."""
        small = tuple(cell for one in self.cells if (cell := one.within(cpus)))
        if not small:
            raise ModelError(f"cpus is {cpus}, too few for any job")
        return replace(self, cells=small)


def _users(store: Store) -> tuple[float, int]:
    """Return the exponent of Zipf's law of users by jobs, and how many they are."""
    if store.row("select count(distinct user_id) from jobs")[0] < 2:
        return 0.0, 1
    law = ranked_users(store).least_squares
    return law.exponent, int(law.ranks)
