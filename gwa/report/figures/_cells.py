"""Cells of a grid, the stronger in colour the greater what they stand for, and the scale that says so."""

from typing import TYPE_CHECKING, Any, Final

from matplotlib.patches import Rectangle

from gwa.report.figures import _style
from gwa.words.formatting import compact

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PALEST: Final = 0.18
"""How opaque the weakest cell is: enough to be told from an empty one, on white and on black."""


def cell(  # matplotlib's words for a rectangle are passed on
    axes: "Axes",
    corner: tuple[float, float],
    strength: float,
    **look: Any,  # noqa: ANN401
) -> None:
    """Draw a cell; the weakest can still be told from an empty one."""
    opacity = round(PALEST + (1 - PALEST) * strength, 2)
    paint = {"facecolor": _style.COLOURS[0], "alpha": opacity, "linewidth": 0}
    axes.add_patch(Rectangle(corner, **{"width": 0.92, "height": 0.9, "clip_on": False, **paint, **look}))


def scale(axes: "Axes", low: float, high: float, unit: str) -> None:
    """Draw a scale at the top right: five strengths between the least and the greatest value."""
    words = [compact(low, unit), compact(high, unit)]
    across, up = 1 / axes.bbox.width, 1 / axes.bbox.height
    end, top = 1 - (6 * len(words[1]) + 6) * across, 1 + 12 * up
    for step in range(5):
        corner = (end - (70 - 14 * step) * across, top)
        cell(axes, corner, step / 4, width=13 * across, height=9 * up, transform=axes.transAxes)
    look: dict[str, Any] = {"va": "bottom", "color": _style.MUTED, "fontsize": _style.SMALL_TEXT}
    look["transform"] = axes.transAxes
    axes.text(end - 75 * across, top - 2 * up, words[0], ha="right", **look)
    axes.text(end + 4 * across, top - 2 * up, words[1], ha="left", **look)
