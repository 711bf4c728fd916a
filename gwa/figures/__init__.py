"""
The figures of a report: a maker and a drawing for each kind of plot, one kind per file.

A maker, such as `cdf`, turns arrays into a `gwa.blocks.Figure`: thinned, rounded and ready for
JSON. `draw` turns that into SVG text, with the `draw` function of the module that the figure's
*plot* names. A new kind of plot is a new file with both. matplotlib is imported when something
is drawn, never before.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from tempfile import TemporaryFile
from typing import IO

from gwa.blocks import Figure
from gwa.figures.bars import bars
from gwa.figures.cdf import cdf
from gwa.figures.density import density
from gwa.figures.gantt import gantt
from gwa.figures.groups import groups
from gwa.figures.heatmap import heatmap
from gwa.figures.lines import lines
from gwa.figures.lorenz import lorenz
from gwa.figures.series import series

__all__ = [
    "bars",
    "cdf",
    "density",
    "draw",
    "draw_all",
    "gantt",
    "groups",
    "heatmap",
    "kinds",
    "lines",
    "lorenz",
    "series",
]

ALONE = 6
"""Up to so many figures one process is faster than two."""

PATIENCE = 120
"""After so many seconds a second process is given up and its figures are drawn here."""


def kinds() -> list[str]:
    """
    Return the names of all kinds of plots, found by looking.

    >>> kinds()
    ['bars', 'cdf', 'density', 'gantt', 'groups', 'heatmap', 'lines', 'lorenz', 'series']
    """
    return sorted(found.name for found in iter_modules(__path__) if not found.name.startswith("_"))


def draw(figure: Figure) -> str:
    """Return *figure* as the text of an SVG element, the same bytes each time."""
    from gwa.figures._svg import svg

    if figure.plot not in kinds():
        message = f"figure {figure.id}: no plot is called {figure.plot!r}; there are {', '.join(kinds())}"
        raise ValueError(message)
    return svg(figure, import_module(f"{__name__}.{figure.plot}").draw)


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
    return subprocess.Popen(  # noqa: S603 - our own interpreter and module
        [sys.executable, "-m", f"{__name__}._worker"],
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
