"""Clusters of processors."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from gwa.errors import SimulationError
from gwa.simulation.jobs import Floats, Integers


@dataclass(frozen=True)
class Grid:
    """
    Clusters, each with its name, its number of *processors* and their relative *speeds*.

    A task of run time r takes r / speed seconds. Processors are numbered cluster by
    cluster.
    """

    names: tuple[str, ...]
    processors: Integers
    speeds: Floats

    @classmethod
    def of(
        cls, processors: ArrayLike, speeds: ArrayLike | None = None, names: tuple[str, ...] | None = None
    ) -> Self:
        """Return a grid; speeds are 1 unless given. Raise `SimulationError` for what is none."""
        sizes = np.asarray(processors, np.float64)
        rates = np.ones(sizes.shape) if speeds is None else np.asarray(speeds, np.float64)
        called = tuple(f"cluster{number}" for number in range(sizes.size)) if names is None else names
        if sizes.ndim != 1 or not sizes.size or rates.shape != sizes.shape or len(called) != sizes.size:
            raise SimulationError("a grid needs a number of processors, a speed and a name for each cluster")
        for name, size, rate in zip(called, sizes, rates, strict=True):
            if not (1 <= size < np.inf and size == np.floor(size)):
                raise SimulationError(f"cluster {name}: it has {size:g} processors")
            if not 0 < rate < np.inf:
                raise SimulationError(f"cluster {name}: its speed is {rate:g}")
        return cls(called, sizes.astype(np.int64), rates)

    def __len__(self) -> int:
        """Return the number of clusters."""
        return len(self.names)

    @property
    def first(self) -> Integers:
        """The number of each cluster's first processor, and at the end the number of processors."""
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(self.processors)])

    @property
    def capacity(self) -> float:
        """How many processors of speed 1 would do as much."""
        return float((self.processors * self.speeds).sum())
