"""
Groups: values of several series at a few places, with how sure they are.

Places are numbers, such as loads, or names, such as queues. A point stands at its number, and a line joins
the points of a series. At a name the series stand side by side, and nothing joins them.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gwa.report.document import Figure
from gwa.report.figures import _thinning
from gwa.statistics.sample import Floats
from gwa.words.unit import Unit, Value

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

Point = tuple[float | None, float | tuple[float, float] | None]
"""A value, and how far below and above it the true one may be, or between which ends; None if unknown."""

HEIGHT = 300
MARGINS = {"left": 58, "bottom": 48, "top": 30, "right": 20}

GROUP_WIDTH = 0.5
"""How wide the series of one group stand apart, as a share of the distance to the next."""

SIDE = 0.06
"""How far the axis goes beyond the first and the last number, as a share of what lies between them."""

WIDE_RANGE = 20
"""Values that differ by such a factor are drawn on a logarithmic axis."""

MARKERS = "os^Dv"


def groups(  # noqa: PLR0913 - what a figure says
    id: str,  # noqa: A002 - as blocks call it
    title: str,
    places: Sequence[str],
    series: Mapping[str, Sequence[Point]],
    xlabel: str,
    ylabel: str,
    alt: str,
    *,
    x: Sequence[float] | None = None,
    unit: Unit = "",
    note: str = "",
) -> Figure:
    """
    Return *series*, each with a point for each of *places*; the *unit* is that of the values.

    Where places are numbers, *x* are their values, and *places* what the axis says of them. An axis is
    logarithmic where its values differ much.
    """
    drawn: list[Value] = [
        {
            "label": label,
            "y": _rounded([value for value, _ in points]),
            "half": _rounded([half if isinstance(half, int | float) else None for _, half in points]),
            **_between([half for _, half in points]),
        }
        for label, points in series.items()
    ]
    data: dict[str, Value] = {
        "places": list(places), "x": None if x is None else [float(value) for value in x],
        "series": drawn, "xlabel": xlabel, "ylabel": ylabel, "unit": unit,
    }  # fmt: skip
    return Figure(id=id, title=title, plot="groups", data=data, alt=alt, note=note)


def _between(spans: Sequence[float | tuple[float, float] | None]) -> dict[str, Value]:
    """Return the ends between which the true values may be, where any are given as such."""
    ends: list[Value] = [_rounded(span) if isinstance(span, tuple) else None for span in spans]
    return {"ends": ends} if any(ends) else {}


def _rounded(values: Sequence[float | None]) -> list[Value]:
    return _thinning.rounded(
        _thinning.array([float("nan") if value is None else value for value in values]), 5
    )


def draw(canvas: "Canvas", data: Mapping[str, Any]) -> None:
    """Draw the points of each series with a whisker through each, joined where their places are numbers."""
    import numpy as np

    from gwa.report.figures import _labels, _style

    axes = _style.axes(canvas, height=HEIGHT, **MARGINS)
    numbers, count = data["x"], len(data["series"])
    named = []
    for place, line in enumerate(data["series"]):
        y = _thinning.array(line["y"])
        low, high = ends(line)
        look = _style.line(place, width=1.0) | ({"linestyle": "none"} if numbers is None else {})
        aside = GROUP_WIDTH * ((place + 0.5) / count - 0.5)
        x = _thinning.array(numbers) if numbers is not None else _thinning.array(np.arange(y.size) + aside)
        order = x.argsort(kind="stable")
        x, y, low, high = x[order], y[order], low[order], high[order]
        axes.plot(x, y, marker=MARKERS[place % len(MARKERS)], markersize=4.5, **look)
        axes.vlines(x, low, high, color=look["color"], linewidth=1.2)
        named.append(_labels.LabelledLine(line["label"], look["color"], x, y))
    _heights(axes, data["series"], data["unit"])
    if numbers is None:
        axes.set_xlim(-0.6, len(data["places"]) - 0.4)
        _style.set_ticks(axes.xaxis, list(enumerate(data["places"])))
    else:
        _numbers(axes, numbers, data["places"])
    _style.words(axes, data["xlabel"], data["ylabel"])
    if count > 1:
        _labels.above(axes, named)


def ends(line: Mapping[str, Any]) -> tuple[Floats, Floats]:
    """Return the ends between which each true value of a series may be; the value itself where unknown."""
    import numpy as np

    y, half = _thinning.array(line["y"]), np.nan_to_num(_thinning.array(line["half"]))
    low, high = y - half, y + half
    for place, span in enumerate(line.get("ends", ())):
        if span:
            low[place], high[place] = span
    return low, high


def _numbers(axes: "Axes", numbers: Sequence[float], places: Sequence[str]) -> None:
    """Let the x axis hold all *numbers*, and say of as many as fit beside each other what *places* says."""
    from gwa.report.figures import _style, _ticks

    low, high = min(numbers, default=0.0), max(numbers, default=1.0)
    if 0 < low * WIDE_RANGE < high:
        axes.set_xscale("log")
        margin = (high / low) ** SIDE
        axes.set_xlim(low / margin, high * margin)
    else:
        margin = SIDE * (high - low) or SIDE * abs(high) or 1.0
        axes.set_xlim(low - margin, high + margin)
    labelled = [_ticks.Tick(number, label) for number, label in zip(numbers, places, strict=True)]
    middles = (axes.transData.transform((number, 1.0))[0] for number in numbers)
    _style.set_ticks(axes.xaxis, _ticks.beside_each_other(zip(labelled, middles, strict=True)))


def _heights(axes: "Axes", series: Sequence[Mapping[str, Any]], unit: str) -> None:
    """Let the y axis hold all values; from zero, or logarithmic."""
    from gwa.report.figures import _style, _ticks

    values = [value for row in series for value in row["y"] if value is not None]
    low, high = min(values, default=0.0), max(values, default=1.0)
    if 0 < low * WIDE_RANGE < high:
        known = [float(end) for row in series for side in ends(row) for end in side if end > 0]
        low, high = min([low, *known]), max([high, *known])
        axes.set_yscale("log")
        axes.set_ylim(low / 1.3, high * 1.3)
        # A label is as high as two characters are wide; ticks of an upright axis may stand closer.
        _style.set_ticks(axes.yaxis, _ticks.logarithmic(low, high, unit, 2 * axes.bbox.height))
        return
    tops = [float(top) for row in series for top in ends(row)[1] if top == top]  # noqa: PLR0124 - known
    high = max([high, *tops]) or 1.0
    axes.set_ylim(min(low, 0.0), high * 1.05)
    _style.linear_ticks(axes.yaxis, min(low, 0.0), high, unit)
