"""Gantt charts: which job was on which processors, and when."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gwa.report.document import Figure
from gwa.util.units import DAY
from gwa.words.message import Verbatim
from gwa.words.unit import Value

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

Bar = tuple[float, float, int, int, str]
"""From when to when, from which processor up to below which, and whose it is."""

Job = tuple[float, float, int, str | None]
"""From when to when, on how many processors, and whose it is."""

MAXIMUM_NAMED = 4
"""The number of owners, those with the largest areas, that have a colour and a name; others share one."""

OTHERS = "others"

HEIGHT = 300
MARGINS = {"left": 58, "bottom": 48, "top": 28, "right": 28}


def gantt(  # noqa: PLR0913 - what a figure says
    id: str,  # noqa: A002 - as blocks call it
    title: str,
    bars: Sequence[Bar],
    period: tuple[float, float],
    ylabel: str,
    alt: str,
    *,
    zone: str | None = None,
    note: str = "",
) -> Figure:
    """
    Return *bars* over the seconds of *period*, beyond which they are cut off.

    Seconds count from 1970 where a *zone* such as Europe/Madrid is given, else from the start of the trace.
    """
    first, last = period
    areas: dict[str, float] = {}
    for begin, end, low, high, owner in bars:
        areas[owner] = areas.get(owner, 0.0) + max(min(end, last) - max(begin, first), 0.0) * (high - low)
    largest = sorted(areas, key=lambda owner: (-areas[owner], owner))
    named = largest if len(largest) <= MAXIMUM_NAMED + 1 else largest[:MAXIMUM_NAMED]
    drawn: dict[str, list[Value]] = {}
    for begin, end, low, high, owner in bars:
        if end > first and begin < last:
            label = owner if owner in named else OTHERS
            drawn.setdefault(label, []).append([max(begin, first), min(end, last), low, high])
    groups: list[Value] = [
        {"label": Verbatim(name), "bars": drawn[name]} for name in [*named, OTHERS] if name in drawn
    ]
    data: dict[str, Value] = {"groups": groups, "period": list(period), "ylabel": ylabel, "zone": zone}
    return Figure(id=id, title=title, plot="gantt", data=data, alt=alt, note=note)


def placed(jobs: Sequence[Job]) -> list[tuple[float, float, int, int, str]]:
    """
    Return *jobs*, in order of their start, on the lowest processors that are free then.

    >>> placed([(0, 9, 2, "a"), (1, 2, 1, "b"), (3, 5, 2, None)])[2:]
    [(3, 5, 2, 4, 'unknown')]
    """
    bars: list[tuple[float, float, int, int, str]] = []
    for start, end, procs, user in jobs:
        needed, free = procs, 0
        taken = sorted((low, high) for begin, until, low, high, _ in bars if begin <= start < until)
        for low, high in [*taken, (free + needed + sum(high for _, high in taken), 0)]:
            piece = min(low - free, needed)
            if piece > 0:
                bars.append((start, end, free, free + piece, user or "unknown"))
                needed -= piece
            if not needed:
                break
            free = max(free, high)
    return bars


def draw(canvas: "Canvas", data: Mapping[str, Any]) -> None:
    """Draw the bars of each owner in a colour, with a name over them where there are several."""
    import numpy as np

    from gwa.report.figures import _labels, _style

    axes = _style.axes(canvas, height=HEIGHT, **MARGINS)
    first, last = (moment / DAY for moment in data["period"])
    high = max([1, *(bar[3] for group in data["groups"] for bar in group["bars"])])
    axes.update_datalim([(first, 0), (last, high)])
    axes.set_ylim(0, high * 1.02)
    _style.linear_ticks(axes.yaxis, 0, high, "count")
    named = []
    for place, group in enumerate(data["groups"]):
        is_others = group["label"] == OTHERS
        colour = _style.MUTED if is_others else _style.COLOURS[place % len(_style.COLOURS)]
        _bars(axes, group["bars"], colour)
        named.append(_labels.LabelledLine(group["label"], colour, np.empty(0), np.empty(0)))
    words = _style.time_axis(axes, data["zone"])
    _style.words(axes, words, data["ylabel"])
    if len(named) > 1:
        _labels.above(axes, named)


def _bars(axes: "Axes", bars: Sequence[Sequence[float]], colour: str) -> None:
    """Draw *bars* as one path, each with an outline that tells it from its neighbours."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    corners = [
        corner
        for begin, end, low, high in ((bar[0] / DAY, bar[1] / DAY, bar[2], bar[3]) for bar in bars)
        for corner in ((begin, low), (end, low), (end, high), (begin, high), (begin, low))
    ]
    # Where many bars lie upon each other their outlines are fine, or nothing else would be seen.
    heights = sorted(bar[3] - bar[2] for bar in bars)
    room = heights[len(heights) // 2] * axes.bbox.height / axes.get_ylim()[1]
    steps = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY] * len(bars)
    path = Path(corners, steps)
    axes.add_patch(PathPatch(path, facecolor=colour, alpha=0.4, linewidth=0))
    axes.add_patch(PathPatch(path, facecolor="none", edgecolor=colour, linewidth=min(0.6, 0.2 * room)))
