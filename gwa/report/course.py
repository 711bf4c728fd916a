"""What was held in each day, for pictures of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MAXIMUM_STEPS: Final = 320
"""More days are drawn as the means of several."""


@dataclass(frozen=True)
class Course:
    """
    What was held in each day.

    Parameters
    ----------
    seconds
        What was held, by outcome, in the order of the stack.
    lengths
        The seconds of each day.
    capacity
        How much of it there is, as a level; None where that is not known.
    first, last
        What the first and the last day are called.

    """

    seconds: Mapping[str, Floats]
    lengths: Floats
    capacity: float | None
    first: str
    last: str

    def levels(self, most: int = MAXIMUM_STEPS) -> tuple[Floats, dict[str, Floats]]:
        """Return the edges of at most so many steps, as shares of the time, and the mean levels in them."""
        days = len(self.lengths)
        starts = np.arange(0, days, -(-days // most))
        spans = np.maximum(np.add.reduceat(self.lengths, starts), 1.0)
        levels = {name: np.add.reduceat(values, starts) / spans for name, values in self.seconds.items()}
        return np.append(starts, days) / days, levels
