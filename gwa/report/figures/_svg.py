"""Turn a drawing into the text of an SVG element that fits into a page."""

import re
import warnings
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from html import escape
from io import BytesIO
from typing import Any

import matplotlib as mpl
from lxml import etree
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure as Canvas
from matplotlib.text import Text
from matplotlib.ticker import Formatter

from gwa.report.document import Figure
from gwa.report.figures._style import SETTINGS, VARIABLES
from gwa.report.language import ENGLISH, Language
from gwa.report.printable import clean, one_line
from gwa.words.message import Message, Number, message

FONTS = (
    "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', "
    "'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"
)
"""The letters of a figure are those of the page."""

SVG = "{http://www.w3.org/2000/svg}"
PARSER = etree.XMLParser(remove_blank_text=True, remove_comments=True, resolve_entities=False, huge_tree=True)

Drawing = Callable[[Canvas, Mapping[str, Any]], None]


def svg(figure: Figure, drawing: Drawing, language: Language) -> str:
    """Return *figure* as SVG text, drawn by *drawing*: no date in it, no random names."""
    text = saved(figure, drawing, language, format="svg", metadata={"Date": None}, transparent=True)
    return _fit_for_a_page(text.decode(), figure)


def saved(
    figure: Figure,
    drawing: Drawing,
    language: Language,
    **options: Any,  # noqa: ANN401 - as matplotlib has them
) -> bytes:
    """Return *figure*, drawn by *drawing* with ticks in *language*, as matplotlib saves it with *options*."""
    with mpl.rc_context(), warnings.catch_warnings():
        # Letters that matplotlib's own font lacks are no matter: the page's font draws them.
        warnings.simplefilter("ignore")
        mpl.rcdefaults()
        mpl.rcParams.update(SETTINGS)
        canvas = Canvas(dpi=72)
        FigureCanvasSVG(canvas)
        canvas.patch.set_visible("facecolor" in options)
        drawing(canvas, clean(figure.data))
        for axes in canvas.axes:
            axes.patch.set_visible(False)
        if language.code != ENGLISH:
            _translate(canvas, language)
        content = BytesIO()
        canvas.savefig(content, **options)
    return content.getvalue()


def _translate(canvas: Canvas, language: Language) -> None:
    """Let the numbers, months and words that a drawing adds to its data be in *language*."""
    for axes in canvas.axes:
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(_TranslatedTicks(axis.get_major_formatter(), language))
        for text in axes.findobj(Text):
            text.set_text(language(text.get_text()))


class _TranslatedTicks(Formatter):
    """The labels of another *formatter* in a *language*."""

    def __init__(self, formatter: Formatter, language: Language) -> None:
        self.formatter, self.language = formatter, language

    def __call__(self, value: float, place: int | None = None) -> str:
        return self.language(self.formatter(value, place))

    def format_ticks(self, values: Sequence[float]) -> list[str]:
        """Return the labels at *values*; a word of them is the name of a month."""
        labels = self.formatter.format_ticks(list(values))
        return [self._label(label) for label in labels]

    def _label(self, label: str) -> str:
        if isinstance(label, Message | Number):
            return self.language(label)
        first, _, rest = label.partition(" ")
        if first.isdigit() and rest.isalpha():
            return self.language(message("{day} {month}", day=first, month=rest))
        return " ".join(map(self.language, label.split(" ")))


def _fit_for_a_page(text: str, figure: Figure) -> str:
    """Return matplotlib's SVG as one element: named for readers, small, and open to a page's colours."""
    root: Any = etree.fromstring(text.encode(), PARSER)
    # The style sheet would reach over the whole page; its two rules stand on the element instead.
    etree.strip_elements(root, f"{SVG}metadata", f"{SVG}style")
    used = set(re.findall(r"(?:url\(#|href=\"#)([^)\"]+)", text))
    prefix = f"{_slug(figure.id)}-"
    for element in root.iterdescendants():
        _dress(element.attrib, prefix, used)
        if not element.attrib and (element.tag == f"{SVG}g" or not len(element)):
            element.tag = "unused"
    etree.strip_tags(root, "unused")
    body = etree.tostring(root, encoding="unicode")
    return _head(root.get("viewBox"), figure) + body[body.index(">") + 1 :]


def _head(view_box: str, figure: Figure) -> str:
    """Return the opening of the element, with a title and a description for those who do not see it."""
    slug = _slug(figure.id)
    wide, high = view_box.split()[2:]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'width="{wide}" height="{high}" viewBox="0 0 {wide} {high}" '
        f'role="img" font-family="{FONTS}" stroke-linejoin="round" '
        f'aria-labelledby="{slug}-title {slug}-desc">'
        f'<title id="{slug}-title">{escape(one_line(figure.title))}</title>'
        f'<desc id="{slug}-desc">{escape(one_line(figure.alt))}</desc>'
    )


def _slug(name: str) -> str:
    """Return *name* as it may stand in an id; two names never become one."""
    return "fig-" + re.sub(r"[^A-Za-z0-9.-]", lambda letter: f"_{ord(letter[0]):x}_", name)


def _dress(attributes: MutableMapping[str, str], prefix: str, used: set[str]) -> None:
    """
    Shorten the *attributes* of an element, and let a page choose its colours.

    Every id that is *used* gets a *prefix*, so that figures on a page do not meet; others go.
    """
    for name, value in attributes.items():
        if (name == "id" and value not in used) or value.startswith(("rotate(0 ", "rotate(-0 ")):
            del attributes[name]
        elif name == "id":
            attributes[name] = prefix + value
        else:
            attributes[name] = re.sub(r"(^|url\()#", rf"\1#{prefix}", SHORTEN.get(name, str)(value))


def _short_style(style: str) -> str:
    """Return a *style* without fonts, its colours as variables with themselves as fallback."""
    style = re.sub(r" font-family: [^;]*;?", "", style)
    return re.sub("|".join(VARIABLES), lambda colour: f"var({VARIABLES[colour[0]]}, {colour[0]})", style)


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


SHORTEN = {"d": _short_path, "style": _short_style, "x": _short, "y": _short}
"""How the value of each attribute is shortened."""
