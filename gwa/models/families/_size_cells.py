"""Jobs drawn from cells: run time and processors together, which keeps work and correlation."""

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
from gwa.store.schema import LONGEST
from gwa.store.store import Store

STEPS: Final = (0.7548776662466927, 0.5698402909980532)
"""One over the root g of x**3 = x + 1, and over its square."""

NEIGHBOURS: Final = 16
"""Points that are shuffled at a time."""

MOST: Final = 32
"""Cells of a label at most; a label of few jobs has fewer."""


@dataclass(frozen=True)
class SizeCell(Parameters):
    """
    Jobs of one *label* with run times near each other.

    Run times are uniform around their mean, and sizes independent of them within the cell; mean, variance and
    sizes are those of the trace's jobs in the cell.
    """

    label: Annotated[int, Quantity("of the cell's jobs, from 0", "", 0.0, 1e4)]
    mean: Annotated[float, Quantity("mean run time", "s", 0.0, LONGEST)]
    spread: Annotated[float, Quantity("half the width of the interval of run times", "s", 0.0, LONGEST)]
    procs: Annotated[tuple[int, ...], Quantity("sizes", "processors", 1.0, 1e9)]
    jobs: Annotated[tuple[int, ...], Quantity("jobs of each size", "", 1.0)]

    def check(self) -> None:
        """Refuse sizes without their numbers of jobs, and run times below 0."""
        if not len(self.procs) == len(self.jobs) > 0:
            raise ModelError("procs and jobs have different lengths, expected one of each for a size")
        if self.spread > self.mean:
            raise ModelError(f"spread is {self.spread}, expected at most the mean, {self.mean}")

    def within(self, cpus: int) -> Self | None:
        """Return the cell without larger sizes, None if nothing is left."""
        small = [place for place, procs in enumerate(self.procs) if procs <= cpus]
        if not small:
            return None
        procs, jobs = (tuple(column[place] for place in small) for column in (self.procs, self.jobs))
        return replace(self, procs=procs, jobs=jobs)


class Deck:
    """Cells laid out as arrays, to draw jobs of given labels from."""

    def __init__(self, cells: Sequence[SizeCell]) -> None:
        self.cells = sorted(cells, key=lambda cell: (cell.label, cell.mean))
        jobs = np.array([sum(cell.jobs) for cell in self.cells])
        label = np.array([cell.label for cell in self.cells])
        self.weights: Ints = np.bincount(label, jobs).astype(np.int64)
        self._cells = ends(label, jobs)
        each = np.repeat(np.arange(len(self.cells)), [len(cell.procs) for cell in self.cells])
        self._sizes = ends(each, np.concatenate([cell.jobs for cell in self.cells]))
        self._procs: Ints = np.concatenate([cell.procs for cell in self.cells]).astype(np.int64)

    @cached_property
    def _run_times(self) -> tuple[Floats, Floats]:
        """The mean and the spread of each cell."""
        return np.array([cell.mean for cell in self.cells]), np.array([cell.spread for cell in self.cells])

    def found(self, label: Ints, share: Floats) -> tuple[Ints, Floats]:
        """Return the cells at such *share* of the jobs of a label, by run time, and the share within each."""
        cell = found(self._cells, label, share)
        first = np.maximum(np.concatenate(([0.0], self._cells))[cell], label)
        return cell, np.clip((label + share - first) / (self._cells[cell] - first), 0.0, 1.0)

    def procs(self, cell: Ints, share: Floats) -> Ints:
        """Return the processors below which such *share* of the jobs of a cell is."""
        return self._procs[found(self._sizes, cell, share)]

    def run_times(self, cell: Ints, share: Floats) -> Floats:
        """Return run times in whole seconds at such *share* of the interval of a cell."""
        means, spreads = self._run_times
        return np.clip(np.rint(means[cell] + (2 * share - 1) * spreads[cell]), 0.0, LONGEST)


def ends(group: Ints, weight: Ints) -> Floats:
    """Return where each of sorted groups' members ends on a line on which a group has one unit."""
    total = np.bincount(group, weight)
    before = np.concatenate(([0.0], np.cumsum(total)))
    line: Floats = group + (np.cumsum(weight) - before[group]) / total[group]
    return line


def found(line: Floats, group: Ints, share: Floats) -> Ints:
    """Return the places at such *share* of groups; rounding leads out of none."""
    last = np.searchsorted(line, np.arange(int(line[-1]) + 1) + 1.0 - 1e-9, side="left")
    place = np.searchsorted(line, group + share, side="right")
    return np.minimum(place, last[group]).astype(np.int64)


class Spread:
    """
    Pairs of shares for the jobs of each label, in the order in which they are drawn, evenly over a square.

    They are the points of an additive recurrence (M. Roberts' R2), which are even however many there are,
    begun at random and shuffled, a few neighbours at a time, so that no pattern is left.
    """

    def __init__(self, rng: np.random.Generator, labels: int) -> None:
        self._rng = rng
        self._begun = rng.random((2, labels))
        self._drawn = np.zeros(labels, np.int64)

    def pairs(self, label: Ints) -> tuple[Floats, Floats]:
        """Return the next pair for each label."""
        order = np.argsort(label, kind="stable")
        counts = np.bincount(label, minlength=self._drawn.size)
        nth = np.arange(label.size) - np.repeat(np.cumsum(counts) - counts, counts)
        shuffled = np.lexsort((self._rng.random(label.size), nth // NEIGHBOURS, label[order]))
        place = np.empty(label.size, np.int64)
        place[order] = nth[shuffled]
        place += self._drawn[label]
        self._drawn += counts
        first, second = ((self._begun[axis][label] + STEPS[axis] * place) % 1.0 for axis in (0, 1))
        return first, second


def fitted(store: Store, labelled: str) -> tuple[SizeCell, ...]:
    """Return the cells of a table with ``label``, ``run_time`` in whole seconds and ``n_procs``."""
    times = store.arrays(
        "select label, run_time, cast(count(*) as double) as n, cast(sum(n_procs) as double) as procs"
        f" from {labelled} group by label, run_time order by label, run_time"
    )
    label, value, count, procs = (
        np.asarray(times[name], np.float64) for name in ("label", "run_time", "n", "procs")
    )
    starts = np.concatenate([_starts(label == one, count, value * procs) for one in np.unique(label)])
    sizes = _sizes(store, labelled, label[starts], value[starts])
    cells = []
    for place, (first, last) in enumerate(pairwise([*starts.tolist(), label.size])):
        x, n = value[first:last], count[first:last]
        mean = float(x @ n / n.sum())
        width = float(np.sqrt(3 * ((x - mean) ** 2 @ n) / n.sum()))
        cells.append(SizeCell(int(label[first]), mean, min(width, mean), *zip(*sizes[place], strict=True)))
    return tuple(cells)


def _starts(chosen: NDArray[np.bool_], count: Floats, work: Floats) -> Ints:
    """
    Return where the cells of the *chosen* of sorted run times begin, each with its jobs and their work.

    Cells have an equal share of the jobs and of the work, half and half, so that long ones are told apart; a
    run time that is more than half a cell is one of its own.
    """
    place: Ints = np.flatnonzero(chosen)
    jobs, work = count[place], work[place]
    weight = (jobs / jobs.sum() + work / max(float(work.sum()), 1.0)) / 2
    weight *= min(MOST, int(np.ceil(np.sqrt(jobs.sum())))) / weight.sum()
    alone = weight > 0.5
    part = np.floor(np.cumsum(weight) - weight / 2)
    begins = (np.diff(part, prepend=-1.0) > 0) | alone | np.concatenate(([False], alone[:-1]))
    found: Ints = place[begins]
    return found


def _sizes(store: Store, labelled: str, label: Floats, value: Floats) -> dict[int, list[tuple[int, int]]]:
    """Return the sizes, and the jobs of each, of the cells that begin at such labels and run times."""
    until = np.where(np.append(label[1:] == label[:-1], [False]), np.append(value[1:], [0.0]), np.inf)
    cells = ", ".join(
        f"({place}, {int(one)}, {least!r}, {min(above, 2 * LONGEST)!r})"
        for place, (one, least, above) in enumerate(
            zip(label.tolist(), value.tolist(), until.tolist(), strict=True)
        )
    )
    found: dict[int, list[tuple[int, int]]] = {}
    for place, procs, n in store.rows(
        f"select cell, n_procs, count(*) as n from {labelled} as jobs"
        f" inner join (values {cells}) as cells(cell, label, least, until) on jobs.label = cells.label"
        " and jobs.run_time >= cells.least and jobs.run_time < cells.until"
        " group by cell, n_procs order by cell, n_procs"
    ):
        found.setdefault(place, []).append((int(procs), n))
    return found
