"""
Shares: lying bars of full width, each divided into parts that have a word, as thick as it weighs.

Words stand on the bars where they fit; there is no legend.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gwa.report.document import Figure
from gwa.report.figures import _thinning
from gwa.words.formatting import fraction
from gwa.words.unit import Value

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

THIN, THICK = 18.0, 72.0
"""How thick a bar is that weighs nothing, and one that weighs all."""

GAP = 6.0
LEFT, RIGHT = 150.0, 14.0

COLOURS = {
    "held": "#c9c2b0", "unknown": "#dfe3e6", "outage": "#8c2d19", "full": "#1f4e79", "gpu": "#3b7dbd",
    "ceiling": "#b35806", "unused": "#d8b365", "larger": "#80a9d0", "cycle": "#bbbbbb", "open": "#e08214",
}  # fmt: skip
"""The colour of each part; others have that of what is unknown."""

DARK = frozenset({"outage", "full", "gpu", "ceiling"})
"""Parts on which words are white."""


@dataclass(frozen=True)
class Bar:
    """A bar called *label*: its *weight*, from 0 to 1, and the share of each part by its key."""

    label: str
    weight: float
    parts: Mapping[str, float]


def shares(
    id: str,  # noqa: A002 - as blocks call it
    title: str,
    bars: Sequence[Bar],
    names: Mapping[str, str],
    alt: str,
    *,
    note: str = "",
) -> Figure:
    """Return the *bars*, the first on top; *names* say what parts are called, in the order of a bar."""
    present = [key for key in names if any(_shares(bar).get(key, 0.0) > 0 for bar in bars)]
    drawn: list[Value] = [
        {
            "label": bar.label,
            "weight": round(float(np.clip(np.nan_to_num(bar.weight), 0, 1)), 4),
            "y": _thinning.rounded(np.array([_shares(bar).get(key, 0.0) for key in present]), 5),
        }
        for bar in bars
    ]
    data: dict[str, Value] = {
        "bars": drawn, "parts": [{"key": key, "label": names[key]} for key in present],
    }  # fmt: skip
    return Figure(id=id, title=title, plot="shares", data=data, alt=alt, note=note)


def _shares(bar: Bar) -> dict[str, float]:
    """Return the shares of the parts of a bar, which add up to 1."""
    known = {key: float(part) for key, part in bar.parts.items() if np.isfinite(part) and part > 0}
    largest = max(known.values(), default=1.0)
    total = sum(part / largest for part in known.values())
    return {key: part / largest / total for key, part in known.items()}


def thickness(weight: float) -> float:
    """Return how thick a bar of a *weight* is."""
    return THIN + (THICK - THIN) * weight


def draw(canvas: "Canvas", data: Mapping[str, Any]) -> None:
    """Draw the bars, with the words that fit on them."""
    from gwa.report.figures import _style

    heights = [thickness(bar["weight"]) for bar in data["bars"]]
    height = sum(heights) + GAP * len(heights) + 20
    axes = _style.axes(canvas, height=max(height, 40), left=LEFT, right=RIGHT, top=10, bottom=10)
    width, top = _style.FIGURE_WIDTH - LEFT - RIGHT, 0.0
    middles = []
    for bar, thick in zip(data["bars"], heights, strict=True):
        begin, middle = 0.0, top + thick / 2
        for part, share in zip(data["parts"], bar["y"], strict=True):
            colour = COLOURS.get(part["key"], COLOURS["unknown"])
            axes.barh(middle, share, thick, begin, color=colour, linewidth=0)
            if word := _word(part["label"], share, share * width):
                ink = "#ffffff" if part["key"] in DARK else _style.INK
                axes.text(begin + 5 / width, middle, word, va="center", fontsize=10, color=ink)
            begin += share
        middles.append((middle, bar["label"]))
        top += thick + GAP
    axes.set_xlim(0, 1)
    axes.set_ylim(max(top, 1.0), 0)
    axes.grid(visible=False)
    _style.set_ticks(axes.xaxis, [])
    _style.set_ticks(axes.yaxis, middles)


def _word(label: str, share: float, room: float) -> str:
    """Return what fits of a part into some *room*: a character is six wide."""
    told = fraction(share)
    return next((text for text in (f"{told} {label}", told) if 6.0 * len(text) + 10 <= room), "")
