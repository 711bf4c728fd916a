"""Cells of jobs with similar run times, from which run time and processors are drawn together."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Final, Self

import numpy as np
from numpy.typing import NDArray

from gwa.errors import ModelError
from gwa.models.parameters import Parameters, Quantity
from gwa.statistics.sample import Floats, Ints
from gwa.store.schema import MAXIMUM_DURATION
from gwa.store.store import Store

RECURRENCE_STEPS: Final = (0.7548776662466927, 0.5698402909980532)
"""1 / g and 1 / g**2, where g is the root of x**3 = x + 1."""

SHUFFLED_POINTS: Final = 16
"""Consecutive points that are shuffled."""

MAXIMUM_CELLS: Final = 32
"""Maximum number of cells of a label; a label of few jobs has fewer."""


@dataclass(frozen=True)
class SizeCell(Parameters):
    """
    Jobs of one *label* with similar run times.

    Within a cell run times are uniform around their mean, and sizes independent of them; mean, variance and
    sizes are those of the trace's jobs in the cell.
    """

    label: Annotated[int, Quantity("of the cell's jobs, from 0", "", 0.0, 1e4)]
    mean: Annotated[float, Quantity("mean run time", "s", 0.0, MAXIMUM_DURATION)]
    spread: Annotated[
        float, Quantity("half the width of the interval of run times", "s", 0.0, MAXIMUM_DURATION)
    ]
    procs: Annotated[tuple[int, ...], Quantity("sizes", "processors", 1.0, 1e9)]
    jobs: Annotated[tuple[int, ...], Quantity("jobs of each size", "", 1.0)]

    def check(self) -> None:
        """Refuse sizes without their numbers of jobs, and run times below 0."""
        if not len(self.procs) == len(self.jobs) > 0:
            raise ModelError("procs and jobs have different lengths, expected one of each for a size")
        if self.spread > self.mean:
            raise ModelError(f"spread is {self.spread}, expected at most the mean, {self.mean}")

    def limit_processors(self, cpus: int) -> Self | None:
        """Return the cell without sizes above *cpus*, None if no size remains."""
        small = [i for i, procs in enumerate(self.procs) if procs <= cpus]
        if not small:
            return None
        procs, jobs = (tuple(column[i] for i in small) for column in (self.procs, self.jobs))
        return replace(self, procs=procs, jobs=jobs)


class CellSampler:
    """Cells as arrays, for drawing jobs of given labels."""

    def __init__(self, cells: Sequence[SizeCell]) -> None:
        self.cells = sorted(cells, key=lambda cell: (cell.label, cell.mean))
        jobs = np.array([sum(cell.jobs) for cell in self.cells])
        label = np.array([cell.label for cell in self.cells])
        self.weights: Ints = np.bincount(label, jobs).astype(np.int64)
        self._cell_ends = cumulative_ends(label, jobs)
        cell_of_size = np.repeat(np.arange(len(self.cells)), [len(cell.procs) for cell in self.cells])
        self._size_ends = cumulative_ends(cell_of_size, np.concatenate([cell.jobs for cell in self.cells]))
        self._procs: Ints = np.concatenate([cell.procs for cell in self.cells]).astype(np.int64)

    @cached_property
    def _run_times(self) -> tuple[Floats, Floats]:
        """The mean and the spread of each cell."""
        return np.array([cell.mean for cell in self.cells]), np.array([cell.spread for cell in self.cells])

    def locate(self, label: Ints, share: Floats) -> tuple[Ints, Floats]:
        """Return the cells at the quantiles *share* of run times of a label, and shares within them."""
        cell = locate(self._cell_ends, label, share)
        start = np.maximum(np.concatenate(([0.0], self._cell_ends))[cell], label)
        return cell, np.clip((label + share - start) / (self._cell_ends[cell] - start), 0.0, 1.0)

    def procs(self, cell: Ints, share: Floats) -> Ints:
        """Return the quantiles *share* of the processors of each cell."""
        return self._procs[locate(self._size_ends, cell, share)]

    def run_times(self, cell: Ints, share: Floats) -> Floats:
        """Return the quantiles *share* of the run times of each cell, in whole seconds."""
        means, spreads = self._run_times
        return np.clip(np.rint(means[cell] + (2 * share - 1) * spreads[cell]), 0.0, MAXIMUM_DURATION)


def cumulative_ends(group: Ints, weight: Ints) -> Floats:
    """Return where each member of sorted groups ends on a line on which a group has length 1."""
    total = np.bincount(group, weight)
    before = np.concatenate(([0.0], np.cumsum(total)))
    return group + (np.cumsum(weight) - before[group]) / total[group]


def locate(ends: Floats, group: Ints, share: Floats) -> Ints:
    """Return the member at each *share* of the *group*, given the *ends* of members."""
    # Rounding must not lead into the next group.
    last = np.searchsorted(ends, np.arange(int(ends[-1]) + 1) + 1.0 - 1e-9, side="left")
    member = np.searchsorted(ends, group + share, side="right")
    return np.minimum(member, last[group]).astype(np.int64)


class EvenPairs:
    """
    Quasi-random pairs of shares for the jobs of each label, evenly spread over the unit square.

    They are the points of an additive recurrence (M. Roberts' R2), which is even for any number of points,
    with a random start, and shuffled among neighbours, so that no pattern remains.
    """

    def __init__(self, rng: np.random.Generator, labels: int) -> None:
        self._rng = rng
        self._start = rng.random((2, labels))
        self._drawn = np.zeros(labels, np.int64)

    def draw(self, label: Ints) -> tuple[Floats, Floats]:
        """Draw the next pair for each label."""
        order = np.argsort(label, kind="stable")
        counts = np.bincount(label, minlength=self._drawn.size)
        nth = np.arange(label.size) - np.repeat(np.cumsum(counts) - counts, counts)
        shuffled = np.lexsort((self._rng.random(label.size), nth // SHUFFLED_POINTS, label[order]))
        number = np.empty(label.size, np.int64)
        number[order] = nth[shuffled]
        number += self._drawn[label]
        self._drawn += counts
        first, second = (
            (self._start[axis][label] + RECURRENCE_STEPS[axis] * number) % 1.0 for axis in (0, 1)
        )
        return first, second


def fit_cells(store: Store, labelled: str) -> tuple[SizeCell, ...]:
    """Fit the cells of a table with ``label``, ``run_time`` in whole seconds and ``n_procs``."""
    columns = store.arrays(
        "select label, run_time, cast(count(*) as double) as n, cast(sum(n_procs) as double) as procs"
        f" from {labelled} group by label, run_time order by label, run_time"
    )
    label, value, count, procs = (
        np.asarray(columns[name], np.float64) for name in ("label", "run_time", "n", "procs")
    )
    starts = np.concatenate([_cell_starts(label == each, count, value * procs) for each in np.unique(label)])
    sizes = _count_sizes(store, labelled, label[starts], value[starts])
    cells = []
    for number, (first, last) in enumerate(pairwise([*starts.tolist(), label.size])):
        x, n = value[first:last], count[first:last]
        mean = float(x @ n / n.sum())
        width = float(np.sqrt(3 * ((x - mean) ** 2 @ n) / n.sum()))
        cells.append(SizeCell(int(label[first]), mean, min(width, mean), *zip(*sizes[number], strict=True)))
    return tuple(cells)


def _cell_starts(chosen: NDArray[np.bool_], count: Floats, work: Floats) -> Ints:
    """
    Return where cells start among the *chosen* of sorted run times, given the jobs and work of each.

    Cells have equal shares of jobs and work, with equal weights, so that long run times get cells, too. A run
    time that fills more than half a cell has a cell of its own.
    """
    index: Ints = np.flatnonzero(chosen)
    jobs, work = count[index], work[index]
    weight = (jobs / jobs.sum() + work / max(float(work.sum()), 1.0)) / 2
    weight *= min(MAXIMUM_CELLS, int(np.ceil(np.sqrt(jobs.sum())))) / weight.sum()
    alone = weight > 0.5
    cell = np.floor(np.cumsum(weight) - weight / 2)
    is_start = (np.diff(cell, prepend=-1.0) > 0) | alone | np.concatenate(([False], alone[:-1]))
    starts: Ints = index[is_start]
    return starts


def _count_sizes(
    store: Store, labelled: str, label: Floats, value: Floats
) -> dict[int, list[tuple[int, int]]]:
    """Count the jobs of each size in the cells that start at each *label* and run time *value*."""
    until = np.where(np.append(label[1:] == label[:-1], [False]), np.append(value[1:], [0.0]), np.inf)
    cells = ", ".join(
        f"({number}, {int(each)}, {low!r}, {min(high, 2 * MAXIMUM_DURATION)!r})"
        for number, (each, low, high) in enumerate(
            zip(label.tolist(), value.tolist(), until.tolist(), strict=True)
        )
    )
    sizes: dict[int, list[tuple[int, int]]] = {}
    for cell, procs, n in store.rows(
        f"select cell, n_procs, count(*) as n from {labelled} as jobs"
        f" inner join (values {cells}) as cells(cell, label, least, until) on jobs.label = cells.label"
        " and jobs.run_time >= cells.least and jobs.run_time < cells.until"
        " group by cell, n_procs order by cell, n_procs"
    ):
        sizes.setdefault(cell, []).append((int(procs), n))
    return sizes
