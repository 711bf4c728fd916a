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
    a regular expression that most lines of data match, and one to be found somewhere in the head.
``distinct``
    a column of which most lines have a value of their own, such as the number of the job.
``reader``, ``columns``, ``delimiter``, ``comment``, ``missing``, ``options``, ``extra_columns``
    which reader of `gwa.ingest.readers` makes the table ``source``, and how.
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
    each with ``rows``, a condition on the rows that tell it, and where it takes more than one such row,
    ``holds``, a query that yields whether it is so.
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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import duckdb

from gwa.errors import DefinitionError, RowsLostError
from gwa.formats.base import Format, refuse_requests
from gwa.formats.format_options import options_used
from gwa.ingest.appending import append_rows
from gwa.ingest.blame import is_fault, line_of, reason
from gwa.ingest.contradictions import SLACK
from gwa.ingest.pipeline import ingest
from gwa.ingest.requests import read_requests
from gwa.ingest.source.head import FileHead
from gwa.ingest.source.header_row import header_of
from gwa.ingest.source.lines import LineLayout
from gwa.ingest.spec import (
    MISSING,
    ConverterSpec,
    LogFact,
    MadeTable,
    Preparation,
    RepairStep,
    TableSpec,
    with_extra_columns,
)
from gwa.ingest.staging import RECORD, part_condition
from gwa.store.engines.restricted import check_change, check_query, parser
from gwa.store.options import ReadOptions
from gwa.store.requests import RequestStore
from gwa.store.store import Store
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

LOST: Final = (
    'with scope = "row" a SELECT makes a job of each row; with scope = "trace" the column rows counts those'
    " of a job, and reject refuses one with a reason"
)
"""What to do where rows are lost."""

READERS_OF_LINES: Final = {"columns", "named", "quoted", "keyed", "gridengine", "whole_lines"}
"""The readers of files that may be read from any line on, but for a line with the names of columns."""

OPTIONS_OF_READERS: Final = {"named": {"columns": "names of columns"}}
"""Options of all formats with that reader, and what they accept."""

NEAR_WIDTH: Final = 4
"""A table whose number of columns differs by this many is not like another."""
MINIMUM_NEAR_WIDTH: Final = 10
"""Tables of fewer columns are alike by chance."""

COMMON_OF_REQUESTS: Final = """
As in every log of requests: a row without a time is refused; a value that its field cannot have, such as a
negative number of tokens, is missing, and counted. Requests are numbered in the order of time. What is no
UTF-8 is read as Latin-1. A line that cannot be read is refused and kept with its number and the reason.
"""
"""What holds of each format of requests, printed behind its notes."""

COMMON: Final = f"""
As in every log: a wait or a run time that is negative by less than {SLACK} s (an hour of daylight saving, and
what clocks differ by) is 0; any other value that its field cannot have is missing; both are counted. A start
of 1970, of 2106 or before the submission by more than that is missing, and with it the wait and the run time,
but for one that the source measured by itself; such a job held no processors unless it completed. Local times
in the hour that clocks repeat in autumn are those of the first of the two. What is
no UTF-8 is read as Latin-1. A line that cannot be read is refused and kept with its number and the reason.
"""
"""What holds of each format that a file defines, printed behind its notes."""


@dataclass(frozen=True, kw_only=True)
class _TableHeader:
    """What a header says of how a table is read."""

    columns: Mapping[str, str]
    delimiter: str = " "
    comment: str = ""
    missing: tuple[str, ...] = MISSING
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what would be more in SQL than the name, the type or the character that it should be."""
        _check_columns("columns", self.columns)
        for name in self.options.get("cells", ()):
            _require(TABLE_NAME, "options.cells", name, "names of letters, digits and underscores")
        for key, text in (("delimiter", self.delimiter), ("options.quote", self.options.get("quote") or '"')):
            if not isinstance(text, str) or len(text) != 1 or text in "'\n":
                raise refusal(key, text, "one character")

    def spec(self, *, numbered: bool) -> TableSpec:
        return TableSpec(**{key: getattr(self, key) for key in TABLE_KEYS}, numbered=numbered)


TABLE_KEYS: Final = tuple(key.name for key in fields(_TableHeader))


def _check_columns(key: str, columns: Mapping[str, str]) -> None:
    for name, kind in columns.items():
        _require(TABLE_NAME, f"{key}.{name}", name, "a name of letters, digits and underscores")
        _require(COLUMN_TYPE, f"{key}.{name}", kind, "a type such as varchar, bigint or double")


def _require(pattern: re.Pattern[str], key: str, text: object, expected: str) -> None:
    if not isinstance(text, str) or not pattern.fullmatch(text):
        raise refusal(key, text, expected)


@dataclass(frozen=True, kw_only=True)
class _Header(_TableHeader):
    """The header of a definition."""

    title: str
    files: tuple[str, ...]
    notes: str
    export: str = ""
    first: re.Pattern[str] | None = None
    contains: re.Pattern[str] | None = None
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


def definition(name: str, text: str, text_of: Callable[[str], str], *, is_stranger: bool = True) -> Format:
    """
    Return the format that a definition describes; raise `DefinitionError` where it is wrong.

    *text_of* returns the text of the definition of another format, of which it may use the SELECT.
    The SQL of a stranger's definition is checked before it runs.
    """
    header, spec = _parsed(name, text)
    accepts, used = header.accepts, spec.sql
    if header.select:
        other, mapping = _parsed(f"{header.select}.sql", text_of(header.select))
        if other.select:
            raise DefinitionError(f"{name}: the SELECT of '{header.select}' is that of '{other.select}'")
        accepts, used = {**other.accepts, **accepts}, f"{used}\n{mapping.sql}"
        spec = _prepared(spec, mapping)
    return Format(
        name=Path(name).stem,
        title=header.title,
        names=tuple(pattern.lower() for pattern in header.files),
        notes=f"{header.notes}{COMMON if header.of == Store.holds else COMMON_OF_REQUESTS}",
        mismatch=lambda head: _mismatch(head, spec, header),
        read=lambda heads, options: _read(name, text, heads, options, spec, header, is_stranger=is_stranger),
        likeness=lambda head: _likeness(head, spec, header),
        export=header.export,
        options=options_used(used, {**OPTIONS_OF_READERS.get(spec.reader, {}), **accepts}),
        lines_of_header=lambda head: _lines_of_header(head, spec),
        holds=(header.of,),
    )


def _lines_of_header(head: FileHead, spec: ConverterSpec) -> int | None:
    """Return how many lines of a file name its columns; None where it is not one of lines."""
    if spec.reader not in READERS_OF_LINES:
        return None
    return int(spec.reader == "named" and header_of(head, spec.table_read) != "none")


def _prepared(spec: ConverterSpec, mapping: ConverterSpec) -> ConverterSpec:
    """Return the *mapping* of rows that the SELECT of *spec* makes of what its reader yields."""
    columns = spec.source_table.columns or mapping.source_table.columns
    table = replace(spec.source_table, columns=columns, numbered=True)
    return replace(
        mapping,
        title=spec.title,
        functions={**mapping.functions, **spec.functions},
        reader=spec.reader,
        explaining_tables=spec.explaining_tables,
        preparation=Preparation(table, spec.select, needs_file=spec.scope == "trace"),
        header={**mapping.header, **spec.header},
        needs=spec.needs or mapping.needs,
        steps=(*mapping.steps, *spec.steps),
    )


@cache
def _parsed(name: str, text: str) -> tuple[_Header, ConverterSpec]:
    """Return what a definition says; raise `DefinitionError` where it is wrong."""
    match = HEADER.match(text)
    if not match:
        raise DefinitionError(f"{name}: expected a TOML header between '/* ---' and '--- */', then a SELECT")
    file = TomlFile.parsed(name, match[1], first_line=2)
    with file.located():
        header = record(_Header, {"columns": {}, **file.data} if "select" in file.data else file.data)
        shared = {key: file.data[key] for key in TABLE_KEYS if key in file.data}
        for side in header.sides:
            _require(TABLE_NAME, f"sides.{side}", side, "a name of letters, digits and underscores")
        sides = {
            side: record(_TableHeader, {**shared, **table}, f"sides.{side}").spec(numbered=False)
            for side, table in header.sides.items()
        }
    spec = ConverterSpec(
        source_table=header.spec(numbered=header.scope == "trace" or header.of == RequestStore.holds),
        select=match[2],
        explaining_tables=sides,
        **{key: getattr(header, key) for key in SPEC_KEYS},
    )
    return header, spec


def repairs_of(text: str) -> Iterator[tuple[str, str]]:
    """
    Yield the name and the meaning of each repair in the *text* of a definition: its steps and its remarks.

    >>> list(repairs_of("select ['late start: the clock of ''ce'' was wrong'] as remarks"))
    [('late start', "the clock of 'ce' was wrong")]
    """
    yield from STEP.findall(text)
    for name, meaning in REMARK.findall(text):
        yield name, meaning.replace("''", "'")


def _mismatch(head: FileHead, spec: ConverterSpec, header: _Header) -> str | None:
    """Return why *head* is not of a format, judged by its first lines; None when it is."""
    if head.is_binary:
        return "is not text"
    rows = head.rows(spec.table_read.comment)
    if not rows:
        return "has no line of data"
    if spec.reader == "columns" and not spec.table_read.options.get("any_width"):
        width, wanted = _widths(head, spec)
        if width not in wanted and not (header.extra_columns and wanted[0] < width <= MAXIMUM_COLUMNS):
            return f"has {width} columns, expected {' or '.join(map(str, wanted))}"
    # Columns of requests are sought in the whole text at once: each log of jobs is tried as one of them.
    if header.of == RequestStore.holds and _lacks_records(head, header):
        return NO_RECORD
    return _odd_rows(head, rows, spec, header)


NO_RECORD: Final = "has no line such as those of its records"


def _lacks_records(head: FileHead, header: _Header) -> bool:
    """Whether nothing in *head* is what a format's files contain."""
    return header.contains is not None and not header.contains.search(head.text)


def _odd_rows(head: FileHead, rows: Sequence[str], spec: ConverterSpec, header: _Header) -> str | None:
    """Return why *rows* are not lines of a format, None when they are."""
    if spec.reader == "named" and (found := header_of(head, spec.table_read)) != "none":
        return None if found == "own" else "names columns that it does not have"
    if header.first and 2 * sum(bool(header.first.match(row)) for row in rows) < len(rows):
        return "most of its lines look different"
    if _lacks_records(head, header):
        return NO_RECORD
    if header.distinct and not _is_distinct(rows, spec.table_read, header.distinct):
        return f"most of its lines have the same {header.distinct}"
    return None


def _is_distinct(rows: Sequence[str], table_spec: TableSpec, column: str) -> bool:
    """Whether most of *rows* have a value of their own in a column."""
    position = list(table_spec.columns).index(column)
    split = None if table_spec.delimiter == " " else table_spec.delimiter
    values = [cells[position] for cells in (row.split(split) for row in rows) if len(cells) > position]
    return 2 * len(set(values)) > len(values)


def _likeness(head: FileHead, spec: ConverterSpec, header: _Header) -> float:
    """Return how near *head* comes to a format: by the pattern of its lines, in its head, or its columns."""
    if head.is_binary:
        return 0.0
    rows = head.rows(spec.table_read.comment)
    found = [sum(bool(header.first.match(row)) for row in rows) / len(rows)] if header.first and rows else []
    if header.contains and header.contains.search(head.text):
        found.append(1.0)
    if spec.reader == "columns":
        width, wanted = _widths(head, spec)
        if width >= MINIMUM_NEAR_WIDTH:
            found.append(max(1 - abs(width - number) / NEAR_WIDTH for number in wanted))
    return max([*found, 0.0])


def _widths(head: FileHead, spec: ConverterSpec) -> tuple[int, list[int]]:
    shapes = (spec.table_read, *spec.explaining_tables.values())
    return head.width(LineLayout(spec.table_read.delimiter, spec.table_read.comment)), [
        len(shape.columns) for shape in shapes
    ]


def _read(
    name: str,
    text: str,
    heads: Sequence[FileHead],
    options: ReadOptions,
    spec: ConverterSpec,
    header: _Header,
    *,
    is_stranger: bool,
) -> Store:
    """Return a store with the jobs; raise `DefinitionError` where the SQL in the *text* is wrong."""
    if header.extra_columns:
        layout = LineLayout(spec.source_table.delimiter, spec.source_table.comment)
        width = min(max((head.width(layout) for head in heads), default=0), MAXIMUM_COLUMNS)
        spec = replace(spec, source_table=with_extra_columns(spec.source_table, width))
    store: Store | None = None
    try:
        if is_stranger:
            check_sql(spec)
        if header.of == RequestStore.holds:
            refuse_requests(heads[0].path, options)
            return read_requests(heads, spec, options)
        if options.appends:
            return append_rows(heads, spec, options)
        store = Store.create(options.target, options.engine)
        ingest(store, heads, spec, options)
    except BaseException as error:
        if store:
            store.close()
        if isinstance(error, RowsLostError) and is_stranger:
            raise DefinitionError(f"{name}: {error}: {LOST}") from error
        if isinstance(error, DefinitionError) or is_fault(error):
            line = line_of(text, error)
            raise DefinitionError(f"{name}{f':{line}' if line else ''}: {reason(error)}") from error
        raise
    return store


def check_sql(spec: ConverterSpec) -> None:
    """Raise `DefinitionError` for SQL that uses more than the tables of the source and of the store."""
    tables = [*spec.tables, *spec.beforehand, *TABLES]
    with parser() as database:
        for head, body in spec.functions.items():
            _check_function(database, head, body)
        for table in spec.beforehand.values():
            check_query(database, table.when, tables)
            check_query(database, table.select, tables)
        check_query(database, spec.select, tables)
        if spec.joined_by:
            check_query(database, f"from source where {part_condition(spec.joined_by, 0, 1)}", tables)
        for fact in spec.log_facts:
            check_query(database, f"from source where {fact.rows}", tables)
            if fact.holds:
                check_query(database, fact.holds, tables)
        if spec.preparation:
            check_query(database, spec.preparation.select, [RECORD])
        for step in spec.steps:
            check_query(database, step.when, tables)
            check_change(database, step.sql, tables)


def _check_function(database: duckdb.DuckDBPyConnection, head: str, body: str) -> None:
    """Raise `DefinitionError` for a function that reads a table, or stands in for one that others use."""
    name = head.partition("(")[0]
    if database.execute("select 1 from duckdb_functions() where function_name = ?", [name]).fetchone():
        raise DefinitionError(
            f"the function {head} has the name of one that the engine has, expected another"
        )
    check_query(database, f"select ({body}\n)", ())
