"""
Where functions of one or a few numbers are zero or least, by the methods of ``scipy.optimize``.

That is imported at the first search: it takes longer than most of them. The search that every report makes
is ours, step for step: a report on a small log would take a tenth longer.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
import scipy

from gwa.statistics.sample import Floats

_MAXIMUM_STEPS = 499
_GOLDEN = (3 - math.sqrt(5)) / 2
_SQUARE_ROOT_OF_EPSILON = math.sqrt(2.2e-16)

_Point = tuple[float, float]
"""Where a function was looked at, and its value there."""


def root(function: Callable[[float], float], low: float, high: float, tolerance: float = 2e-12) -> float:
    """
    Return where *function* is zero between *low* and *high*, to a *tolerance*, by Brent's method.

    Raise `ValueError` if its signs there do not differ.

    >>> round(root(lambda x: x**3 - 8, 0, 5), 9)
    2.0
    """
    return float(scipy.optimize.brentq(function, low, high, xtol=tolerance, maxiter=_MAXIMUM_STEPS))


def minimize(loss: Callable[[float], float], low: float, high: float, tolerance: float) -> float:
    """
    Return where *loss* is least between *low* and *high*, to a *tolerance*.

    Brent's method within bounds, that of ``scipy.optimize.minimize_scalar``: R. P. Brent, Algorithms for
    Minimization without Derivatives (1973), chapter 5.

    >>> round(minimize(lambda x: (x - 3) ** 2, 0, 10, 1e-9), 6)
    3.0
    """
    at = low + _GOLDEN * (high - low)
    best = second = third = (at, loss(at))
    step = previous = 0.0
    for _ in range(_MAXIMUM_STEPS):
        at, middle = best[0], (low + high) / 2
        least = _SQUARE_ROOT_OF_EPSILON * abs(at) + tolerance / 3
        if abs(at - middle) <= 2 * least - (high - low) / 2:
            break
        before, previous = previous, step
        parabola = _parabola_step(best, second, third) if abs(before) > least else None
        if parabola is not None and _is_acceptable(parabola, before, low - at, high - at):
            step = parabola[0] / parabola[1]
            if at + step - low < 2 * least or high - (at + step) < 2 * least:
                step = least if middle >= at else -least
        else:
            previous = low - at if at >= middle else high - at
            step = _GOLDEN * previous
        at += max(abs(step), least) if step >= 0 else -max(abs(step), least)
        point = at, loss(at)
        low, high = _narrowed(low, high, best[0], point, is_better=point[1] <= best[1])
        best, second, third = _ranked(point, best, second, third)
    return float(best[0])


def _parabola_step(best: _Point, second: _Point, third: _Point) -> tuple[float, float]:
    """Return the step from *best* to the minimum of the parabola through three points, as a fraction."""
    r = (best[0] - second[0]) * (best[1] - third[1])
    q = (best[0] - third[0]) * (best[1] - second[1])
    p = (best[0] - third[0]) * q - (best[0] - second[0]) * r
    q = 2 * (q - r)
    return (-p if q > 0 else p), abs(q)


def _is_acceptable(parabola: tuple[float, float], before: float, below: float, above: float) -> bool:
    """Whether the step is within the bounds, and less than half of the last but one."""
    p, q = parabola
    return abs(p) < abs(0.5 * q * before) and q * below < p < q * above


def _narrowed(low: float, high: float, best: float, point: _Point, *, is_better: bool) -> tuple[float, float]:
    """Return the bounds after *point* was looked at."""
    if is_better:
        return (best, high) if point[0] >= best else (low, best)
    return (point[0], high) if point[0] < best else (low, point[0])


def _ranked(point: _Point, best: _Point, second: _Point, third: _Point) -> tuple[_Point, _Point, _Point]:
    """Return the three best points after *point* was looked at."""
    if point[1] <= best[1]:
        return point, best, second
    if point[1] <= second[1] or second[0] == best[0]:
        return best, point, second
    if point[1] <= third[1] or third[0] in {best[0], second[0]}:
        return best, second, point
    return best, second, third


def minimize_simplex(loss: Callable[[Floats], float], start: Sequence[float], tolerance: float) -> Floats:
    """
    Return where *loss* is least, sought from *start* on by the simplex method of Nelder and Mead.

    It ends where the numbers, and the losses, of all corners differ by the *tolerance* at most, or after 200
    evaluations for each number.

    >>> minimize_simplex(lambda x: float(((x - 1) ** 2).sum()), [0.0, 5.0], 1e-9).round(6).tolist()
    [1.0, 1.0]
    """
    with np.errstate(invalid="ignore"):  # losses may be infinite
        found = scipy.optimize.minimize(
            loss, start, method="Nelder-Mead", options={"xatol": tolerance, "fatol": tolerance}
        )
    return found.x
