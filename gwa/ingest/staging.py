"""
Read the rows of source files into tables of the engine, and keep them where they are needed again.

While a file is read its rows pass through a small table; another takes them from there, a batch at a time.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from glob import escape
from hashlib import sha256
from pathlib import Path
from typing import Final, TypeVar

from gwa.ingest.batch import Records, reader
from gwa.ingest.checkpoint import Checkpoint, SourceFile, digest, finish
from gwa.ingest.counting import RowCounts, count_batch
from gwa.ingest.source.compressed import Source
from gwa.ingest.source.head import FileHead, entries
from gwa.ingest.source.lines import Layout, Reject
from gwa.ingest.spec import ConverterSpec, TableSpec
from gwa.store.engines.duckdb import literal
from gwa.store.options import ReadOptions
from gwa.store.store import Store
from gwa.util import fingerprint
from gwa.util.progress import Progress

PASSING: Final = "passing_"
"""What the names of the tables begin with through which rows pass."""

PIECE: Final = 250_000
"""So many rows, at least, stand in a file in which rows are kept, unless there are no more."""

T = TypeVar("T")


def keep(store: Store, recipe: ConverterSpec, reading: ReadOptions) -> Checkpoint | None:
    """Return where rows are to be kept; None where each can become a job at once and is not needed again."""
    if not reading.rows and recipe.scope == "row":
        return None
    shapes = {"source": recipe.shape, **recipe.sides}
    # Columns that only some files have are no part of the definition.
    columns = {name: [one for one in shape.columns if one in recipe.select] for name, shape in shapes.items()}
    said = repr(
        (recipe.reader, recipe.select, columns, *((one.delimiter, one.options) for one in shapes.values()))
    )
    key = {
        "program": fingerprint.program(),
        "format": recipe.title,
        "options": {name: str(value) for name, value in sorted(reading.options.items())},
        "definition": sha256(said.encode()).hexdigest()[:16],
    }
    return Checkpoint(reading.rows or store.scratch / "rows", key, reading.already)


def show(store: Store, table: str, pieces: Sequence[Path]) -> None:
    """Let *table* be the rows of *pieces*, or else those that pass by."""
    rows = f"from {PASSING}{table}"
    if pieces:
        files = ", ".join(literal(escape(str(piece))) for piece in pieces)
        # Files may lack columns that only later ones have.
        rows += f" union all by name from read_parquet([{files}], union_by_name = true)"
    store.connection.execute(f"create or replace temp view {table} as {rows}")


@contextmanager
def watching(
    heads: Sequence[FileHead], done: Sequence[SourceFile], reading: ReadOptions
) -> Iterator[Progress]:
    """Tell of bytes that are read, of all; those of files that were read before count as well."""
    sizes = [head.path.stat().st_size for head in heads]
    label = heads[0].path.name if len(heads) == 1 else f"reading {len(heads)} files"
    with reading.progress.step(label, sum(sizes)) as bar:
        if done:
            bar.advance(sum(part.bytes for part in done))
        yield bar


def read_all(
    store: Store,
    kept: Checkpoint,
    heads: Sequence[FileHead],
    already: int,
    recipe: ConverterSpec,
    reading: ReadOptions,
) -> None:
    """Read the files behind *heads* whose rows are not kept yet."""
    done = kept.parts[already:]
    with watching(heads, done, reading) as bar:
        for head in heads[len(done) :]:
            store.connection.execute(f"set variable file_no = {len(kept.parts)}")
            with kept.adding() as folder:
                finish(folder, _kept_file(store, head, folder, recipe, reading, bar))
    for table in ("sources", "rejects"):
        store.connection.execute(f"truncate {table}")


def _kept_file(
    store: Store, head: FileHead, folder: Path, recipe: ConverterSpec, reading: ReadOptions, bar: Progress
) -> SourceFile:
    """Read one file into Parquet files in *folder*."""

    def flush(table: str) -> None:
        if store.row(f"select count(*) from {PASSING}{table}")[0]:
            piece = folder / f"{len(list(folder.iterdir())):06}.parquet"
            store.connection.execute(
                f"copy {PASSING}{table} to {literal(str(piece))} (format parquet, compression lz4)"
            )

    return read_file(store, head, recipe, reading, bar, flush, PIECE)


def read_file(
    store: Store,
    head: FileHead,
    recipe: ConverterSpec,
    reading: ReadOptions,
    bar: Progress,
    take: Callable[[str], None],
    together: int = 1,
) -> SourceFile:
    """
    Read one file and return its account; its rejects are in the store.

    *take* is told the table whose passing rows it is to take, *together* or more at a time but the last.
    """
    table, shape = _table_for(head, recipe)
    shape = replace(shape, options={**reading.options, **shape.options})
    source, count, seen, waiting = Source(head.path), RowCounts(), 0, 0
    (before,) = store.row("select count(*) from rejects")
    try:
        for batch in ahead(iter(reader(recipe.reader)(source, shape))):
            batch.load(store.connection, f"{PASSING}{table}", store.scratch)
            count_batch(store, head.path, batch, count, strict=reading.strict)
            waiting += batch.total
            if waiting >= together:
                _taken(store, table, take)
                waiting = 0
            bar.advance(source.position - seen)
            seen = source.position
        _taken(store, table, take)
        _broken_off(store, source, count, strict=reading.strict)
        part = _part(head, source, recipe.shape.comment, table, count)
        bar.advance(source.size - seen)
    finally:
        source.close()
    return replace(part, rejects=store.rows(f"select line, reason, text from rejects offset {before}"))


def _taken(store: Store, table: str, take: Callable[[str], None]) -> None:
    """Let the rows that wait be taken, and make room for others."""
    take(table)
    name = f"{PASSING}{table}"
    store.connection.execute(f"create or replace temp table {name} as select * from {name} limit 0")


def _part(head: FileHead, source: Source, mark: str, table: str, count: RowCounts) -> SourceFile:
    return SourceFile(
        file=head.path.name,
        folder=head.path.parent.name,
        name=head.name,
        bytes=source.size,
        modified=head.path.stat().st_mtime_ns,
        begins=digest(head),
        sha256=source.sha256(),
        header=entries(head.comments(mark)) if mark else (),
        table=table,
        rows=count.rows,
        comments=count.comments,
        rejected=count.rejected,
        rejects=(),
    )


def _table_for(head: FileHead, recipe: ConverterSpec) -> tuple[str, TableSpec]:
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


def _broken_off(store: Store, source: Source, count: RowCounts, *, strict: bool) -> None:
    """Count compressed data that breaks off as one rejected row."""
    if source.broken:
        lost = Records(TableSpec({}), total=1, rejects=[Reject(count.rows + 1, source.broken, "")])
        count_batch(store, source.path, lost, count, strict=strict)


def ahead(items: Iterator[T]) -> Iterator[T]:
    """Yield *items*, making the next one in a thread while the current one is used."""
    with ThreadPoolExecutor(1) as pool:
        following = pool.submit(next, items, None)
        while (item := following.result()) is not None:
            following = pool.submit(next, items, None)
            yield item
