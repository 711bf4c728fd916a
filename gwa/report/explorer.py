"""The part of a page that filters itself: what it can be asked for, as data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from gwa.words.unit import Value

if TYPE_CHECKING:
    from gwa.report.course import Course

NOT_IN_JSON: Final = {"in_json": False}
"""Marks a field of a document that only its page has."""


@dataclass(frozen=True)
class Choice:
    """
    A list of what jobs can be chosen by.

    *key* is its name in addresses, *heading* and *title* what one and all of its classes are called; *names*
    are those classes in the order of their codes, and *others* counts those beyond, which share the next
    code; it is 0 where their number is not known. The code after it is of jobs without one. *has_own_order*
    tells classes such as sizes from names, which no language changes.
    """

    key: str
    heading: str
    title: str
    names: tuple[str, ...] = field(repr=False)
    others: int = 0
    has_own_order: bool = False


@dataclass(frozen=True)
class Mark:
    """A stretch of a *kind*, such as an outage, from one day to another: numbers of days with fractions."""

    kind: str
    since: float
    until: float


@dataclass(frozen=True)
class ListRow:
    """
    A row of a list: its *label*, the *parts* of its bar, and the number beside it as *text*.

    Each part has a name, where it begins, and how wide it is, in percent of the width. Of a row that *is
    a span* the bar stands between two values of an axis, and a dot at the lower one.
    """

    label: str
    parts: tuple[tuple[str, float, float], ...]
    text: str
    is_span: bool = False


@dataclass(frozen=True)
class RankedList:
    """A list of the first screen, called *id*: its *title*, what is *said* below that, and its *rows*."""

    id: str
    title: str
    said: str
    rows: tuple[ListRow, ...]


@dataclass(frozen=True)
class WaitingBar:
    """
    What was true while jobs waited, for all and for parts of them.

    *parts* are the conditions that held while all waited: name, share, and how that is written; *said* is
    what else may be said of all. *names* are the conditions in the order of their codes, and what they are
    called, *values* what stands in the places of sentences. Shares are of *least* moments or more.
    *is_bound*, *knows_room*, *knows_holds* and *are_overlapping* say what `gwa.metrics.waiting.Waiting`
    knows.
    """

    parts: tuple[tuple[str, float, str], ...]
    said: tuple[str, ...]
    names: tuple[tuple[str, str], ...]
    values: Mapping[str, str]
    least: int
    is_bound: str
    knows_room: bool
    knows_holds: bool
    are_overlapping: bool


@dataclass(frozen=True)
class Explorer:
    """
    The cells of a trace, packed for its page.

    Attributes
    ----------
    choices : tuple of Choice
        By what jobs can be chosen, in the order of the lists.
    outcomes : Mapping
        What each outcome is called, by its name, in the order of their codes.
    tables : Mapping
        How many rows ``days``, ``jobs``, ``usage`` and, where it is known why jobs waited, ``moments`` have,
        and the planes of their columns, by name.
    cells : bytes
        Those planes, as `gwa.breakdown.planes.packed` packs them.
    cpus : int
        The processors of the system; None where they are not known, or their number changed.
    facts : Mapping
        What the page asks of the whole trace, by the ids of the facts.
    marks : tuple of Mark
        Outages, and where the log does not tell what ran.
    first_day : int
        The number of the first day: since 1 January 1970 by the clock of the trace or, where that is not
        known (*is_relative*), since its own time 0.
    last_day : int
        The number of the day after the last one.
    step : int
        How many days an entry of ``days`` is of; fewer at the borders of the log.
    octaves : int
        Classes of waits to a doubling; 0 where waits are not told apart.
    aside : tuple of str
        The sections that stand folded beside it: it answers what their tables do, or they are of the shapes
        of jobs and of their arrivals, which few act on.
    follows : Mapping
        What follows a selection below it: by the id of a table or, after ``figure-``, of a figure, the kind
        of what it shows and the key of its classes, of a choice or of times.
    course : Course
        What was held in each day, which is drawn where no script does; None without processors.
    budget : Mapping
        How the hours are told apart: of what the hundred are, and what is known of how jobs ended.
    sentences : Mapping
        The templates of what is said of a selection, for one and for many, by their names.
    lists : tuple of RankedList
        The lists of the first screen for all jobs, which stand where no script makes them.
    sizes : tuple
        Since which day there were how many processors, where their number changed.
    waiting : WaitingBar
        What was true while jobs waited; None where none did, or waits are not recorded.

    """

    choices: tuple[Choice, ...]
    outcomes: Mapping[str, str]
    tables: Mapping[str, Value] = field(repr=False)
    cells: bytes = field(repr=False, metadata=NOT_IN_JSON)
    cpus: int | None
    facts: Mapping[str, Value] = field(repr=False)
    marks: tuple[Mark, ...] = ()
    first_day: int = 0
    last_day: int = 0
    step: int = 1
    is_relative: bool = False
    octaves: int = 0
    aside: tuple[str, ...] = ()
    follows: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    course: "Course | None" = field(default=None, repr=False, metadata=NOT_IN_JSON)
    budget: Mapping[str, Value] = field(default_factory=dict, repr=False)
    sentences: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    lists: tuple[RankedList, ...] = field(default=(), repr=False, metadata=NOT_IN_JSON)
    sizes: tuple[tuple[float, int], ...] = ()
    waiting: WaitingBar | None = None
