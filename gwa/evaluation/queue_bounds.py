"""
Bounds on the waits of all jobs that wait now, and how often such bounds held in the log.

A job that has waited is not like one that is submitted: what is bounded is the wait of those like jobs that
waited at least as long. The first bound is the order statistic of `gwa.evaluation.prediction` (BMBP) over
these. It is then widened or narrowed by how much of it earlier waiting jobs took: at moments spread over the
log, all that waited then are given their bound, and a later bound is multiplied by the quantile of the ratios
that are known by then (split conformal calibration, Papadopoulos et al. 2002; in order of time). Jobs that
still wait count with what they have waited. Nothing after a moment is used for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from gwa.evaluation.job_classes import crossed, requests, sizes
from gwa.evaluation.prediction import UNKNOWN, WaitingJobs, ranks
from gwa.metrics.waiting_now import WaitingNow
from gwa.statistics.sample import Floats, Ints
from gwa.util.units import MINUTE

MOMENTS: Final = 600
"""At as many moments of the log waiting jobs are given bounds."""

JOBS_OF_A_MOMENT: Final = 300
"""Of more jobs that wait at a moment of the log as many are looked at, evenly spaced."""

MEMORY: Final = (4000, 40_000)
"""As many waits of its own class a job is compared with, and of wider ones."""

LEVEL: Final = 0.97
"""The quantile of the ratios: above the 95 % that is promised, for those that are known are older."""

MINIMUM_RATIOS: Final = 200
MAXIMUM_RATIOS: Final = 20_000
"""Fewer ratios calibrate nothing; of more, the last count."""

LARGE: Final = 64
"""Jobs of more processors are calibrated by themselves."""

FIRST: Final = 0.05
"""The share of the jobs that are submitted before the first moment."""


@dataclass(frozen=True)
class QueueRecord:
    """
    How often bounds held of the *jobs* of the log that were looked at while they waited, each counted once.

    *held* is the share, *held_large* that of jobs of more than 64 processors, and *answered* the share of the
    looks that had a bound; None without any.
    """

    jobs: int
    answered: float | None
    held: float | None
    held_large: float | None


@dataclass
class _Looks:
    """The looks at waiting jobs so far: numbers of jobs, moments, what was bounded, and what came of it."""

    job: list[int] = field(default_factory=list)
    moment: list[float] = field(default_factory=list)
    width: list[float] = field(default_factory=list)
    bound: list[float] = field(default_factory=list)
    looks: int = 0


@dataclass(frozen=True)
class QueueBounds:
    """The *bounds* on waits in seconds since submission, nan where nothing can be said, and the record."""

    now: float
    bounds: Floats
    record: QueueRecord


def queue_bounds(jobs: WaitingJobs, waiting: Sequence[WaitingNow], now: float) -> QueueBounds:
    """Return a bound for each job that is *waiting* now, from the waits of *jobs* that had started."""
    every = _with(jobs, waiting, now)
    classes = (crossed(every.queue, sizes(every), requests(every)), every.queue, np.zeros_like(every.queue))
    order = np.argsort(every.start, kind="stable")
    looks = _Looks()
    moments = np.linspace(np.quantile(jobs.submit, FIRST), float(jobs.submit.max()), MOMENTS)
    for moment in moments[moments <= now].tolist():
        here = np.flatnonzero((every.submit <= moment) & (every.start > moment) & (every.start < np.inf))
        _look(every, classes, order, looks, here[:: max(1, -(-len(here) // JOBS_OF_A_MOMENT))], moment)
    record = _record(every, looks)
    here = np.arange(len(jobs), len(every))
    return QueueBounds(now, _look(every, classes, order, looks, here, now), record)


def _with(jobs: WaitingJobs, waiting: Sequence[WaitingNow], now: float) -> WaitingJobs:
    """Return the *jobs* and, after them, those that are *waiting*, which never start."""

    def numbered(names: Sequence[str | None], known: tuple[str, ...]) -> Ints:
        places = {name: place for place, name in enumerate(known)}
        return np.array([places.get(name or "", UNKNOWN) for name in names], np.int64)

    count = len(waiting)
    return replace(
        jobs,
        submit=np.append(jobs.submit, [min(one.submit, now) for one in waiting]),
        wait=np.append(jobs.wait, np.full(count, np.inf)),
        run=np.append(jobs.run, np.zeros(count)),
        procs=np.append(jobs.procs, np.array([one.procs for one in waiting], np.int64)),
        requested=np.append(jobs.requested, [one.requested or float(UNKNOWN) for one in waiting]),
        queue=np.append(jobs.queue, numbered([one.queue for one in waiting], jobs.queues)),
        user=np.append(jobs.user, numbered([one.user for one in waiting], jobs.users)),
        job=np.append(jobs.job, np.full(count, UNKNOWN)),
    )


def _look(
    every: WaitingJobs, classes: Sequence[Ints], order: Ints, looks: _Looks, here: Ints, moment: float
) -> Floats:
    """Return the bound of each of the jobs *here* that wait at a *moment*, and add them to the *looks*."""
    known = order[: np.searchsorted(every.start[order], moment, side="right")][-MEMORY[1] :]
    factors = [_factor(every, looks, known, moment, is_large=is_large) for is_large in (False, True)]
    waits: dict[tuple[int, int], Floats] = {}
    found = np.full(len(here), np.nan)
    for at, job in enumerate(here.tolist()):
        looks.looks += 1
        age = moment - every.submit[job]
        for level, of_level in enumerate(classes):
            key = level, int(of_level[job])
            if key not in waits:
                like = known[of_level[known] == of_level[job]][-MEMORY[level > 0] :]
                waits[key] = np.sort(every.wait[like])
            first = _beyond(waits[key], age)
            if first is not None:
                width = max(first - age, MINUTE)
                found[at] = age + factors[int(every.procs[job] > LARGE)] * width
                looks.job.append(job)
                looks.moment.append(moment)
                looks.width.append(width)
                looks.bound.append(found[at])
                break
    return found


def _beyond(waits: Floats, age: float) -> float | None:
    """Return the bound on the wait of a job that waited *age* seconds, of sorted *waits*; None of too few."""
    count = len(waits) - int(np.searchsorted(waits, age, side="right"))
    table = ranks()
    rank = int(table[min(count, len(table) - 1)])
    return float(waits[len(waits) - count + rank - 1]) if rank else None


def _factor(every: WaitingJobs, looks: _Looks, known: Ints, moment: float, *, is_large: bool) -> float:
    """Return by how much bounds have to be wider, from looks so old that nearly all is known of them."""
    if not looks.job:
        return 1.0
    job, then, width = np.array(looks.job), np.array(looks.moment), np.array(looks.width)
    is_old = then < moment - (np.quantile(every.wait[known], 0.99) if len(known) else 0.0)
    own = is_old & ((every.procs[job] > LARGE) == is_large)
    chosen = np.flatnonzero(own if own.sum() >= MINIMUM_RATIOS else is_old)[-MAXIMUM_RATIOS:]
    if len(chosen) < MINIMUM_RATIOS:
        return 1.0
    job, then, width = job[chosen], then[chosen], width[chosen]
    ratios = (np.minimum(every.start[job], moment) - then) / width
    return _weighted_quantile(ratios, _once_a_job(job), LEVEL)


def _once_a_job(job: Ints) -> Floats:
    """Return weights by which each job counts once."""
    weights: Floats = 1.0 / np.bincount(job)[job]
    return weights


def _weighted_quantile(values: Floats, weights: Floats, level: float) -> float:
    order = np.argsort(values, kind="stable")
    sums = np.cumsum(weights[order])
    return float(values[order][min(int(np.searchsorted(sums, level * sums[-1])), len(order) - 1)])


def _record(every: WaitingJobs, looks: _Looks) -> QueueRecord:
    if not looks.job:
        return QueueRecord(0, None, None, None)
    job = np.array(looks.job)
    held = every.wait[job] <= np.array(looks.bound)
    weights, large = _once_a_job(job), every.procs[job] > LARGE
    return QueueRecord(
        len(np.unique(job)),
        len(job) / looks.looks,
        float(np.average(held, weights=weights)),
        float(np.average(held[large], weights=weights[large])) if large.any() else None,
    )
