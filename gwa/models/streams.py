"""Endless streams of jobs: merged by time, and cut where a workload ends."""

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
    """How long a workload is: so many *jobs*, or those that are submitted in so many *days*."""

    jobs: int | None = None
    days: float | None = None

    def __post_init__(self) -> None:
        """Raise `ModelError` unless exactly one is given, above 0."""
        given = [(name, value) for name, value in vars(self).items() if value is not None]
        if len(given) != 1:
            raise ModelError("jobs, days: expected one of them")
        if not given[0][1] > 0:
            raise ModelError(f"{given[0][0]} is {given[0][1]}, expected a number above 0")


def merged(streams: Sequence[Iterator[Block]]) -> Iterator[Block]:
    """Yield the jobs of several endless streams of the same fields as one, in the order of submission."""
    held = [next(stream) for stream in streams]
    while True:
        until = min(block["submit_time"][-1] for block in held)
        due = [int(np.searchsorted(block["submit_time"], until, side="right")) for block in held]
        yield in_order(joined([first(block, n) for block, n in zip(held, due, strict=True)]))
        for place, (stream, n) in enumerate(zip(streams, due, strict=True)):
            rest = {name: column[n:] for name, column in held[place].items()}
            held[place] = rest if rest["submit_time"].size else next(stream)


def cut(blocks: Iterator[Block], extent: Extent) -> Iterator[Block]:
    """Yield the beginning of an endless stream."""
    if extent.jobs is not None:
        yield from _jobs(blocks, extent.jobs)
    else:
        yield from _days(blocks, (extent.days or 0.0) * DAY)


def _jobs(blocks: Iterator[Block], left: int) -> Iterator[Block]:
    while left:
        block = first(next(blocks), left)
        left -= block["submit_time"].size
        yield block


def _days(blocks: Iterator[Block], seconds: float) -> Iterator[Block]:
    for block in blocks:
        inside = int(np.searchsorted(block["submit_time"], seconds, side="left"))
        yield first(block, inside)
        if inside < block["submit_time"].size:
            return


def first(block: Block, n: int) -> Block:
    """Return the first *n* jobs of a block."""
    return {name: column[:n] for name, column in block.items()}


def joined(blocks: Sequence[Block]) -> Block:
    """Return blocks of the same fields as one."""
    return {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}


def in_order(block: Block) -> Block:
    """Return a block in the order of submission; jobs of one moment stay in theirs."""
    order = np.argsort(block["submit_time"], kind="stable")
    return {name: column[order] for name, column in block.items()}
