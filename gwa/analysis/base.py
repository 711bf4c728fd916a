"""
What an analysis is: a generator of blocks that makes one section of the report.

A *section* (`gwa.report.document.Section`) is data: a title, a help text, blocks. An *analysis* makes it of
a store. The analyses are in `gwa.analysis.sections`, and in packages with an entry point in the group
``gwa.sections``.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from inspect import cleandoc

from gwa.report.document import Block, Note, Section, View, note_of
from gwa.store.schema import BY_NAME
from gwa.store.store import Store
from gwa.util import interrupts, plugins
from gwa.words.message import joined, message


class Chapter(Enum):
    """The chapters of the report, in order: those for operators, and one for modellers."""

    TRACE = "Trace and data quality"
    UTILIZATION = "Utilization"
    USERS = "Users and projects"
    WAITS = "Wait times"
    OUTCOMES = "Outcomes"
    SIZES = "Sizes and run times"
    REQUESTS = "Requests and efficiency"
    ARRIVALS = "Arrivals and queues"
    ENERGY = "Energy and carbon"
    CHANGES = "Changes"
    SYNTHETIC = "Synthetic workloads"
    MODELLERS = "For modellers"


class MadeWhen(Enum):
    """When a section is made, if no sections are named."""

    ALWAYS = "for reports and facts"
    FOR_REPORTS = "for reports; its facts where they are asked for"
    ON_REQUEST = "only where it is named: it takes long"


@dataclass(frozen=True)
class Drawing:
    """A figure that takes queries of its own: it is made only where blocks are shown, not for facts alone."""

    make: Callable[[], Block]


BlockGenerator = Callable[[Store], Iterator[Block | Drawing]]


@dataclass(frozen=True)
class Analysis:
    """A kind of section of the report, and the function that makes its blocks."""

    id: str
    title: str
    chapter: Enum
    facts: tuple[str, ...]
    needs: tuple[str, ...]
    help: str
    blocks: BlockGenerator
    order: int = 0
    made: MadeWhen = MadeWhen.ALWAYS
    when: Callable[[Store], bool] | None = None
    """Of which traces it is part of the report; it is left out of that of others without a word."""

    def has_facts(self, prefix: str, *, every: bool = False) -> bool:
        """
        Whether it is made for the facts whose ids begin with *prefix*, or for *every* one of them.

        One that is made for reports, or is for modellers, needs a prefix, and one on request a prefix that
        names its facts alone.
        """
        if not any(fact.startswith(prefix) or prefix.startswith(fact) for fact in self.facts):
            return False
        if self.made is MadeWhen.ON_REQUEST:
            return every or prefix.startswith(self.facts)
        is_core = self.made is MadeWhen.ALWAYS and self.view == "operator"
        return every or is_core or bool(prefix)

    def is_wanted(self, store: Store) -> bool:
        """Whether a report that has all sections has this one."""
        return self.made is not MadeWhen.ON_REQUEST and (self.when is None or self.when(store))

    def section(self, store: Store, *, is_drawn: bool = True) -> Section:
        """
        Make the section, without drawings unless it *is_drawn*.

        Where the trace lacks a needed field, its only block is a note.
        """
        missing = [BY_NAME[name] for name in self.needs if not store.has(name)]
        if missing:
            each = (message("{title} ({meaning})", title=one.title, meaning=one.meaning) for one in missing)
            note = note_of("This trace does not record {names}.", names=joined(" and ", each))
            return self._made([note], is_recorded=False)
        return self._made(
            block.make() if isinstance(block, Drawing) else block
            for block in self.blocks(store)
            if is_drawn or not isinstance(block, Drawing)
        )

    def attempt(self, store: Store, *, is_drawn: bool = True) -> Section:
        """Make the section; one that cannot be made says so in its place, for the rest is worth having."""
        try:
            return self.section(store, is_drawn=is_drawn)
        except Exception as error:  # noqa: BLE001 - whatever it is, the section says it
            # Of Ctrl-C in the middle of a query the engine makes an error like any other.
            interrupts.check()
            note = Note(f"This section could not be made: {type(error).__name__}: {error}", "error")
            return self._made([note], failed=True)

    def _made(self, blocks: Iterable[Block], *, failed: bool = False, is_recorded: bool = True) -> Section:
        chapter, made = self.chapter.value, tuple(blocks)
        return Section(self.id, self.title, self.help, made, chapter, failed, is_recorded, self.view)

    @property
    def view(self) -> View:
        """For whom its section is."""
        return "modeller" if self.chapter.name == Chapter.MODELLERS.name else "operator"


def analysis(
    title: str,
    chapter: Enum,
    *,
    facts: Sequence[str],
    needs: Sequence[str] = (),
    order: int = 0,
    made: MadeWhen = MadeWhen.ALWAYS,
    when: Callable[[Store], bool] | None = None,
) -> Callable[[BlockGenerator], Analysis]:
    """
    Make a generator of blocks an analysis; its module's name is the id of the section.

    The ids of its facts begin with one of *facts*. Without the fields that it *needs* it is not run, but
    mentioned, unless *when* leaves it out; *made* says when it is made at all.
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
            made,
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
    chapters: list[Enum] = list(Chapter)
    return tuple(sorted(instances, key=lambda item: (chapters.index(item.chapter), item.order, item.id)))


def families() -> list[tuple[str, str]]:
    """Return what ids of facts begin with, each with the title of the section that the facts stand in."""
    return [(prefix, analysis.title) for analysis in analyses() for prefix in analysis.facts]
