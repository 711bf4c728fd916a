"""
Upper bounds on the waits of jobs, known when they are submitted.

A *predictor* sorts jobs into classes by what is known at submission, from the finest classes to the
coarsest. Each class keeps the waits of its jobs that have started, and bounds the next wait by an order
statistic of them: the Binomial Method Batch Predictor, BMBP (Brevik, Nurmi and Wolski 2006), as QBETS uses it
(Nurmi, Brevik and Wolski 2007). `bound_in_order` goes through a log from its first submission to its last
and never looks ahead, so its bounds are those that users could have been given.
"""

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from inspect import cleandoc
from typing import Final, Self

import numpy as np
import scipy  # imports scipy.special, which is slow, at its first use

from gwa.metrics.presence import of_all_runs
from gwa.metrics.waits import eligible, queued
from gwa.statistics.sample import Floats, Ints
from gwa.store.store import Store
from gwa.util import plugins

QUANTILE: Final = 0.95
"""The share of the jobs whose waits are to stay within their bounds."""

CONFIDENCE: Final = 0.95
"""The confidence that a bound is at least the quantile of the distribution that waits are drawn from."""

MAXIMUM_HISTORY: Final = 4000
"""Waits that a class keeps: older ones are forgotten."""

MISSES: Final = 3
"""After as many consecutive waits beyond their bounds, a class forgets all but its last waits."""

UNKNOWN: Final = -1

JOBS: Final = """
select {eligible} as submit, {queued} as wait, all_seconds as run, n_procs as procs,
    coalesce(req_time, -1.0) as requested, queue_id as queue, partition_id as partition, user_id as user_name,
    job_id as job
from {ran} where submit_time is not null and wait_time >= 0 order by submit{order}, job_id{order} {limit}
"""


@dataclass(frozen=True, eq=False)
class WaitingJobs:
    """
    The jobs that started, in the order of submission, and the processors of their machine, *cpus*.

    Arrays of equal length: *submit*, *wait*, *run* and *requested* in seconds (`UNKNOWN` where no time was
    requested), *procs*, and *queue* and *user* as numbers (`UNKNOWN` where they are not recorded). *queues*
    and *users* are the names by number, *job* the numbers of the jobs in the trace. A wait begins when the
    job could have started.
    """

    submit: Floats
    wait: Floats
    run: Floats
    procs: Ints
    requested: Floats
    queue: Ints
    user: Ints
    cpus: int
    queues: tuple[str, ...] = field(default=(), repr=False)
    users: tuple[str, ...] = field(default=(), repr=False)
    job: Ints = field(default_factory=lambda: np.zeros(0, np.int64), repr=False)

    def __len__(self) -> int:
        """Return the number of jobs."""
        return self.submit.size

    @property
    def start(self) -> Floats:
        """When each job started."""
        return self.submit + self.wait

    @classmethod
    def of(cls, store: Store, last: int | None = None) -> Self:
        """
        Return the jobs of *store* that ran with known submission and wait; queues, else partitions.

        With *last*, no more than that many: those submitted last.
        """
        order, limit = ("", "") if last is None else (" desc", f"limit {last}")
        columns = store.arrays(
            JOBS.format(
                ran=of_all_runs(store, "ran"),
                eligible=eligible(store),
                queued=queued(store),
                order=order,
                limit=limit,
            )
        )
        if last is not None:
            columns = {name: values[::-1] for name, values in columns.items()}
        submit, wait, run, requested = (
            np.asarray(columns[name], np.float64) for name in ("submit", "wait", "run", "requested")
        )
        procs = np.asarray(columns["procs"], np.int64)
        queue, queues = _numbered(columns["queue" if store.has("queue_id") else "partition"])
        user, users = _numbered(columns["user_name"])
        cpus = store.system.cpus or int(procs.max(initial=1))
        job = np.asarray(columns["job"], np.int64)
        return cls(submit, wait, run, procs, requested, queue, user, cpus, queues, users, job)

    def with_query(self, query: "Query") -> "WaitingJobs":
        """Return these jobs and, as the last, one that is submitted when all of them have started."""
        now = float(self.start.max(initial=0.0)) + 1.0
        more = query.waiting + 1
        return WaitingJobs(
            np.append(self.submit, [now] * query.waiting + [now + 1.0]),
            np.append(self.wait, [np.inf] * more),
            np.append(self.run, [0.0] * more),
            np.append(self.procs, [query.procs] * more),
            np.append(self.requested, [query.requested] * more),
            np.append(self.queue, [query.queue] * more),
            np.append(self.user, [query.user] * more),
            self.cpus,
            self.queues,
            self.users,
        )


@dataclass(frozen=True)
class Query:
    """
    A job that may be submitted: *procs*, *requested* seconds, and its *queue* and *user* by number.

    *waiting* is how many jobs of the same user wait already.
    """

    procs: int
    requested: float = UNKNOWN
    queue: int = UNKNOWN
    user: int = UNKNOWN
    waiting: int = 0


def _numbered(names: Iterable[object]) -> tuple[Ints, tuple[str, ...]]:
    """Return names as numbers, and the names by number; None is `UNKNOWN`."""
    texts = [None if name is None else str(name) for name in names]
    known = sorted({name for name in texts if name is not None})
    numbers: dict[str | None, int] = {None: UNKNOWN, **{name: number for number, name in enumerate(known)}}
    return np.array([numbers[name] for name in texts], np.int64), tuple(known)


@dataclass(frozen=True, eq=False)
class Bounds:
    """
    What is said of each job at its submission, as arrays of equal length.

    *bound* is in seconds, nan where nothing can be said; it rests on the waits of *jobs* others, the first of
    which was submitted at *since*. *level* counts the finer classes that had too few jobs.
    """

    bound: Floats
    jobs: Ints
    since: Floats
    level: Ints

    def first(self, count: int) -> "Bounds":
        """Return the bounds of the first *count* jobs."""
        return Bounds(self.bound[:count], self.jobs[:count], self.since[:count], self.level[:count])

    def or_else(self, other: "Bounds") -> "Bounds":
        """Return these bounds, and those of *other* where there are none."""
        missing = np.isnan(self.bound)
        return Bounds(
            np.where(missing, other.bound, self.bound),
            np.where(missing, other.jobs, self.jobs),
            np.where(missing, other.since, self.since),
            np.where(missing, other.level + 1 + self.level.max(initial=0), self.level),
        )


@dataclass(frozen=True)
class Predictor:
    """A method called *id*: its *classes* sort jobs, from the finest classes to the coarsest."""

    id: str
    title: str
    help: str
    classes: Callable[[WaitingJobs], Sequence[Ints]]

    def bounds(self, jobs: WaitingJobs, walks: dict[bytes, Bounds] | None = None) -> Bounds:
        """
        Return the bound of each job, by the finest class that has one.

        What predictors find by the same classes of the same jobs they share in *walks*.
        """
        walks = {} if walks is None else walks
        found: Bounds | None = None
        for classes in self.classes(jobs):
            if found is not None and not np.isnan(found.bound).any():
                break
            key = classes.tobytes()
            if key not in walks:
                walks[key] = bound_in_order(jobs.submit, jobs.start, jobs.wait, classes)
            found = walks[key] if found is None else found.or_else(walks[key])
        assert found is not None, f"{self.id} has no classes"  # noqa: S101 - a defect of the method
        return found


def predictor(title: str) -> Callable[[Callable[[WaitingJobs], Sequence[Ints]]], Predictor]:
    """Make a predictor of a function that sorts jobs; its name is the id, its docstring the help."""

    def register(function: Callable[[WaitingJobs], Sequence[Ints]]) -> Predictor:
        name = function.__name__.replace("_", "-")
        return Predictor(name, title, " ".join(cleandoc(function.__doc__ or "").split()), function)

    return register


@cache
def predictors() -> dict[str, Predictor]:
    """Return all predictors by id."""
    found = plugins.instances("gwa.evaluation.predictors", Predictor, "gwa.predictors")
    return {one.id: one for one in found}


# --- The order statistic ---


@cache
def ranks() -> Ints:
    """
    Return for each number n of waits the rank k of the bound, the k-th smallest; 0 where there is none.

    k is the minimum with P(B ≤ k − 1) ≥ 0.95, where B is binomial of n and 0.95: the probability that the
    k-th smallest of n independent waits is at least their 95 % quantile (Brevik, Nurmi and Wolski 2006).

    >>> [int(ranks()[n]) for n in (58, 59, 100, 1000)]
    [0, 59, 99, 962]
    """
    numbers = np.arange(MAXIMUM_HISTORY + 1)
    spread = np.sqrt(numbers * QUANTILE * (1 - QUANTILE))
    found = np.zeros(numbers.size, np.int64)
    lowest = np.floor(numbers * QUANTILE + spread).astype(np.int64)
    for rank in (lowest + step for step in range(8 + int(spread[-1]), -2, -1)):
        possible = (rank >= 1) & (rank <= numbers)
        enough = np.zeros(numbers.size, bool)
        enough[possible] = scipy.special.bdtr(rank[possible] - 1.0, numbers[possible], QUANTILE) >= CONFIDENCE
        found = np.where(enough, rank, found)
    return found


MINIMUM_HISTORY: Final = 59
"""The waits that it takes for a bound: of fewer, not even the maximum is one (0.95 ** 59 < 0.05)."""


def bound_in_order(moments: Floats, known: Floats, values: Floats, classes: Ints) -> Bounds:
    """
    Bound each value by those of its class that are known by then.

    Parameters
    ----------
    moments
        When each value is to be bounded, in seconds, rising.
    known
        When each value is known; at one moment, bounds come first.
    values
        Waits or run times in seconds; what is infinite stays unknown.
    classes
        The number of the class of each.

    Returns
    -------
    Bounds
        The bounds by `ranks`. After three consecutive misses a class keeps its last 59 values only.

    """
    many = moments.size
    found = Bounds(
        np.full(many, np.nan), np.zeros(many, np.int64), np.full(many, np.nan), np.zeros(many, np.int64)
    )
    order = np.argsort(known, kind="stable")
    learnt = _by_class(order[np.isfinite(known[order])], classes)
    members = _by_class(np.arange(many), classes)
    of_learnt, of_members = classes[learnt], classes[members]
    places = np.empty(many, np.int64)
    places[members] = np.arange(many) - np.searchsorted(of_members, of_members)
    for kind in np.unique(classes):
        first, last = np.searchsorted(of_members, [kind, kind + 1])
        begin, end = np.searchsorted(of_learnt, [kind, kind + 1])
        if end - begin >= MINIMUM_HISTORY:
            _bound_class(found, members[first:last], learnt[begin:end], places, moments, known, values)
    return found


def _by_class(order: Ints, classes: Ints) -> Ints:
    """Return numbers of jobs class by class, in the same *order* within each."""
    sorted_order: Ints = order[np.argsort(classes[order], kind="stable")]
    return sorted_order


def _bound_class(
    found: Bounds, members: Ints, learnt: Ints, places: Ints, moments: Floats, known: Floats, values: Floats
) -> None:
    """Write the bounds of the *members* of a class, at *places* in it; values are *learnt* in that order."""
    upto = np.searchsorted(known[learnt], moments[members])
    bounds, begins = _walk(values[learnt].tolist(), places[learnt].tolist(), upto.tolist())
    begin = np.array(begins, np.int64)
    has_bound = begin >= 0
    bounded, first = members[has_bound], begin[has_bound]
    found.bound[bounded] = np.array(bounds)[has_bound]
    found.jobs[bounded] = upto[has_bound] - first
    found.since[bounded] = moments[learnt[first]]


def _walk(
    values: Sequence[float], places: Sequence[int], upto: Sequence[int]
) -> tuple[list[float], list[int]]:
    """
    Return the bound of each job of a class, and which value is the first that it rests on; -1 without any.

    *values* are in the order in which they become known, each that of the job at one of *places*; of each
    job, those *upto* a number are known. Where logs change, a class forgets each few dozen jobs, and what
    follows depends on it: blocks of NumPy are slower than this loop of lists.
    """
    table, nothing = ranks().tolist(), np.nan
    bounds, begins = [nothing] * len(upto), [-1] * len(upto)
    history: list[float] = []
    begin = end = misses = 0
    for number, limit in enumerate(upto):
        while end < limit:
            value = values[end]
            insort(history, value)
            missed = value > bounds[places[end]]
            end += 1
            if end - begin > MAXIMUM_HISTORY:
                del history[bisect_left(history, values[begin])]
                begin += 1
            misses = misses + 1 if missed else 0
            if misses == MISSES:
                begin, misses = end - MINIMUM_HISTORY, 0
                history = sorted(values[begin:end])
        if rank := table[end - begin]:
            bounds[number], begins[number] = history[rank - 1], begin
    return bounds, begins
