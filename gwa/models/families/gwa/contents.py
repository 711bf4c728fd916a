"""What jobs are: processors by the size of their session, run time and requested time by both."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Final, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from gwa.models.families.gwa.likeness import Likeness, Repetition, normal_scores, standard
from gwa.models.families.gwa.places import Places
from gwa.models.families.gwa.sessions import Sessions
from gwa.models.knots import Knots
from gwa.models.parameters import Parameters, Quantity, share
from gwa.models.streams import Block
from gwa.statistics.sample import Floats, Ints, Sample
from gwa.store.schema import LONGEST

SESSIONS: Final = (1, 2, 5, 20, 100)
"""The fewest jobs of the classes of sessions: a job alone, some jobs, many."""

ENOUGH: Final = 100
"""Jobs that a class has at least."""

PART: Final = 0.1
"""Sizes are put together until they have such a share of the jobs of a class of sessions."""

PROCS, RUN, REQUEST = 4, 5, 6
"""The places of the quantities among those in which users differ."""


@dataclass(frozen=True)
class Times(Parameters):
    """The *run_time* and the *requested* time of jobs of up to so many processors."""

    up_to: Annotated[int, Quantity("greatest number of processors of this class", "", 1.0)]
    run_time: Knots
    requested: Knots | None = None


@dataclass(frozen=True)
class Class(Parameters):
    """Jobs of sessions with so many jobs: their *procs*, and *times* for classes of those."""

    fewest: Annotated[int, Quantity("least number of jobs of sessions in this class", "", 1.0)]
    procs: Knots
    times: tuple[Times, ...]

    def of_size(self, procs: Floats | Ints) -> NDArray[np.intp]:
        """Return the places of the times for jobs of so many processors."""
        edges = [one.up_to for one in self.times[:-1]]
        return np.searchsorted(edges, procs, side="left")


@dataclass(frozen=True)
class Contents(Parameters):
    """
    The contents of jobs, in classes of the sessions that they are in.

    In a *uniform* share of bags all jobs have equally many processors; in the others a job *keeps* those of
    the one before with such a probability, and the first of the next bag in the session *stays* with them.
    With probability *repeats* a job of a bag runs as long as the one before. *asked* is the share of jobs
    that request a time; its normal score is *follows* times that of the run time, and for the rest its own.
    """

    classes: tuple[Class, ...]
    procs: Likeness
    run_time: Likeness
    requested: Likeness
    uniform: Annotated[float, share("of bags whose jobs have equally many processors")] = 0.0
    keeps: Annotated[float, share("of jobs that keep the processors of the one before, in other bags")] = 0.0
    stays: Annotated[float, share("of bags that begin with the processors of the one before")] = 0.0
    repeats: Annotated[float, share("of jobs that run as long as the one before in the bag")] = 0.0
    asked: Annotated[float, share("of jobs that request a time")] = 0.0
    follows: Annotated[float, Quantity("correlation of requested and run time", "", -1.0, 1.0)] = 0.0

    @classmethod
    def fit(cls, found: Sessions) -> Self:
        """Return the contents of the jobs of sessions."""
        sizes = np.bincount(found.session)[found.session]
        classes = tuple(_classes(found, sizes))
        asks = ~np.isnan(found.requested)
        scores = _Scores.of(found, sizes, classes)
        groups = found.user, found.session, found.bag
        follows = float((scores.requested[asks] * scores.run_time[asks]).mean()) if asks.any() else 0.0
        follows = min(max(follows, -1.0), 1.0)
        rest = standard(scores.requested[asks] - follows * scores.run_time[asks])
        same = np.flatnonzero(np.diff(found.bag) == 0)
        return cls(
            classes,
            Likeness.fit(scores.procs, *groups),
            Likeness.fit(scores.run_time, *groups),
            Likeness.fit(rest, *(np.unique(group[asks], return_inverse=True)[1] for group in groups)),
            repeats=float((np.diff(np.rint(found.run))[same] == 0).mean()) if same.size else 0.0,
            asked=float(asks.mean()),
            follows=follows,
        )

    def draw(self, rng: np.random.Generator, places: Places) -> Block:
        """Return processors, run times and requested times of jobs in their *places*."""
        scores = places.scores_of_jobs(rng, self.procs, PROCS)
        scores = scores[self._origins(rng, places)]
        run = places.scores_of_jobs(rng, self.run_time, RUN)
        run = run[_before(places, rng.random(run.size) < self.repeats)]
        own = places.scores_of_jobs(rng, self.requested, REQUEST)
        request = self.follows * run + np.sqrt(1 - self.follows**2) * own
        found = self._of_scores(places, ndtr(scores), ndtr(run), ndtr(request))
        if not self.asked:
            del found["req_time"]
        else:
            found["req_time"] = np.where(rng.random(run.size) < self.asked, found["req_time"], np.nan)
        return found

    def _of_scores(self, places: Places, procs: Floats, run: Floats, request: Floats) -> Block:
        """Return what has such shares of jobs below it, class by class."""
        sizes = np.bincount(places.session_of_job)[places.session_of_job]
        kind = np.searchsorted([one.fewest for one in self.classes[1:]], sizes, side="right")
        found: Block = {
            "run_time": np.zeros(sizes.size), "n_procs": np.ones(sizes.size, np.int64),
            "req_time": np.full(sizes.size, np.nan),
        }  # fmt: skip
        for place, one in enumerate(self.classes):
            inside = np.flatnonzero(kind == place)
            drawn = np.maximum(one.procs.quantiles(procs[inside]), 1).astype(np.int64)
            found["n_procs"][inside] = drawn
            size = one.of_size(drawn)
            for number, times in enumerate(one.times):
                jobs = inside[size == number]
                found["run_time"][jobs] = times.run_time.quantiles(run[jobs])
                if times.requested:
                    asked = times.requested.quantiles(request[jobs])
                    found["req_time"][jobs] = asked
        return found

    def _origins(self, rng: np.random.Generator, places: Places) -> NDArray[np.int64]:
        """Return the place of the job whose processors each has: its own, or that of an earlier one."""
        uniform = (rng.random(places.jobs.size) < self.uniform)[places.bag_of_job]
        kept = uniform | (rng.random(uniform.size) < self.keeps)
        kept[places.first_jobs] = rng.random(places.jobs.size) < self.stays
        kept[places.first_jobs[places.first_bags]] = False
        return np.maximum.accumulate(np.where(kept, 0, np.arange(kept.size)))

    def nearer(self, drawn: Repetition, wanted: Repetition) -> Self:
        """
        Return contents whose jobs are more nearly as alike as *wanted*, after what these have *drawn*.

        Jobs are alike by chance, too, and normal scores are less alike than what is drawn by them.
        """
        shares = {}
        for name in ("uniform", "keeps", "stays"):
            now, got, aim = (getattr(one, name) for one in (self, drawn, wanted))
            chance = (got - now) / max(1 - now, 1e-9)
            shares[name] = min(max((aim - chance) / max(1 - chance, 1e-9), 0.0), 1.0)
        own = 1 - self.run_time.user - self.run_time.session - self.run_time.bag
        less = own * (1 - min(wanted.spread / drawn.spread, 1.0)) if drawn.spread > 0 else 0.0
        return replace(self, **shares, run_time=replace(self.run_time, bag=self.run_time.bag + less))

    def within(self, cpus: int) -> Self:
        """Return the contents for *cpus* processors: larger jobs get all of them."""

        def cut(knots: Knots) -> Knots:
            return replace(knots, values=tuple(min(value, float(cpus)) for value in knots.values))

        return replace(self, classes=tuple(replace(one, procs=cut(one.procs)) for one in self.classes))


@dataclass(frozen=True, eq=False)
class _Scores:
    """The normal scores of all jobs within their class."""

    procs: Floats
    run_time: Floats
    requested: Floats

    @classmethod
    def of(cls, found: Sessions, sizes: Ints, classes: tuple[Class, ...]) -> Self:
        kind = np.searchsorted([one.fewest for one in classes[1:]], sizes, side="right")
        procs, run, requested = (np.zeros(sizes.size) for _ in range(3))
        for place, one in enumerate(classes):
            inside = np.flatnonzero(kind == place)
            procs[inside] = normal_scores(found.procs[inside])
            size = one.of_size(found.procs[inside])
            for number in range(len(one.times)):
                jobs = inside[size == number]
                run[jobs] = standard(np.log1p(found.run[jobs]))
                asked = jobs[~np.isnan(found.requested[jobs])]
                requested[asked] = standard(np.log1p(found.requested[asked]))
        return cls(procs, run, requested)


def _classes(found: Sessions, sizes: Ints) -> Iterator[Class]:
    """Yield the classes of sessions that have enough jobs; the others belong to the class before."""
    edges = [fewest for fewest in SESSIONS if (sizes >= fewest).sum() >= ENOUGH]
    edges = [
        fewest
        for place, fewest in enumerate(edges)
        if place + 1 == len(edges) or ((sizes >= fewest) & (sizes < edges[place + 1])).sum() >= ENOUGH
    ]
    for place, fewest in enumerate(edges):
        inside = (sizes >= fewest) | (place == 0)
        if place + 1 < len(edges):
            inside &= sizes < edges[place + 1]
        procs = Sample.of(found.procs[inside])
        yield Class(fewest, Knots.fit(procs), tuple(_times(found, np.flatnonzero(inside), procs)))


def _times(found: Sessions, inside: NDArray[np.intp], procs: Sample) -> Iterator[Times]:
    """Yield run times and requested times of classes of sizes, each with enough jobs."""
    least = max(PART * procs.n, ENOUGH)
    edges, begun = [], 0
    for size, count in zip(procs.values, procs.counts, strict=True):
        begun += int(count)
        if begun >= least:
            edges.append(int(size))
            begun = 0
    edges = [*edges[:-1], int(procs.max())] if edges else [int(procs.max())]
    low = 0
    for up_to in edges:
        size = found.procs[inside]
        jobs = inside[(size > low) & (size <= up_to)]
        asked = found.requested[jobs]
        asked = asked[~np.isnan(asked)]
        run = Knots.fit(Sample.of(np.minimum(np.rint(found.run[jobs]), LONGEST)))
        yield Times(up_to, run, Knots.fit(Sample.of(np.rint(asked))) if asked.size else None)
        low = up_to


def _before(places: Places, repeats: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the place of the job whose run time each has: its own, or that of an earlier one in the bag."""
    repeats[places.first_jobs] = False
    return np.maximum.accumulate(np.where(repeats, 0, np.arange(repeats.size)))
