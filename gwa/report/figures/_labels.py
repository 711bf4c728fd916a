"""Write the name of each line beside it, or of all above the drawing where there is no room."""

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gwa.report.figures import _style
from gwa.report.figures._thinning import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEIGHT = 13.0
CHARACTER = 6.4
"""About how wide a character is; names are not measured, so that no font changes a figure."""

NAME_GAP = 12.0
"""How far names keep from each other in a row, or two would read as one: "2 to 4", "1"."""

MAXIMUM_NAME = 28
"""Longer names are cut."""

DISTANCE = 6.0
"""How far a name stands from its line."""

MARGIN = 3.0
"""How far it keeps from all lines at least."""

PLACES = (0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8, 0.12, 0.88, 0.95)
"""How far along a line its name is tried, best first."""

OFFSETS = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, -1), (-1, 1), (1, 1), (-1, -1))
"""To which side of its line a name is tried, best first."""

FAR_OFFSETS = ((0, 2), (0, -2))
"""Where it is tried when there is no room so near: one line of text farther away."""


class LabelledLine(NamedTuple):
    """A line as it is drawn, in the units of the data."""

    name: str
    colour: str
    x: Array
    y: Array


class Box(NamedTuple):
    """A rectangle on the drawing."""

    left: float
    bottom: float
    right: float
    top: float
    align: str = "center"

    @property
    def anchor(self) -> tuple[float, float]:
        """Where the text is written from, as *align* says."""
        across = {"left": self.left, "center": (self.left + self.right) / 2, "right": self.right}
        return across[self.align], (self.bottom + self.top) / 2

    def wider(self, margin: float) -> "Box":
        """Return the rectangle with *margin* on both sides."""
        return self._replace(left=self.left - margin, right=self.right + margin)

    def clear(self, points: Array) -> bool:
        """Tell whether none of *points* is inside."""
        across = (points[:, 0] > self.left) & (points[:, 0] < self.right)
        return not bool(np.any(across & (points[:, 1] > self.bottom) & (points[:, 1] < self.top)))

    def apart(self, box: "Box") -> bool:
        """Tell whether nothing is shared with *box*."""
        sideways = self.right + NAME_GAP < box.left or box.right + NAME_GAP < self.left
        return sideways or self.top < box.bottom or box.top < self.bottom


def steps(x: Sequence[float], y: Sequence[float]) -> tuple[Array, Array]:
    """Return the corners of a line that keeps each value until the next."""
    return np.repeat(np.asarray(x, dtype=float), 2)[1:], np.repeat(np.asarray(y, dtype=float), 2)[:-1]


def label(axes: "Axes", lines: Sequence[LabelledLine], taken: float = 0.0) -> None:
    """
    Write the names of *lines* if there are several: beside them, in a free corner, or above.

    So much is *taken* of the room above, at its right end.
    """
    shown = [line._replace(name=_short(line.name)) for line in lines if len(line.x)]
    if len(shown) < 2:  # noqa: PLR2004 - the title names a single line
        return
    paths = [_path(axes, line) for line in shown]
    points = np.concatenate(paths)
    boxes = _arrange(axes, shown, points, paths) or _corner(axes, shown, points)
    if boxes is None:
        above(axes, shown, taken)
        return
    for line, box in zip(shown, boxes, strict=True):
        place = (box.anchor[0] - axes.bbox.x0, box.anchor[1] - axes.bbox.y0)
        axes.annotate(
            line.name, (0, 0), place, xycoords="axes fraction", textcoords="offset points",
            ha=box.align, va="center", color=line.colour,
        )  # fmt: skip


def _corner(axes: "Axes", lines: Sequence[LabelledLine], points: Array) -> list[Box] | None:
    """Return boxes for the names, one below the other in a corner that no line crosses, or None."""
    frame: Any = axes.bbox
    row, widest = HEIGHT + 3, CHARACTER * max(len(line.name) for line in lines)
    for side in ("left", "right"):
        for top in (frame.y1 - 2, frame.y0 + 4 + row * len(lines)):
            left = frame.x0 + 8 if side == "left" else frame.x1 - 4 - widest
            if not Box(left, top - row * len(lines), left + widest, top).wider(DISTANCE).clear(points):
                continue
            return [
                Box(left, top - row * (place + 1), left + widest, top - row * place, side)
                for place in range(len(lines))
            ]
    return None


def _short(name: str) -> str:
    """Return *name*, cut where it is too long."""
    return name if len(name) <= MAXIMUM_NAME else f"{name[: MAXIMUM_NAME - 1]}…"


def _path(axes: "Axes", line: LabelledLine) -> Array:
    """Return points on the drawing along *line*, near enough to each other to hit any box."""
    known = np.isfinite(line.x) & np.isfinite(line.y)
    corners = axes.transData.transform(np.column_stack([line.x[known], line.y[known]]))
    corners = corners[np.isfinite(corners).all(axis=1)]
    if not len(corners):
        return np.empty((0, 2))
    way = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(corners, axis=0)).sum(axis=1))])
    even = np.arange(0.0, way[-1] + 3.0, 3.0)
    return np.column_stack([np.interp(even, way, corners[:, 0]), np.interp(even, way, corners[:, 1])])


def _arrange(
    axes: "Axes", lines: Sequence[LabelledLine], points: Array, paths: Sequence[Array]
) -> list[Box] | None:
    """Return a free box for each name, or None when one finds none."""
    taken: list[Box] = []
    for line, path in zip(lines, paths, strict=True):
        box = _free(axes, CHARACTER * len(line.name), path, points, taken)
        if box is None:
            return None
        taken.append(box)
    return taken


def _free(axes: "Axes", width: float, path: Array, points: Array, taken: Sequence[Box]) -> Box | None:
    """Return the first box beside *path* that no line and no other name crosses."""
    frame: Any = axes.bbox
    for offsets, place in product((OFFSETS, FAR_OFFSETS), PLACES if len(path) else ()):
        x, y = path[int(place * (len(path) - 1))]
        for right, up in offsets:
            middle, level = x + right * (width / 2 + DISTANCE), y + up * (HEIGHT / 2 + 4)
            box = Box(middle - width / 2, level - HEIGHT / 2, middle + width / 2, level + HEIGHT / 2)
            inside = box.left > frame.x0 and box.right < frame.x1 + 8
            inside = inside and box.bottom > frame.y0 and box.top < frame.y1 + 2
            if inside and box.wider(MARGIN).clear(points) and all(box.apart(name_box) for name_box in taken):
                return box
    return None


def above(axes: "Axes", lines: Sequence[LabelledLine], taken: float = 0.0) -> None:
    """Write the names in a row over the drawing, left of what is *taken*, each in its line's colour."""
    room = (axes.bbox.width - taken) / CHARACTER - 4 * len(lines) - 12
    length = MAXIMUM_NAME if sum(len(line.name) for line in lines) <= room else max(3, int(room / len(lines)))
    right = -taken
    for line in reversed(lines):
        name = line.name if len(line.name) <= length else f"{line.name[: length - 1]}…"
        axes.annotate(
            f"– {name}", (1, 1), (right, 8), xycoords="axes fraction", textcoords="offset points",
            ha="right", va="baseline", color=line.colour, fontsize=_style.SMALL_TEXT,
        )  # fmt: skip
        right -= CHARACTER * (len(name) + 4)
