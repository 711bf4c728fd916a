"""What the pages of an archive take from the report on a trace: words for the search, and main figures."""

import re
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from gwa.report.document import Block, Facts, FactTable, Figure, Note, Report, Section, Table
from gwa.report.drawing import draw
from gwa.util.assets import asset

MAXIMUM_LETTERS: Final = 280
"""Of a section no more is searched: findings, notes and titles come first, and twenty reports stay small."""

HELP_LETTERS: Final = 280

MARGIN: Final = 16
"""Units left of a drawing, whose labels have larger letters on the page of a trace."""

LETTERS: Final = "\ntext { font-size: 14px !important; }\n"
"""Drawings stand at four fifths of their size, where their letters would be too small."""

MAXIMUM_FIGURES: Final = 6

FIGURES_LEFT_OUT: Final = {"Synthetic workloads"}
"""Chapters about models, not about the trace."""


def section_texts(report: Report) -> list[dict[str, str]]:
    """Return id, title, text and help of each section that has something to say, for the search."""
    return [
        {
            "id": section.id,
            "title": section.title,
            "text": _cut(" ".join(_texts(report, section)), MAXIMUM_LETTERS),
            "help": _cut(section.help, HELP_LETTERS),
        }
        for section in report.sections
        if section.is_recorded and not section.failed
    ]


def _texts(report: Report, section: Section) -> Iterator[str]:
    yield from (finding.text for finding in report.findings if finding.section == section.id)
    for block in section.blocks:
        yield from _block_texts(block)


def _block_texts(block: Block) -> Iterator[str]:
    match block:
        case Note():
            yield block.text
        case Figure():
            yield block.alt
        case Table() | FactTable():
            yield block.title
        case Facts():
            yield from (fact.label for fact in block.facts if block.listed)


def _cut(text: str, letters: int) -> str:
    """Return the beginning of *text*, ending with a word."""
    words = re.sub(r"[\s|#*`]+", " ", text).strip()
    return words if len(words) <= letters else words[:letters].rpartition(" ")[0]


def save_figures(report: Report, folder: Path) -> list[dict[str, str]]:
    """
    Write the first figure of each chapter for operators into *folder*; return what a page says of them.

    The files follow the colours of the page that shows them, light or dark.
    """
    shown = []
    for section, figure in _main_figures(report):
        name = f"figure-{figure.id}.svg"
        head, end, rest = draw(figure).partition(">")
        head = re.sub(r'viewBox="0 0 ([\d.]+)', _with_margin, head)
        (folder / name).write_text(_themed(f"{head}{end}{rest}", LETTERS), encoding="utf-8")
        said = {"file": name, "title": figure.title, "alt": figure.alt, "section": section.id}
        size = {what: re.findall(rf'\b{what}="([\d.]+)"', head)[0] for what in ("width", "height")}
        shown.append(said | size)
    return shown


def picture(figure: Figure) -> str:
    """Return the address that holds the picture of an answer, in the colours of the page that shows it."""
    return f"data:image/svg+xml;base64,{b64encode(_themed(draw(figure)).encode()).decode()}"


def _themed(svg: str, style: str = "") -> str:
    """Return a drawing with the colours of a dark page, and a further *style*."""
    dark = asset("templates", "site", "figures.css").read_text(encoding="utf-8")
    head, end, rest = svg.partition(">")
    return f"{head}{end}<style>{style}{dark}</style>{rest}"


def _with_margin(box: re.Match[str]) -> str:
    """Return the box of a drawing with room at its left, for letters larger than it was laid out for."""
    return f'viewBox="{-MARGIN} 0 {float(box[1]) + MARGIN:g}'


def _main_figures(report: Report) -> list[tuple[Section, Figure]]:
    found: dict[str, tuple[Section, Figure]] = {}
    for section in report.sections:
        if section.view == "operator" and section.chapter not in FIGURES_LEFT_OUT:
            for block in section.blocks:
                if isinstance(block, Figure):
                    found.setdefault(section.chapter, (section, block))
    # Two stand side by side, and none is alone.
    return list(found.values())[: min(MAXIMUM_FIGURES, max(1, len(found) // 2 * 2))]
