"""
Where functions of one or a few numbers are zero or least, by the methods of ``scipy.optimize``.

That is imported at the first search of another kind than `minimize`: it takes longer than most of them.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
import scipy

from gwa.statistics.sample import Floats

_MAXIMUM_STEPS = 499
_GOLDEN = 0.5 * (3.0 - math.sqrt(5.0))
_ROOT_OF_PRECISION = math.sqrt(2.2e-16)


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
    Return where *loss* is least between *low* and *high*, to a *tolerance*, by Brent's method within bounds.

    It is that of Brent (1973), chapter 5: the next place is where a parabola through the three best is least
    or, where that is outside the bounds or no step is half the one before the last, the golden section of the
    larger part. Numbers are those of `scipy.optimize.minimize_scalar`, which takes longer to import than to
    search.

    >>> round(minimize(lambda x: (x - 3) ** 2, 0, 10, 1e-9), 6)
    3.0
    """
    low, high = float(low), float(high)
    best = second = third = low + _GOLDEN * (high - low)
    least = of_second = of_third = loss(best)
    stride = last = 0.0
    for _ in range(_MAXIMUM_STEPS):
        middle = 0.5 * (low + high)
        near = _ROOT_OF_PRECISION * abs(best) + tolerance / 3.0
        if abs(best - middle) <= 2.0 * near - 0.5 * (high - low):
            break
        is_parabola = False
        if abs(last) > near:
            one = (best - second) * (least - of_third)
            other = (best - third) * (least - of_second)
            over = (best - third) * other - (best - second) * one
            under = 2.0 * (other - one)
            over, under = (-over, under) if under > 0 else (over, -under)
            before, last = last, stride
            inside = under * (low - best) < over < under * (high - best)
            is_parabola = inside and abs(over) < abs(0.5 * under * before)
            if is_parabola:
                stride = over / under
                if min(best + stride - low, high - (best + stride)) < 2.0 * near:
                    stride = near if middle >= best else -near
        if not is_parabola:
            last = low - best if best >= middle else high - best
            stride = _GOLDEN * last
        place = best + math.copysign(max(abs(stride), near), stride or 1.0)
        value = loss(place)
        if value <= least:
            low, high = (best, high) if place >= best else (low, best)
            third, of_third, second, of_second = second, of_second, best, least
            best, least = place, value
            continue
        low, high = (place, high) if place < best else (low, place)
        if value <= of_second or second == best:
            third, of_third, second, of_second = second, of_second, place, value
        elif value <= of_third or third in (best, second):
            third, of_third = place, value
    return best


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
