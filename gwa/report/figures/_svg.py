"""Turn a drawing into the text of an SVG element that fits into a page."""

import re
import warnings
from collections.abc import Callable, Mapping
from html import escape
from io import BytesIO
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure as Canvas

from gwa.report.document import Figure
from gwa.report.figures._style import SETTINGS, VARIABLES

FONTS = (
    "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', "
    "'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"
)
"""The letters of a figure are those of the page."""

Drawing = Callable[[Canvas, Mapping[str, Any]], None]


def svg(figure: Figure, drawing: Drawing) -> str:
    """Return *figure* as SVG text, drawn by *drawing*: no date in it, no random names."""
    text = saved(figure, drawing, format="svg", metadata={"Date": None}, transparent=True)
    return _dressed(text.decode(), figure)


def saved(figure: Figure, drawing: Drawing, **options: Any) -> bytes:  # noqa: ANN401 - as matplotlib has them
    """Return *figure*, drawn by *drawing*, as matplotlib saves it with *options*."""
    with mpl.rc_context(), warnings.catch_warnings():
        # Letters that matplotlib's own font lacks are no matter: the page's font draws them.
        warnings.simplefilter("ignore")
        mpl.rcdefaults()
        mpl.rcParams.update(SETTINGS)
        canvas = Canvas(dpi=72)
        FigureCanvasSVG(canvas)
        canvas.patch.set_visible("facecolor" in options)
        drawing(canvas, _clean(figure.data))
        for axes in canvas.axes:
            axes.patch.set_visible(False)
        content = BytesIO()
        canvas.savefig(content, **options)
    return content.getvalue()


def _dressed(text: str, figure: Figure) -> str:
    """Return matplotlib's SVG as one element: named for readers, small, and open to a page's colours."""
    body = text[text.index("<svg") :]
    # The style sheet would reach over the whole page; its two rules stand on the element instead.
    body = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->|<style.*?</style>", "", body, flags=re.DOTALL)
    used = set(re.findall(r"(?:url\(#|href=\"#)([^)\"]+)", body))
    prefix = f"{_slug(figure.id)}-"
    body = re.sub(r"<[^>]*>", lambda tag: _tag(tag[0], prefix, used), body)
    body = re.sub(r">\s+<", "><", body)
    body = _without_empty(body)
    return re.sub(r"<svg[^>]*>", lambda head: _head(head[0], figure), body, count=1).strip()


def _without_empty(body: str) -> str:
    """Return *body* without groups that hold nothing or say nothing."""
    before = ""
    while before != body:
        before = body
        body = re.sub(r"<g/>|<g></g>|<defs/>|<defs></defs>", "", body)
    parts = re.split(r"(<g>|<g [^>]*>|</g>)", body)
    said: list[bool] = []
    for place, part in enumerate(parts):
        if part.startswith("<g"):
            said.append(part != "<g>")
        if part == "<g>" or (part == "</g>" and not said.pop()):
            parts[place] = ""
    return "".join(parts)


def _head(head: str, figure: Figure) -> str:
    """Return the opening of the element, with a title and a description for those who do not see it."""
    slug = _slug(figure.id)
    size = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', head)
    wide, high = size.groups() if size else ("420", "250")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'width="{wide}" height="{high}" viewBox="0 0 {wide} {high}" '
        f'role="img" font-family="{FONTS}" stroke-linejoin="round" '
        f'aria-labelledby="{slug}-title {slug}-desc">'
        f'<title id="{slug}-title">{escape(_printable(figure.title))}</title>'
        f'<desc id="{slug}-desc">{escape(_printable(figure.alt))}</desc>'
    )


def _slug(name: str) -> str:
    """Return *name* as it may stand in an id; two names never become one."""
    return "fig-" + re.sub(r"[^A-Za-z0-9.-]", lambda letter: f"_{ord(letter[0]):x}_", name)


def _tag(tag: str, prefix: str, used: set[str]) -> str:
    """
    Return one *tag*; text between tags, which may be anybody's, is not touched.

    Every id that is *used* gets a *prefix*, so that figures on a page do not meet; others go.
    """
    tag = re.sub(r' id="([^"]*)"', lambda name: f' id="{prefix}{name[1]}"' if name[1] in used else "", tag)
    tag = re.sub(r"(url\(#|href=\"#)", rf"\g<1>{prefix}", tag)
    tag = re.sub(r'(?<= d=")[^"]*', lambda path: _short_path(path[0]), tag)
    tag = re.sub(r'(?<= [xy]=")[^"]*', lambda number: _short(number[0]), tag)
    tag = re.sub(r" font-family: [^;\"]*;?| transform=\"rotate\(-?0 [^\"]*\"", "", tag)
    return re.sub("|".join(VARIABLES), lambda found: f"var({VARIABLES[found[0]]}, {found[0]})", tag)


def _short(number: str) -> str:
    """
    Return a *number* with one decimal: a twentieth of a unit is not seen.

    >>> _short("12.3456"), _short("0.04"), _short("-7.00")
    ('12.3', '0', '-7')
    """
    short = f"{float(number):.1f}".removesuffix(".0")
    return "0" if short == "-0" else short


def _short_path(path: str) -> str:
    """
    Return a *path* of straight lines in few letters, other paths with short numbers.

    >>> _short_path("M 44 206 L 44 183.68 L 93.37 183.68 L 100.04 150.21")
    'M44 206V183.7H93.4L100 150.2'
    """
    words = path.split()
    if set(words[::3]) - {"M", "L"}:
        return " ".join(_short(word) if "." in word else word for word in words)
    short, x, y = [], "", ""
    for step, across, up in zip(words[::3], words[1::3], words[2::3], strict=False):
        before = (x, y)
        x, y = _short(across), _short(up)
        if step == "L" and x == before[0]:
            short.append(f"V{y}" if y != before[1] else "")
        else:
            short.append(f"H{x}" if step == "L" and y == before[1] else f"{step}{x} {y}")
    return "".join(short)


def _printable(text: str) -> str:
    """Return *text* on one line, without the characters that XML has no way to write."""
    return re.sub(r"[^ -~\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", re.sub(r"\s+", " ", text))


def _clean(data: Any) -> Any:  # noqa: ANN401 - any value
    """Return *data* with all its text printable."""
    if isinstance(data, str):
        return _printable(data)
    if isinstance(data, Mapping):
        return {name: _clean(value) for name, value in data.items()}
    return [_clean(value) for value in data] if isinstance(data, list | tuple) else data
