"""
Definitions in ``converters/``: one SQL file makes a format that can be read.

It has a TOML header between ``/* ---`` and ``--- */`` that says how to recognise and read the source,
and one SELECT that says the mapping from ``source`` to the fields of GWF. Keys of the header:

``title``, ``notes``
    printed by `gwa formats`; the notes name the source of the mapping and what was decided.
``export``
    the commands that get such a log out of the system that has it, each on a line of its own, and lines
    with # that explain them: the first that `gwa formats` prints.
``files``
    patterns such as ``*.swf`` for names, used where the content alone does not decide.
``first``, ``contains``
    a regular expression that most lines of data match, and one, or a list, of which each is found somewhere
    in the head: marks that only this tool writes, at least two where one of them may be in any table.
``distinct``
    a column of which most lines have a value of their own, such as the number of the job.
``reader``, ``columns``, ``delimiter``, ``comment``, ``missing``, ``options``, ``extra_columns``
    which reader of `gwa.ingest.readers` makes the table ``source``, and how.
``ranges``
    a column in which such as 12_[3-7,11%2] stands for the tasks of an array: each becomes a row.
``functions``
    functions that the SELECT uses, such as ``"hours(x)" = "epoch(x) / 3600"``, by their name and parameters.
    Where several columns are read alike, this is much faster than a lambda over a list of them: the engine
    works out an expression once for each distinct value of a column.
``scope``
    ``row`` where each row is mapped on its own, ``trace`` where the SELECT needs all rows.
``joined_by``
    in the scope ``trace``, an SQL expression such as ``job_number``: rows for which it differs are never of
    one job, or of what the SELECT joins to it. A log too long for the memory is mapped in parts by it, and
    what a log is appended to is not mapped again but for the jobs that it tells of.
``log_facts``
    where there is a ``joined_by``, what the SELECT asks of the whole log, such as whether it has a column:
    each with ``rows``, a condition on the rows that tell it, where it is asked of each kind of job, ``of``,
    an aggregate over the rows of a job that yields its kind, and where it takes more than one such row,
    ``holds``, a query that yields a list of the kinds of which it is so.
``beforehand``
    in the scope ``trace``, tables that are made before the SELECT runs, in their order: each has ``columns``,
    and a ``select`` from the source and from tables before it. It stays empty unless the query ``when``
    yields true, so that a log pays only for what is in it.
``sides``
    tables of further files, each with its ``columns``, told apart by their number, or by a pattern among
    the ``options`` of a side: ``first``, which most lines match, or ``contains``, which is found somewhere in
    the head. What a side does not say is as in the header.
``accepts``
    the options that a user may give with ``-O``, and what each of them accepts, as
    `gwa.formats.format_options` says. The SELECT has their values as variables.
``of``
    ``requests`` where a row is a request to a language model, not of a job: the SELECT yields fields of
    requests, with ``file_no`` and ``line``, of some rows at a time.
``select``
    the name of another definition whose columns and SELECT are used. This definition's own SELECT makes
    the rows of that ``source``, with ``line``, of what its own reader yields, the table ``record``: of
    some records at a time, or of those of a whole file in the scope ``trace``. Its sides are its own; its
    functions and what it states of the header stand before those of the other, whose columns it reads where
    it has none.
``relative``, ``constants``, ``from_header``, ``header``, ``steps``, ``needs``
    see `gwa.ingest.spec.ConverterSpec`.

A definition may be a stranger's: its SQL uses the tables of the source, the jobs and the header. All else,
such as another file, is refused before any of it runs.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Annotated, Any, Final, Literal

from gwa.errors import DefinitionError
from gwa.ingest.spec import MISSING, ConverterSpec, LogFact, MadeTable, RepairStep, TableSpec
from gwa.store.requests import RequestStore
from gwa.util import plugins
from gwa.util.toml import Check, TomlFile, record, refusal

HEADER: Final = re.compile(r"\A/\* ---\n(.*?)\n--- \*/\s*(.*)\Z", re.DOTALL)
STEP: Final = re.compile(r'^name = "(.*)"\nmeaning = "(.*)"$', re.MULTILINE)
REMARK: Final = re.compile(r"'([^':\n]+): ((?:[^'\n]|'')+)'")
"""A literal in a SELECT that may become a remark."""

READERS: Final = plugins.names("gwa.ingest.readers")
TABLE_NAME: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)
COLUMN_TYPE: Final = re.compile(r"[A-Za-z]\w*(\(\d+(, ?\d+)?\))?(\[\])*", re.ASCII)
"""Names and types of columns; both become part of SQL, and nothing else may."""

FUNCTION_HEAD: Final = re.compile(r"[a-z_]\w*\([a-z_]\w*(, [a-z_]\w*)*\)", re.ASCII)
"""The name of a function and its parameters, which become part of SQL, too."""

MAXIMUM_COLUMNS: Final = 500
"""A source with more columns is not a log: thousands of columns would take too much memory and time."""

TABLES: Final = ("recorded", "header", "source_ids", "dependencies")
"""The tables of a store that a definition may use, beside those of the source."""


@dataclass(frozen=True, kw_only=True)
class TableHeader:
    """What a header says of how a table is read."""

    columns: Mapping[str, str]
    delimiter: str = " "
    comment: str = ""
    missing: tuple[str, ...] = MISSING
    options: Mapping[str, Any] = field(default_factory=dict)
    ranges: str = ""

    def __post_init__(self) -> None:
        """Refuse what would be more in SQL than the name, the type or the character that it should be."""
        _check_columns("columns", self.columns)
        if self.ranges and self.ranges not in self.columns:
            raise refusal("ranges", self.ranges, "a column of the table")
        for name in self.options.get("cells", ()):
            _require(TABLE_NAME, "options.cells", name, "names of letters, digits and underscores")
        for key, text in (("delimiter", self.delimiter), ("options.quote", self.options.get("quote") or '"')):
            if not isinstance(text, str) or len(text) != 1 or text in "'\n":
                raise refusal(key, text, "one character")

    def spec(self, *, numbered: bool) -> TableSpec:
        """Return how the reader fills the table, whose rows are *numbered* or not."""
        return TableSpec(**{key: getattr(self, key) for key in TABLE_KEYS}, numbered=numbered)


TABLE_KEYS: Final = tuple(key.name for key in fields(TableHeader))


def _check_columns(key: str, columns: Mapping[str, str]) -> None:
    for name, kind in columns.items():
        _require(TABLE_NAME, f"{key}.{name}", name, "a name of letters, digits and underscores")
        _require(COLUMN_TYPE, f"{key}.{name}", kind, "a type such as varchar, bigint or double")


def _require(pattern: re.Pattern[str], key: str, text: object, expected: str) -> None:
    if not isinstance(text, str) or not pattern.fullmatch(text):
        raise refusal(key, text, expected)


@dataclass(frozen=True, kw_only=True)
class DefinitionHeader(TableHeader):
    """The header of a definition."""

    title: str
    files: tuple[str, ...]
    notes: str
    export: str = ""
    first: re.Pattern[str] | None = None
    contains: tuple[re.Pattern[str], ...] = ()
    distinct: str = ""
    extra_columns: bool = False
    reader: Annotated[str, Check(READERS.__contains__, f"one of {', '.join(READERS)}")] = "columns"
    of: Literal["jobs", "requests"] = "jobs"
    scope: Literal["row", "trace"] = "row"
    joined_by: str = ""
    log_facts: tuple[LogFact, ...] = ()
    beforehand: Mapping[str, MadeTable] = field(default_factory=dict)
    sides: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    accepts: Mapping[str, str] = field(default_factory=dict)
    functions: Mapping[str, str] = field(default_factory=dict)
    select: str = ""
    relative: bool = False
    constants: Mapping[str, str] = field(default_factory=dict)
    from_header: Mapping[str, str] = field(default_factory=dict)
    header: Mapping[str, str] = field(default_factory=dict)
    steps: tuple[RepairStep, ...] = ()
    needs: str = ""

    def __post_init__(self) -> None:
        """Refuse names and parameters that would be more in SQL, and tables that rows alone cannot fill."""
        super().__post_init__()
        for head in self.functions:
            _require(FUNCTION_HEAD, "functions", head, "a name and parameters such as hours(x)")
        for name, table in self.beforehand.items():
            _require(TABLE_NAME, f"beforehand.{name}", name, "a name of letters, digits and underscores")
            if name in {"source", *self.sides, *TABLES}:
                raise refusal(f"beforehand.{name}", name, "a name that no other table has")
            _check_columns(f"beforehand.{name}.columns", table.columns)
        if self.of == RequestStore.holds and (self.scope == "trace" or self.sides or self.select):
            raise refusal("of", self.of, "jobs, since each row of a log of requests is mapped by itself")
        if self.beforehand and self.scope != "trace":
            raise refusal("scope", self.scope, "trace, since tables are made beforehand")


SPEC_KEYS: Final = (
    "title", "functions", "reader", "scope", "joined_by", "log_facts", "beforehand", "relative", "constants",
    "from_header", "header", "steps", "needs",
)  # fmt: skip


@cache
def parse_definition(name: str, text: str) -> tuple[DefinitionHeader, ConverterSpec]:
    """Return what a definition says; raise `DefinitionError` where it is wrong."""
    match = HEADER.match(text)
    if not match:
        raise DefinitionError(f"{name}: expected a TOML header between '/* ---' and '--- */', then a SELECT")
    file = TomlFile.parsed(name, match[1], first_line=2)
    with file.located():
        header = record(DefinitionHeader, {**_implied(file.data), **file.data, **_listed(file.data)})
        shared = {key: file.data[key] for key in TABLE_KEYS if key in file.data and key != "ranges"}
        for side in header.sides:
            _require(TABLE_NAME, f"sides.{side}", side, "a name of letters, digits and underscores")
        sides = {
            side: record(TableHeader, {**shared, **table}, f"sides.{side}").spec(numbered=False)
            for side, table in header.sides.items()
        }
    spec = ConverterSpec(
        source_table=header.spec(numbered=header.scope == "trace" or header.of == RequestStore.holds),
        select=match[2],
        explaining_tables=sides,
        **{key: getattr(header, key) for key in SPEC_KEYS},
    )
    return header, spec


def _implied(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a header need not say: the columns of another definition whose SELECT is used."""
    return {"columns": {}} if "select" in data else {}


def _listed(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return as a list what a header may state as one pattern, or as several."""
    return {key: [value] for key in ("contains",) if isinstance(value := data.get(key), str)}


def repairs_of(text: str) -> Iterator[tuple[str, str]]:
    """
    Yield the name and the meaning of each repair in the *text* of a definition: its steps and its remarks.

    >>> list(repairs_of("select ['late start: the clock of ''ce'' was wrong'] as remarks"))
    [('late start', "the clock of 'ce' was wrong")]
    """
    yield from STEP.findall(text)
    for name, meaning in REMARK.findall(text):
        yield name, meaning.replace("''", "'")
