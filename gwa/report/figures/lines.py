"""Lines: how one number depends on another, such as a variance on the scale it is taken at."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gwa.report.document import Figure
from gwa.report.figures import _thinning
from gwa.report.figures.cdf import Curve
from gwa.words.unit import Unit, Value

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

HEIGHT = 200
MARGINS = {"left": 54, "bottom": 44, "top": 28}


def lines(  # noqa: PLR0913 - what a figure says
    id: str,  # noqa: A002 - as blocks call it
    title: str,
    series: Mapping[str, Curve],
    xlabel: str,
    ylabel: str,
    alt: str,
    *,
    log: tuple[bool, bool] = (True, False),
    unit: Unit = "",
    dashed: Sequence[str] = (),
    note: str = "",
) -> Figure:
    """
    Return *series*, each given as rising x and what belongs to them.

    *log* says whether the x axis and the y axis are logarithmic; what has no place there is left out.
    The *unit* is that of x. The names in *dashed* are references, drawn thin and grey.
    """
    drawn: list[Value] = [
        {"label": label, **_line(*curve, log=log), "dashed": label in dashed}
        for label, curve in series.items()
    ]
    data: dict[str, Value] = {
        "lines": drawn, "xlabel": xlabel, "ylabel": ylabel, "unit": unit, "log": list(log),
    }  # fmt: skip
    return Figure(id=id, title=title, plot="lines", data=data, alt=alt, note=note)


def _line(x: Any, y: Any, *, log: tuple[bool, bool]) -> dict[str, Value]:  # noqa: ANN401 - see Curve
    """Return one line without what cannot be drawn, thinned to what can be seen."""
    across, up = _thinning.array(x), _thinning.array(y)
    keep = np.isfinite(across) & np.isfinite(up)
    for values, is_log in zip((across, up), log, strict=True):
        keep &= (values > 0) | (not is_log)
    across, up = _thinning.envelope(across[keep], up[keep], log=log[0])
    return {"x": _thinning.rounded(across), "y": _thinning.rounded(up, 5)}


def draw(canvas: "Canvas", data: Mapping[str, Any]) -> None:
    """Draw the references, the lines over them, and a name beside each."""
    from gwa.report.figures import _labels, _style

    axes = _style.axes(canvas, height=HEIGHT, **MARGINS)
    shown = [line for line in data["lines"] if line["x"]]
    across = [value for line in shown for value in line["x"]]
    _style.value_axis(axes, across, data["unit"], log=data["log"][0])
    _heights(axes, [value for line in shown for value in line["y"]], log=data["log"][1])
    named = []
    for place, line in enumerate(sorted(shown, key=lambda line: bool(line["dashed"]))):
        look = _style.line(place)
        if line["dashed"]:
            look = {"color": _style.MUTED, "linewidth": 0.9, "linestyle": (0, (2, 2))}
        axes.plot(line["x"], line["y"], **look)
        x, y = _thinning.array(line["x"]), _thinning.array(line["y"])
        named.append(_labels.LabelledLine(line["label"], look["color"], x, y))
    _style.words(axes, data["xlabel"], data["ylabel"])
    _labels.label(axes, named)


def _heights(axes: "Axes", values: Sequence[float], *, log: bool) -> None:
    """Let the y axis hold all *values*; from zero, or from less where it is linear."""
    from gwa.report.figures import _style, _ticks

    low, high = min(values, default=0.0), max(values, default=1.0)
    if log and low > 0:
        axes.set_yscale("log")
        axes.set_ylim(low / 1.3, min(max(high, low * 1.001) * 1.3, 1e308))
        # A label is as high as two characters are wide; ticks of an upright axis may stand closer.
        room = 2 * axes.bbox.height
        _style.set_ticks(axes.yaxis, _ticks.logarithmic(low, max(high, low * 1.001), "", room))
        return
    low, high = min(low, 0.0), max(high, 0.0)
    high = high if high > low else low + 1.0
    axes.set_ylim(low, high + (high - low) * 0.08)
    _style.linear_ticks(axes.yaxis, low, high, "")
