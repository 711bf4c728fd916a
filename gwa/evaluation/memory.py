"""
Whether made jobs are recorded ones again: rows that are the same, and the distance to the closest record.

A generator that learnt jobs by heart is near its log in every measure, and tells what people ran. So its jobs
are compared with those that it was made from, and beside that stands what jobs of the same log do that it was
not made from: short jobs of one processor are alike without any memory.

Sources: N. Park and others, Data synthesis based on generative adversarial networks, VLDB (2018), for the
distance to the closest record; M. Platzer and T. Reutterer, Holdout-based empirical assessment of mixed-type
synthetic data, Frontiers in Big Data 4 (2021), for the comparison with what was held out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from gwa.evaluation.job_arrays import JobArrays
from gwa.evaluation.scorecard import CLOSE, MAXIMUM_NEAR, NOISE, OFF, UNKNOWN
from gwa.report.facts import number
from gwa.statistics.sample import Floats
from gwa.words.unit import Value

MAXIMUM_ROWS: Final = 20_000
"""Rows whose closest record is looked for, and records that are looked at; of more, as many are drawn."""

MAXIMUM_LEARNT: Final = 0.1
"""Maximum share of rows learnt by heart of jobs that are called near to new ones."""

ASPECT: Final = "Memory"


@dataclass(frozen=True)
class Split:
    """Jobs by which memory is told: *training* is what jobs were made from, *held_out* is not."""

    training: JobArrays
    held_out: JobArrays


@dataclass(frozen=True)
class Memory:
    """
    What made jobs have of recorded ones.

    A row is run time in whole seconds, processors and, where all workloads have one, requested time. *copied*
    and *expected_copied* are the shares of made rows, and of rows held out, that are rows of the training,
    too. *distance* and *expected_distance* are the mean distances of a made row, and of one held out, to the
    closest row of the training: Euclidean, of natural logarithms of 1 + seconds and of processors. *nearer*
    is the share of made rows that are closer to the training than to as many rows held out, ties counting
    half: 0.5 without memory, None where it is not known what the jobs were made from.
    """

    copied: float
    expected_copied: float
    distance: float
    expected_distance: float
    nearer: float | None = None

    @property
    def beyond(self) -> float:
        """The share of rows that are recorded ones beyond what is expected of new jobs."""
        return max(self.copied - self.expected_copied, 0.0)

    @property
    def learnt(self) -> float:
        """The share of rows that are recorded ones, of those that would be new without memory."""
        return self.beyond / (1 - self.expected_copied) if self.beyond else 0.0

    def rows(self) -> Iterator[tuple[Value, ...]]:
        """Yield the two measures under the columns of a scorecard; to be farther from the log is no worse."""
        verdict = NOISE if not self.beyond else CLOSE if self.learnt <= MAXIMUM_LEARNT else OFF
        yield (
            ASPECT, "Rows that the log has, too", verdict, number(self.expected_copied),
            number(self.copied), "excess", number(self.beyond), None, None,
        )  # fmt: skip
        shortfall = max(self.expected_distance - self.distance, 0.0)
        is_half = MAXIMUM_NEAR * self.distance >= self.expected_distance
        verdict = NOISE if not shortfall else CLOSE if is_half else OFF
        yield (
            ASPECT, "Distance to the closest record", verdict, number(self.expected_distance),
            number(self.distance), "shortfall", number(shortfall), None, None,
        )  # fmt: skip


def unknown_rows() -> Iterator[tuple[Value, ...]]:
    """Yield the rows of a memory that is not known: the trace is too short to be cut in halves."""
    nothing = (None, None, "", None, None, None)
    yield (ASPECT, "Rows that the log has, too", UNKNOWN, *nothing)
    yield (ASPECT, "Distance to the closest record", UNKNOWN, *nothing)


def memory(made: JobArrays, splits: Sequence[Split], *, is_known: bool, seed: int) -> Memory:
    """
    Return what *made* jobs have of recorded ones, in the mean over *splits*.

    *is_known* says that the jobs were made from the training of the split. Otherwise both halves of a log
    stand for it, one after the other: a copy of the whole log then has all rows of one half, and of the other
    what is expected. Rows are drawn with the *seed* where there are many.
    """
    rng = np.random.default_rng(seed)
    found = np.array([_of_split(made, split, rng) for split in splits]).mean(axis=0)
    copied, expected, distance, expected_distance, nearer = map(float, found)
    return Memory(copied, expected, distance, expected_distance, nearer if is_known else None)


def _of_split(made: JobArrays, split: Split, rng: np.random.Generator) -> list[float]:
    jobs = (made, split.training, split.held_out)
    has_requests = all(bool((one.requested > 0).any()) for one in jobs)
    rows, training, held_out = (_rows(one, has_requests=has_requests) for one in jobs)
    copied = [_share_of(one, training) for one in (rows, held_out)]
    size = min(len(training), len(held_out), MAXIMUM_ROWS)
    some, records, others = (
        _drawn(rows, MAXIMUM_ROWS, rng),
        _drawn(training, size, rng),
        _drawn(held_out, size, rng),
    )
    near, far = _closest(some, records), _closest(some, others)
    nearer = float((near < far).mean() + (near == far).mean() / 2)
    return [*copied, float(near.mean()), float(_closest(others, records).mean()), nearer]


def _rows(jobs: JobArrays, *, has_requests: bool) -> Floats:
    """Return the rows of *jobs*; a job without a request has 0, where others have one."""
    columns = [np.rint(jobs.run), jobs.procs.astype(np.float64)]
    if has_requests:
        columns.append(np.rint(np.nan_to_num(jobs.requested, nan=0.0)))
    return np.column_stack(columns)


def _share_of(rows: Floats, records: Floats) -> float:
    """Return the share of *rows* that are among *records*."""
    import pandas as pd

    index, of_records = (pd.MultiIndex.from_arrays(list(one.T)) for one in (rows, np.unique(records, axis=0)))
    return float(index.isin(of_records).mean())


def _drawn(rows: Floats, size: int, rng: np.random.Generator) -> Floats:
    """Return *size* of *rows*, or all."""
    return rows if len(rows) <= size else rows[rng.choice(len(rows), size, replace=False)]


def _closest(rows: Floats, records: Floats) -> Floats:
    """Return the distance of each row to the closest of *records*."""
    from scipy.spatial import KDTree

    return np.asarray(KDTree(np.unique(_logs(records), axis=0)).query(_logs(rows))[0], np.float64)


def _logs(rows: Floats) -> Floats:
    """Return rows as points; processors are at least one, of which the logarithm is 0."""
    points: Floats = np.log1p(np.maximum(rows, 0.0))
    points[:, 1] = np.log(np.maximum(rows[:, 1], 1.0))
    return points
