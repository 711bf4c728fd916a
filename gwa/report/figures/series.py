"""Time series: how something changes from the first day to the last."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gwa.report.document import Figure
from gwa.report.figures import _thinning
from gwa.util.units import DAY
from gwa.words.formatting import compact
from gwa.words.message import joined
from gwa.words.unit import Unit, Value

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

Numbers = Sequence[float] | NDArray[Any]
"""One value for each moment; NaN leaves a gap."""

Line = Numbers | tuple[Numbers, Numbers, Numbers]
"""A value for each moment, or its mean, least and greatest, which are drawn as a band."""

HEIGHT = 180
MARGINS = {"left": 58, "bottom": 48, "top": 28, "right": 20}
HEADROOM = 0.08
"""How much room is left above the greatest value."""

SHADE = 0.3
"""The strength of the colour of shaded intervals."""

NARROWEST = 1 / 300
"""The share of the drawing that a shaded interval takes at least."""

SPIKE = 3.0
"""How many times as high as the usual values are at most some may be that leave the drawing at its top."""

USUAL = 0.98
"""The share of the values that are usual."""

TOP = 1.5
"""Where the drawing ends then, relative to the highest usual value."""

FEW = 60
"""Of so few values all are drawn."""

MAXIMUM_REFERENCE = 4.0
"""How many times as high as all that is drawn a level may be: a higher one is only written."""


def series(  # noqa: PLR0913 - what a figure says
    id: str,  # noqa: A002 - as blocks call it
    title: str,
    x: Numbers,
    lines: Mapping[str, Line],
    ylabel: str,
    alt: str,
    *,
    xlabel: str = "",
    unit: Unit = "",
    zone: str | None = None,
    reference: tuple[float, str] | None = None,
    note: str = "",
    window: tuple[float, float] | None = None,
    shaded: Sequence[tuple[float, float]] = (),
) -> Figure:
    """
    Return *lines* over time, where *x* are rising seconds since 1970 in *zone*, such as Europe/Madrid.

    Without a zone *x* are seconds since the start, which need not be known. The *unit* is that of
    the values; *reference* draws a level, such as the number of processors, and its name. A level that
    is far above all values is written over the drawing. Intervals of time that are *shaded*, such as outages,
    are marked behind the lines. What lies outside of *window*, the first and the last
    moment in which the log knows all, is grey.
    """
    moments = _thinning.array(x)
    data: dict[str, Value] = {
        "lines": [{"label": label, **_line(moments, line)} for label, line in lines.items()],
        "xlabel": xlabel,
        "ylabel": ylabel,
        "unit": unit,
        "zone": zone,
        "reference": list(reference) if reference else None,
        **({"window": list(window)} if window else {}),
        **({"shaded": [list(interval) for interval in shaded]} if shaded else {}),
    }
    return Figure(id=id, title=title, plot="series", data=data, alt=alt, note=note)


def _line(x: NDArray[np.float64], line: Line) -> dict[str, Value]:
    """Return one line, with a band if it has one, thinned to what can be seen."""
    if isinstance(line, tuple) and len(line) == 3 and not np.isscalar(line[0]):  # noqa: PLR2004 - see Line
        mean, low, high = (_thinning.array(part) for part in line)  # type: ignore[arg-type]
        x, mean, low, high = _thinning.band(x, mean, low, high)
        edges: dict[str, Value] = {"low": _thinning.rounded(low, 5), "high": _thinning.rounded(high, 5)}
        return {"x": _thinning.rounded(x, 12), "y": _thinning.rounded(mean, 5), **edges}
    x, y = _thinning.envelope(x, _thinning.array(line))
    return {"x": _thinning.rounded(x, 12), "y": _thinning.rounded(y, 5)}


def draw(canvas: "Canvas", data: Mapping[str, Any]) -> None:
    """Draw the bands, the lines over them, the level, and dates below."""
    from gwa.report.figures import _labels, _style

    axes = _style.axes(canvas, height=HEIGHT, **MARGINS)
    drawn = []
    for place, line in enumerate(data["lines"]):
        x, y = _thinning.array(line["x"]) / DAY, _thinning.array(line["y"])
        look = _style.line(place, width=1.2, dashed=False)
        if "low" in line:
            low, high = _thinning.array(line["low"]), _thinning.array(line["high"])
            axes.fill_between(x, low, high, color=look["color"], alpha=0.18, linewidth=0)
        is_single = len(x) == 1 and bool(np.isfinite(y[0]))  # there is no line to be seen
        axes.plot(x, y, **look, marker="o" if is_single else "")
        drawn.append(_labels.LabelledLine(line["label"], look["color"], x, y))
    if "window" in data:
        _grey_outside(axes, *data["window"])
    for left, right in visible_intervals(data):
        shade = {"color": _style.line(1)["color"], "alpha": SHADE, "linewidth": 0, "zorder": 0}
        axes.axvspan(left / DAY, right / DAY, **shade)
    bottom, top = _heights(data)
    axes.set_ylim(bottom, top + (top - bottom) * HEADROOM)
    _style.linear_ticks(axes.yaxis, bottom, top, data["unit"])
    _peak(axes, data, top)
    words = _style.time_axis(axes, data["zone"])
    _style.words(axes, data["xlabel"] or words, data["ylabel"])
    taken = 0.0
    if data["reference"]:
        inside = _shows_reference(data) and data["reference"][0] <= top
        taken = _level(axes, *data["reference"], unit=data["unit"], inside=inside)
    _labels.label(axes, drawn, taken)


def visible_intervals(data: Mapping[str, Any]) -> list[list[float]]:
    """Return the intervals that are shaded, each wide enough to be seen."""
    moments = [moment for line in data["lines"] for moment in line["x"]]
    least = (max(moments) - min(moments)) * NARROWEST if moments else 0.0
    return [[first, max(last, first + least)] for first, last in data.get("shaded", ())]


def _heights(data: Mapping[str, Any]) -> tuple[float, float]:
    """Return the least and greatest of everything drawn; zero is always between them."""
    known = _values(data)
    low, high = min([0.0, *known]), max([0.0, *known])
    usual = sorted(known)[int(USUAL * (len(known) - 1))] if len(known) > FEW else 0.0
    if 0 < SPIKE * usual < high:
        high = TOP * usual
    if _shows_reference(data) and (high == max([0.0, *known]) or data["reference"][0] < SPIKE * high):
        low, high = min(low, data["reference"][0]), max(high, data["reference"][0])
    return low, high if high > low else low + 1.0


def _peak(axes: "Axes", data: Mapping[str, Any], top: float) -> None:
    """Write how high the highest value is where it leaves the drawing at its *top*."""
    from gwa.report.figures import _style

    tops = [
        (value, when)
        for line in data["lines"]
        for when, value in zip(line["x"], line.get("high", line["y"]), strict=True)
        if value is not None and value > top
    ]
    if tops:
        value, when = max(tops)
        text = joined("", ("↑ ", compact(value, data["unit"])))
        axes.annotate(
            text, (when / DAY, axes.get_ylim()[1]), (3, -3),
            textcoords="offset points", ha="left", va="top", color=_style.INK,
        )  # fmt: skip


def _values(data: Mapping[str, Any]) -> list[float]:
    """Return all values that are drawn."""
    keys = ("y", "low", "high")
    everything = [value for line in data["lines"] for key in keys for value in line.get(key, ())]
    return [value for value in everything if value is not None]


def _shows_reference(data: Mapping[str, Any]) -> bool:
    """Tell whether there is a level that is drawn, not one so far up that it is only written."""
    highest = max(_values(data), default=0.0)
    return bool(data["reference"]) and not 0 < highest * MAXIMUM_REFERENCE < data["reference"][0]


def _grey_outside(axes: "Axes", first: float, last: float) -> None:
    """Let what lies outside of the window from *first* to *last* be grey, without showing more time."""
    from gwa.report.figures import _style

    low, high = axes.dataLim.intervalx
    for left, right in ((low, first / DAY), (last / DAY, high)):
        if right > left:
            axes.axvspan(left, right, color=_style.MUTED, alpha=0.15, linewidth=0, zorder=0)


def _level(axes: "Axes", value: float, name: str, *, unit: Unit, inside: bool) -> float:
    """
    Draw a dashed line at *value*, its name above the drawing; or only say there how high it is.

    Return how much room the name takes at the right end.
    """
    from gwa.report.figures import _labels, _style

    if inside:
        axes.axhline(value, color=_style.INK, linewidth=0.9, linestyle=(0, (4, 3)))
    text = joined(" ", ("┄┄", name)) if inside else joined("", ("↑ ", name, ": ", compact(value, unit)))
    axes.annotate(
        text, (1, 1), (0, 3), xycoords="axes fraction", textcoords="offset points",
        ha="right", va="bottom", color=_style.INK, annotation_clip=False,
    )  # fmt: skip
    return _labels.CHARACTER * (len(text) + 2)
