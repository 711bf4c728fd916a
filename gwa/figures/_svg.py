"""Turn a drawing into the text of an SVG element that fits into a page."""

import re
import warnings
from collections.abc import Callable, Mapping
from html import escape
from io import StringIO
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure as Canvas

from gwa.blocks import Figure
from gwa.figures._style import SETTINGS, VARIABLES

FONTS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"
"""The letters of a figure are those of the page."""

Drawing = Callable[[Canvas, Mapping[str, Any]], None]


def svg(figure: Figure, drawing: Drawing) -> str:
    """Return *figure* as SVG text, drawn by *drawing*: no date in it, no random names."""
    with mpl.rc_context(), warnings.catch_warnings():
        # Letters that matplotlib's own font lacks are no matter: the page's font draws them.
        warnings.simplefilter("ignore")
        mpl.rcdefaults()
        mpl.rcParams.update(SETTINGS)
        canvas = Canvas(dpi=72)
        FigureCanvasSVG(canvas)
        canvas.patch.set_visible(False)
        drawing(canvas, figure.data)
        for axes in canvas.axes:
            axes.patch.set_visible(False)
        text = StringIO()
        canvas.savefig(text, format="svg", metadata={"Date": None}, transparent=True)
    return _dressed(text.getvalue(), figure)


def _dressed(text: str, figure: Figure) -> str:
    """Return matplotlib's SVG as one element: named for readers, small, and open to a page's colours."""
    body = text[text.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", body, flags=re.DOTALL)
    body = _own_names(body, f"{_slug(figure.id)}-")
    body = re.sub(r'(?<= d=")[^"]*', lambda path: _short_numbers(path[0]), body)
    body = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font-size: \1px", body)
    body = re.sub("|".join(VARIABLES), lambda found: f"var({VARIABLES[found[0]]}, {found[0]})", body)
    body = re.sub(r">\s+<", "><", body)
    return re.sub(r"<svg[^>]*>", lambda head: _head(head[0], figure), body, count=1).strip()


def _head(head: str, figure: Figure) -> str:
    """Return the opening of the element, with a title and a description for those who do not see it."""
    slug = _slug(figure.id)
    size = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', head)
    wide, high = size.groups() if size else ("420", "250")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'width="{wide}" height="{high}" viewBox="0 0 {wide} {high}" role="img" font-family="{FONTS}" '
        f'aria-labelledby="{slug}-title {slug}-desc">'
        f'<title id="{slug}-title">{escape(_printable(figure.title))}</title>'
        f'<desc id="{slug}-desc">{escape(_printable(figure.alt))}</desc>'
    )


def _slug(name: str) -> str:
    """Return *name* as it may stand in an id; two names never become one."""
    return "fig-" + re.sub(r"[^A-Za-z0-9.-]", lambda letter: f"_{ord(letter[0]):x}_", name)


def _own_names(body: str, prefix: str) -> str:
    """Give every id that is used a *prefix*, so that figures on a page do not meet; drop the others."""
    used = set(re.findall(r"(?:url\(#|href=\"#)([^)\"]+)", body))
    body = re.sub(r' id="([^"]*)"', lambda name: f' id="{prefix}{name[1]}"' if name[1] in used else "", body)
    return re.sub(r"(url\(#|href=\"#)", rf"\g<1>{prefix}", body)


def _short_numbers(path: str) -> str:
    """Return the numbers of a *path* with two decimals: a hundredth of a unit is not seen."""
    return re.sub(r"(\.\d\d)\d+", r"\1", path)


def _printable(text: str) -> str:
    """Return *text* without the characters that XML has no way to write."""
    return re.sub(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", text)
