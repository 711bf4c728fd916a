"""The first picture of a page as it stands without scripts: use over time, stacked by outcome."""

from typing import Final

import numpy as np

from gwa.report.course import Course, Floats
from gwa.report.figures.strips import COLOURS

WIDTH: Final = 960.0
HEIGHT: Final = 160.0
"""The size of the drawing, without the line of text below it."""

USED: Final = "--part-used, #5f7f9c"
"""The variable of what was used, and its colour on paper."""


def strip(course: Course, *, has_ends: bool = True) -> str:
    """Return the picture of a *course* as SVG text; without ends all that was held has one colour."""
    shares, levels = course.levels()
    tops = np.cumsum(list(levels.values()), axis=0)
    highest = max(float(tops[-1].max()), course.capacity or 0.0) or 1.0
    edges = shares * WIDTH
    below = np.zeros(len(edges) - 1)
    paths = []
    for name, top in zip(levels, tops, strict=True):
        if (top > below).any():
            band = _band(edges, below, top, highest)
            colour = f"--outcome-{name}, {COLOURS[name]}"
            if name == "unknown" and not has_ends:
                colour = USED
            paths.append(f'<path d="{band}" fill="var({colour})"/>')
        below = top
    line = _height(course.capacity, highest) if course.capacity else None
    if line is not None:
        paths.append(f'<path d="M0 {line}H{WIDTH:g}" stroke="currentColor" stroke-dasharray="4 4"/>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {HEIGHT + 22:g}" width="{WIDTH:g}"'
        f' height="{HEIGHT + 22:g}" style="width:100%;height:auto" font-size="13" role="img"'
        f' aria-hidden="true">{"".join(paths)}<text y="{HEIGHT + 17:g}" fill="currentColor">'
        f"{course.first}</text>"
        f'<text x="{WIDTH:g}" y="{HEIGHT + 17:g}" text-anchor="end" fill="currentColor">'
        f"{course.last}</text></svg>"
    )


def _band(edges: Floats, lows: Floats, highs: Floats, highest: float) -> str:
    """Return the outline of a layer of the stack, where it has any height."""
    return "".join(
        f"M{edges[n]:.1f} {_height(lows[n], highest)}V{_height(highs[n], highest)}"
        f"H{edges[n + 1]:.1f}V{_height(lows[n], highest)}Z"
        for n in range(len(highs))
        if highs[n] > lows[n]
    )


def _height(level: float, highest: float) -> str:
    """Return where a level stands, from the top."""
    return f"{HEIGHT * (1 - level / highest):.1f}"
