"""Bound the wait of one job that is submitted at the end of a log, and say how far that is to be trusted."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from difflib import get_close_matches

import numpy as np

from gwa.errors import ArgumentError, TraceError
from gwa.evaluation.bound_classes import ClassCoverage, coverage_by_class, in_words, worst_of_each_kind
from gwa.evaluation.bound_scores import BoundScore
from gwa.evaluation.prediction import QUANTILE, UNKNOWN, Query, WaitingJobs, predictors
from gwa.store.store import Store
from gwa.store.system import System
from gwa.words.formatting import fraction, seconds, show


@dataclass(frozen=True)
class Asked:
    """A job that may be submitted: its processors, *requested* seconds, queue, user, and how many wait."""

    procs: int = 1
    requested: float | None = None
    queue: str | None = None
    user: str | None = None
    waiting: int = 0


@dataclass(frozen=True)
class WaitBound:
    """
    A *bound* on a wait in s, which rests on the waits of a number of *jobs* *since* a moment.

    It is None of too few jobs, and that of a wider class where its own has too few. *held* is how such bounds
    did in the log, for *classes* of jobs, too; *beyond* says what is asked for that no job of the log had.
    """

    bound: float | None
    jobs: int
    since: float | None
    is_of_wider_class: bool
    held: BoundScore | None
    classes: Sequence[ClassCoverage]
    beyond: Sequence[str]

    def plain(self) -> Mapping[str, object]:
        """Return the bound as JSON holds it."""
        return {
            "bound": self.bound,
            "jobs": self.jobs,
            "since": self.since,
            "is_of_wider_class": self.is_of_wider_class,
            "held": asdict(self.held) if self.held else None,
            "classes": [asdict(one) for one in self.classes],
            "notes": list(self.beyond),
        }

    def sentences(self, system: System) -> list[str]:
        """Return the bound in words, what is beyond the log, and how often such bounds held."""
        calibration = [_calibration(self.held, self.classes)] if self.held else []
        return [self._sentence(system), *self.beyond, *calibration]

    def _sentence(self, system: System) -> str:
        if self.bound is None:
            return "Too few jobs: a bound takes 59 jobs that have started."
        day = show(self.since, "timestamp", zone=None if system.relative else system.timezone.key)
        wider = "Too few jobs are of its own class, so the bound is that of a wider one."
        coarse = f" {wider}" if self.is_of_wider_class else ""
        basis = f"with 95 % confidence, from {self.jobs:,} jobs since {day}"
        return f"95 % of such jobs start within {seconds(self.bound)} ({basis}).{coarse}"


def waiting_jobs(store: Store, name: str) -> WaitingJobs:
    """Return the jobs of a trace called *name* that waited; raise `TraceError` where there are none."""
    jobs = WaitingJobs.of(store)
    if not len(jobs):
        raise TraceError(f"{name}: no job has a known wait and run time, expected a log that records waits")
    return jobs


def wait_bound(jobs: WaitingJobs, system: System, asked: Asked, method: str) -> WaitBound:
    """
    Return the bound on the wait of the job that is *asked* about, by a *method* of `predictors`.

    Raise `ArgumentError` for a method that there is not, and for a job that this log cannot have.
    """
    predictor = predictors()[_known(method, list(predictors()), "method")]
    query = _query(jobs, system, asked)
    bounds = predictor.bounds(jobs.with_query(query))
    of_log = bounds.first(len(jobs))
    bound = float(bounds.bound[-1])
    is_known = not np.isnan(bound)
    return WaitBound(
        bound if is_known else None,
        int(bounds.jobs[-1]),
        float(bounds.since[-1]) if is_known else None,
        bool(bounds.level[-1]),
        BoundScore.of(jobs, of_log),
        coverage_by_class(jobs, of_log),
        _beyond_the_log(jobs, query),
    )


def _query(jobs: WaitingJobs, system: System, asked: Asked) -> Query:
    largest = max(jobs.cpus, int(jobs.procs.max()))
    if not 1 <= asked.procs <= largest:
        limit = "were ever busy at once" if system.cpus_inferred else "the system has"
        raise ArgumentError(
            f"a job of {asked.procs:,} processors: expected 1 to {largest:,}, as many as {limit}"
        )
    return Query(
        asked.procs,
        UNKNOWN if asked.requested is None else asked.requested,
        _number(asked.queue, jobs.queues, "queue"),
        _number(asked.user, jobs.users, "user"),
        asked.waiting,
    )


def _number(name: str | None, known: Sequence[str], kind: str) -> int:
    return UNKNOWN if name is None else known.index(_known(name, known, kind))


def _known(name: str, known: Sequence[str], kind: str) -> str:
    if name in known:
        return name
    if not known:
        raise ArgumentError(f"there is no {kind} '{name}': the log records none")
    nearest = get_close_matches(name, known, 3, cutoff=0.3) or known[:3]
    raise ArgumentError(f"there is no {kind} '{name}', the nearest are: {', '.join(nearest)}")


def _beyond_the_log(jobs: WaitingJobs, query: Query) -> list[str]:
    """Return sentences on what is asked for beyond anything that the log has: a bound cannot rest on it."""
    sentences = []
    largest, longest = int(jobs.procs.max()), float(jobs.requested.max())
    if query.procs > largest:
        sentences.append(
            f"No job of this log had more than {largest:,} processors: the bound rests on smaller jobs."
        )
    if query.requested > 0 and not longest > 0:
        sentences.append("This log records no requested times: --time does not change the bound.")
    elif query.requested > longest:
        sentences.append(
            f"No job of this log requested more than {seconds(longest)}: the bound rests on shorter requests."
        )
    return sentences


def _calibration(score: BoundScore, classes: Sequence[ClassCoverage]) -> str:
    """Return in words how often such bounds held, over all and for the worst classes of jobs."""
    worst = worst_of_each_kind(classes, below=QUANTILE)
    least = f" {in_words(worst)}" if worst else ""
    weak = "" if score.coverage >= QUANTILE else " That is less than 95 %: do not rely on it."
    return (
        f"In this log, such bounds held for {fraction(score.coverage)} of {score.jobs:,} jobs, and for"
        f" {fraction(score.largest)} of the tenth with most processors.{least}{weak}"
    )
