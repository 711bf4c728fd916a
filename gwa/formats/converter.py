"""A definition in ``converters/`` makes a format that can be read: see `gwa.formats.definition`."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

import duckdb

from gwa.errors import DefinitionError, RowsLostError
from gwa.formats.base import Format, refuse_requests
from gwa.formats.definition import MAXIMUM_COLUMNS, TABLES, DefinitionHeader, parse_definition
from gwa.formats.format_options import ZONE, options_used
from gwa.formats.likeness import likeness, lines_of_header, mismatch
from gwa.ingest.appending import append_rows
from gwa.ingest.blame import is_fault, line_of, reason
from gwa.ingest.clocks import LOCAL
from gwa.ingest.contradictions import SLACK
from gwa.ingest.jobstats import FUNCTIONS as JOBSTATS
from gwa.ingest.pipeline import ingest
from gwa.ingest.requests import read_requests
from gwa.ingest.source.head import FileHead
from gwa.ingest.source.lines import LineLayout
from gwa.ingest.spec import ConverterSpec, Preparation, with_extra_columns
from gwa.ingest.staging import RECORD, part_condition
from gwa.store.engines.functions import OF_CONVERTERS
from gwa.store.engines.restricted import check_change, check_query, parser
from gwa.store.options import ReadOptions
from gwa.store.requests import RequestStore
from gwa.store.store import Store

LOST: Final = (
    'with scope = "row" a SELECT makes a job of each row; with scope = "trace" the column rows counts those'
    " of a job, and reject refuses one with a reason"
)
"""What to do where rows are lost."""

OPTIONS_OF_READERS: Final = {"named": {"columns": "names of columns"}}
"""Options of all formats with that reader, and what they accept."""

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


def definition(name: str, text: str, text_of: Callable[[str], str], *, is_stranger: bool = True) -> Format:
    """
    Return the format that a definition describes; raise `DefinitionError` where it is wrong.

    *text_of* returns the text of the definition of another format, of which it may use the SELECT.
    The SQL of a stranger's definition is checked before it runs.
    """
    header, spec = parse_definition(name, text)
    accepts, used = header.accepts, spec.sql
    if header.select:
        other, mapping = parse_definition(f"{header.select}.sql", text_of(header.select))
        if other.select:
            raise DefinitionError(f"{name}: the SELECT of '{header.select}' is that of '{other.select}'")
        accepts, used = {**other.accepts, **accepts}, f"{used}\n{mapping.sql}"
        spec = _prepared(spec, mapping)
    of_readers = OPTIONS_OF_READERS.get(spec.reader, {})
    of_clocks = {"zone": ZONE} if f"{LOCAL}(" in used else {}
    return Format(
        name=Path(name).stem,
        title=header.title,
        names=tuple(pattern.lower() for pattern in header.files),
        notes=f"{header.notes}{COMMON if header.of == Store.holds else COMMON_OF_REQUESTS}",
        mismatch=lambda head: mismatch(head, spec, header),
        read=lambda heads, options: _read(name, text, heads, options, spec, header, is_stranger=is_stranger),
        likeness=lambda head: likeness(head, spec, header),
        export=header.export,
        options=options_used(used, {**of_readers, **of_clocks, **accepts}),
        lines_of_header=lambda head: lines_of_header(head, spec),
        holds=(header.of,),
    )


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


def _read(
    name: str,
    text: str,
    heads: Sequence[FileHead],
    options: ReadOptions,
    spec: ConverterSpec,
    header: DefinitionHeader,
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
    """
    Raise `DefinitionError` for SQL that uses more than the tables of the source and of the store.

    Functions are those that all SQL of others may use, the options of the format, which are variables, and
    what the definition and `gwa.ingest` define for it.
    """
    tables = [*spec.tables, *spec.beforehand, *TABLES]
    functions = {*OF_CONVERTERS, LOCAL, *JOBSTATS, *map(_name, spec.functions)}
    with parser() as database:
        query = partial(check_query, database, tables=tables, functions=functions)
        for head, body in spec.functions.items():
            _check_function(database, head, body, functions)
        for table in spec.beforehand.values():
            query(table.when)
            query(table.select)
        query(spec.select)
        if spec.joined_by:
            query(f"from source where {part_condition(spec.joined_by, 0, 1)}")
        for fact in spec.log_facts:
            query(f"from source where {fact.rows}")
            if fact.holds:
                query(fact.holds)
        if spec.preparation:
            query(spec.preparation.select, tables=[RECORD])
        for step in spec.steps:
            query(step.when)
            check_change(database, step.sql, tables, functions)


def _name(head: str) -> str:
    """Return the name of a function with the *head* ``name(arguments)``."""
    return head.partition("(")[0].strip().lower()


def _check_function(
    database: duckdb.DuckDBPyConnection, head: str, body: str, functions: Collection[str]
) -> None:
    """Raise `DefinitionError` for a function that reads a table, or stands in for one that others use."""
    if database.execute("select 1 from duckdb_functions() where function_name = ?", [_name(head)]).fetchone():
        raise DefinitionError(
            f"the function {head} has the name of one that the engine has, expected another"
        )
    check_query(database, f"select ({body}\n)", (), functions)
