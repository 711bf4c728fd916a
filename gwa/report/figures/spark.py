"""Small pictures without axes, of the size of a line of text: a course over time, or a few bars."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from gwa.report.document import Figure
from gwa.report.figures import _thinning
from gwa.words.formatting import show
from gwa.words.unit import Unit, Value

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

WIDTH, HEIGHT = 200, 44
MARGIN = 3
ROW = 17
"""How high a bar with a label is, and the space around it."""

MAXIMUM_POINTS = 60
"""More points of a course are averaged: there is no room for them."""


def spark(
    id: str,  # noqa: A002 - as blocks call it
    title: str,
    values: Sequence[float | None] | NDArray[Any],
    alt: str,
    *,
    shape: Literal["line", "bars"] = "line",
    labels: Sequence[str] = (),
    unit: Unit = "",
) -> Figure:
    """
    Return a small picture of *values*, from 0 to the highest; missing ones leave a gap.

    Bars with *labels* lie, between what they are called and their value in its *unit*.
    """
    known = np.array([np.nan if value is None else value for value in values], float)
    if shape == "line":
        known = _averaged(known)
    data: dict[str, Value] = {"values": _thinning.rounded(known, 5), "shape": shape}
    if labels:
        data |= {"rows": list(labels), "unit": unit}
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

    values = _thinning.array(data["values"])
    if data.get("rows"):
        _lying(canvas, data, values)
        return
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


def _lying(canvas: "Canvas", data: Mapping[str, Any], values: NDArray[np.float64]) -> None:
    """Draw bars from left to right, the first on top, each after its label and before its value."""
    from gwa.report.figures import _style

    height = ROW * len(values) + 2 * MARGIN
    left = 6 + 5.6 * max(map(len, data["rows"]))
    axes = _style.axes(canvas, width=WIDTH, height=height, left=left, right=78, bottom=MARGIN, top=MARGIN)
    lengths = np.nan_to_num(values)
    axes.barh(range(len(values)), lengths, height=0.66, color=_style.COLOURS[0])
    axes.set_ylim(len(values) - 0.5, -0.5)
    axes.set_xlim(0, float(lengths.max()) or 1.0)
    look: dict[str, Any] = {"color": _style.INK, "annotation_clip": False, "va": "center_baseline"}
    for place, value in enumerate(values.tolist()):
        text = show(value, data["unit"]) if np.isfinite(value) else "–"
        axes.annotate(text, (lengths[place], place), (4, 0), textcoords="offset points", **look)
    _style.set_ticks(axes.yaxis, list(enumerate(data["rows"])))
    _style.set_ticks(axes.xaxis, [])
    axes.grid(visible=False)
    axes.spines["bottom"].set_visible(False)
