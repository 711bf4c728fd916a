"""
From source files to the jobs of a store: read, map, clean, count.

A `Recipe` says how the lines of a format become a table ``source`` and which SELECT turns that into
jobs. Rows flow through in parts, so memory does not grow with the files, and every row is
accounted for: job, fold, reject or comment.
"""

import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final, TypeVar

import duckdb

from gwa.cleaning import by_submission, insert, needs_numbers, numbered
from gwa.engine import passing
from gwa.errors import DefinitionError, StrictError, TraceError
from gwa.readers.batch import Records, Shape, create, reader
from gwa.readers.compressed import Source
from gwa.readers.files import distinct, in_order, missing
from gwa.readers.head import Head, entries
from gwa.readers.lines import Layout, Reject
from gwa.reading import Reading
from gwa.recipe import Recipe
from gwa.schema import NAMES
from gwa.store import Store
from gwa.system import Header, from_header, overridden
from gwa.tally import SHOWN, Count, settle, tally

SIDE: Final = ("source_id", "preceding_job", "think_time", "rows", "reject", "remarks", "file_no", "line")
"""
What a SELECT may yield beside the 29 fields: for tables beside ``jobs``, and for the account.

``remarks`` is a list of texts ``name: meaning`` of what was decided for a job; they are counted as repairs.
"""

ROOM: Final = {"row": 200, "trace": 300}
"""Megabytes for the engine while a source is read: a part of its rows, or all of them to be grouped."""

T = TypeVar("T")


@dataclass(frozen=True)
class Mapped:
    """A SELECT over the source, what it *yielded*, the prefix of its tables, and the title of the format."""

    select: str
    yielded: Sequence[str]
    home: str
    title: str


def ingest(store: Store, heads: Sequence[Head], recipe: Recipe, reading: Reading) -> None:
    """
    Fill an empty *store* with the jobs of the files behind *heads*.

    Raise `StrictError` at the first bad row when *reading* is strict, `TraceError` when no job is left.
    """
    heads = _files(store, heads)
    mark = recipe.shape.comment
    headers = [entries(head.comments(mark)) if mark else () for head in heads]
    merged = overridden(_merged([*headers, tuple(recipe.header.items())]), reading.system or {})
    store.set_header(merged)
    starts = _starts(heads, headers, merged) if recipe.relative else [0.0] * len(heads)
    mapping = _prepare(store, recipe, merged, reading)
    total = Count()
    with passing(store.connection, reading.engine, ROOM[recipe.scope]):
        with _loading(store, recipe) as loader:
            for number, (head, start) in enumerate(zip(heads, starts, strict=True)):
                loader.execute(f"set variable start = cast({start!r} as double)")
                loader.execute(f"set variable file_no = {number}")
                total.add(_file(store, loader, head, recipe, mapping, reading))
        if recipe.scope == "trace":
            total.add(map_all(store, mapping, heads, strict=reading.strict))
        settle(store, heads, recipe.title, total, recipe.steps)


@contextmanager
def _loading(store: Store, recipe: Recipe) -> Iterator[duckdb.DuckDBPyConnection]:
    """
    Give the connection by which rows are loaded.

    Those of a whole trace are loaded by one transaction of its own: then they go to disk in full groups,
    compressed, and not to a log first, which takes half the time.
    """
    if recipe.scope != "trace":
        yield store.connection
        return
    with store.connection.cursor() as loader:
        loader.begin()
        yield loader
        loader.commit()


def _merged(headers: Sequence[Header]) -> Header:
    """Return the lines of the first header and what later ones add to it."""
    lines = dict.fromkeys(line for header in headers for line in header)
    return tuple(lines)


def _starts(heads: Sequence[Head], headers: Sequence[Header], merged: Header) -> list[float]:
    """Return each file's time zero; a file that does not say shares the one that others agree on."""
    stated = [from_header(header).start for header in headers]
    known = {start for start in stated if start is not None}
    if len(known) > 1 and None in stated:
        silent = heads[stated.index(None)].path
        message = f"{silent}: its header has no UnixStartTime, and the other files disagree on theirs"
        raise TraceError(message)
    shared = from_header(merged).start or 0.0
    return [shared if start is None or len(known) == 1 else start for start in stated]


def _files(store: Store, heads: Sequence[Head]) -> list[Head]:
    """Return the files to be read, in order; say which were given twice and which were not given."""
    kept, again = distinct(in_order(heads))
    for head, twin in again:
        same = f"{head.path.name} is the same file as {twin.path.name}; read once"
        store.repaired("duplicate file", same, 1)
    for what, count in missing(kept).items():
        store.repaired("missing part", what, count)
    return kept


def _prepare(store: Store, recipe: Recipe, header: Header, reading: Reading) -> Mapped:
    """Make the tables of the source and, from what the SELECT yields, the table of jobs."""
    database = store.connection
    if recipe.scope == "trace":
        # All rows of the source are kept for a while: on disk, where they are compressed.
        database.execute(f"attach '{store.scratch}/stage.duckdb' as stage")
    home = "stage.main." if recipe.scope == "trace" else ""
    for name, shape in {"source": recipe.shape, **recipe.sides}.items():
        create(database, f"{home}{name}", shape)
        if recipe.scope == "trace":
            database.execute(f"create temp view {name} as select * from {home}{name}")
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
    return Mapped(recipe.select, yielded, home, recipe.title)


def _file(
    store: Store,
    loader: duckdb.DuckDBPyConnection,
    head: Head,
    recipe: Recipe,
    mapping: Mapped,
    reading: Reading,
) -> Count:
    """Read one file into the store and return its account."""
    table, shape = _table_for(head, recipe)
    shape = replace(shape, options={**reading.options, **shape.options})
    source, count, seen = Source(head.path), Count(), 0
    try:
        with reading.progress.step(head.path.name, source.size) as bar:
            for batch in ahead(iter(reader(recipe.reader)(source, shape))):
                batch.load(loader, f"{mapping.home}{table}", store.scratch)
                tally(store, head.path, batch, count, strict=reading.strict)
                if recipe.scope == "row":
                    insert(store, f"({mapping.select})", mapping.yielded)
                    store.connection.execute(
                        "create or replace temp table source as select * from source limit 0"
                    )
                bar.advance(source.position - seen)
                seen = source.position
        _broken_off(store, source, count, strict=reading.strict)
        store.insert(
            "sources",
            [(head.path.name, source.size, source.sha256(), count.rows, count.comments, count.rejected)],
        )
    finally:
        source.close()
    if table != "source":
        count.folded = count.rows - count.comments - count.rejected
    return count


def _table_for(head: Head, recipe: Recipe) -> tuple[str, Shape]:
    """Return the table that a file belongs to: by a pattern of its lines, or their columns."""
    for name, shape in recipe.sides.items():
        if first := shape.options.get("first"):
            rows = head.rows(shape.comment)
            belongs = 2 * sum(bool(re.match(first, row)) for row in rows) > len(rows)
        else:
            belongs = head.width(Layout(shape.delimiter, shape.comment)) == len(shape.columns)
        if belongs:
            return name, shape
    return "source", recipe.shape


def _broken_off(store: Store, source: Source, count: Count, *, strict: bool) -> None:
    """Count compressed data that breaks off as one rejected row."""
    if source.broken:
        lost = Records(Shape({}), total=1, rejects=[Reject(count.rows + 1, source.broken, "")])
        tally(store, source.path, lost, count, strict=strict)


def map_all(store: Store, mapping: Mapped, heads: Sequence[Head], *, strict: bool) -> Count:
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
    refused = Count(folded=given - mapped)
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


def ahead(items: Iterator[T]) -> Iterator[T]:
    """Yield *items*, making the next one in a thread while the current one is used."""
    with ThreadPoolExecutor(1) as pool:
        following = pool.submit(next, items, None)
        while (item := following.result()) is not None:
            following = pool.submit(next, items, None)
            yield item
