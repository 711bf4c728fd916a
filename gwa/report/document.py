"""
What a report is made of: plain frozen data that templates print and JSON can hold.

A `Report` has sections, a section has blocks, and a block is one of `Facts`, `FactTable`, `Table`,
`Figure` and `Note`. Analyses yield blocks; nothing here knows of HTML, and templates never compute.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeAlias

Value: TypeAlias = "str | int | float | bool | Sequence[Value] | Mapping[str, Value] | None"
"""What a fact or a table cell may hold: anything that JSON can say."""

Unit: TypeAlias = Literal[
    "", "count", "fraction", "seconds", "timestamp", "kilobytes", "cpu seconds", "per day", "per hour"
]
"""How a number is printed. Values are always in SI base units; only the printing differs."""

Level: TypeAlias = Literal["info", "warning", "error"]
"""How much a note matters."""


class Verbatim(str):
    """What somebody or something is called, where words stand else: no language changes it."""

    __slots__ = ()


@dataclass(frozen=True)
class Fact:
    """One number of a trace, with an id that does not change between versions."""

    id: str
    value: Value
    label: str
    unit: Unit = ""
    help: str = ""
    text: str = ""
    """How a reader is told the value, where that is no number."""


@dataclass(frozen=True)
class Facts:
    """A list of facts; it is not *listed* on a page where a table beside it shows the same."""

    kind: ClassVar[str] = "facts"
    facts: tuple[Fact, ...]
    title: str = ""
    listed: bool = True


@dataclass(frozen=True)
class FactTable:
    """Facts of the same kinds about several things: a row for each thing, *columns* name the kinds."""

    kind: ClassVar[str] = "fact_table"
    id: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Fact, ...]], ...]
    note: str = ""

    @property
    def facts(self) -> tuple[Fact, ...]:
        """All facts, row by row."""
        return tuple(fact for _, facts in self.rows for fact in facts)


@dataclass(frozen=True)
class Column:
    """A column of a table: its key in exports, its heading and its unit."""

    key: str
    label: str
    unit: Unit = ""


@dataclass(frozen=True)
class Table:
    """Rows of values under named columns; *id* names the table in exports."""

    kind: ClassVar[str] = "table"
    id: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    note: str = ""


@dataclass(frozen=True)
class Figure:
    """
    A drawing to be made: the *plot* names its kind in `gwa.report.figures`, *data* is what that needs.

    *alt* says in a sentence what a reader would see; it is required.
    """

    kind: ClassVar[str] = "figure"
    id: str
    title: str
    plot: str
    data: Mapping[str, Value]
    alt: str
    note: str = ""

    def __post_init__(self) -> None:
        """Refuse a figure that a blind reader could not use."""
        if not self.alt.strip():
            message = f"figure {self.id} has no alternative text"
            raise ValueError(message)


@dataclass(frozen=True)
class Note:
    """A sentence for the reader."""

    kind: ClassVar[str] = "note"
    text: str
    level: Level = "info"


Block: TypeAlias = Facts | FactTable | Table | Figure | Note
"""Any part of a section."""


@dataclass(frozen=True)
class Section:
    """A titled part of a report; *help* says what it shows, *failed* that its analysis broke."""

    id: str
    title: str
    help: str
    blocks: tuple[Block, ...]
    chapter: str = ""
    failed: bool = False


@dataclass(frozen=True)
class Finding:
    """
    What is worth knowing of a trace, as a sentence with its figures.

    *section* is where the figures come from, *rule* when this is said at all, *advice* what one may do.
    *weight*, from 0 to 1, says how remarkable it is.
    """

    id: str
    text: str
    section: str
    rule: str
    weight: float
    advice: str = ""


@dataclass(frozen=True)
class Report:
    """
    A whole report on a trace; *findings* are its summary, the most remarkable first.

    *overline* says what kind of report it is, where the title does not.
    """

    title: str
    subtitle: str
    sections: tuple[Section, ...]
    zone: str | None = None
    """The time zone of time stamps; None where times count from an unknown start."""
    reproduction: Mapping[str, Value] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    overline: str = ""

    def facts(self) -> Iterator[Fact]:
        """Return every fact of the report, in order."""
        for section in self.sections:
            for block in section.blocks:
                if isinstance(block, Facts | FactTable):
                    yield from block.facts

    @property
    def failed(self) -> bool:
        """Whether any section could not be made."""
        return any(section.failed for section in self.sections)
