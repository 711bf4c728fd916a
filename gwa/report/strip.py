"""The first picture of a page as it stands without scripts: use over time, stacked by outcome."""

from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gwa.report.figures.strips import COLOURS

Floats = NDArray[np.float64]

WIDTH: Final = 960.0
HEIGHT: Final = 160.0
"""The size of the drawing, without the line of text below it."""

MAXIMUM_STEPS: Final = 320
"""More days are drawn as the means of several."""


def strip(
    seconds: Mapping[str, Floats], lengths: Floats, capacity: float | None, first: str, last: str
) -> str:
    """
    Return the picture as SVG text.

    Parameters
    ----------
    seconds
        What was held in each day, by outcome, in the order of the stack.
    lengths
        The seconds of each day.
    capacity
        How much of it there is, as a level; None where that is not known.
    first, last
        What the first and the last day are called.

    """
    days = len(lengths)
    stride = -(-days // MAXIMUM_STEPS)
    starts = np.arange(0, days, stride)
    spans = np.maximum(np.add.reduceat(lengths, starts), 1.0)
    levels = [np.add.reduceat(values, starts) / spans for values in seconds.values()]
    tops = np.cumsum(levels, axis=0)
    highest = max(float(tops[-1].max()), capacity or 0.0) or 1.0
    edges = np.append(starts, days) / days * WIDTH
    below = np.zeros(len(starts))
    paths = []
    for name, top in zip(seconds, tops, strict=True):
        if (top > below).any():
            band = _band(edges, below, top, highest)
            paths.append(f'<path d="{band}" fill="var(--outcome-{name}, {COLOURS[name]})"/>')
        below = top
    line = _height(capacity, highest) if capacity else None
    if line is not None:
        paths.append(f'<path d="M0 {line}H{WIDTH:g}" stroke="currentColor" stroke-dasharray="4 4"/>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {HEIGHT + 22:g}" width="{WIDTH:g}"'
        f' height="{HEIGHT + 22:g}" style="width:100%;height:auto" font-size="13" role="img"'
        f' aria-hidden="true">{"".join(paths)}<text y="{HEIGHT + 17:g}" fill="currentColor">{first}</text>'
        f'<text x="{WIDTH:g}" y="{HEIGHT + 17:g}" text-anchor="end" fill="currentColor">{last}</text></svg>'
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
