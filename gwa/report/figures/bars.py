"""Bars: one value for each of a few names."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from gwa.report.document import Figure
from gwa.report.figures import _thinning
from gwa.words.formatting import compact
from gwa.words.unit import Unit, Value

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

MAXIMUM_LABEL = 22
"""Longer names are cut: the table beside a figure has them whole."""

MAXIMUM_UPRIGHT = 26
"""The maximum number of short names side by side."""

TIME = re.compile(r"\d{4}(-\d{2}(-\d{2})?|-?W\d{2}|-?Q[1-4])?|\d{2}:\d{2}")
"""The name of a year, quarter, month, week or day, or of an hour of the day."""


def bars(  # noqa: PLR0913 - what a figure says
    id: str,  # noqa: A002 - as blocks call it
    title: str,
    labels: Sequence[str],
    values: Sequence[float] | NDArray[Any],
    xlabel: str,
    ylabel: str,
    alt: str,
    *,
    unit: Unit = "",
    horizontal: bool | None = None,
    note: str = "",
) -> Figure:
    """
    Return a bar for each of *labels*; *ylabel* names the values, *xlabel* what the labels are.

    Bars lie, with their values written out, unless all labels are short; *horizontal* decides
    otherwise.
    """
    names = [str(label) for label in labels]
    if horizontal is None:
        horizontal = len(names) > MAXIMUM_UPRIGHT or sum(map(len, names)) > 2 * MAXIMUM_UPRIGHT
    data: dict[str, Value] = {
        "labels": names, "values": _thinning.rounded(_thinning.array(values)),
        "xlabel": xlabel, "ylabel": ylabel, "unit": unit, "horizontal": horizontal,
    }  # fmt: skip
    return Figure(id=id, title=title, plot="bars", data=data, alt=alt, note=note)


def draw(canvas: "Canvas", data: Mapping[str, Any]) -> None:
    """Draw the bars, lying or upright; long names are cut."""
    labels = [
        name if len(name) <= MAXIMUM_LABEL else f"{name[: MAXIMUM_LABEL - 1]}…" for name in data["labels"]
    ]
    data = {**data, "labels": labels}
    values = [value or 0.0 for value in data["values"]]
    if data["horizontal"] and not _are_times(labels):
        _lying(canvas, data, values)
    else:
        _upright(canvas, data, values)


def _are_times(labels: Sequence[str]) -> bool:
    """Return whether the names are months, days or times of day in order: time runs to the right."""
    return len(labels) > 1 and all(map(TIME.fullmatch, labels)) and list(labels) == sorted(labels)


def _lying(canvas: "Canvas", data: Mapping[str, Any], values: list[float]) -> None:
    """Draw bars from left to right, the first on top, each with its value at its end."""
    from gwa.report.figures import _style

    widest = max([4, *map(len, data["labels"])])
    height, left = 46 + 20 * len(values), 14 + 6 * widest
    axes = _style.axes(canvas, height=height, left=left, right=74, bottom=10, top=30)
    places = range(len(values))
    axes.barh(places, values, height=0.66, color=_style.COLOURS[0])
    axes.set_ylim(len(values) - 0.4, -0.6)
    axes.set_xlim(min([0.0, *values]), max([0.0, *values]) or 1.0)
    for place, value in zip(places, data["values"], strict=True):
        text = "–" if value is None else compact(value, data["unit"])
        _at_end(axes, text, (max(value or 0.0, 0.0), place))
    _style.set_ticks(axes.yaxis, list(zip(places, data["labels"], strict=True)))
    _style.set_ticks(axes.xaxis, [])
    axes.grid(visible=False)
    axes.spines["bottom"].set_visible(False)
    axes.spines["left"].set_visible(True)
    _style.words(axes, "", " · ".join(word for word in (data["ylabel"], data["xlabel"]) if word))


def _at_end(axes: "Axes", text: str, end: tuple[float, float]) -> None:
    """Write *text* to the right of the *end* of a bar."""
    from gwa.report.figures import _style

    look: dict[str, Any] = {"color": _style.INK, "annotation_clip": False}
    axes.annotate(text, end, (4, 0), textcoords="offset points", va="center_baseline", **look)


def _upright(canvas: "Canvas", data: Mapping[str, Any], values: list[float]) -> None:
    """Draw bars side by side over their names."""
    from gwa.report.figures import _style

    axes = _style.axes(canvas, height=190, left=54, bottom=44, top=28)
    axes.bar(range(len(values)), values, width=0.72, color=_style.COLOURS[0])
    low, high = min([0.0, *values]), max([0.0, *values]) or 1.0
    axes.set_ylim(low, high * 1.05)
    axes.set_xlim(-0.6, len(values) - 0.4)
    _style.linear_ticks(axes.yaxis, low, high, data["unit"])
    room = (_style.FIGURE_WIDTH - 74) / max(len(values), 1)
    stride = max(1, -(-(max([1, *map(len, data["labels"])]) * 6 + 4) // max(int(room), 1)))
    _style.set_ticks(axes.xaxis, [(place, data["labels"][place]) for place in range(0, len(values), stride)])
    _style.words(axes, data["xlabel"], data["ylabel"])
