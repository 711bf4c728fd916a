"""
What stands where on a page: chapters, the sections in them, and the rows of each section.

A section shows what is main in it, and the rest on demand; narrow figures stand side by side.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from gwa.report.document import Attachment, Block, Facts, FactTable, Figure, Note, Report, Section, Table

WIDE_KINDS = {"series", "gantt", "groups", "heatmap", "strips"}
"""Kinds of figures that take the whole width; of others two may stand side by side."""

MAX_BARS = 12
"""So many bars stand in half of the width."""

MIN_WIDE = 500
"""Drawings less wide than this stand side by side."""


@dataclass(frozen=True)
class Chapter:
    """Sections under a title; *is_folded* if they are opened on demand."""

    id: str
    title: str
    sections: tuple[Section, ...]
    is_folded: bool


@dataclass(frozen=True)
class Layout:
    """The rows of a section that are in view, and those that are opened on demand."""

    main: list["Row"]
    more: list["Row"]


@dataclass(frozen=True)
class Row:
    """Blocks beside each other: a figure alone, two or three of them, or anything else that is wide."""

    shape: Literal["wide", "single", "pair", "triple"]
    blocks: tuple[Block, ...]


def chapters(report: Report) -> list[Chapter]:
    """
    Return the recorded sections by chapter, in order, without those at the head of the page.

    Those that stand aside altogether are folded.

    A section without a chapter is one by itself.
    """
    found: dict[str, list[Section]] = {}
    for section in report.sections:
        if section.is_recorded and not section.is_on_top:
            found.setdefault(section.chapter or section.title, []).append(section)
    others = [section for section in report.sections if not _is_aside(report, section)]
    return [
        Chapter(
            f"chapter-{slug(name)}",
            name,
            tuple(sections),
            len(others) > 1 and all(_is_aside(report, section) for section in sections),
        )
        for name, sections in found.items()
    ]


def rows_by_section(
    report: Report, parts: Sequence[Chapter], drawings: Mapping[str, str]
) -> dict[str, Layout]:
    """Return the rows of each section; one that stands aside in a chapter that is open is folded itself."""
    beside = {section.id for part in parts if not part.is_folded for section in part.sections}
    tops = {one.id: Layout(layout(one.blocks, drawings, 3), []) for one in report.sections if one.is_on_top}
    return tops | {
        section.id: (_folded if section.id in beside and _is_aside(report, section) else main_and_more)(
            section.blocks, drawings
        )
        for section in report.sections
        if section.id not in tops
    }


def _is_aside(report: Report, section: Section) -> bool:
    """Return whether a section is for modellers, or stands aside because the page filters itself."""
    return section.view == "modeller" or bool(report.explorer and section.id in report.explorer.aside)


def _folded(blocks: Sequence[Block], drawings: Mapping[str, str]) -> Layout:
    """Return *blocks* with the notes alone in view."""
    shown = [block for block in blocks if not _is_hidden(block)]
    notes = [block for block in shown if isinstance(block, Note)]
    return Layout(layout(notes, drawings), layout([one for one in shown if one not in notes], drawings))


def slug(title: str) -> str:
    """
    Return *title* as it may stand in an address.

    >>> slug("Users and projects")
    'users-and-projects'
    """
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def main_and_more(blocks: Sequence[Block], drawings: Mapping[str, str]) -> Layout:
    """Return *blocks* in view, the notes, files and the main figure or else table, and all others."""
    main = main_block(blocks)
    visible = [block for block in blocks if not _is_hidden(block)]
    is_main = [isinstance(block, Note | Attachment) or block is main for block in visible]
    return Layout(
        layout([block for block, shown in zip(visible, is_main, strict=True) if shown], drawings),
        layout([block for block, shown in zip(visible, is_main, strict=True) if not shown], drawings),
    )


def main_block(blocks: Sequence[Block]) -> Block | None:
    """Return the first figure, else the first table, else the first facts that are listed; None without."""
    visible = [block for block in blocks if not _is_hidden(block)]
    kinds: tuple[type, ...] = (Figure, Table, FactTable, Facts)
    return next((block for kind in kinds for block in visible if isinstance(block, kind)), None)


def _is_hidden(block: Block) -> bool:
    return isinstance(block, Facts) and not block.listed


def halves(sections: Sequence[Section], rows: Mapping[str, Layout]) -> list[Section]:
    """
    Return the *sections*, by their *rows*, that stand in pairs: each shows a narrow figure and nothing else.

    Of an odd number of them the last takes the whole width, or the other half would be empty.
    """
    found: list[Section] = []
    for narrow, group in groupby(sections, key=lambda section: _is_half(rows[section.id])):
        run = list(group)
        found += run[: len(run) // 2 * 2] if narrow else []
    return found


def _is_half(rows: Layout) -> bool:
    """Return whether what is in view of a section is a narrow figure, beside which another may stand."""
    shown = [block for row in rows.main for block in row.blocks if not isinstance(block, Note | Attachment)]
    return len(shown) == 1 and _narrow(shown[0], {})


def layout(blocks: Sequence[Block], drawings: Mapping[str, str], most: int = 2) -> list[Row]:
    """Return *blocks* in rows: narrow figures that follow each other stand in pairs, or three of *most* 3."""
    rows: list[Row] = []
    for narrow, group in groupby(blocks, key=lambda block: _narrow(block, drawings)):
        run = list(group)
        if not narrow:
            rows.extend(Row("wide", (block,)) for block in run)
            continue
        if len(run) == most == 3:  # noqa: PLR2004 - pairs would leave one alone
            rows.append(Row("triple", tuple(run)))
            continue
        pairs = [tuple(run[start : start + 2]) for start in range(0, len(run), 2)]
        rows.extend(Row("pair" if len(pair) > 1 else _alone(pair[0], drawings), pair) for pair in pairs)
    return rows


def _alone(block: Block, drawings: Mapping[str, str]) -> Literal["wide", "single"]:
    """Return how a narrow figure stands alone: one that the page draws takes the whole width."""
    return "single" if isinstance(block, Figure) and block.id in drawings else "wide"


def _narrow(block: Block, drawings: Mapping[str, str]) -> bool:
    """Return whether *block* is a figure that leaves room beside it."""
    if not isinstance(block, Figure):
        return False
    if block.id in drawings:
        _, _, rest = drawings[block.id].partition('width="')
        return float(rest.partition('"')[0] or MIN_WIDE) < MIN_WIDE
    labels = block.data.get("labels")
    return block.plot not in WIDE_KINDS and not (isinstance(labels, list) and len(labels) > MAX_BARS)
