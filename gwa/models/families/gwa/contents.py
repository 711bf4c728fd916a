"""The contents of jobs: processors by the size of the session, run and requested time by both."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Annotated, Final, Self

import numpy as np
from numpy.typing import NDArray

from gwa.models.families.gwa.hierarchy import Hierarchy
from gwa.models.families.gwa.sessions import Sessions
from gwa.models.families.gwa.similarity import Likeness, Repetition, normal_scores, standardize
from gwa.models.knots import Knots
from gwa.models.parameters import Parameters, Quantity, share
from gwa.models.streams import Block
from gwa.statistics.sample import Floats, Ints, Sample
from gwa.store.schema import MAXIMUM_DURATION

SESSION_SIZES: Final = (1, 2, 5, 20, 100)
"""The minimum number of jobs of each class of sessions."""

MINIMUM_JOBS: Final = 100
"""Minimum number of jobs of the trace in a class."""

MINIMUM_SHARE: Final = 0.1
"""
Minimum share of a class of sessions in a class of sizes, the mean of the shares of jobs and of work.

Few large jobs are much of the work; in one class with many smaller ones, their long run times are lost.
"""

RUN_SHARES: Final = (0.1, 0.25, 0.5, 0.75, 0.9)
"""Shares of jobs that run no longer than each class of run times, in which requests are alike."""

MINIMUM_REQUESTS: Final = 50
"""Minimum number of requests in a class of run times."""

EXCHANGES: Final = 64
"""How often a job that runs longer than it requests looks for a partner."""

PROCS, RUN_TIME, REQUESTED = 4, 5, 6
"""The indices of the quantities among those in which users differ."""


@dataclass(frozen=True)
class Requests(Parameters):
    """
    The *requested* time of jobs that run *up_to* a time.

    At most the share *past* of them runs longer than requested.
    """

    up_to: Annotated[float, Quantity("maximum run time of this class", "s", 0.0)]
    requested: Knots
    past: Annotated[float, share("of jobs that run longer than they request")] = 1.0


@dataclass(frozen=True)
class SizeContents(Parameters):
    """The *run_time* of jobs with *up_to* processors, and their *requests* by classes of it."""

    up_to: Annotated[int, Quantity("maximum number of processors of this class", "", 1.0)]
    run_time: Knots
    requests: tuple[Requests, ...] = ()

    def split_by_run_time(
        self, jobs: NDArray[np.intp], run: Floats
    ) -> Iterator[tuple[Requests, NDArray[np.intp]]]:
        """Yield each class of run times with those of *jobs*, which run for *run* seconds, that are in it."""
        number = np.searchsorted([requests.up_to for requests in self.requests[:-1]], run, side="left")
        for i, requests in enumerate(self.requests):
            yield requests, jobs[number == i]


@dataclass(frozen=True)
class SessionClass(Parameters):
    """Jobs of sessions with *fewest* or more jobs: their *procs*, and *times* for classes of sizes."""

    fewest: Annotated[int, Quantity("least number of jobs of sessions in this class", "", 1.0)]
    procs: Knots
    times: tuple[SizeContents, ...]

    def split_by_size(
        self, jobs: NDArray[np.intp], procs: Floats | Ints
    ) -> Iterator[tuple[SizeContents, NDArray[np.intp]]]:
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
    *asked* is the share of jobs with a requested time.
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

    @classmethod
    def fit(cls, trace: Sessions) -> Self:
        """Fit the contents to the jobs of a *trace*."""
        sizes = np.bincount(trace.session)[trace.session]
        classes = tuple(_fit_classes(trace, sizes))
        asks = ~np.isnan(trace.requested)
        scores = _Scores.of(trace, sizes, classes)
        groups = trace.user, trace.session, trace.bag
        same_bag = np.flatnonzero(np.diff(trace.bag) == 0)
        return cls(
            classes,
            Likeness.fit(scores.procs, *groups),
            Likeness.fit(scores.run_time, *groups),
            Likeness.fit(
                scores.requested[asks], *(np.unique(group[asks], return_inverse=True)[1] for group in groups)
            ),
            repeats=float((np.diff(np.rint(trace.run))[same_bag] == 0).mean()) if same_bag.size else 0.0,
            asked=float(asks.mean()),
        )

    def draw(self, rng: np.random.Generator, hierarchy: Hierarchy) -> Block:
        """Draw processors, run times and requested times of the jobs in a *hierarchy*."""
        procs = hierarchy.draw_job_scores(rng, self.procs, PROCS)
        procs = procs[self._draw_origins(rng, hierarchy)]
        run = hierarchy.draw_job_scores(rng, self.run_time, RUN_TIME)
        repeats = rng.random(run.size) < self.repeats
        repeats[hierarchy.first_jobs] = False
        run = run[_origins(repeats)]
        requested = hierarchy.draw_job_scores(rng, self.requested, REQUESTED)
        jobs = self._from_scores(rng, hierarchy, procs, run, requested)
        if not self.asked:
            del jobs["req_time"]
        else:
            jobs["req_time"] = np.where(rng.random(run.size) < self.asked, jobs["req_time"], np.nan)
        return jobs

    def _from_scores(
        self, rng: np.random.Generator, hierarchy: Hierarchy, procs: Floats, run: Floats, requested: Floats
    ) -> Block:
        """Convert scores of the jobs of a class to processors, run times and requested times."""
        session_sizes = np.bincount(hierarchy.session_of_job)[hierarchy.session_of_job]
        n, shares = session_sizes.size, hierarchy.users.even.shares
        drawn: Block = {
            "run_time": np.zeros(n), "n_procs": np.ones(n, np.int64), "req_time": np.full(n, np.nan),
        }  # fmt: skip
        for i, (session_class, inside) in enumerate(_split_by_session(self.classes, session_sizes)):
            sizes = session_class.procs.quantiles(shares((PROCS, i), procs[inside]))
            drawn["n_procs"][inside] = np.maximum(sizes, 1).astype(np.int64)
            for j, (times, jobs) in enumerate(session_class.split_by_size(inside, drawn["n_procs"][inside])):
                drawn["run_time"][jobs] = times.run_time.quantiles(shares((RUN_TIME, i, j), run[jobs]))
                for k, (asks, alike) in enumerate(times.split_by_run_time(jobs, drawn["run_time"][jobs])):
                    asked = asks.requested.quantiles(shares((REQUESTED, i, j, k), requested[alike]))
                    drawn["req_time"][alike] = exchange_requests(
                        rng, drawn["run_time"][alike], asked, asks.past
                    )
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
            for times, jobs in session_class.split_by_size(inside, trace.procs[inside]):
                run[jobs] = standardize(np.log1p(trace.run[jobs]))
                asking = jobs[~np.isnan(trace.requested[jobs])]
                for _, alike in times.split_by_run_time(asking, np.rint(trace.run[asking])):
                    requested[alike] = standardize(np.log1p(trace.requested[alike]))
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


def _fit_times(trace: Sessions, inside: NDArray[np.intp], procs: Sample) -> Iterator[SizeContents]:
    """Yield run times and requested times of classes of sizes, each with enough jobs."""
    sizes = trace.procs[inside]
    work = np.bincount(np.searchsorted(procs.values, sizes), trace.run[inside] * sizes)
    weights = (procs.counts / procs.n + work / max(float(work.sum()), 1.0)) / 2
    edges, jobs_in_class, weight = [], 0, 0.0
    for size, count, part in zip(procs.values, procs.counts, weights, strict=True):
        jobs_in_class, weight = jobs_in_class + int(count), weight + float(part)
        if jobs_in_class >= MINIMUM_JOBS and weight >= MINIMUM_SHARE:
            edges.append(int(size))
            jobs_in_class, weight = 0, 0.0
    if jobs_in_class < MINIMUM_JOBS:
        edges = edges[:-1]
    if not edges or edges[-1] < procs.max():
        edges.append(int(procs.max()))
    for previous, up_to in pairwise([0, *edges]):
        yield _fit_size_class(trace, inside[(sizes > previous) & (sizes <= up_to)], up_to)


def _fit_size_class(trace: Sessions, jobs: NDArray[np.intp], up_to: int) -> SizeContents:
    """Fit run times and requested times to some *jobs*, which have *up_to* processors."""
    run = Knots.fit(Sample.of(np.minimum(np.rint(trace.run[jobs]), MAXIMUM_DURATION)))
    asking = jobs[~np.isnan(trace.requested[jobs])]
    return SizeContents(up_to, run, tuple(_fit_requests(np.rint(trace.run[asking]), trace.requested[asking])))


def _fit_requests(run: Floats, requested: Floats) -> Iterator[Requests]:
    """Yield *requested* times of jobs by classes of their *run* time, each with enough of them."""
    if not run.size:
        return
    edges, below = [], 0
    for edge in np.unique(np.quantile(run, RUN_SHARES, method="inverted_cdf")):
        jobs = int((run <= edge).sum())
        if jobs - below >= MINIMUM_REQUESTS and run.size - jobs >= MINIMUM_REQUESTS:
            edges.append(float(edge))
            below = jobs
    for previous, up_to in pairwise([-1.0, *edges, float(run.max())]):
        inside = (run > previous) & (run <= up_to)
        past = float((run[inside] > requested[inside]).mean())
        yield Requests(up_to, Knots.fit(Sample.of(np.rint(requested[inside]))), past)


def exchange_requests(rng: np.random.Generator, run_time: Floats, requested: Floats, past: float) -> Floats:
    """
    Return *requested* times, exchanged so that hardly more than the share *past* of jobs runs longer.

    A job that runs longer than it requests exchanges its request with that of a job drawn at random, if both
    run within what they get; the distributions stay as they are. Whose partner does not suit tries again.
    """
    asked = requested.copy()
    over = np.flatnonzero(run_time > asked)
    surplus = over.size - round(past * asked.size)
    if surplus > 0:
        over = rng.permutation(over)[:surplus]
        for _ in range(EXCHANGES):
            within = rng.permutation(np.flatnonzero(run_time <= asked))[: over.size]
            mine = over[: within.size]
            suits = (run_time[mine] <= asked[within]) & (run_time[within] <= asked[mine])
            one, other = mine[suits], within[suits]
            asked[one], asked[other] = asked[other], asked[one]
            over = rng.permutation(over[run_time[over] > asked[over]])
    return asked


def _origins(repeats: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the index of the last job up to each that repeats no other."""
    return np.maximum.accumulate(np.where(repeats, 0, np.arange(repeats.size)))
