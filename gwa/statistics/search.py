"""
Where functions of one or a few numbers are zero or least.

The methods are those of ``scipy.optimize``, step for step, whose import takes longer than most searches.
"""

import math
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from gwa.statistics.sample import Floats

_MAXIMUM_STEPS = 499
_GOLDEN = (3 - math.sqrt(5)) / 2
_SQUARE_ROOT_OF_EPSILON = math.sqrt(2.2e-16)
_RELATIVE_TOLERANCE = 4 * float(np.finfo(np.float64).eps)

_Point = tuple[float, float]
"""Where a function was looked at, and its value there."""

LOOKS: Final = 200
"""The maximum evaluations per dimension; the last step may take a few more."""

FIRST_STEP: Final = 0.05
"""The first simplex reaches so far in each number, as a share of it."""

FIRST_STEP_FROM_ZERO: Final = 0.00025


def root(function: Callable[[float], float], low: float, high: float, tolerance: float = 2e-12) -> float:
    """
    Return where *function* is zero between *low* and *high*, to a *tolerance*; its signs there differ.

    Raise `ValueError` if they do not. Brent's method, that of ``scipy.optimize.brentq``: R. P. Brent,
    Algorithms for Minimization without Derivatives (1973), chapter 4.
    """
    before, best = (low, function(low)), (high, function(high))
    if before[1] == 0:
        return before[0]
    if best[1] != 0 and (before[1] < 0) == (best[1] < 0):
        raise ValueError(f"no root is known between {low} and {high}: the function has one sign at both")
    opposite, step, previous = before, 0.0, 0.0
    for _ in range(_MAXIMUM_STEPS):
        if before[1] != 0 and best[1] != 0 and (before[1] < 0) != (best[1] < 0):
            opposite, step = before, best[0] - before[0]
            previous = step
        if abs(opposite[1]) < abs(best[1]):
            before, best, opposite = best, opposite, best
        least = (tolerance + _RELATIVE_TOLERANCE * abs(best[0])) / 2
        half = (opposite[0] - best[0]) / 2
        if best[1] == 0 or abs(half) < least:
            break
        tried = _root_step(before, best, opposite) if abs(previous) > least else None
        if tried is not None and 2 * abs(tried) < min(abs(previous), 3 * abs(half) - least):
            previous, step = step, tried
        else:
            previous = step = half
        before = best
        at = best[0] + (step if abs(step) > least else least if half > 0 else -least)
        best = at, function(at)
    return best[0]


def _root_step(before: _Point, best: _Point, opposite: _Point) -> float | None:
    """Return the step from *best* to the zero of the line or hyperbola through the points; or None."""
    if abs(best[1]) >= abs(before[1]):
        return None
    if before[0] == opposite[0]:
        return -best[1] * (best[0] - before[0]) / (best[1] - before[1])
    slope = (before[1] - best[1]) / (before[0] - best[0])
    far = (opposite[1] - best[1]) / (opposite[0] - best[0])
    over = far * slope * (opposite[1] - before[1])
    return -best[1] * (opposite[1] * far - before[1] * slope) / over if over else None


def minimize(loss: Callable[[float], float], low: float, high: float, tolerance: float) -> float:
    """
    Return where *loss* is least between *low* and *high*, to a *tolerance*.

    Brent's method within bounds, that of ``scipy.optimize.minimize_scalar``: R. P. Brent, Algorithms for
    Minimization without Derivatives (1973), chapter 5.
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


class _Vertex:
    """A corner of the simplex: where it is, and the *loss* there."""

    __slots__ = ("at", "loss")

    def __init__(self, at: Floats, loss: float) -> None:
        self.at, self.loss = at, loss

    def order(self) -> tuple[bool, float]:
        """Return what vertices are sorted by: those without a loss come last."""
        return math.isnan(self.loss), self.loss


def minimize_simplex(loss: Callable[[Floats], float], start: Sequence[float], tolerance: float) -> Floats:
    """
    Return where *loss* is least, sought from *start* on.

    It ends where the numbers, and the losses, of all vertices differ by the *tolerance* at most. The simplex
    method of ``scipy.optimize.minimize``: J. A. Nelder and R. Mead, A simplex method for function
    minimization (1965).
    """
    looks = 0

    def look(at: Floats) -> _Vertex:
        nonlocal looks
        looks += 1
        return _Vertex(at, float(loss(at)))

    simplex = sorted(map(look, _first_simplex(np.array(start, np.float64))), key=_Vertex.order)
    while looks < LOOKS * len(start) and not _is_small(simplex, tolerance):
        middle = np.add.reduce([vertex.at for vertex in simplex[:-1]]) / len(start)
        better = _better_vertex(simplex, middle, look)
        if better:
            simplex[-1] = better
        else:  # shrink towards the best
            best = simplex[0]
            simplex[1:] = [look(best.at + 0.5 * (vertex.at - best.at)) for vertex in simplex[1:]]
        simplex.sort(key=_Vertex.order)
    return simplex[0].at


def _first_simplex(start: Floats) -> list[Floats]:
    corners = [start]
    for place, value in enumerate(start):
        corner = start.copy()
        corner[place] = (1 + FIRST_STEP) * value if value else FIRST_STEP_FROM_ZERO
        corners.append(corner)
    return corners


def _is_small(simplex: Sequence[_Vertex], tolerance: float) -> bool:
    best, *others = simplex
    return all(
        np.abs(other.at - best.at).max() <= tolerance and abs(best.loss - other.loss) <= tolerance
        for other in others
    )


def _better_vertex(
    simplex: Sequence[_Vertex], middle: Floats, look: Callable[[Floats], _Vertex]
) -> _Vertex | None:
    """Return what replaces the worst vertex: beyond the *middle* of the others, or towards it; or None."""
    best, second, worst = simplex[0], simplex[-2], simplex[-1]
    reflected = look(2 * middle - worst.at)
    if reflected.loss < best.loss:
        expanded = look(3 * middle - 2 * worst.at)
        return expanded if expanded.loss < reflected.loss else reflected
    if reflected.loss < second.loss:
        return reflected
    if reflected.loss < worst.loss:
        outside = look(1.5 * middle - 0.5 * worst.at)
        return outside if outside.loss <= reflected.loss else None
    inside = look(0.5 * middle + 0.5 * worst.at)
    return inside if inside.loss < worst.loss else None
