"""
What a report is made of: plain frozen data that templates print and JSON can hold.

A `Report` has sections, a section has blocks, and a block is one of `Facts`, `FactTable`, `Table`,
`Figure`, `Note` and `Attachment`. Analyses yield blocks; nothing here knows of HTML, and templates never
compute.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeAlias, TypeVar

from gwa.errors import TraceError
from gwa.report.explorer import NOT_IN_JSON, Explorer
from gwa.report.lead import Lead
from gwa.words.message import Level, message
from gwa.words.unit import Unit, Value

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")

WRITERS: Final = {
    "svg": "gwa.report.drawing:draw",
    "png": "gwa.report.drawing:png",
    "save": "gwa.report.drawing:save",
    "write": "gwa.report.output:write_in",
    "figure for a notebook": "gwa.report.notebook:figure_html",
    "report for a notebook": "gwa.report.notebook:report_html",
}
"""
What draws and writes a document, found by its name when it is asked to.

All of it imports what a document is. That a document has methods to call it turns the dependency round, and
does not end it.
"""

View: TypeAlias = Literal["operator", "modeller"]
"""Who looks at a section: who runs a system, or who models its workload."""

State: TypeAlias = Literal["known", "bound", "unknown", "found", "not found", "not tested"]
"""
What is known of an answer: its value, a bound of it, or nothing; of a question that takes a test, whether the
test found something, found nothing, or could not be made.
"""


@dataclass(frozen=True)
class Fact:
    """
    One value of a trace, with an id that does not change between versions.

    Parameters
    ----------
    id
        The id, such as ``jobs.wait.median``.
    value
        The value in full precision, in the SI base of its unit; None where it is unknown.
    label
        What the value is, for people.
    unit
        How the value is printed.
    help
        The definition.
    text
        What a report shows where the value is no number.

    """

    id: str
    value: Value
    label: str
    unit: Unit = ""
    help: str = ""
    text: str = ""


@dataclass(frozen=True)
class Facts:
    """
    A list of facts.

    Parameters
    ----------
    facts
        The facts, in order.
    title
        The title, a noun phrase.
    listed
        Whether a page lists them; False where a table next to them shows the same.

    """

    kind: ClassVar[str] = "facts"
    facts: tuple[Fact, ...]
    title: str = ""
    listed: bool = True


def list_of(*facts: Fact, listed: bool = True) -> Facts:
    """Return these *facts* as a block without a title."""
    return Facts(facts, listed=listed)


@dataclass(frozen=True)
class FactTable:
    """
    Facts of the same kinds about several things, with a row for each thing.

    Parameters
    ----------
    id
        The name of the table in exports.
    title
        The title, a noun phrase.
    columns
        The headings, one for each kind of fact.
    rows
        For each thing, its name and its facts, one for each column.
    note
        A sentence below it.
    darkest
        Which values of a column are shaded most, so that columns of several kinds compare at a glance: the
        greatest or the least ones; none by default.
    links
        The address of a page about each thing; empty for those without one.

    """

    kind: ClassVar[str] = "fact_table"
    id: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Fact, ...]], ...] = field(repr=False)
    note: str = ""
    darkest: Literal["none", "greatest", "least"] = "none"
    links: tuple[str, ...] = ()

    @property
    def facts(self) -> tuple[Fact, ...]:
        """All facts, row by row."""
        return tuple(fact for _, facts in self.rows for fact in facts)

    def frame(self) -> "pd.DataFrame":
        """
        Return the values in full precision, with a row for each thing that they are about.

        Returns
        -------
        pandas.DataFrame
            Columns of nullable types, called by their headings; the index has the names of the rows.

        Examples
        --------
        >>> rows = (("U1", (Fact("u1.jobs", 9, "Jobs"),)), ("U2", (Fact("u2.jobs", None, "Jobs"),)))
        >>> FactTable("users", "Users", ("Jobs",), rows).frame()
            Jobs
        U1     9
        U2  <NA>

        """
        rows = [[fact.value for fact in facts] for _, facts in self.rows]
        return _frame(rows, self.columns, [name for name, _ in self.rows])


@dataclass(frozen=True)
class Column:
    """
    A column of a table.

    Parameters
    ----------
    key
        The name in exports.
    label
        The heading.
    unit
        The unit of the values.
    minor
        Whether the column is in exports only.

    """

    key: str
    label: str
    unit: Unit = ""
    minor: bool = False


@dataclass(frozen=True)
class Table:
    """
    Rows of values under named columns.

    Parameters
    ----------
    id
        The name of the table in exports.
    title
        The title, a noun phrase.
    columns
        The columns, in order.
    rows
        The values of each row, one for each column.
    note
        A sentence below it.
    is_acted_on
        Whether it says what to do, or with whom: a page has it in view.
    minor
        Whether it is in exports only: a page shows the same elsewhere.

    """

    kind: ClassVar[str] = "table"
    id: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...] = field(repr=False)
    note: str = ""
    is_acted_on: bool = field(default=False, repr=False, metadata=NOT_IN_JSON)
    minor: bool = field(default=False, repr=False, metadata=NOT_IN_JSON)

    def frame(self) -> "pd.DataFrame":
        """
        Return the values in full precision.

        Returns
        -------
        pandas.DataFrame
            Columns of nullable types, called by their keys.

        Examples
        --------
        >>> columns = (Column("user", "User"), Column("wait", "Mean wait time", "seconds"))
        >>> Table("waits", "Wait times", columns, (("U1", 60), ("U2", None))).frame()
          user  wait
        0   U1    60
        1   U2  <NA>

        """
        return _frame(self.rows, [column.key for column in self.columns])


def _frame(
    rows: Sequence[Sequence[Value]], columns: Sequence[str], index: Sequence[str] | None = None
) -> "pd.DataFrame":
    """Return *rows* with columns of nullable types, so that counts with gaps stay whole numbers."""
    import pandas as pd

    labels = list(index) if index is not None else None
    return pd.DataFrame(list(rows), labels, list(columns), dtype=object).convert_dtypes()


@dataclass(frozen=True)
class Figure:
    """
    A drawing to be made; a notebook shows it.

    Parameters
    ----------
    id
        The name of the figure, such as ``utilization``.
    title
        The title, a noun phrase.
    plot
        The kind of figure, a module of `gwa.report.figures`.
    data
        What that kind draws.
    alt
        What a reader would see, in a sentence.
    note
        A sentence below it.
    minor
        Whether it is in exports only: a page shows the same elsewhere.

    Raises
    ------
    ValueError
        If *alt* is empty.

    """

    kind: ClassVar[str] = "figure"
    id: str
    title: str
    plot: str
    data: Mapping[str, Value] = field(repr=False)
    alt: str
    note: str = ""
    minor: bool = field(default=False, repr=False, metadata=NOT_IN_JSON)

    def __post_init__(self) -> None:
        """Refuse a figure that a blind reader could not use."""
        if not self.alt.strip():
            message = f"figure {self.id} has no alternative text"
            raise ValueError(message)

    def svg(self) -> str:
        """
        Draw the figure, the same bytes each time.

        Returns
        -------
        str
            The text of an SVG element with a title and a description for readers of screens.

        Examples
        --------
        >>> import gwa
        >>> with gwa.open("sample_traces/swf/tiny.swf") as trace:
        ...     trace.report(["waits"]).figure("waits").svg()[:4]
        '<svg'

        """
        return str(_writer("svg")(self))

    def png(self, dpi: float = 144) -> bytes:
        r"""
        Draw the figure as an image on white.

        Parameters
        ----------
        dpi
            Dots per inch; at 72 the image has the size of the drawing as `svg` draws it.

        Returns
        -------
        bytes
            The content of a PNG file.

        Examples
        --------
        >>> import gwa
        >>> with gwa.open("sample_traces/swf/tiny.swf") as trace:
        ...     trace.report(["waits"]).figure("waits").png()[:4]
        b'\x89PNG'

        """
        return bytes(_writer("png")(self, dpi))

    def save(self, path: str | PathLike[str]) -> Path:
        """
        Write the drawing to a file, whole or not at all.

        Parameters
        ----------
        path
            The file, whose suffix says what is written: ``.svg`` or ``.png``.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        OutputError
            If the suffix is another one, or the file cannot be written.

        Examples
        --------
        >>> import gwa, tempfile
        >>> with gwa.open("sample_traces/swf/tiny.swf") as trace, tempfile.TemporaryDirectory() as folder:
        ...     trace.report(["waits"]).figure("waits").save(f"{folder}/waits.svg").name
        'waits.svg'

        """
        return Path(_writer("save")(self, Path(path)))

    def _repr_html_(self) -> str:
        """Return the drawing for a notebook."""
        return str(_writer("figure for a notebook")(self))


@dataclass(frozen=True)
class Note:
    """
    A sentence for the reader.

    Parameters
    ----------
    text
        The sentence.
    level
        How much it matters: info, warning or error.

    """

    kind: ClassVar[str] = "note"
    text: str
    level: Level = "info"


def note_of(template: str, /, **arguments: object) -> Note:
    """Return a note of the `message` with these *arguments*."""
    return Note(message(template, **arguments))


@dataclass(frozen=True)
class Attachment:
    """A file called *name* with a text as its *content*, which a page offers to save."""

    kind: ClassVar[str] = "attachment"
    id: str
    title: str
    name: str
    content: str = field(repr=False)


Block: TypeAlias = Facts | FactTable | Table | Figure | Note | Attachment
"""Any part of a section."""


@dataclass(frozen=True)
class Section:
    """
    A titled part of a report.

    Parameters
    ----------
    id
        The name of the section, such as ``waits``.
    title
        The title, a noun phrase.
    help
        What the section shows.
    blocks
        Facts, tables, figures, notes and attachments, in order.
    chapter
        The title of the chapter that the section belongs to.
    failed
        Whether its analysis broke.
    is_recorded
        Whether the trace records what the section is about. If not, its only block says what is
        missing.
    view
        Who it is for: operator or modeller.
    is_on_top
        Whether it stands at the head of a page, over its whole width, with all that is in it.

    """

    id: str
    title: str
    help: str
    blocks: tuple[Block, ...] = field(repr=False)
    chapter: str = ""
    failed: bool = False
    is_recorded: bool = True
    view: View = "operator"
    is_on_top: bool = False

    def facts(self) -> tuple[Fact, ...]:
        """
        List the facts.

        Returns
        -------
        tuple of Fact
            All facts of the section, in order.

        """
        blocks = (block for block in self.blocks if isinstance(block, Facts | FactTable))
        return tuple(fact for block in blocks for fact in block.facts)


@dataclass(frozen=True)
class Finding:
    """
    What is worth knowing of a trace.

    Parameters
    ----------
    id
        The name of the finding.
    text
        A sentence with its figures.
    section
        The id of the section that the figures come from.
    rule
        When the finding is reported.
    weight
        How remarkable it is, from 0 to 1.
    advice
        What to know about it.
    action
        What an operator should do next, with what the section lists; empty where nothing is to be done.
    stake
        What is at stake in the action, in words.
    stake_hours
        The hours of cores, GPUs or nodes at stake; None where they are not known.
    stake_share
        Their share of all such hours that jobs held; None where it is not known.
    stake_unit
        What they are hours of, such as core-hours; empty where they are not known.
    stake_price
        What they cost at the rates that are stated; None where hours have no one price.

    """

    id: str
    text: str
    section: str
    rule: str
    weight: float
    advice: str = ""
    action: str = ""
    stake: str = ""
    stake_hours: float | None = None
    stake_share: float | None = None
    stake_unit: str = ""
    stake_price: float | None = None

    @property
    def priority(self) -> tuple[float, ...]:
        """How early the action is to be taken: by what is at stake, first in money, the unknown last."""
        known = 2 * (self.stake_hours is None) + (self.stake_share is None)
        return known, -(self.stake_price or 0.0), -(self.stake_share or 0.0), -(self.stake_hours or 0.0)


@dataclass(frozen=True)
class Answer:
    """
    The answer to a question that everybody asks first: a *number*, a sentence (*text*), a small picture.

    *caption* says what the number is of. *section* is where there is more about it, empty where the report
    does not have it. *state* says what is known; without a number the answer is not, and the text says why.
    """

    id: str
    question: str
    number: str
    text: str
    section: str
    picture: Figure | None = None
    state: State = "known"
    caption: str = ""


@dataclass(frozen=True)
class Credit:
    """Something that a log says of its origin, such as who gave it: *text*, as it stands in the header."""

    id: str
    label: str
    text: str


@dataclass(frozen=True)
class Report:
    """
    A whole report on a trace; a notebook shows a short form of it.

    Parameters
    ----------
    title
        The title, a noun phrase.
    subtitle
        A line below the title.
    sections
        The sections, in order.
    zone
        The time zone of time stamps; None where times count from an unknown start.
    reproduction
        What it takes to make the same report again.
    findings
        The summary, the most remarkable finding first.
    overline
        What kind of report it is, where the title does not say so.
    answers
        Answers to the first questions: how busy, who, how long did jobs wait, what went wrong, what
        changed.
    period
        From when to when the jobs are, in words; empty where that is unknown.
    explorer
        What its page filters; the JSON has none of it.
    answer
        What is found, in a sentence; of a trace what became of its hours.
    lead
        What became of the hours of the machine, which a page of a trace says first.
    credits
        What the log says of its origin: installation, acknowledgement, licence, citation.
    is_brief
        Whether it is for operators, of whom few read more than what is claimed and its picture: on paper it
        has no more.

    Examples
    --------
    >>> import gwa
    >>> with gwa.open("sample_traces/swf/tiny.swf") as trace:
    ...     report = trace.report(["overview", "waits"])
    >>> report.fact("jobs.wait.median").value
    4833.5
    >>> [figure.id for figure in report.figures()]
    ['waits']

    """

    title: str
    subtitle: str
    sections: tuple[Section, ...]
    zone: str | None = None
    reproduction: Mapping[str, Value] = field(default_factory=dict, repr=False)
    findings: tuple[Finding, ...] = ()
    overline: str = ""
    answers: tuple[Answer, ...] = ()
    period: str = ""
    explorer: Explorer | None = field(default=None, repr=False, metadata=NOT_IN_JSON)
    answer: str = ""
    lead: Lead | None = None
    credits: tuple[Credit, ...] = ()
    is_brief: bool = field(default=False, repr=False, metadata=NOT_IN_JSON)

    def facts(self) -> tuple[Fact, ...]:
        """
        List the facts.

        Returns
        -------
        tuple of Fact
            All facts of the report, in order.

        """
        return tuple(fact for section in self.sections for fact in section.facts())

    def figures(self) -> tuple[Figure, ...]:
        """
        List the figures.

        Returns
        -------
        tuple of Figure
            All figures of the report, in order.

        """
        return tuple(block for block in self._blocks() if isinstance(block, Figure))

    def tables(self) -> tuple[Table | FactTable, ...]:
        """
        List the tables.

        Returns
        -------
        tuple of Table or FactTable
            All tables of the report, in order.

        """
        return tuple(block for block in self._blocks() if isinstance(block, Table | FactTable))

    def fact(self, id: str) -> Fact:  # noqa: A002 - the word for it
        """
        Return the fact called *id*.

        Parameters
        ----------
        id
            Such as ``utilization.mean``.

        Returns
        -------
        Fact
            The fact, with value, unit and label.

        Raises
        ------
        TraceError
            If the report has no such fact. The message names those with the nearest ids.

        Examples
        --------
        >>> import gwa
        >>> with gwa.open("sample_traces/swf/tiny.swf") as trace:
        ...     trace.report(["overview"]).fact("trace.jobs").value
        1200

        """
        return _named("fact", id, {fact.id: fact for fact in self.facts()})

    def figure(self, id: str) -> Figure:  # noqa: A002 - the word for it
        """
        Return the figure called *id*.

        Parameters
        ----------
        id
            Such as ``utilization``; `figures` lists them.

        Returns
        -------
        Figure
            The figure, which draws itself.

        Raises
        ------
        TraceError
            If the report has no such figure. The message names those with the nearest ids.

        Examples
        --------
        >>> import gwa
        >>> with gwa.open("sample_traces/swf/tiny.swf") as trace:
        ...     trace.report(["waits"]).figure("wait")
        Traceback (most recent call last):
        gwa.errors.TraceError: the report has no figure 'wait', the nearest are: waits

        """
        return _named("figure", id, {figure.id: figure for figure in self.figures()})

    def table(self, id: str) -> Table | FactTable:  # noqa: A002 - the word for it
        """
        Return the table called *id*.

        Parameters
        ----------
        id
            Such as ``users-by-jobs``; `tables` lists them.

        Returns
        -------
        Table or FactTable
            The table, whose `frame` has the values.

        Raises
        ------
        TraceError
            If the report has no such table. The message names those with the nearest ids.

        Examples
        --------
        >>> import gwa
        >>> with gwa.open("sample_traces/swf/tiny.swf") as trace:
        ...     trace.report(["parallelism"]).table("parallelism").frame().shape
        (2, 5)

        """
        return _named("table", id, {table.id: table for table in self.tables()})

    def section(self, id: str) -> Section:  # noqa: A002 - the word for it
        """
        Return the section called *id*.

        Parameters
        ----------
        id
            Such as ``waits``.

        Returns
        -------
        Section
            The section with its blocks.

        Raises
        ------
        TraceError
            If the report has no such section. The message names those with the nearest ids.

        Examples
        --------
        >>> import gwa
        >>> with gwa.open("sample_traces/swf/tiny.swf") as trace:
        ...     trace.report(["waits"]).section("waits").chapter
        'Wait times'

        """
        return _named("section", id, {section.id: section for section in self.sections})

    def write(
        self,
        folder: str | PathLike[str],
        *kinds: str,
        name: str = "report",
        theme: str | PathLike[str] | None = None,
        language: str = "en",
    ) -> list[Path]:
        """
        Write the report into *folder*, which is made where it is missing.

        Parameters
        ----------
        folder
            Where to write.
        *kinds
            What to write: any of ``html``, ``json``, ``latex`` and ``pdf``; a page of HTML if none is given.
        name
            What the files are called, without their suffix.
        theme
            A folder of templates, style sheets and languages that replace those of gwa.
        language
            The code of the language, as for ``gwa report --lang``.

        Returns
        -------
        list of Path
            What was written, in the order of *kinds*. LaTeX is a folder, the others are files.

        Raises
        ------
        OutputError
            If there is no such kind, or the files cannot be written.
        DefinitionError
            If the theme or the language is wrong.

        Examples
        --------
        >>> import gwa, tempfile
        >>> with gwa.open("sample_traces/swf/tiny.swf") as trace, tempfile.TemporaryDirectory() as folder:
        ...     [path.name for path in trace.report(["waits"]).write(folder, "json", "html", name="tiny")]
        ['tiny.json', 'tiny.html']

        """
        looks = Path(theme) if theme is not None else None
        return list(_writer("write")(self, Path(folder), name, kinds or ["html"], looks, language))

    @property
    def failed(self) -> bool:
        """Whether any section could not be made."""
        return any(section.failed for section in self.sections)

    def _blocks(self) -> Iterator[Block]:
        for section in self.sections:
            yield from section.blocks

    def _repr_html_(self) -> str:
        """Return a short form of the report for a notebook."""
        return str(_writer("report for a notebook")(self))


def _writer(name: str) -> Callable[..., Any]:
    """Return what writes a document as `WRITERS` names it."""
    found: Callable[..., Any] = resolve_name(WRITERS[name])
    return found


def _named(kind: str, id: str, known: Mapping[str, T]) -> T:  # noqa: A002 - the word for it
    """Return what is called *id*; raise `TraceError` that names the nearest ids where nothing is."""
    if id in known:
        return known[id]
    nearest = ", ".join(get_close_matches(id, known, 3, cutoff=0))
    others = f"the nearest are: {nearest}" if nearest else "and no other"
    raise TraceError(f"the report has no {kind} '{id}', {others}")
