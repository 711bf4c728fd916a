"""Bags of similar consecutive jobs: where they start, and how similar their run times are."""

import math
from dataclasses import dataclass, replace
from typing import Annotated, Final

import numpy as np
from numpy.typing import NDArray

from gwa.errors import ModelError
from gwa.metrics.bags import MINH, bagged
from gwa.models.parameters import Parameters, share
from gwa.statistics.dependence import pearson
from gwa.statistics.sample import Floats, Ints
from gwa.store.schema import RAN
from gwa.store.store import Store

SIMILAR: Final = replace(MINH, name="similar", where=f"submit_time is not null and {RAN}")
"""The bags of Minh and Wolters (2010), of all jobs that ran, whatever their status."""

SIZE_CLASSES: Final = 6
"""Classes of bag sizes: 1, 2, 3 to 4, 5 to 8, 9 to 16, and more."""

LABELS_PER_CLASS: Final = 64
"""Exceeds all labels of parallelism: the label of a cell is its size class times this, plus that label."""

GAP_CLASSES: Final = (0.0, 1.0, 4.0, 10.0, 30.0, 60.0, 100.0)
"""The maximum gap of each class in seconds; a longer gap always ends a bag."""

CALIBRATION_ROUNDS: Final = 8
"""Number of corrections of the probabilities by the bags that they give at the model's own arrivals."""


@dataclass(frozen=True)
class Joins(Parameters):
    """The probability that the next job joins a bag of one size class, for each class of gaps."""

    shares: Annotated[tuple[float, ...], share("of next jobs that join the bag, by the gap before them")]

    def check(self) -> None:
        """Refuse a wrong number of gap classes."""
        if len(self.shares) != len(GAP_CLASSES):
            raise ModelError(
                f"shares has {len(self.shares)} numbers, expected {len(GAP_CLASSES)}, by the gap"
            )


def classify_sizes(sizes: Ints) -> Ints:
    """Return the size class of each bag size."""
    return np.minimum(np.ceil(np.log2(sizes)), SIZE_CLASSES - 1).astype(np.int64)


def draw_bag_starts(rng: np.random.Generator, times: Floats, joins: tuple[Joins, ...]) -> NDArray[np.bool_]:
    """
    Draw which of the arrivals at *times* start a bag.

    Some jobs start a bag whatever the size of the bag before. From these the other starts are found by
    advancing through all segments between them in parallel, one job at a time.
    """
    table = np.array([[*row.shares, 0.0] for row in joins])
    gap = np.searchsorted(GAP_CLASSES, np.diff(times, prepend=-math.inf))
    draw = rng.random(times.size)
    starts: NDArray[np.bool_] = draw >= table.max(axis=0)[gap]
    job = np.flatnonzero(starts)
    end, size = np.append(job[1:], times.size), np.ones(job.size, np.int64)
    while job.size:
        job = job + 1
        inside = job < end
        job, end, size = job[inside], end[inside], size[inside]
        joined = draw[job] < table[classify_sizes(size), gap[job]]
        starts[job[~joined]] = True
        size = np.where(joined, size + 1, 1)
    return starts


def bag_sizes(starts: NDArray[np.bool_]) -> Ints:
    """Return the sizes of bags, given which jobs start one."""
    return np.diff(np.append(np.flatnonzero(starts), starts.size))


def label_jobs(store: Store) -> str:
    """
    Create the table of all jobs that ran, with their ``place`` in their bag and its ``size``.

    The ``label`` combines the class of the bag's size and the popularity of the number of processors (2010,
    section VI-B).
    """
    bag = "coalesce(bag, -ran.job_id)"
    order = "order by submit_time, job_id"
    return store.keep(
        "labelled_similar",
        f"""
        select *, least(ceil(log2(size)), {SIZE_CLASSES - 1}) * {LABELS_PER_CLASS} + popularity as label
        from (
            select *, round(log2(count(*) over (partition by n_procs))) as popularity,
            count(*) over (partition by bag) as size, row_number() over (partition by bag {order}) as place
            from (
                select ran.job_id as job_id, ran.submit_time as submit_time, round(ran.run_time) as run_time,
                n_procs, {bag} as bag
                from ran left join {bagged(store, SIMILAR)} on ran.job_id = bagged.job_id
                where ran.submit_time is not null
            ) as known
        ) as counted""",
    )


def fit_joins(store: Store, table: str) -> tuple[Joins, ...]:
    """Estimate the probability that a job joins the bag before it, by size class and gap class."""
    gap_class = " ".join(f"when gap <= {maximum!r} then {i}" for i, maximum in enumerate(GAP_CLASSES))
    counts = np.zeros((2, SIZE_CLASSES, len(GAP_CLASSES)))
    for size, gap, n, joined in store.rows(
        f"""
        select least(ceil(log2(before)), {SIZE_CLASSES - 1}) as class, case {gap_class} end as gaps,
        count(*) as n, sum(case when same then 1 else 0 end) as joined from (
            select lag(place) over w as before, submit_time - lag(submit_time) over w as gap,
            bag = lag(bag) over w as same from {table} window w as (order by submit_time, job_id)
        ) as pairs where gap <= {GAP_CLASSES[-1]!r} group by class, gaps order by class, gaps"""
    ):
        counts[:, int(size), int(gap)] = n, joined
    # A gap class without jobs of a size class gets the mean of that size class.
    jobs, joined = counts
    mean = joined.sum(axis=1) / np.maximum(jobs.sum(axis=1), 1)
    return _to_joins(np.where(jobs > 0, joined / np.maximum(jobs, 1), mean[:, np.newaxis]))


def calibrate_joins(joins: tuple[Joins, ...], times: Floats, sizes: Ints) -> tuple[Joins, ...]:
    """
    Calibrate probabilities so that arrivals like *times* give bags of *sizes*.

    The arrivals of a trace correlate with its bags, those of a process do not: its gaps in bags differ. The
    log odds of each size class are shifted until as many bags outgrow the class as in the trace.
    """
    table, target = np.array([row.shares for row in joins]), growth_odds(sizes)
    for _ in range(CALIBRATION_ROUNDS):
        drawn = growth_odds(bag_sizes(draw_bag_starts(np.random.default_rng(0), times, _to_joins(table))))
        table = 1 / (1 + np.exp(-(_log_odds(table) + (target - drawn)[:, np.newaxis])))
    return _to_joins(table)


def growth_odds(sizes: Ints) -> Floats:
    """
    Return the log odds that a bag that reaches a size class outgrows it, for each class.

    The last class has no end; its value is the logarithm of the mean number of jobs beyond the class before.
    """
    above = [int((sizes > maximum).sum()) for maximum in 1 << np.arange(SIZE_CLASSES - 1)]
    reached = np.array([sizes.size, *above])
    largest = sizes[sizes > 1 << (SIZE_CLASSES - 2)] - (1 << (SIZE_CLASSES - 2))
    last = math.log(largest.mean()) if largest.size else 0.0
    return np.append(_log_odds(reached[1:] / np.maximum(reached[:-1], 1)), last)


def _log_odds(share: Floats) -> Floats:
    inside = np.clip(share, 1e-4, 1 - 1e-4)
    return np.log(inside / (1 - inside))


def _to_joins(table: Floats) -> tuple[Joins, ...]:
    return tuple(Joins(tuple(row)) for row in table.tolist())


def fit_likeness(store: Store, table: str) -> float:
    """
    Fit the correlation of the normal scores of run times in a bag, among jobs of the same label.

    It is 2 sin(pi r / 6) of the rank correlation r of neighbours in a bag; 0 if that is unknown.
    """
    ranked = f"""(
        select bag, submit_time, job_id,
        cume_dist() over (partition by label order by run_time)
        + percent_rank() over (partition by label order by run_time) as score
        from {table} where size > 1) as ranked"""
    pairs = store.arrays(
        f"""
        select score, before from (
            select score, lag(score) over (partition by bag order by submit_time, job_id) as before,
                submit_time, job_id
            from {ranked}
        ) as pairs where before is not null order by submit_time, job_id"""
    )
    # Here and not in the engine, whose sums depend on which thread came first.
    r = pearson(pairs["before"], pairs["score"])
    return float(np.clip(2 * math.sin(math.pi * r / 6), 0.0, 1.0)) if math.isfinite(r) else 0.0
