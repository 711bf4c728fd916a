"""Heat maps: a value for each hour of each day of the week, or any other grid of names."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gwa.report.document import Figure
from gwa.report.figures import _thinning
from gwa.words.unit import Unit, Value

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

CELL = 26.0
"""How high a row is."""


def heatmap(  # noqa: PLR0913 - what a figure says
    id: str,  # noqa: A002 - as blocks call it
    title: str,
    matrix: Sequence[Sequence[float]] | NDArray[Any],
    rows: Sequence[str],
    columns: Sequence[str],
    alt: str,
    *,
    xlabel: str = "",
    ylabel: str = "",
    unit: Unit = "",
    note: str = "",
) -> Figure:
    """
    Return a grid whose cells are the stronger in colour the greater their value.

    *rows* go down, *columns* right; *ylabel* says what the values are. A cell without a value stays empty.
    """
    cells = np.asarray(matrix, dtype=np.float64)
    data: dict[str, Value] = {
        "matrix": [_thinning.rounded(row, 4) for row in cells], "rows": list(rows), "columns": list(columns),
        "xlabel": xlabel, "ylabel": ylabel, "unit": unit,
    }  # fmt: skip
    return Figure(id=id, title=title, plot="heatmap", data=data, alt=alt, note=note)


def draw(canvas: "Canvas", data: Mapping[str, Any]) -> None:
    """Draw the cells as one colour in many strengths, and a scale over them."""
    from gwa.report.figures import _cells, _style

    matrix = np.array(data["matrix"], dtype=np.float64)
    down, across = matrix.shape
    widest = 8 + 6 * max(map(len, data["columns"]))
    left = 14 + 6 * max([2, *map(len, data["rows"])])
    axes = _style.axes(canvas, height=88 + CELL * down, left=left, right=10, bottom=44, top=44)
    low, high = float(np.nanmin(matrix, initial=np.inf)), float(np.nanmax(matrix, initial=-np.inf))
    low = min(low, 0.0)
    span = (high - low) if high > low else 1.0
    for row in range(down):
        for column in range(across):
            if np.isfinite(matrix[row, column]):
                _cells.cell(axes, (column, row), (matrix[row, column] - low) / span)
    axes.set_xlim(0, across)
    axes.set_ylim(down, 0)
    axes.grid(visible=False)
    room = axes.bbox.width / across
    stride = next((step for step in (1, 2, 3, 4, 6) if widest < step * room), 12)
    names = [(place + 0.5, data["columns"][place]) for place in range(0, across, stride)]
    _style.set_ticks(axes.xaxis, names)
    _style.set_ticks(axes.yaxis, [(place + 0.5, name) for place, name in enumerate(data["rows"])])
    axes.spines["bottom"].set_visible(False)
    _style.words(axes, data["xlabel"], data["ylabel"], lift=12)
    _cells.scale(axes, low, max(high, low), data["unit"])
