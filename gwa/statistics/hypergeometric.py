"""How likely several draws without replacement hold as many marked ones as were seen, or more."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import scipy  # imports scipy.special, which is slow, at its first use
from numpy.typing import NDArray


class Draw(NamedTuple):
    """A draw of *drawn* from a number in *all* of which some are *marked*."""

    drawn: int
    marked: int
    all: int


def upper_tail(draws: Iterable[Draw], least: int) -> float:
    """
    Return the probability that independent *draws* hold *least* marked ones or more, exactly.

    The numbers of marked ones are hypergeometric; their sum is the convolution of these.

    >>> round(upper_tail([Draw(2, 1, 4)], 1), 6)
    0.5
    """
    mass = np.ones(1)
    for draw in draws:
        mass = np.convolve(mass, _mass(draw))
    return float(min(mass[least:].sum(), 1.0)) if least > 0 else 1.0


def _mass(draw: Draw) -> NDArray[np.float64]:
    """Return the probability of each number of marked ones in a *draw*, from 0."""
    most = min(draw.drawn, draw.marked)
    numbers = np.arange(max(0, draw.drawn + draw.marked - draw.all), most + 1)
    ways = _log_choose(draw.marked, numbers) + _log_choose(draw.all - draw.marked, draw.drawn - numbers)
    mass = np.zeros(most + 1)
    mass[numbers] = np.exp(ways - ways.max())
    whole: NDArray[np.float64] = mass / mass.sum()
    return whole


def _log_choose(of: int, some: NDArray[np.int64]) -> NDArray[np.float64]:
    ways: NDArray[np.float64] = (
        scipy.special.gammaln(of + 1.0)
        - scipy.special.gammaln(some + 1.0)
        - scipy.special.gammaln(of - some + 1.0)
    )
    return ways
