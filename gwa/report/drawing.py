"""
Draw the figures of a report, each with the plot that it names.

`draw` turns a `gwa.report.document.Figure` into SVG text, with the ``draw`` function of the module in
`gwa.report.figures` that the figure's *plot* names. matplotlib is imported when something is drawn, never
before: pages draw figures themselves, all but those whose kind has no script.
"""

import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gwa.errors import OutputError
from gwa.report.document import Figure, Report
from gwa.report.language import Language
from gwa.util import plugins
from gwa.util.lazy import Lazy

if TYPE_CHECKING:
    from gwa.report.figures._svg import Drawing


RESOLUTION: Final = 144
"""Dots per inch of an image; at 72 it has the size of the drawing."""


def kinds() -> list[str]:
    """
    Return the names of all kinds of plots.

    >>> " ".join(kinds())
    'bars cdf density gantt groups heatmap lines lorenz series shares spark strips'
    """
    return sorted(_drawings())


def draw(figure: Figure, language: Language | None = None) -> str:
    """
    Return *figure* as the text of an SVG element, the same bytes each time; its ticks are in *language*.

    Raise `ValueError` for a figure whose plot does not exist.
    """
    from gwa.report.figures._svg import svg

    return svg(figure, _drawing(figure), language or Language())


def png(figure: Figure, dpi: float = RESOLUTION) -> bytes:
    """Return *figure* as the content of a PNG file; raise `ValueError` as `draw` does."""
    from gwa.report.figures._svg import saved

    look = {"format": "png", "dpi": dpi, "facecolor": "white", "metadata": {"Software": None}}
    return saved(figure, _drawing(figure), Language(), **look)


def save(figure: Figure, path: Path) -> Path:
    """Write *figure* to *path*, as its suffix says; raise `OutputError` where that cannot be."""
    from gwa.util.atomic import write_whole

    writers: dict[str, Callable[[], str | bytes]] = {
        ".svg": lambda: draw(figure),
        ".png": lambda: png(figure),
    }
    if path.suffix.lower() not in writers:
        raise OutputError(
            f"{path}: a figure is written as {' or '.join(writers)}, expected a name that ends in one"
        )
    write_whole(path, writers[path.suffix.lower()]())
    return path


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


def image_address(svg: str) -> str:
    """Return the address that holds a drawing as an image; there its colours are fixed."""
    fixed = re.sub(r"var\(--[\w-]+, (#\w+)\)", r"\1", svg)
    return f"data:image/svg+xml;base64,{b64encode(fixed.encode()).decode()}"


def to_draw(report: Report) -> tuple[Figure, ...]:
    """Return the pictures of the answers of a report, and every figure."""
    pictures = (answer.picture for answer in report.answers if answer.picture)
    return (*pictures, *report.figures())


def draw_all(figures: Iterable[Figure], language: Language | None = None) -> Mapping[str, str]:
    """
    Return the SVG text of each of *figures* by its id, with ticks in *language*, else English.

    Each is drawn when it is asked for: paper may have room for few of them.
    """
    by_id = {figure.id: figure for figure in figures}
    return Lazy(by_id, lambda name: draw(by_id[name], language or Language()))
