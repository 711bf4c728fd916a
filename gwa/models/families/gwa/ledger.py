"""
The ledger of sessions: how many of which work started when, week by week.

What makes queues is when work comes, and what comes together: users react to the queue, so that weeks are
less uneven than independent users would make them (E. Shmueli and D. G. Feitelson, Uncovering the effect of
system performance on user behavior from traces of parallel systems, 2007). The ledger keeps that as counts,
and nothing of who came or what was run.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Final, Self

import numpy as np

from gwa.errors import ModelError
from gwa.models.parameters import Parameters, Quantity, positive
from gwa.statistics.sample import Floats, Ints
from gwa.util.units import DAY, HOUR, WEEK
from gwa.words.message import message

PERIODS: Final = (float(WEEK), float(DAY), float(HOUR))
"""What a ledger is divided into: the longest of these that the log has `MINIMUM_PERIODS` times."""

MINIMUM_PERIODS: Final = 4

INCOMPLETE: Final = 1 / 7
"""The last period counts as whole if at most this part of it is missing, in which nothing may have come."""

BLOCK: Final = 6.0 * HOUR
"""The length of the blocks of a period."""

CLASSES: Final = 12
"""Classes of work, about half of them with as many sessions, and half with as much work."""

MAXIMUM_WORK: Final = 4.0
"""A session of more work than this, in means of the last class, is larger than those of the log."""

DRAWN_TOGETHER: Final = 2
"""Consecutive periods that are drawn together."""


@dataclass(frozen=True)
class Ledger(Parameters):
    """
    Counts of *sessions* by period, block of the period, and class of their work, in that order.

    Periods are weeks, of short logs days or hours. A class has the work up to its edge, the last class more;
    *work* is the mean of each. Cells of fewer sessions than a threshold are in none of these: where the sum
    over periods is no smaller than it, they are in *any_period* by block and class, and where the sum over
    blocks is, in *any_time* by class.
    """

    period: Annotated[float, positive("length of a period", "s")]
    block: Annotated[float, positive("length of a block of a period", "s")]
    edges: Annotated[tuple[float, ...], Quantity("maximum work of all classes but the last", "s", 0.0)]
    work: Annotated[tuple[float, ...], Quantity("mean processors times run time of a class", "s", 0.0)]
    sessions: Annotated[tuple[int, ...], Quantity("sessions by period, block and class", "", 0.0)]
    any_period: Annotated[
        tuple[int, ...], Quantity("sessions of any period, by block and class", "", 0.0)
    ] = ()
    any_time: Annotated[tuple[int, ...], Quantity("sessions of any time, by class", "", 0.0)] = ()
    least: Annotated[int, Quantity("least number of sessions of a cell that is not empty", "", 1.0)] = 1
    pace: Annotated[float, positive("what times are multiplied by")] = 1.0

    def check(self) -> None:
        """Refuse numbers that are not those of whole periods, and a ledger without sessions."""
        if len(self.work) != len(self.edges) + 1 or list(self.edges) != sorted(self.edges):
            raise ModelError("edges, work: expected rising edges, and one class more")
        if self.period % self.block:
            raise ModelError(f"block is {self.block:g}, expected a part of the period, {self.period:g}")
        cells = self.blocks * len(self.work)
        for name, expected in (("any_period", cells), ("any_time", len(self.work))):
            if len(getattr(self, name)) not in {0, expected}:
                raise ModelError(f"{name} has {len(getattr(self, name))} numbers, expected {expected}")
        if not self.sessions or len(self.sessions) % cells:
            raise ModelError(f"sessions are {len(self.sessions)}, expected {cells} for each period")
        if not any((*self.sessions, *self.any_period, *self.any_time)):
            raise ModelError("sessions are all 0, expected one at least")

    @classmethod
    def fit(cls, start: Floats, work: Floats) -> Self:
        """
        Count sessions by their *start* in seconds of the log's clock and their *work*.

        Periods are those of the clock. They go round: what comes after the last whole one is in the first, as
        far as that began before the log.
        """
        period, periods = _choose_period(float(np.ptp(start)))
        block = min(BLOCK, period)
        edges = _class_edges(work)
        of_class = np.searchsorted(edges, work, side="left")
        blocks, classes = round(period / block), edges.size + 1
        number = (start // block).astype(np.int64)
        inside = number - number.min() < periods * blocks
        place = (number - number.min() // blocks * blocks) % (periods * blocks)
        cell = (place * classes + of_class)[inside]
        counts = np.bincount(cell, minlength=periods * blocks * classes)
        means = np.bincount(of_class, work, classes) / np.maximum(np.bincount(of_class, minlength=classes), 1)
        return cls(period, block, _rounded(edges), _rounded(means), _flat(counts))

    @property
    def blocks(self) -> int:
        """The number of blocks of a period."""
        return round(self.period / self.block)

    @property
    def counts(self) -> Ints:
        """The sessions as an array of periods, blocks and classes."""
        return np.array(self.sessions, np.int64).reshape(-1, self.blocks, len(self.work))

    def classify(self, work: Floats) -> Ints:
        """Return the class of sessions with this *work*, -1 of more than `MAXIMUM_WORK`."""
        of_class = np.searchsorted(np.array(self.edges), work, side="left")
        return np.where(work <= MAXIMUM_WORK * self.work[-1], of_class, -1).astype(np.int64)

    def coarsened(self, least: int, block: float | None = None) -> "Ledger":
        """
        Return the ledger with blocks of *block* seconds, by default its own, and *least* sessions a cell.

        Classes of fewer are joined to the next smaller one. What is left of a class in no way is less than
        *least* sessions.
        """
        longer = _lengthen_blocks(self, min(block or self.block, self.period))
        return _merge_cells(_join_classes(longer, least), least)

    @property
    def holds(self) -> str:
        """What of the log is in it, in a sentence."""
        counts = self.counts
        periods, _, classes = counts.shape
        unplaced = sum(self.any_period) + sum(self.any_time)
        merged = f"; {unplaced:,} sessions without their period" if unplaced else ""
        return (
            f"counts of {counts.sum():,} sessions in {periods} periods of {self.period / HOUR:g} h, by blocks"
            f" of {self.block / HOUR:g} h and {classes} classes of work: of {counts.size:,} cells"
            f" {np.count_nonzero(counts):,} are not empty, and {np.count_nonzero(counts == 1):,} count one"
            f" session{merged}; distributions of what users, sessions and jobs are like; no user, no session"
            " and no job"
        )

    def draw(self, rng: np.random.Generator) -> Iterator[tuple[Floats, Ints]]:
        """
        Yield the starts and the classes of the sessions of a period, in order, without end.

        Periods are drawn with replacement, two consecutive ones together; after the last comes the first.
        """
        placed, number = self.counts, 0
        while True:
            first = int(rng.integers(placed.shape[0]))
            for period in range(first, first + DRAWN_TOGETHER):
                counts = placed[period % placed.shape[0]] + self._draw_unplaced(rng, placed)
                block, of_class = np.repeat(np.indices(counts.shape).reshape(2, -1), counts.ravel(), 1)
                start = number * self.period + (block + rng.random(block.size)) * self.block
                order = np.argsort(start, kind="stable")
                yield start[order] * self.pace, of_class[order]
                number += 1

    def _draw_unplaced(self, rng: np.random.Generator, placed: Ints) -> Ints:
        """Draw the sessions of a period that could be of any, by block and class, beside those *placed*."""
        periods, blocks, classes = placed.shape
        drawn = np.zeros((blocks, classes), np.int64)
        if self.any_period:
            expected = np.array(self.any_period).reshape(blocks, classes) / periods
            drawn += np.floor(expected + rng.random(expected.shape)).astype(np.int64)
        if self.any_time:
            of_class = np.floor(np.array(self.any_time) / periods + rng.random(classes)).astype(np.int64)
            by_block = placed.sum((0, 2)) + drawn.sum(1) + 1.0
            drawn += rng.multinomial(of_class, by_block / by_block.sum(), classes).T
        return drawn


def _choose_period(seconds: float) -> tuple[float, int]:
    """Return the period of a log that lasts so long, and how many of it are counted."""
    for period in PERIODS:
        periods = int(seconds / period + INCOMPLETE)
        if periods >= MINIMUM_PERIODS:
            break
    return period, max(periods, 1)


def _class_edges(work: Floats) -> Floats:
    """Return the edges of `CLASSES` classes of *work*: some by the number of sessions, some by their work."""
    half = CLASSES // 2
    ordered = np.sort(work)
    total = np.cumsum(ordered)
    by_number = np.quantile(ordered, np.arange(1, half + 1) / (half + 1))
    by_work = ordered[np.searchsorted(total, total[-1] * np.arange(1, half) / half)]
    return np.unique(np.array(_rounded(np.concatenate([by_number, by_work]))))


def _lengthen_blocks(ledger: Ledger, block: float) -> Ledger:
    """Return the ledger with longer blocks; raise `ModelError` where they are not made of its own."""
    if block % ledger.block or ledger.period % block:
        raise ModelError(
            message(
                "block is {block} h, expected a multiple of {own} h that divides {period} h",
                block=round(block / HOUR),
                own=round(ledger.block / HOUR),
                period=round(ledger.period / HOUR),
            )
        )
    counts = ledger.counts
    longer = counts.reshape(counts.shape[0], round(ledger.period / block), -1, counts.shape[2]).sum(2)
    return replace(ledger, block=block, sessions=_flat(longer))


def _join_classes(ledger: Ledger, least: int) -> Ledger:
    """Return the ledger with at least *least* sessions in each class, unless only one class is left."""
    counts, edges, work = ledger.counts, list(ledger.edges), list(ledger.work)
    while edges and (small := np.flatnonzero(counts.sum((0, 1)) < least)).size:
        upper = max(int(small[-1]), 1)
        sessions = counts[:, :, upper - 1 : upper + 1].sum((0, 1))
        work[upper - 1 : upper + 1] = _rounded(
            np.array([sessions @ np.array(work[upper - 1 : upper + 1]) / max(sessions.sum(), 1)])
        )
        counts[:, :, upper - 1] += counts[:, :, upper]
        counts = np.delete(counts, upper, 2)
        del edges[upper - 1]
    return replace(ledger, edges=tuple(edges), work=tuple(work), sessions=_flat(counts))


def _merge_cells(ledger: Ledger, least: int) -> Ledger:
    """Return the ledger with no or at least *least* sessions in each cell."""
    counts = ledger.counts
    any_period = np.where(counts < least, counts, 0).sum(0)
    any_time = np.where(any_period < least, any_period, 0).sum(0)
    placed, by_block, by_class = (
        _flat(np.where(sums < least, 0, sums)) for sums in (counts, any_period, any_time)
    )
    return replace(ledger, sessions=placed, any_period=by_block, any_time=by_class, least=least)


def _flat(counts: Ints) -> tuple[int, ...]:
    """Return counts as parameters have them."""
    return tuple(counts.ravel().tolist())


def _rounded(values: Floats) -> tuple[float, ...]:
    """Return *values* with three digits, so that none is that of a session."""
    return tuple(float(f"{value:.3g}") for value in values)
