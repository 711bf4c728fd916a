"""Lorenz curves: how unevenly something is shared."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gwa.report.document import Figure
from gwa.report.figures import _thinning
from gwa.report.figures.cdf import Curve
from gwa.words.unit import Value

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas


def lorenz(
    id: str,  # noqa: A002 - as blocks call it
    title: str,
    series: Mapping[str, Curve],
    xlabel: str,
    ylabel: str,
    alt: str,
    *,
    note: str = "",
) -> Figure:
    """
    Return Lorenz curves, each given as the share of the holders, least first, and what they hold.

    Both are cumulative and rise; they are scaled to end at 1. A straight line shows what an even
    share would look like.
    """
    curves: list[Value] = []
    for label, (holders, held) in series.items():
        x, y = _thinning.array(holders), _thinning.array(held)
        known = np.isfinite(x) & np.isfinite(y)
        x, y = (np.concatenate([[0.0], part[known]]) for part in (x, y))
        x, y = x / (x[-1] or 1.0), y / (y[-1] or 1.0)
        keep = _thinning.monotone(x, y)
        curves.append(
            {"label": label, "x": _thinning.rounded(x[keep], 5), "y": _thinning.rounded(y[keep], 5)}
        )
    data: dict[str, Value] = {
        "curves": curves, "even": {"label": "even shares"}, "xlabel": xlabel, "ylabel": ylabel,
    }  # fmt: skip
    return Figure(id=id, title=title, plot="lorenz", data=data, alt=alt, note=note)


def draw(canvas: "Canvas", data: Mapping[str, Any]) -> None:
    """Draw the curves under the line of equal shares."""
    from gwa.report.figures import _labels, _style

    axes = _style.axes(canvas, height=200, left=44, bottom=44, top=28)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1.02)
    quarters = [(step / 4, f"{step * 25} %") for step in range(5)]
    _style.set_ticks(axes.xaxis, quarters)
    _style.set_ticks(axes.yaxis, quarters)
    axes.plot([0, 1], [0, 1], color=_style.MUTED, linewidth=0.9, linestyle=(0, (2, 2)))
    lines = [
        _labels.LabelledLine(data["even"]["label"], _style.MUTED, np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    ]
    for place, curve in enumerate(data["curves"]):
        look = _style.line(place)
        axes.plot(curve["x"], curve["y"], **look)
        axes.fill_between(curve["x"], curve["y"], color=look["color"], alpha=0.07, linewidth=0)
        lines.append(
            _labels.LabelledLine(curve["label"], look["color"], np.array(curve["x"]), np.array(curve["y"]))
        )
    _style.words(axes, data["xlabel"], data["ylabel"])
    _labels.label(axes, lines)
