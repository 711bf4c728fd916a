"""
Where functions of one or a few numbers are zero or least, by the methods of ``scipy.optimize``.

That is imported at the first search: it takes longer than most of them.
"""

from collections.abc import Callable, Sequence

import numpy as np
import scipy

from gwa.statistics.sample import Floats

_MAXIMUM_STEPS = 499


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

    >>> round(minimize(lambda x: (x - 3) ** 2, 0, 10, 1e-9), 6)
    3.0
    """
    found = scipy.optimize.minimize_scalar(
        loss, bounds=(low, high), method="bounded", options={"xatol": tolerance, "maxiter": _MAXIMUM_STEPS}
    )
    return float(found.x)


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
