"""Small pictures without axes, of the size of a line of text: a course over time, or a few bars."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from gwa.report import thinning
from gwa.report.document import Figure, Value

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

WIDTH, HEIGHT = 200, 44
MARGIN = 3
MAXIMUM_POINTS = 60
"""More points of a course are averaged: there is no room for them."""


def spark(
    id: str,  # noqa: A002 - as blocks call it
    title: str,
    values: Sequence[float | None] | NDArray[Any],
    alt: str,
    *,
    shape: Literal["line", "bars"] = "line",
) -> Figure:
    """Return a small picture of *values*, from 0 to the highest; missing ones leave a gap."""
    known = np.array([np.nan if value is None else value for value in values], float)
    if shape == "line":
        known = _averaged(known)
    data: dict[str, Value] = {"values": thinning.rounded(known, 5), "shape": shape}
    return Figure(id=id, title=title, plot="spark", data=data, alt=alt)


def _averaged(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the means of as many equal parts as there is room for; NaN for parts without a value."""
    if len(values) <= MAXIMUM_POINTS:
        return values
    parts = np.array_split(values, MAXIMUM_POINTS)
    return np.array([np.nanmean(part) if np.isfinite(part).any() else np.nan for part in parts])


def draw(canvas: "Canvas", data: Mapping[str, Any]) -> None:
    """Draw the course with its area, or the bars, on a line."""
    from gwa.report.figures import _style

    values = thinning.array(data["values"])
    axes = _style.axes(canvas, width=WIDTH, height=HEIGHT, left=1, right=MARGIN, bottom=2, top=MARGIN)
    places = np.arange(len(values))
    if data["shape"] == "bars":
        axes.bar(places, np.nan_to_num(values), width=0.7, color=_style.COLOURS[0])
        axes.set_xlim(-0.5, max(len(values), 6) - 0.5)
    else:
        axes.fill_between(places, 0, values, color=_style.COLOURS[0], alpha=0.18, linewidth=0)
        axes.plot(places, values, color=_style.COLOURS[0], linewidth=1.4)
        axes.set_xlim(0, max(len(values) - 1, 1))
    highest = np.nanmax(values) if np.isfinite(values).any() else 0.0
    axes.set_ylim(0, float(highest) * 1.05 or 1.0)
    _style.set_ticks(axes.xaxis, [])
    _style.set_ticks(axes.yaxis, [])
    axes.grid(visible=False)
