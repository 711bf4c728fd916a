"""Step functions in SQL: the month of a moment, the offset of a time zone, the component of a value."""

from collections.abc import Sequence


def step(x: str, edges: Sequence[float], values: Sequence[float]) -> str:
    """
    Return the SQL of the step function of *x* that has the first of *values* below the first of *edges*.

    From each edge on it has the next value, so that there is one value more than edges, which rise. Unknown
    and nan have the last one. The edges are halved: of 120 months, a row is compared with seven.

    >>> step("x", [1.5], [0, 1])
    'case when x < 1.5 then 0 else 1 end'
    """
    if not edges:
        return repr(values[0])
    middle = len(edges) // 2
    below = step(x, edges[:middle], values[: middle + 1])
    above = step(x, edges[middle + 1 :], values[middle + 1 :])
    return f"case when {x} < {edges[middle]!r} then {below} else {above} end"
