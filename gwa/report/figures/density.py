"""Densities: how many jobs there are of each size and length, both on logarithmic axes."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from gwa.report.document import Figure
from gwa.report.figures import _thinning
from gwa.words.unit import Unit, Value

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure as Canvas

CELLS_PER_DECADE = 4
"""Cells for each power of ten of x."""

CELLS_PER_DOUBLING = 1
"""Cells for each power of two of y."""

MAXIMUM_DECADES = 40
"""The maximum powers of ten above 1 that values are taken to have."""

ROW_HEIGHT, MAXIMUM_HEIGHT = 36, 182
"""How high a row of cells is, and all of them at most."""

MARGINS = {"left": 48, "bottom": 44, "top": 44}


def density(  # noqa: PLR0913 - what a figure says
    id: str,  # noqa: A002 - as blocks call it
    title: str,
    x: ArrayLike,
    y: ArrayLike,
    weights: ArrayLike,
    alt: str,
    *,
    xlabel: str,
    ylabel: str,
    unit: Unit = "",
    label: str = "",
    note: str = "",
) -> Figure:
    """
    Return how much *weights* there is about each *x* and *y*: cells as wide as a quarter of a power of ten.

    A cell is as high as a factor of two. Values below 1 stand with those of 1, which on a logarithmic axis
    have no other place; what is not known is left out. The *unit* is that of x; the *label* says of what the
    weights are numbers, such as jobs.
    """
    across, up, amounts = (_thinning.array(np.asarray(part)) for part in (x, y, weights))
    keep = np.isfinite(across) & np.isfinite(up) & np.isfinite(amounts) & (amounts > 0)
    top = 10.0**MAXIMUM_DECADES
    column = np.floor(CELLS_PER_DECADE * np.log10(np.clip(across[keep], 1, top)) + 1e-12).astype(np.int64)
    row = np.floor(CELLS_PER_DOUBLING * np.log2(np.clip(up[keep], 1, top)) + 1e-12).astype(np.int64)
    places, inverse = np.unique(np.column_stack([column, row]), axis=0, return_inverse=True)
    totals = np.bincount(inverse.ravel(), amounts[keep], len(places)).astype(np.float64)
    cells: list[Value] = [
        [*map(int, place), value] for place, value in zip(places, _thinning.rounded(totals, 4), strict=True)
    ]
    data: dict[str, Value] = {
        "cells": cells,
        "xlabel": xlabel,
        "ylabel": ylabel,
        "unit": unit,
        "label": label,
    }
    return Figure(id=id, title=title, plot="density", data=data, alt=alt, note=note)


def draw(canvas: "Canvas", data: Mapping[str, Any]) -> None:
    """Draw the cells in one colour, the stronger the more they hold, and a scale over them."""
    from gwa.report.figures import _cells, _style

    cells = data["cells"]
    columns, rows = [cell[0] for cell in cells] or [0], [cell[1] for cell in cells] or [0]
    inside = min(MAXIMUM_HEIGHT, ROW_HEIGHT * (max(rows) - min(rows) + 1))
    axes = _style.axes(canvas, height=MARGINS["top"] + inside + MARGINS["bottom"], right=14, **MARGINS)
    maximum = max([1.0, *(cell[2] for cell in cells)])
    for column, row, total in cells:
        strength = np.log(max(total, 1.0)) / np.log(maximum) if maximum > 1 else 1.0
        _cells.cell(axes, (column, row), float(strength))
    _span(axes, columns, rows)
    axes.grid(visible=False)
    _log_ticks(axes.xaxis, columns, 10.0 ** (1 / CELLS_PER_DECADE), data["unit"], axes.bbox.width)
    _log_ticks(axes.yaxis, rows, 2.0 ** (1 / CELLS_PER_DOUBLING), "", 2 * axes.bbox.height)
    _style.words(axes, data["xlabel"], data["ylabel"], lift=12)
    _cells.scale(axes, 1.0, maximum, "count")


def _span(axes: "Axes", columns: list[int], rows: list[int]) -> None:
    """Let the axes hold all cells, and a single one not be as wide as they are."""
    axes.set_xlim(min(columns), max(*columns, min(columns) + CELLS_PER_DECADE) + 1)
    axes.set_ylim(min(rows), max(rows) + 1)


def _log_ticks(axis: "Axis", places: list[int], base: float, unit: str, room: float) -> None:
    """Let the values that cells begin at stand on *axis*, whose steps are factors of *base*."""
    from gwa.report.figures import _style, _ticks

    low, high = base ** min(places), base ** (max(places) + 1)
    marks = _ticks.logarithmic(low, high, unit, room)
    _style.set_ticks(axis, [(float(np.log(tick.place) / np.log(base)), tick.label) for tick in marks])
