"""
Strips: what several systems do over time, one under the other on one axis of time, stacked by kind.

Each strip has its own height, from nothing to its level or, without one, to its highest value.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gwa.report.document import Figure
from gwa.report.figures import _thinning
from gwa.util.units import DAY
from gwa.words.formatting import compact
from gwa.words.unit import Unit, Value

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

EACH = 64
"""How high a strip is, with its name."""

FILLED = 0.68
"""The share of that which is drawn on."""

MAXIMUM_STEPS = 320
"""More intervals are drawn as the means of several."""

COLOURS = {
    "completed": "#4c8bb8", "limit": "#e0a100", "failed": "#a8321f", "cancelled": "#cfaedd",
    "running": "#5aa17f", "unknown": "#a9b2bb",
}  # fmt: skip
"""The colours of outcomes where no style sheet says others."""


@dataclass(frozen=True)
class Strip:
    """
    What is called *label*, between the rising *edges* of intervals, in seconds.

    *layers* are values of each interval by the key of their colour, the lowest of the stack first; nan where
    they are not known. *level* is what there is at most, None where that is not known.
    """

    label: str
    edges: Sequence[float] | np.ndarray[Any, Any]
    layers: Mapping[str, Sequence[float] | np.ndarray[Any, Any]]
    unit: Unit = ""
    level: float | None = None


def strips(  # noqa: PLR0913 - what a figure says
    id: str,  # noqa: A002 - as blocks call it
    title: str,
    shown: Sequence[Strip],
    names: Mapping[str, str],
    xlabel: str,
    ylabel: str,
    alt: str,
    *,
    zone: str | None = None,
    note: str = "",
) -> Figure:
    """
    Return the strips *shown*, the first on top; *names* say what layers are called.

    Their time is by the clock of *zone*, without one since a start that need not be known.
    """
    present = [key for key in names if any(np.nansum(strip.layers.get(key, 0.0)) > 0 for strip in shown)]
    drawn: list[Value] = [_drawn(strip, present) for strip in shown]
    data: dict[str, Value] = {
        "strips": drawn, "layers": [{"key": key, "label": names[key]} for key in present],
        "xlabel": xlabel, "ylabel": ylabel, "zone": zone,
    }  # fmt: skip
    return Figure(id=id, title=title, plot="strips", data=data, alt=alt, note=note)


def _drawn(strip: Strip, keys: Sequence[str]) -> dict[str, Value]:
    """Return the data of a strip, intervals joined where there are more than can be seen."""
    edges = np.asarray(strip.edges, np.float64)
    stride = -(-(len(edges) - 1) // MAXIMUM_STEPS)
    starts = np.arange(0, len(edges) - 1, stride)
    lengths = np.diff(edges)
    columns: list[Value] = []
    for key in keys:
        values = np.asarray(strip.layers.get(key, np.zeros(len(lengths))), np.float64)
        weights = np.where(np.isfinite(values), lengths, 0.0)
        with np.errstate(invalid="ignore"):
            means = np.add.reduceat(np.nan_to_num(values) * weights, starts) / np.add.reduceat(
                weights, starts
            )
        columns.append(_thinning.rounded(means, 5))
    joined = _thinning.rounded(np.append(edges[starts], edges[-1]), 12)
    return {"label": strip.label, "x": joined, "y": columns, "unit": strip.unit, "level": strip.level}


def draw(canvas: "Canvas", data: Mapping[str, Any]) -> None:
    """Draw each strip as steps over its own line, with its name above and how high it reaches."""
    from gwa.report.figures import _style

    shown = data["strips"]
    height = EACH * len(shown) + 78
    axes = _style.axes(canvas, width=_style.FIGURE_WIDTH, height=height, left=14, right=14, bottom=48, top=30)
    for place, strip in enumerate(shown):
        base, edges = float(len(shown) - 1 - place), _thinning.array(strip["x"]) / DAY
        below = np.zeros(max(len(edges) - 1, 0))
        top = highest(strip)
        for layer, values in zip(data["layers"], strip["y"], strict=True):
            above = below + np.nan_to_num(_thinning.array(values))
            look: dict[str, Any] = {"color": COLOURS.get(layer["key"], _style.COLOURS[0]), "linewidth": 0}
            ends = [base + FILLED * np.append(edge, edge[-1:]) / top for edge in (below, above)]
            axes.fill_between(edges, ends[0], ends[1], step="post", **look)
            below = above
        told = f"{strip['label']} · {compact(top, strip['unit'])}"
        axes.annotate(told, (0, base + FILLED), (2, 3), xycoords=("axes fraction", "data"),
                      textcoords="offset points", color=_style.INK)  # fmt: skip
        axes.axhline(base, color=_style.MUTED, linewidth=0.8)
    axes.set_ylim(0, max(len(shown), 1))
    _style.set_ticks(axes.yaxis, [])
    words = _style.time_axis(axes, data["zone"])
    layers = " · ".join(layer["label"] for layer in data["layers"])
    _style.words(axes, data["xlabel"] or words, " – ".join(filter(None, (data["ylabel"], layers))))


def highest(strip: Mapping[str, Any]) -> float:
    """Return how high a strip reaches: its level, or its highest value where that is higher."""
    rows = [np.nan_to_num(_thinning.array(values)) for values in strip["y"]]
    top = float(np.sum(rows, axis=0).max(initial=0.0)) if rows else 0.0
    return max(top, strip["level"] or 0.0) or 1.0
