"""Cumulative distributions: which fraction of the values is at most x."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gwa.report.document import Figure
from gwa.report.figures import _thinning
from gwa.words.unit import Unit, Value

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

Curve = tuple[Sequence[float] | NDArray[Any], Sequence[float] | NDArray[Any]]
"""Rising values, and for each the fraction (or number) of all that is at most so great."""


def cdf(  # noqa: PLR0913 - what a figure says
    id: str,  # noqa: A002 - as blocks call it
    title: str,
    series: Mapping[str, Curve],
    xlabel: str,
    alt: str,
    *,
    log: bool = True,
    unit: Unit = "",
    ylabel: str = "Fraction of jobs",
    note: str = "",
) -> Figure:
    """
    Return the step curves of *series*, each given as values and their cumulative fractions or counts.

    With *log* the values are drawn on a logarithmic axis that also has a place for zero. The
    *unit* of the values chooses the ticks.
    """
    curves: list[Value] = [{"label": label, **_curve(*curve, log=log)} for label, curve in series.items()]
    data: dict[str, Value] = {"curves": curves, "xlabel": xlabel, "ylabel": ylabel, "unit": unit, "log": log}
    return Figure(id=id, title=title, plot="cdf", data=data, alt=alt, note=note)


def _curve(values: Any, cumulative: Any, *, log: bool) -> dict[str, Any]:  # noqa: ANN401 - see Curve
    """Return one curve, thinned as it will look on its axis, ending at 1."""
    x, y = _thinning.array(values), _thinning.array(cumulative)
    known = np.isfinite(x) & np.isfinite(y)
    x, y = x[known], y[known]
    if len(y) and y[-1] > 0:
        y = y / y[-1]
    # Near zero the logarithm of 1 + x looks like the axis that is drawn.
    visible = np.sign(x) * np.log1p(np.abs(x)) if log else x
    keep = _thinning.monotone(visible, y)
    return {"x": _thinning.rounded(x[keep]), "y": _thinning.rounded(y[keep], 5)}


def draw(canvas: "Canvas", data: Mapping[str, Any]) -> None:
    """Draw each curve as steps, labelled beside it."""
    from gwa.report.figures import _labels, _style

    axes = _style.axes(canvas, height=200, left=44, bottom=44, top=28)
    curves = [curve for curve in data["curves"] if curve["x"]]
    everything = [value for curve in curves for value in curve["x"]]
    _style.value_axis(axes, everything, data["unit"], log=data["log"])
    axes.set_ylim(0, 1.02)
    _style.set_ticks(axes.yaxis, [(step / 4, f"{step * 25} %") for step in range(5)])
    lines = []
    for place, curve in enumerate(curves):
        end = max(axes.get_xlim()[1], curve["x"][-1])
        x, y = [curve["x"][0], *curve["x"], end], [0, *curve["y"], curve["y"][-1]]
        look = _style.line(place)
        axes.plot(x, y, drawstyle="steps-post", **look)
        lines.append(_labels.LabelledLine(curve["label"], look["color"], *_labels.steps(x, y)))
    _style.words(axes, data["xlabel"], data["ylabel"])
    _labels.label(axes, lines)
