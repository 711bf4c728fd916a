"""
What stands where on a page: chapters, the sections in them, and the rows of each section.

A section shows what is main in it, and the rest on demand; narrow figures that the page draws stand in pairs.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from types import MappingProxyType
from typing import Final, Literal

from gwa.report.document import Attachment, Block, Facts, FactTable, Figure, Note, Report, Section, Table

WIDE_KINDS: Final = {"series", "gantt", "groups", "heatmap", "shares", "strips"}
"""Kinds of figures that take the whole width; of others two may stand side by side."""

MAXIMUM_BARS: Final = 12
"""The maximum number of bars in half of the width."""


@dataclass(frozen=True)
class PageChapter:
    """Sections under a title; *is_folded* if they are opened on demand."""

    id: str
    title: str
    sections: tuple[Section, ...]
    is_folded: bool


@dataclass(frozen=True)
class SectionLayout:
    """The rows of a section that are in view, and those that are opened on demand."""

    main: list["BlockRow"]
    more: list["BlockRow"]


@dataclass(frozen=True)
class BlockRow:
    """A pair of figures beside each other, three of them, or any block alone."""

    shape: Literal["wide", "pair", "triple"]
    blocks: tuple[Block, ...]


def chapters(report: Report, said: Mapping[str, Sequence[str]] = MappingProxyType({})) -> list[PageChapter]:
    """
    Return the sections that say something by chapter, in order, without those at the head of the page.

    Those that stand aside altogether are folded, but a single one that has something *said* or done in view.

    A section without a chapter is one by itself.
    """
    found: dict[str, list[Section]] = {}
    for section in report.sections:
        is_shown = not all(map(is_hidden, section.blocks))
        if is_shown and not section.is_on_top and not says_nothing(report, section):
            found.setdefault(section.chapter or section.title, []).append(section)
    others = [section for section in report.sections if not _is_aside(report, section)]
    return [
        PageChapter(
            f"chapter-{slug(name)}",
            name,
            tuple(sections),
            len(others) > 1 and _stands_aside(report, sections, said),
        )
        for name, sections in found.items()
    ]


def says_nothing(report: Report, section: Section) -> bool:
    """
    Return whether a section has nothing to show: what it needs is not recorded, or it only notes that.

    A note on a page that does not filter itself may be its answer.
    """
    if not section.is_recorded:
        return True
    notes = [isinstance(block, Note) and block.level == "info" for block in section.blocks]
    is_claimed = any(one.section == section.id for one in report.findings)
    return report.explorer is not None and bool(notes) and all(notes) and not is_claimed


def silent(report: Report) -> dict[tuple[str, ...], list[Section]]:
    """Return the sections that say nothing, by what is said in place of each: what the trace lacks."""
    found: dict[tuple[str, ...], list[Section]] = {}
    for section in report.sections:
        if not section.is_on_top and says_nothing(report, section):
            found.setdefault(tuple(one.text for one in section.blocks if isinstance(one, Note)), []).append(
                section
            )
    return found


def _stands_aside(report: Report, sections: Sequence[Section], said: Mapping[str, Sequence[str]]) -> bool:
    """Return whether all *sections* do; a single one for operators is folded below what it has in view."""
    first = sections[0]
    is_single = len(sections) == 1 and first.view == "operator"
    if is_single and (said.get(first.id) or _folded(first.blocks, {}).main):
        return False
    return all(_is_aside(report, section) for section in sections)


def rows_by_section(
    report: Report,
    parts: Sequence[PageChapter],
    drawings: Mapping[str, str],
    said: Mapping[str, Sequence[str]],
    in_view: Collection[str] = (),
) -> dict[str, SectionLayout]:
    """
    Return the rows of each section; one that stands aside in a chapter that is open is folded itself.

    What is *said* of a section above its rows, or is *in view* at the head of the page, is not noted in them
    once more.
    """
    beside = {section.id for part in parts if not part.is_folded for section in part.sections}
    rows = {}
    for section in report.sections:
        if section.is_on_top:
            shown = [one for one in section.blocks if not is_hidden(one)]
            rows[section.id] = SectionLayout(layout(shown, drawings, 3), [])
            continue
        is_folded = section.id in beside and _is_aside(report, section)
        above = (*said.get(section.id, ()), *in_view)
        blocks = [one for one in section.blocks if not _repeats(one, above)]
        rows[section.id] = (_folded if is_folded else main_and_more)(blocks, drawings)
    return rows


def in_view(
    parts: Sequence[PageChapter], rows: Mapping[str, SectionLayout], said: Mapping[str, Sequence[str]]
) -> list[PageChapter]:
    """Return the chapters that are not folded, with those of their sections that have something in view."""
    shown = (
        replace(part, sections=tuple(one for one in part.sections if said.get(one.id) or rows[one.id].main))
        for part in parts
        if not part.is_folded
    )
    return [part for part in shown if part.sections]


def _repeats(block: Block, said: Sequence[str]) -> bool:
    """Return whether *block* is a note of what is *said* already."""
    return isinstance(block, Note) and any(block.text in text for text in said)


def _is_aside(report: Report, section: Section) -> bool:
    """Return whether a section is for modellers, or stands aside because the page filters itself."""
    return section.view == "modeller" or bool(report.explorer and section.id in report.explorer.aside)


def _folded(blocks: Sequence[Block], drawings: Mapping[str, str]) -> SectionLayout:
    """Return *blocks* with warnings and what one acts on in view."""
    aside = [
        one
        for one in blocks
        if isinstance(one, Attachment) or (isinstance(one, Note) and one.level == "info")
    ]
    shown = _layout([one for one in blocks if one not in aside], None, drawings)
    return SectionLayout(shown.main, [*layout(aside, drawings), *shown.more])


def slug(title: str) -> str:
    """
    Return *title* as it may stand in an address.

    >>> slug("Users and projects")
    'users-and-projects'
    """
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def main_and_more(blocks: Sequence[Block], drawings: Mapping[str, str]) -> SectionLayout:
    """
    Return *blocks* in view, and all others.

    In view are notes, files, the main figure or else table, and what one acts on.
    """
    return _layout(blocks, main_block(blocks), drawings)


def _layout(blocks: Sequence[Block], main: Block | None, drawings: Mapping[str, str]) -> SectionLayout:
    """Return the rows of *blocks*, among them the *main* one, that are in view, and the others."""
    visible = [(block, block is main or _is_in_view(block)) for block in blocks if not is_hidden(block)]
    return SectionLayout(
        layout([block for block, is_shown in visible if is_shown], drawings),
        layout([block for block, is_shown in visible if not is_shown], drawings),
    )


def _is_in_view(block: Block) -> bool:
    return isinstance(block, Note | Attachment) or (isinstance(block, Table) and block.is_acted_on)


def main_block(blocks: Sequence[Block]) -> Block | None:
    """
    Return the first figure, else a table that one acts on, the first table, or facts that are listed.

    Facts that are all nothing, or unknown, are not seen first.
    """
    visible = [block for block in blocks if not is_hidden(block) and not _is_nothing(block)]
    if any(isinstance(block, Table) and block.is_acted_on for block in visible):
        return next((block for block in visible if isinstance(block, Figure)), None)
    kinds: tuple[type, ...] = (Figure, Table, FactTable, Facts)
    return next((block for kind in kinds for block in visible if isinstance(block, kind)), None)


def _is_nothing(block: Block) -> bool:
    return isinstance(block, Facts) and not any(fact.value for fact in block.facts)


def is_hidden(block: Block) -> bool:
    """Whether a page does not show *block*: it is in exports only."""
    if isinstance(block, Table | Figure):
        return block.minor
    return isinstance(block, Facts) and not block.listed


def layout(blocks: Sequence[Block], drawings: Mapping[str, str], most: int = 2) -> list[BlockRow]:
    """Return *blocks* in rows: narrow figures that follow each other stand in pairs, or three of *most* 3."""
    rows: list[BlockRow] = []
    for narrow, group in groupby(blocks, key=lambda block: _narrow(block, drawings)):
        run = list(group)
        if not narrow:
            rows.extend(BlockRow("wide", (block,)) for block in run)
            continue
        if len(run) == most == 3:  # noqa: PLR2004 - pairs would leave one alone
            rows.append(BlockRow("triple", tuple(run)))
            continue
        pairs = [tuple(run[start : start + 2]) for start in range(0, len(run), 2)]
        rows.extend(BlockRow("pair" if len(pair) > 1 else "wide", pair) for pair in pairs)
    return rows


def _narrow(block: Block, drawings: Mapping[str, str]) -> bool:
    """Return whether *block* is a figure that leaves room beside it: those of *drawings* have their size."""
    if not isinstance(block, Figure) or block.id in drawings:
        return False
    labels = block.data.get("labels")
    return block.plot not in WIDE_KINDS and not (isinstance(labels, list) and len(labels) > MAXIMUM_BARS)
