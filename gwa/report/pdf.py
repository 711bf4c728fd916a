"""
The report as PDF: the HTML page, set on paper by WeasyPrint.

Figures come as images, which WeasyPrint sets twice as fast as drawings inside the page. The
document is tagged, so that it can be read aloud, and has bookmarks.
"""

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

from markupsafe import Markup

from gwa.errors import OutputError
from gwa.report.document import Figure, Report
from gwa.report.drawing import draw_all, image_address, to_draw
from gwa.report.html import page
from gwa.report.language import Language
from gwa.util.lazy import Lazy

PACKAGES = "libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0 fonts-dejavu-core"
"""What Debian calls the libraries and letters that WeasyPrint needs."""

SIZE = re.compile(r'width="([\d.]+)" height="([\d.]+)"')
"""Where a drawing says how large it is, in pixels."""


def pdf(
    report: Report,
    *,
    drawings: Mapping[str, str] | None = None,
    overrides: Path | None = None,
    language: Language | None = None,
) -> bytes:
    """
    Return *report* as PDF; its figures are drawn unless they come as *drawings*.

    The same report gives the same bytes. *overrides* is a folder of templates and *language* that of
    their words, as for the page.
    """
    _weasyprint()
    figures = {figure.id: figure for figure in to_draw(report)}
    svgs = drawings or draw_all(figures.values(), language or Language())
    images = Lazy(figures, lambda name: _image(figures[name], svgs[name]))
    return on_paper(page(report, images, overrides=overrides, language=language, paper=True))


def on_paper(text: str) -> bytes:
    """Return the *text* of a page that is made for paper as PDF; the same text gives the same bytes."""
    weasyprint = _weasyprint()
    with _quiet():
        document = weasyprint.HTML(string=text, url_fetcher=_own_only(weasyprint))
        content: bytes = document.write_pdf(pdf_variant="pdf/ua-1", pdf_identifier=b"gwa", finisher=_lists)
    return content


def pages(shown: Sequence[Figure], svgs: Mapping[str, str]) -> dict[str, bytes]:
    """Return for each of the figures *shown*, drawn as *svgs*, a PDF of one page of its own size, by id."""
    if not shown:
        return {}
    weasyprint = _weasyprint()
    sizes = [SIZE.search(svgs[figure.id]) for figure in shown]
    rules = "".join(
        f"@page figure-{number} {{ size: {size[1]}px {size[2]}px; margin: 0 }}"
        f" #figure-{number} {{ page: figure-{number}; break-after: page }}"
        for number, size in enumerate(sizes)
        if size
    )
    images = "".join(
        f'<div id="figure-{number}">{_image(figure, svgs[figure.id])}</div>'
        for number, figure in enumerate(shown)
    )
    style = (
        f"<style>{rules} div {{ line-height: 0 }} div:last-child {{ break-after: auto !important }}</style>"
    )
    with _quiet():
        whole = weasyprint.HTML(string=f"{style}{images}", url_fetcher=_own_only(weasyprint)).render()
        return {
            figure.id: whole.copy([leaf]).write_pdf(pdf_identifier=b"gwa")
            for figure, leaf in zip(shown, whole.pages, strict=True)
        }


def _lists(_: object, pdf: Any) -> None:  # noqa: ANN401 - as above
    """
    Tag a term and its description as the label and the body of one list item.

    WeasyPrint makes an item of either, and leaves the element around both between the list and its items,
    where PDF/UA-1 (ISO 32000-1, 14.8.4.3.3) has no place for it.
    """
    objects = {item.reference: item for item in pdf.objects if isinstance(item, dict)}  # type: ignore[attr-defined]
    elements = {name: item for name, item in objects.items() if item.get("Type") == "/StructElem"}
    for group in elements.values():
        if group["S"] == "/Div" and elements.get(group["P"], group)["S"] == "/L":
            group["S"] = "/LI"
            for place, part in enumerate(elements[kid] for kid in group["K"] if kid in elements):
                part["S"] = "/LBody" if place else "/Lbl"
                for body in (elements[kid] for kid in part["K"] if kid in elements):
                    body["S"] = "/Div" if body["S"] == "/LBody" else body["S"]


def _weasyprint() -> Any:  # noqa: ANN401 - it has no types
    """Return WeasyPrint; raise `OutputError` with what to install if it cannot be imported."""
    try:
        # It prints an advice of its own, longer than ours, before it raises the error.
        with redirect_stdout(StringIO()):
            import weasyprint
    except (ImportError, OSError) as error:
        raise OutputError(
            f"PDF needs libraries that are not here ({error}): on Debian or Ubuntu, run"
            f" apt-get install {PACKAGES}; or write --html, which needs none"
        ) from error
    return weasyprint


def _own_only(weasyprint: Any) -> Any:  # noqa: ANN401 - it has no types
    """Return a fetcher for WeasyPrint that loads nothing from outside the page."""
    return weasyprint.urls.URLFetcher(allowed_protocols={"data"}, fail_on_errors=False)


def _image(figure: Figure, svg: str) -> Markup:
    """Return *svg* as an image; on paper its colours are fixed."""
    size = SIZE.search(svg)
    wide, high = size.groups() if size else ("", "")
    image = Markup('<img src="{}" alt="{}" width="{}" height="{}">')
    return image.format(image_address(svg), figure.alt, wide, high)


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the warnings of WeasyPrint about CSS that is meant for screens."""
    loggers = [logging.getLogger(name) for name in ("weasyprint", "fontTools")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
