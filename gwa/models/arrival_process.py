"""
What a process of arrivals is: a frozen dataclass of parameters.

It yields an endless stream of whole seconds that never decrease, counted from a midnight.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from functools import cache
from inspect import cleandoc
from typing import ClassVar, Self

import numpy as np

from gwa.errors import ModelError
from gwa.models.parameters import Parameters
from gwa.statistics.sample import Floats, Sample
from gwa.store.store import Store
from gwa.util import plugins

FEWEST = 20
"""Gaps that a fit needs at least."""


class Arrivals(Parameters, ABC):
    """A process of arrivals; *name* is what JSON calls it, *title* what people do."""

    title: ClassVar[str]

    @classmethod
    def about(cls) -> str:
        """Return what the process is, in a sentence."""
        return cleandoc(cls.__doc__ or "").split("\n\n")[0].replace("\n", " ")

    @classmethod
    def family(cls) -> Mapping[str, type["Parameters"]]:
        """Return all processes by name."""
        return processes()

    @classmethod
    @abstractmethod
    def fit(cls, store: Store, moments: str = "jobs", column: str = "submit_time") -> Self:
        """
        Return the process of the times in *column* of the table *moments*.

        Raise `ModelError` for too few of them.
        """

    @abstractmethod
    def times(self, rng: np.random.Generator) -> Iterator[Floats]:
        """Yield blocks of arrival times in whole seconds from 0, in order, without end."""

    @abstractmethod
    def paced(self, factor: float) -> Self:
        """Return the process with gaps that are *factor* times as long."""


@cache
def processes() -> dict[str, type[Arrivals]]:
    """Return every process of this package by name."""
    found = plugins.subclasses("gwa.models.arrivals", Arrivals)  # type: ignore[type-abstract]
    return {member.name: member for member in found}


def process(name: str) -> type[Arrivals]:
    """Return the process of that name; raise `ModelError` for none."""
    if name not in processes():
        raise ModelError(f"there are no arrivals '{name}', expected one of {', '.join(processes())}")
    return processes()[name]


def gaps(store: Store, moments: str, column: str) -> Sample:
    """Return the seconds between arrivals, counted; raise `ModelError` for too few."""
    found = store.sample(
        "gap", f"(select {column} - lag({column}) over (order by {column}) as gap from {moments}) as gaps"
    )
    if found.n < FEWEST or found.max() == 0:
        raise ModelError(f"arrivals: {found.n} gaps in time, expected at least {FEWEST}, not all 0")
    return found
