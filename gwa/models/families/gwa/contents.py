"""The contents of jobs: processors by the size of the session, run and requested time by both."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Annotated, Final, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from gwa.models.families.gwa.hierarchy import Hierarchy
from gwa.models.families.gwa.sessions import Sessions
from gwa.models.families.gwa.similarity import Likeness, Repetition, normal_scores, standardize
from gwa.models.knots import Knots
from gwa.models.parameters import Parameters, Quantity, share
from gwa.models.streams import Block
from gwa.statistics.sample import Floats, Ints, Sample
from gwa.store.schema import LONGEST

SESSION_SIZES: Final = (1, 2, 5, 20, 100)
"""The minimum number of jobs of each class of sessions."""

MINIMUM_JOBS: Final = 100
"""Minimum number of jobs of the trace in a class."""

MINIMUM_SHARE: Final = 0.1
"""Minimum share of the jobs of a class of sessions in a class of sizes."""

PROCS, RUN_TIME, REQUESTED = 4, 5, 6
"""The indices of the quantities among those in which users differ."""


@dataclass(frozen=True)
class SizeClass(Parameters):
    """The *run_time* and the *requested* time of jobs with *up_to* processors."""

    up_to: Annotated[int, Quantity("greatest number of processors of this class", "", 1.0)]
    run_time: Knots
    requested: Knots | None = None


@dataclass(frozen=True)
class SessionClass(Parameters):
    """Jobs of sessions with *fewest* or more jobs: their *procs*, and *times* for classes of sizes."""

    fewest: Annotated[int, Quantity("least number of jobs of sessions in this class", "", 1.0)]
    procs: Knots
    times: tuple[SizeClass, ...]

    def split_by_size(
        self, jobs: NDArray[np.intp], procs: Floats | Ints
    ) -> Iterator[tuple[SizeClass, NDArray[np.intp]]]:
        """Yield each class of sizes with those of *jobs*, which have *procs* processors, that are in it."""
        edges = [size_class.up_to for size_class in self.times[:-1]]
        number = np.searchsorted(edges, procs, side="left")
        for i, size_class in enumerate(self.times):
            yield size_class, jobs[number == i]


@dataclass(frozen=True)
class Contents(Parameters):
    """
    The contents of jobs, in classes of sessions by their size.

    In the share *uniform* of bags all jobs have the same processors. In the other bags a job has those of the
    job before with probability *keeps*, and the first job of a bag has those of the job before in the session
    with probability *stays*. A job has the run time of the job before in its bag with probability *repeats*.
    *asked* is the share of jobs with a requested time, whose normal score has the correlation *follows* with
    that of the run time.
    """

    classes: tuple[SessionClass, ...]
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
    def fit(cls, trace: Sessions) -> Self:
        """Fit the contents to the jobs of a *trace*."""
        sizes = np.bincount(trace.session)[trace.session]
        classes = tuple(_fit_classes(trace, sizes))
        asks = ~np.isnan(trace.requested)
        scores = _Scores.of(trace, sizes, classes)
        groups = trace.user, trace.session, trace.bag
        follows = float((scores.requested[asks] * scores.run_time[asks]).mean()) if asks.any() else 0.0
        follows = min(max(follows, -1.0), 1.0)
        residuals = standardize(scores.requested[asks] - follows * scores.run_time[asks])
        same_bag = np.flatnonzero(np.diff(trace.bag) == 0)
        return cls(
            classes,
            Likeness.fit(scores.procs, *groups),
            Likeness.fit(scores.run_time, *groups),
            Likeness.fit(residuals, *(np.unique(group[asks], return_inverse=True)[1] for group in groups)),
            repeats=float((np.diff(np.rint(trace.run))[same_bag] == 0).mean()) if same_bag.size else 0.0,
            asked=float(asks.mean()),
            follows=follows,
        )

    def draw(self, rng: np.random.Generator, hierarchy: Hierarchy) -> Block:
        """Draw processors, run times and requested times of the jobs in a *hierarchy*."""
        procs = hierarchy.draw_job_scores(rng, self.procs, PROCS)
        procs = procs[self._draw_origins(rng, hierarchy)]
        run = hierarchy.draw_job_scores(rng, self.run_time, RUN_TIME)
        repeats = rng.random(run.size) < self.repeats
        repeats[hierarchy.first_jobs] = False
        run = run[_origins(repeats)]
        residuals = hierarchy.draw_job_scores(rng, self.requested, REQUESTED)
        requested = self.follows * run + np.sqrt(1 - self.follows**2) * residuals
        jobs = self._from_quantiles(hierarchy, ndtr(procs), ndtr(run), ndtr(requested))
        if not self.asked:
            del jobs["req_time"]
        else:
            jobs["req_time"] = np.where(rng.random(run.size) < self.asked, jobs["req_time"], np.nan)
        return jobs

    def _from_quantiles(self, hierarchy: Hierarchy, procs: Floats, run: Floats, requested: Floats) -> Block:
        """Convert shares of the jobs of a class to processors, run times and requested times."""
        session_sizes = np.bincount(hierarchy.session_of_job)[hierarchy.session_of_job]
        n = session_sizes.size
        drawn: Block = {
            "run_time": np.zeros(n), "n_procs": np.ones(n, np.int64), "req_time": np.full(n, np.nan),
        }  # fmt: skip
        for session_class, inside in _split_by_session(self.classes, session_sizes):
            sizes = np.maximum(session_class.procs.quantiles(procs[inside]), 1).astype(np.int64)
            drawn["n_procs"][inside] = sizes
            for times, jobs in session_class.split_by_size(inside, sizes):
                drawn["run_time"][jobs] = times.run_time.quantiles(run[jobs])
                if times.requested:
                    drawn["req_time"][jobs] = times.requested.quantiles(requested[jobs])
        return drawn

    def _draw_origins(self, rng: np.random.Generator, hierarchy: Hierarchy) -> NDArray[np.int64]:
        """Draw the index of the job whose processors each job has: its own, or that of an earlier job."""
        uniform = (rng.random(hierarchy.jobs.size) < self.uniform)[hierarchy.bag_of_job]
        repeats = uniform | (rng.random(uniform.size) < self.keeps)
        repeats[hierarchy.first_jobs] = rng.random(hierarchy.jobs.size) < self.stays
        repeats[hierarchy.first_jobs[hierarchy.first_bags]] = False
        return _origins(repeats)

    def calibrate(self, drawn: Repetition, target: Repetition) -> Self:
        """
        Return contents with repetition nearer to *target*, given that of jobs *drawn* from these contents.

        Jobs repeat each other also by chance, and run times differ less than their normal scores.
        """
        shares = {}
        for name in ("uniform", "keeps", "stays"):
            parameter, observed, aim = (getattr(source, name) for source in (self, drawn, target))
            chance = (observed - parameter) / max(1 - parameter, 1e-9)
            shares[name] = min(max((aim - chance) / max(1 - chance, 1e-9), 0.0), 1.0)
        independent = 1 - self.run_time.user - self.run_time.session - self.run_time.bag
        shift = independent * (1 - min(target.spread / drawn.spread, 1.0)) if drawn.spread > 0 else 0.0
        return replace(self, **shares, run_time=replace(self.run_time, bag=self.run_time.bag + shift))

    def limit_processors(self, cpus: int) -> Self:
        """Return the contents for *cpus* processors: larger jobs get all of them."""

        def limit(knots: Knots) -> Knots:
            return replace(knots, values=tuple(min(value, float(cpus)) for value in knots.values))

        return replace(self, classes=tuple(replace(each, procs=limit(each.procs)) for each in self.classes))


@dataclass(frozen=True, eq=False)
class _Scores:
    """The normal scores of all jobs within their class."""

    procs: Floats
    run_time: Floats
    requested: Floats

    @classmethod
    def of(cls, trace: Sessions, session_sizes: Ints, classes: tuple[SessionClass, ...]) -> Self:
        procs, run, requested = (np.zeros(session_sizes.size) for _ in range(3))
        for session_class, inside in _split_by_session(classes, session_sizes):
            procs[inside] = normal_scores(trace.procs[inside])
            for _, jobs in session_class.split_by_size(inside, trace.procs[inside]):
                run[jobs] = standardize(np.log1p(trace.run[jobs]))
                asking = jobs[~np.isnan(trace.requested[jobs])]
                requested[asking] = standardize(np.log1p(trace.requested[asking]))
        return cls(procs, run, requested)


def _split_by_session(
    classes: tuple[SessionClass, ...], session_sizes: Ints
) -> Iterator[tuple[SessionClass, NDArray[np.intp]]]:
    """Yield each class with the jobs that are in sessions of its sizes."""
    number = np.searchsorted([each.fewest for each in classes[1:]], session_sizes, side="right")
    for i, session_class in enumerate(classes):
        yield session_class, np.flatnonzero(number == i)


def _fit_classes(trace: Sessions, session_sizes: Ints) -> Iterator[SessionClass]:
    """Yield the classes of sessions with enough jobs; the rest is merged with the class before."""
    edges = [edge for edge in SESSION_SIZES if (session_sizes >= edge).sum() >= MINIMUM_JOBS]
    end = int(session_sizes.max()) + 1
    edges = [
        edge
        for edge, following in pairwise([*edges, end])
        if ((session_sizes >= edge) & (session_sizes < following)).sum() >= MINIMUM_JOBS
    ]
    for edge, following in pairwise([*edges, end]):
        inside = ((session_sizes >= edge) | (edge == edges[0])) & (session_sizes < following)
        procs = Sample.of(trace.procs[inside])
        times = tuple(_fit_times(trace, np.flatnonzero(inside), procs))
        yield SessionClass(edge, Knots.fit(procs), times)


def _fit_times(trace: Sessions, inside: NDArray[np.intp], procs: Sample) -> Iterator[SizeClass]:
    """Yield run times and requested times of classes of sizes, each with enough jobs."""
    minimum = max(MINIMUM_SHARE * procs.n, MINIMUM_JOBS)
    edges, jobs_in_class = [], 0
    for size, count in zip(procs.values, procs.counts, strict=True):
        jobs_in_class += int(count)
        if jobs_in_class >= minimum:
            edges.append(int(size))
            jobs_in_class = 0
    edges = [*edges[:-1], int(procs.max())]
    sizes = trace.procs[inside]
    for previous, up_to in pairwise([0, *edges]):
        jobs = inside[(sizes > previous) & (sizes <= up_to)]
        requested = trace.requested[jobs]
        requested = requested[~np.isnan(requested)]
        run = Knots.fit(Sample.of(np.minimum(np.rint(trace.run[jobs]), LONGEST)))
        yield SizeClass(up_to, run, Knots.fit(Sample.of(np.rint(requested))) if requested.size else None)


def _origins(repeats: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the index of the last job up to each that repeats no other."""
    return np.maximum.accumulate(np.where(repeats, 0, np.arange(repeats.size)))
