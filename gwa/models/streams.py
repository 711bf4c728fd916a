"""Endless streams of jobs: merging by time, and truncation to the length of a workload."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gwa.errors import ModelError
from gwa.util.units import DAY

Block: TypeAlias = dict[str, NDArray[Any]]
"""Jobs as arrays of equal length by field."""


@dataclass(frozen=True)
class Extent:
    """The length of a workload: a number of *jobs*, or of *days* of submissions."""

    jobs: int | None = None
    days: float | None = None

    def __post_init__(self) -> None:
        """Raise `ModelError` unless exactly one is given, above 0 and finite."""
        given = [(name, value) for name, value in vars(self).items() if value is not None]
        if len(given) != 1:
            raise ModelError("jobs, days: expected one of them")
        if not 0 < given[0][1] < math.inf:
            raise ModelError(f"{given[0][0]} is {given[0][1]}, expected a number above 0")


def merge(streams: Sequence[Iterator[Block]]) -> Iterator[Block]:
    """Merge endless streams with the same fields into one, in the order of submission."""
    pending = [next(stream) for stream in streams]
    while True:
        end = min(block["submit_time"][-1] for block in pending)
        counts = [int(np.searchsorted(block["submit_time"], end, side="right")) for block in pending]
        yield sort_by_submission(
            concatenate([take_first(block, n) for block, n in zip(pending, counts, strict=True)])
        )
        for index, (stream, n) in enumerate(zip(streams, counts, strict=True)):
            rest = {name: column[n:] for name, column in pending[index].items()}
            pending[index] = rest if rest["submit_time"].size else next(stream)


def truncate(blocks: Iterator[Block], extent: Extent) -> Iterator[Block]:
    """Yield the first jobs of an endless stream, as many as *extent* states."""
    if extent.jobs is not None:
        yield from _truncate_to_jobs(blocks, extent.jobs)
    else:
        yield from _truncate_to_seconds(blocks, (extent.days or 0.0) * DAY)


def _truncate_to_jobs(blocks: Iterator[Block], remaining: int) -> Iterator[Block]:
    while remaining:
        block = take_first(next(blocks), remaining)
        remaining -= block["submit_time"].size
        yield block


def _truncate_to_seconds(blocks: Iterator[Block], seconds: float) -> Iterator[Block]:
    for block in blocks:
        count = int(np.searchsorted(block["submit_time"], seconds, side="left"))
        yield take_first(block, count)
        if count < block["submit_time"].size:
            return


def take_first(block: Block, n: int) -> Block:
    """Return the first *n* jobs of a block."""
    return {name: column[:n] for name, column in block.items()}


def concatenate(blocks: Sequence[Block]) -> Block:
    """Concatenate blocks with the same fields."""
    return {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}


def sort_by_submission(block: Block) -> Block:
    """Sort a block by submission time; jobs submitted at the same time keep their order."""
    order = np.argsort(block["submit_time"], kind="stable")
    return {name: column[order] for name, column in block.items()}
