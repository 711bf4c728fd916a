"""
What a notebook shows of a report or a figure: HTML that other cells on the page cannot disturb, nor it them.

It has no scripts, style sheets or ids. A drawing is an image, so that its own ids and the colours of
the page do not meet.
"""

from base64 import b64encode
from html import escape

from gwa.report.document import Figure, Report
from gwa.report.drawing import draw, draw_all
from gwa.report.html import printable, summary
from gwa.words.formatting import show

FIGURE = (
    '<figure style="display: inline-block; margin: 8px; vertical-align: top"><figcaption>{title}</figcaption>'
    '<img src="data:image/svg+xml;base64,{source}" alt="{alt}"'
    ' style="background: #fff; max-width: 100%; margin: 0"></figure>'
)


def figure_html(figure: Figure) -> str:
    """Return *figure* as an image with its title."""
    return _image(figure, draw(figure))


def report_html(report: Report) -> str:
    """Return the most important numbers of *report*, its findings and the first figure of each section."""
    several = (
        next((block for block in section.blocks if isinstance(block, Figure)), None)
        for section in report.sections
    )
    figures = [figure for figure in several if figure]
    drawings = draw_all(figures)
    rows = "".join(
        f"<tr><th>{_text(fact.label)}</th><td>{_text(show(fact.value, fact.unit, report.zone))}</td></tr>"
        for fact in summary(report)
    )
    findings = "".join(f"<li>{_text(finding.text)}</li>" for finding in report.findings)
    failed = ", ".join(section.title for section in report.sections if section.failed)
    return (
        f"<div><div><strong>{_text(report.title)}</strong> {_text(report.subtitle)}"
        f" {_text(report.period)}</div>"
        f"<table>{rows}</table>"
        + (f"<ul>{findings}</ul>" if findings else "")
        + (f"<p>Sections that could not be made: {_text(failed)}.</p>" if failed else "")
        + "".join(_image(figure, drawings[figure.id]) for figure in figures)
        + "</div>"
    )


def _image(figure: Figure, svg: str) -> str:
    source = b64encode(svg.encode()).decode()
    return FIGURE.format(title=_text(figure.title), source=source, alt=_text(figure.alt))


def _text(text: str) -> str:
    """Return *text*, which may be anybody's, such that a page shows it as it is."""
    return escape(str(printable(text)))
