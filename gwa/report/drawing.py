"""
Draw the figures of a report, each with the plot that it names.

`draw` turns a `gwa.report.document.Figure` into SVG text, with the ``draw`` function of the module in
`gwa.report.figures` that the figure's *plot* names. matplotlib is imported when something is drawn, never
before.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING

from gwa.report.document import Figure
from gwa.util import plugins

if TYPE_CHECKING:
    from gwa.report.figures._svg import Drawing

ALONE = 6
"""Up to so many figures one process is faster than two."""

PATIENCE = 120
"""After so many seconds a second process is given up and its figures are drawn here."""


def kinds() -> list[str]:
    """
    Return the names of all kinds of plots.

    >>> kinds()
    ['bars', 'cdf', 'density', 'gantt', 'groups', 'heatmap', 'lines', 'lorenz', 'series']
    """
    return sorted(_drawings())


def draw(figure: Figure) -> str:
    """
    Return *figure* as the text of an SVG element, the same bytes each time.

    Raise `ValueError` for a figure whose plot does not exist.
    """
    from gwa.report.figures._svg import svg

    return svg(figure, _drawing(figure))


def png(figure: Figure, dpi: float) -> bytes:
    """Return *figure* as the content of a PNG file; raise `ValueError` as `draw` does."""
    from gwa.report.figures._svg import saved

    return saved(
        figure, _drawing(figure), format="png", dpi=dpi, facecolor="white", metadata={"Software": None}
    )


def _drawing(figure: Figure) -> "Drawing":
    """Return the function that draws *figure*."""
    if figure.plot not in _drawings():
        message = f"figure {figure.id}: no plot is called {figure.plot!r}; there are {', '.join(kinds())}"
        raise ValueError(message)
    return _drawings()[figure.plot]


@cache
def _drawings() -> "dict[str, Drawing]":
    """Return the function that draws each kind of plot."""
    found = plugins.modules("gwa.report.figures", "gwa.figures")
    return {module.__name__.rpartition(".")[2]: module.draw for module in found}


def draw_all(figures: Iterable[Figure]) -> dict[str, str]:
    """
    Return the SVG text of each of *figures* by its id.

    Many figures are shared with a second process. It is a plain command that reads and writes
    JSON, not a `multiprocessing` pool, so that a script without a ``__main__`` guard is not run
    twice; should it fail, all is drawn here.
    """
    todo = list(figures)
    if len(todo) <= ALONE or not sys.executable or (os.cpu_count() or 1) == 1:
        return {figure.id: draw(figure) for figure in todo}
    here, there = todo[::2], todo[1::2]
    with TemporaryFile() as orders:
        orders.write(json.dumps([vars(figure) for figure in there]).encode())
        orders.seek(0)
        with _second_process(orders) as helper:
            drawn = {figure.id: draw(figure) for figure in here}
            others = _collect(helper)
    drawn.update(others or {figure.id: draw(figure) for figure in there})
    return {figure.id: drawn[figure.id] for figure in todo}


def _second_process(orders: IO[bytes]) -> "subprocess.Popen[bytes]":
    """Start a Python, with the import path of this one, that draws the *orders*."""
    path = os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path)
    return subprocess.Popen(
        [sys.executable, "-m", "gwa.report._draw_worker"],
        stdin=orders,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": path},
    )


def _collect(helper: "subprocess.Popen[bytes]") -> dict[str, str] | None:
    """Return what *helper* drew, or None when it failed."""
    try:
        output, _ = helper.communicate(timeout=PATIENCE)
        drawn: dict[str, str] = json.loads(output)
    except (subprocess.TimeoutExpired, ValueError):
        helper.kill()
        return None
    return drawn
