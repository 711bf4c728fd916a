"""
From source files to the jobs of a store: read, map, clean, count.

A `ConverterSpec` says how the lines of a format become a table ``source`` and which SELECT turns that into
jobs. Rows flow through in parts, so memory does not grow with the files, and every row is
accounted for: job, fold, reject or comment.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import duckdb

from gwa.errors import DefinitionError, StrictError, TraceError
from gwa.ingest.batch import create
from gwa.ingest.checkpoint import Checkpoint, SourceFile
from gwa.ingest.cleaning import by_submission, insert, needs_numbers, numbered
from gwa.ingest.counting import SHOWN, RowCounts, finish_store
from gwa.ingest.source.head import FileHead, entries
from gwa.ingest.source.parts import distinct, in_order, missing
from gwa.ingest.spec import ConverterSpec
from gwa.ingest.staging import PASSING, keep, read_all, read_file, show, watching
from gwa.store.engines.duckdb import passing
from gwa.store.options import ReadOptions
from gwa.store.schema import NAMES
from gwa.store.store import Store
from gwa.store.system import Header, from_header, overridden

SIDE: Final = ("source_id", "preceding_job", "think_time", "rows", "reject", "remarks", "file_no", "line")
"""
What a SELECT may yield beside the 29 fields: for tables beside ``jobs``, and for the account.

``remarks`` is a list of texts ``name: meaning`` of what was decided for a job; they are counted as repairs.
"""

ROOM: Final = {"row": 200, "trace": 300}
"""Megabytes for the engine while a source is read: a part of its rows, or all of them to be grouped."""


@dataclass(frozen=True)
class Mapped:
    """A SELECT over the source, what it *yielded*, and the title of the format."""

    select: str
    yielded: Sequence[str]
    title: str


def ingest(store: Store, heads: Sequence[FileHead], recipe: ConverterSpec, reading: ReadOptions) -> None:
    """
    Fill an empty *store* with the jobs of the files behind *heads*, and of those whose rows are kept.

    Raise `StrictError` at the first bad row when *reading* is strict, `TraceError` when no job is left.
    """
    kept, already = keep(store, recipe, reading), len(reading.already or ())
    earlier = kept.parts[:already] if kept else []
    fresh = _files(store, [part.head for part in earlier], heads)
    mark = recipe.shape.comment
    headers = [
        *(tuple(part.header) for part in earlier),
        *(entries(head.comments(mark)) if mark else () for head in fresh),
    ]
    files = [*(part.head for part in earlier), *fresh]
    merged = overridden(_merged([*headers, tuple(recipe.header.items())]), reading.system or {})
    store.set_header(merged)
    starts = _starts(files, headers, merged) if recipe.relative else [0.0] * len(files)
    mapping = _prepare(store, recipe, merged, reading)
    total = RowCounts()
    with passing(store.connection, reading.engine, ROOM[recipe.scope]):
        if kept:
            kept.begin(fresh, already)
            read_all(store, kept, fresh, already, recipe, reading)
            total.add(_map_kept(store, kept, recipe, mapping, starts))
        else:
            total.add(_map_passing(store, fresh, recipe, mapping, starts, reading))
        if recipe.scope == "trace":
            total.add(map_all(store, mapping, files, strict=reading.strict))
        finish_store(store, files, recipe.title, total, recipe.steps)


def _map_passing(
    store: Store,
    heads: Sequence[FileHead],
    recipe: ConverterSpec,
    mapping: Mapped,
    starts: Sequence[float],
    reading: ReadOptions,
) -> RowCounts:
    """Map the rows of files as they pass by, and return their account."""
    total = RowCounts()

    def take(table: str) -> None:
        del table
        insert(store, f"({mapping.select})", mapping.yielded)

    with watching(heads, [], reading) as bar:
        for number, (head, start) in enumerate(zip(heads, starts, strict=True)):
            _begin(store, number, start)
            part = read_file(store, head, recipe, reading, bar, take)
            store.insert("sources", [_source(part)])
            total.add(_count(part))
    return total


def _map_kept(
    store: Store, kept: Checkpoint, recipe: ConverterSpec, mapping: Mapped, starts: Sequence[float]
) -> RowCounts:
    """Show the SELECT the rows that are kept, all or piece by piece, and return the account of the files."""
    total = RowCounts()
    for part in kept.parts:
        store.insert("sources", [_source(part)])
        store.insert("rejects", [(part.file, *reject) for reject in part.rejects])
        total.add(_count(part))
    if recipe.scope == "trace":
        for table in ("source", *recipe.sides):
            show(store, table, kept.pieces(table))
        return total
    for number, start in enumerate(starts):
        _begin(store, number, start)
        for piece in kept.pieces("source", number):
            show(store, "source", [piece])
            insert(store, f"({mapping.select})", mapping.yielded)
    return total


def _begin(store: Store, number: int, start: float) -> None:
    store.connection.execute(f"set variable start = cast({start!r} as double)")
    store.connection.execute(f"set variable file_no = {number}")


def _count(part: SourceFile) -> RowCounts:
    """Return the account of a file; what only explains other files is folded into their jobs."""
    folded = 0 if part.table == "source" else part.rows - part.comments - part.rejected
    return RowCounts(part.rows, part.comments, part.rejected, folded)


def _source(part: SourceFile) -> tuple[object, ...]:
    return part.file, part.bytes, part.sha256, part.rows, part.comments, part.rejected


def _merged(headers: Sequence[Header]) -> Header:
    """Return the lines of the first header and what later ones add to it."""
    lines = dict.fromkeys(line for header in headers for line in header)
    return tuple(lines)


def _starts(heads: Sequence[FileHead], headers: Sequence[Header], merged: Header) -> list[float]:
    """Return each file's time zero; a file that does not say shares the one that others agree on."""
    stated = [from_header(header).start for header in headers]
    known = {start for start in stated if start is not None}
    if len(known) > 1 and None in stated:
        silent = heads[stated.index(None)].path
        message = f"{silent}: its header has no UnixStartTime, and the other files disagree on theirs"
        raise TraceError(message)
    shared = from_header(merged).start or 0.0
    return [shared if start is None or len(known) == 1 else start for start in stated]


def _files(store: Store, earlier: Sequence[FileHead], heads: Sequence[FileHead]) -> list[FileHead]:
    """Return the files to be read, in order; say which were given twice and which were not given."""
    kept, again = distinct(in_order(heads))
    for head, twin in again:
        same = f"{head.path.name} is the same file as {twin.path.name}; read once"
        store.repaired("duplicate file", same, 1)
    for what, count in missing([*earlier, *kept]).items():
        store.repaired("missing part", what, count)
    return kept


def _prepare(store: Store, recipe: ConverterSpec, header: Header, reading: ReadOptions) -> Mapped:
    """Make the tables of the source and, from what the SELECT yields, the table of jobs."""
    database = store.connection
    for name, shape in {"source": recipe.shape, **recipe.sides}.items():
        create(database, f"{PASSING}{name}", shape)
        show(store, name, [])
    for name, value in {
        "start": 0.0,
        "file_no": 0,
        "zone": from_header(header).timezone.key,
        **reading.options,
    }.items():
        database.execute(f"set variable {name} = $value", {"value": value})
    try:
        yielded = [row[0] for row in store.rows(f"describe {recipe.select}")]
    except duckdb.Error as error:
        raise DefinitionError(f"{recipe.title}: {error}") from error
    unknown = set(yielded) - set(NAMES) - set(SIDE)
    if unknown:
        message = f"{recipe.title}: its SELECT yields '{min(unknown)}', which is no field of GWF"
        raise DefinitionError(message)
    said = dict(reversed(header))
    constants = {name: said[key] for name, key in recipe.from_header.items() if said.get(key)}
    store.begin(["job_id", *yielded], {**recipe.constants, **constants})
    return Mapped(recipe.select, yielded, recipe.title)


def map_all(store: Store, mapping: Mapped, heads: Sequence[FileHead], *, strict: bool) -> RowCounts:
    """Map a whole source to jobs and return how many rows were folded and refused; none may be lost."""
    database, select, yielded = store.connection, mapping.select, mapping.yielded
    if needs_numbers(yielded):
        select = by_submission(f"({select})", yielded)
    # Read twice and dropped, so not worth being compressed; what memory does not hold is spilled.
    try:
        database.execute(f"create temp table mapped as {select}")
    except duckdb.ConversionException as error:
        raise DefinitionError(f"{mapping.title}: {str(error).splitlines()[0]}") from error
    rows = "cast(sum(rows) as bigint)" if "rows" in yielded else "count(*)"
    covered, mapped = store.row(f"select {rows}, count(*) from mapped")
    given = store.row("select count(*) as n from source")[0]
    if (covered or 0) != given:
        message = (
            f"{heads[0].path}: {given} rows were read, but {covered} became jobs or were folded or refused"
        )
        raise TraceError(message)
    refused = RowCounts(folded=given - mapped)
    if "reject" in yielded:
        bad = store.rows("select file_no, line, reject from mapped where reject is not null order by all")
        if strict and bad:
            raise StrictError(f"{heads[bad[0][0]].path}:{bad[0][1]}: {bad[0][2]}")
        store.insert(
            "rejects", [(heads[number].path.name, line, why, "") for number, line, why in bad[:SHOWN]]
        )
        refused.rejected = len(bad)
        database.execute("delete from mapped where reject is not null")
    if needs_numbers(yielded):
        insert(store, numbered("mapped"), ["job_id", *yielded])
    else:
        insert(store, "mapped", yielded)
    database.execute("drop table mapped")
    return refused
