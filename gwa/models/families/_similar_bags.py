"""Bags of similar jobs in a row: where they end, and how alike their run times are."""

import math
from dataclasses import dataclass, replace
from typing import Annotated, Final

import numpy as np
from numpy.typing import NDArray

from gwa.errors import ModelError
from gwa.metrics.bags import MINH, bagged
from gwa.models.arrival_process import Arrivals
from gwa.models.parameters import Parameters, share
from gwa.statistics.sample import Floats, Ints
from gwa.store.store import Store

SIMILAR: Final = replace(
    MINH, name="similar", where="submit_time is not null and run_time >= 0 and n_procs >= 1"
)
"""The bags of Minh and Wolters (2010), of all jobs that ran, however they ended."""

CLASSES: Final = 6
"""Classes of sizes: 1, 2, 3 and 4, 5 to 8, 9 to 16, and more."""

GROUPS: Final = 64
"""More than there are labels of parallelism: the label of a cell is a class of sizes times this, plus one."""

GAPS: Final = (0.0, 1.0, 4.0, 10.0, 30.0, 60.0, 100.0)
"""The greatest gap of each class of gaps, in seconds; after a longer one nothing goes on."""

ROUNDS: Final = 8
"""How often the probabilities are corrected by what they make of the model's own arrivals."""


@dataclass(frozen=True)
class Joins(Parameters):
    """How probably the next job is one more of a bag of some class of size, for each class of gaps."""

    shares: Annotated[tuple[float, ...], share("of next jobs that join the bag, by the gap before them")]

    def check(self) -> None:
        """Refuse another number of classes of gaps."""
        if len(self.shares) != len(GAPS):
            raise ModelError(f"shares has {len(self.shares)} numbers, expected {len(GAPS)}, by the gap")


def size_class(sizes: Ints) -> Ints:
    """Return the class of each size."""
    classes: Ints = np.minimum(np.ceil(np.log2(sizes)), CLASSES - 1).astype(np.int64)
    return classes


def firsts(rng: np.random.Generator, times: Floats, joins: tuple[Joins, ...]) -> NDArray[np.bool_]:
    """
    Return which of the arrivals at *times* begin a bag.

    Where a job would begin one whatever the size of the bag before it, that is known at once; from all these
    places the others are found side by side, each after the one before it.
    """
    table = np.array([[*one.shares, 0.0] for one in joins])
    gap = np.searchsorted(GAPS, np.diff(times, prepend=-math.inf))
    draw = rng.random(times.size)
    found: NDArray[np.bool_] = draw >= table.max(axis=0)[gap]
    place = np.flatnonzero(found)
    end, size = np.append(place[1:], times.size), np.ones(place.size, np.int64)
    while place.size:
        place = place + 1
        inside = place < end
        place, end, size = place[inside], end[inside], size[inside]
        joined = draw[place] < table[size_class(size), gap[place]]
        found[place[~joined]] = True
        size = np.where(joined, size + 1, 1)
    return found


def lengths(begins: NDArray[np.bool_]) -> Ints:
    """Return the sizes of bags, of which it is known where they begin."""
    return np.diff(np.append(np.flatnonzero(begins), begins.size))


def labelled(store: Store) -> str:
    """
    Return the table of all jobs that ran, with the ``place`` in their bag and its size, in order.

    The ``label`` says the class of the bag's size and how popular the number of processors is (2010, section
    VI-B).
    """
    bag = "coalesce(bag, -ran.job_id)"
    order = "order by submit_time, job_id"
    return store.keep(
        "labelled_similar",
        f"""
        select *, least(ceil(log2(size)), {CLASSES - 1}) * {GROUPS} + popularity as label from (
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


def fitted_joins(store: Store, table: str) -> tuple[Joins, ...]:
    """Return how often jobs join the bag before them, by the class of its size and of the gap."""
    gap = " ".join(f"when gap <= {most!r} then {place}" for place, most in enumerate(GAPS))
    counts = np.zeros((2, CLASSES, len(GAPS)))
    for size, place, n, joined in store.rows(
        f"""
        select least(ceil(log2(before)), {CLASSES - 1}) as class, case {gap} end as gaps, count(*) as n,
        sum(case when same then 1 else 0 end) as joined from (
            select lag(place) over w as before, submit_time - lag(submit_time) over w as gap,
            bag = lag(bag) over w as same from {table} window w as (order by submit_time, job_id)
        ) as pairs where gap <= {GAPS[-1]!r} group by class, gaps order by class, gaps"""
    ):
        counts[:, int(size), int(place)] = n, joined
    # A class of gaps that a class of sizes never meets takes after all others of its size.
    known, joined = counts
    both = np.maximum(joined.sum(axis=1), 0) / np.maximum(known.sum(axis=1), 1)
    shares = np.where(known > 0, joined / np.maximum(known, 1), both[:, np.newaxis])
    return tuple(Joins(tuple(row)) for row in shares.tolist())


def calibrated(joins: tuple[Joins, ...], times: Floats, sizes: Ints) -> tuple[Joins, ...]:
    """
    Return probabilities that give bags of *sizes* at arrivals like *times*.

    A trace's arrivals go together with its bags, those of a process do not: it has other gaps inside of bags.
    The log odds of each class of sizes are moved until bags grow beyond it as far as in the trace.
    """
    table, wanted = np.array([one.shares for one in joins]), growth(sizes)
    for _ in range(ROUNDS):
        made = growth(lengths(firsts(np.random.default_rng(0), times, _joins(table))))
        table = 1 / (1 + np.exp(-(_odds(table) + (wanted - made)[:, np.newaxis])))
    return _joins(table)


def beginning(arrivals: Arrivals, n: int) -> Floats:
    """Return the first *n* arrivals of one and the same workload."""
    found: list[Floats] = []
    for block in arrivals.times(np.random.default_rng(0)):
        found.append(block)
        if sum(one.size for one in found) >= n:
            break
    return np.concatenate(found)[:n]


def growth(sizes: Ints) -> Floats:
    """
    Return how far bags outgrow each class of sizes: the log odds of those that reach it to grow beyond it.

    The last class has no end; there it is the logarithm of the mean number of jobs beyond the class before.
    """
    above = [int((sizes > most).sum()) for most in 1 << np.arange(CLASSES - 1)]
    reached = np.array([sizes.size, *above])
    largest = sizes[sizes > 1 << (CLASSES - 2)] - (1 << (CLASSES - 2))
    last = math.log(largest.mean()) if largest.size else 0.0
    return np.append(_odds(reached[1:] / np.maximum(reached[:-1], 1)), last)


def _odds(share: Floats) -> Floats:
    inside = np.clip(share, 1e-4, 1 - 1e-4)
    found: Floats = np.log(inside / (1 - inside))
    return found


def _joins(table: Floats) -> tuple[Joins, ...]:
    return tuple(Joins(tuple(row)) for row in table.tolist())


def likeness(store: Store, table: str) -> float:
    """
    Return the correlation of the normal scores of run times of jobs in one bag, beside jobs of their label.

    It is that of ranks r of neighbours in a bag, as 2 sin(pi r / 6); 0 where nothing tells it.
    """
    ranked = f"""(
        select bag, submit_time, job_id,
        cume_dist() over (partition by label order by run_time)
        + percent_rank() over (partition by label order by run_time) as score
        from {table} where size > 1) as ranked"""
    found = store.row(
        f"""
        select corr(score, before) from (
            select score, lag(score) over (partition by bag order by submit_time, job_id) as before
            from {ranked}
        ) as pairs where before is not null"""
    )[0]
    known = found is not None and math.isfinite(found)
    return float(np.clip(2 * math.sin(math.pi * found / 6), 0.0, 1.0)) if known else 0.0
