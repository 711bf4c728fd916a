"""
What an analysis is: a generator of blocks that makes one section of the report.

A *section* (`gwa.report.document.Section`) is data: a title, a help text, blocks. An *analysis* makes it of
a store. The analyses are in `gwa.analysis.sections`, and in packages with an entry point in the group
``gwa.sections``.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from inspect import cleandoc

from gwa.report.document import Block, Note, Section
from gwa.store.schema import BY_NAME
from gwa.store.store import Store
from gwa.util import plugins


class Chapter(Enum):
    """The chapters of the report, in order."""

    OVERVIEW = "Overview"
    USAGE = "Usage of the system"
    JOBS = "Jobs"
    USERS = "Users and groups"
    MODELS = "Models"
    QUALITY = "Data"


BlockGenerator = Callable[[Store], Iterator[Block]]


@dataclass(frozen=True)
class Analysis:
    """A kind of section of the report, and the function that makes its blocks."""

    id: str
    title: str
    chapter: Chapter
    facts: tuple[str, ...]
    needs: tuple[str, ...]
    help: str
    blocks: BlockGenerator
    order: int = 0
    on_request: bool = False
    """Whether it takes long, so that it is made only where it is named."""
    when: Callable[[Store], bool] | None = None
    """Of which traces it is part of the report; it is left out of that of others without a word."""

    def has_facts(self, prefix: str) -> bool:
        """Whether the id of one of its facts may begin with *prefix*; if on request, of all of them."""
        if self.on_request:
            return prefix.startswith(self.facts)
        return any(fact.startswith(prefix) or prefix.startswith(fact) for fact in self.facts)

    def is_wanted(self, store: Store) -> bool:
        """Whether a report that has all sections has this one."""
        return not self.on_request and (self.when is None or self.when(store))

    def section(self, store: Store) -> Section:
        """Make the section; where the trace lacks a needed field, its only block is a note."""
        missing = [BY_NAME[name] for name in self.needs if not store.has(name)]
        if missing:
            names = " and ".join(f"{field.title} ({field.meaning})" for field in missing)
            blocks: tuple[Block, ...] = (Note(f"This trace does not record {names}."),)
        else:
            blocks = tuple(self.blocks(store))
        return Section(self.id, self.title, self.help, blocks, self.chapter.value)


def analysis(
    title: str,
    chapter: Chapter,
    *,
    facts: Sequence[str],
    needs: Sequence[str] = (),
    order: int = 0,
    on_request: bool = False,
    when: Callable[[Store], bool] | None = None,
) -> Callable[[BlockGenerator], Analysis]:
    """
    Make a generator of blocks an analysis; its module's name is the id of the section.

    The ids of its facts begin with one of *facts*. Without the fields that it *needs* it is not run, but
    mentioned, unless *when* leaves it out; and *on_request* only where it is named.
    """

    def register(function: BlockGenerator) -> Analysis:
        name = function.__module__.rpartition(".")[2].replace("_", "-")
        return Analysis(
            name,
            title,
            chapter,
            tuple(facts),
            tuple(needs),
            paragraphs(function.__doc__ or ""),
            function,
            order,
            on_request,
            when,
        )

    return register


def paragraphs(docstring: str) -> str:
    """Return a docstring with one line for each paragraph."""
    return "\n\n".join(" ".join(part.split()) for part in cleandoc(docstring).split("\n\n"))


@cache
def analyses() -> tuple[Analysis, ...]:
    """Return all analyses in the order of the report: by chapter, then *order*, then name."""
    instances = plugins.instances("gwa.analysis.sections", Analysis, "gwa.sections")
    chapters = list(Chapter)
    return tuple(sorted(instances, key=lambda item: (chapters.index(item.chapter), item.order, item.id)))


def families() -> list[tuple[str, str]]:
    """Return what ids of facts begin with, each with the title of the section that the facts stand in."""
    return [(prefix, analysis.title) for analysis in analyses() for prefix in analysis.facts]
