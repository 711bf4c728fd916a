"""
What an analysis is: a generator of blocks that makes one section of the report.

The analyses stand in `gwa.analysis.sections`, and in packages with an entry point in the group
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


Analyse = Callable[[Store], Iterator[Block]]


@dataclass(frozen=True)
class Analysis:
    """A section of the report and the function that makes its blocks."""

    id: str
    title: str
    chapter: Chapter
    facts: tuple[str, ...]
    needs: tuple[str, ...]
    help: str
    blocks: Analyse
    order: int = 0
    on_request: bool = False
    """Whether it takes so long that it is made only where it is asked for."""

    def tells(self, prefix: str) -> bool:
        """Whether some of its facts may have an id that begins with *prefix*; on request, all of those."""
        if self.on_request:
            return prefix.startswith(self.facts)
        return any(one.startswith(prefix) or prefix.startswith(one) for one in self.facts)

    def section(self, store: Store) -> Section:
        """Return the section; where the trace lacks what it needs, a note that says so."""
        lacking = [BY_NAME[name] for name in self.needs if not store.has(name)]
        if lacking:
            what = " and ".join(f"{field.title} ({field.meaning})" for field in lacking)
            blocks: tuple[Block, ...] = (Note(f"This trace does not record {what}."),)
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
) -> Callable[[Analyse], Analysis]:
    """
    Make a generator of blocks an analysis; its module's name is the id of the section.

    The ids of its facts begin with one of *facts*. Without the fields that it *needs* it is not run, and
    *on_request* only where it is named.
    """

    def register(function: Analyse) -> Analysis:
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
        )

    return register


def paragraphs(docstring: str) -> str:
    """Return a docstring with one line for each paragraph."""
    return "\n\n".join(" ".join(part.split()) for part in cleandoc(docstring).split("\n\n"))


@cache
def analyses() -> tuple[Analysis, ...]:
    """Return all analyses in the order of the report: by chapter, then *order*, then name."""
    found = plugins.instances("gwa.analysis.sections", Analysis, "gwa.sections")
    chapters = list(Chapter)
    return tuple(sorted(found, key=lambda one: (chapters.index(one.chapter), one.order, one.id)))
