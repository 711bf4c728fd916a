"""
The base class of arrival processes: frozen dataclasses of parameters.

A process yields an endless stream of nondecreasing arrival times in whole seconds since a midnight.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from inspect import cleandoc
from typing import Any, ClassVar, Self

import numpy as np

from gwa.errors import ArgumentError, ModelError
from gwa.models.parameters import Parameters
from gwa.statistics.sample import Floats, Sample
from gwa.store.store import Store
from gwa.util import plugins
from gwa.words.message import message

MINIMUM_GAPS = 20
"""Interarrival gaps required for a fit."""


class Arrivals(Parameters, ABC):
    """An arrival process; *name* identifies it in JSON, *title* is printed."""

    title: ClassVar[str]

    @classmethod
    def about(cls) -> str:
        """Return the first sentence of the description."""
        return cleandoc(cls.__doc__ or "").split("\n\n")[0].replace("\n", " ")

    @classmethod
    def family(cls) -> Mapping[str, type["Parameters"]]:
        """Return all arrival processes by name."""
        return processes()

    @classmethod
    @abstractmethod
    def fit(cls, store: Store, table: str = "jobs", column: str = "submit_time") -> Self:
        """
        Fit the process to the arrival times in *column* of *table*.

        Raise `ModelError` for too few of them.
        """

    @abstractmethod
    def times(self, rng: np.random.Generator) -> Iterator[Floats]:
        """Yield an endless stream of blocks of arrival times in whole seconds from 0, in order."""

    def mean_gap(self) -> float | None:
        """Return the expectation of gaps in seconds, infinite where it does not exist, None if unknown."""
        return None

    def first_times(self, rng: np.random.Generator, n: int) -> Floats:
        """Return the first *n* arrival times."""
        blocks: list[Floats] = []
        for block in self.times(rng):
            blocks.append(block)
            if sum(block.size for block in blocks) >= n:
                break
        return np.concatenate(blocks)[:n]

    def scale_gaps(self, factor: float) -> Self:
        """Return the process with interarrival gaps multiplied by *factor*, by default by its *pace*."""
        scaled: Any = {"pace": vars(self)["pace"] * factor}
        return replace(self, **scaled)  # type: ignore[type-var]


@cache
def processes() -> dict[str, type[Arrivals]]:
    """Return all arrival processes by name."""
    classes = plugins.subclasses("gwa.models.arrivals", Arrivals)  # type: ignore[type-abstract]
    return {member.name: member for member in classes}


def find_process(name: str) -> type[Arrivals]:
    """Return the arrival process called *name*; raise `ArgumentError` if there is none."""
    if name not in processes():
        raise ArgumentError(f"there are no arrivals '{name}', expected one of {', '.join(processes())}")
    return processes()[name]


def sample_gaps(store: Store, table: str, column: str) -> Sample:
    """Return the interarrival gaps in seconds; raise `ModelError` for too few."""
    gaps = store.sample(
        "gap", f"(select {column} - lag({column}) over (order by {column}) as gap from {table}) as gaps"
    )
    if gaps.n < MINIMUM_GAPS or gaps.max() == 0:
        raise ModelError(
            message(
                "arrivals: {gaps} gaps in time, expected at least {least}, not all 0",
                gaps=gaps.n,
                least=MINIMUM_GAPS,
            )
        )
    return gaps
