"""Read the rows of source files: batch by batch into the engine, or into a checkpoint if needed again."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple, replace
from functools import cache
from glob import escape
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Final

import duckdb

from gwa.ingest.batch import Batch, EncodedRecords, find_reader, made
from gwa.ingest.blame import FaultySelectError, is_fault, reason
from gwa.ingest.checkpoint import Checkpoint, SourceFile, head_digest, write_account
from gwa.ingest.counting import RowCounts, count_batch
from gwa.ingest.in_flight import Crew, Member, block_limits, in_order, possible_processes
from gwa.ingest.keys import Witness, write_index
from gwa.ingest.pieces import ParquetPieces, Pieces, TablePieces
from gwa.ingest.source.compressed import Source
from gwa.ingest.source.head import FileHead, entries
from gwa.ingest.source.lines import LineLayout, Reject
from gwa.ingest.spec import ConverterSpec, Preparation, TableSpec
from gwa.store.engines.config import Engine
from gwa.store.engines.duckdb import literal
from gwa.store.options import ReadOptions
from gwa.store.store import Store
from gwa.store.system import CLUSTER_KEY
from gwa.util import fingerprint
from gwa.util.filenames import as_text
from gwa.util.progress import Progress

RECORD: Final = "record"
"""The table of what a reader yields where the rows of the source are made of it."""

STAGING: Final = "staging_"
"""The prefix of the names of the views of rows that are in the engine."""


def open_checkpoint(
    store: Store, spec: ConverterSpec, options: ReadOptions, *, is_small: bool = False
) -> Checkpoint | None:
    """Open the checkpoint for the rows; None if the engine holds them until they are mapped."""
    if options.rows_folder:
        return Checkpoint(options.rows_folder, _key(spec, options), options.stored_hashes)
    # No other program reads what is in scratch space.
    return Checkpoint(store.scratch / "rows", {}) if spec.scope != "row" and not is_small else None


def _key(spec: ConverterSpec, options: ReadOptions) -> Mapping[str, object]:
    """Return all that the rows of a file depend on, but for the file."""
    tables = spec.tables
    # Columns that only some files have are not part of the definition.
    columns = {
        name: [column for column in table_spec.columns if column in spec.select]
        for name, table_spec in tables.items()
    }
    layouts = ((table_spec.delimiter, table_spec.options) for table_spec in tables.values())
    joined = (spec.joined_by, spec.log_facts)
    definition = repr(
        (
            spec.reader,
            spec.select,
            spec.functions,
            spec.beforehand,
            columns,
            spec.preparation,
            joined,
            *layouts,
        )
    )
    # A store that is appended to may have logs of several clusters.
    cluster = {"cluster": options.cluster} if options.cluster and options.stored_hashes is None else {}
    return {
        **cluster,
        "program": fingerprint.program(),
        "format": spec.title,
        "options": {name: str(value) for name, value in sorted(options.format_options.items())},
        "definition": sha256(definition.encode()).hexdigest()[:16],
    }


def define_view(store: Store, table: str, files: Sequence[Path] = (), condition: str = "true") -> None:
    """Define the view *table* of the rows in Parquet *files* and in the engine that meet a *condition*."""
    store.connection.execute(
        f"create or replace temp view {table} as select * from {rows_in(table, files)} where {condition}"
    )


def rows_in(table: str, files: Sequence[Path], options: str = "") -> str:
    """Return the relation of the rows of *table* in the engine and in Parquet *files*, read so."""
    rows = f"from {STAGING}{table}"
    if files:
        paths = ", ".join(literal(escape(str(file))) for file in files)
        # Files may lack columns that only later ones have.
        rows += f" union all by name from read_parquet([{paths}], union_by_name = true{options})"
    return f"({rows}) as rows"


def part_condition(joined_by: str, part: int, parts: int) -> str:
    """Return the condition for the rows of one of the *parts*, no two of which share a job."""
    return f"hash({joined_by}) % {parts} = {part}"


@contextmanager
def reading_progress(
    heads: Sequence[FileHead], done: Sequence[SourceFile], options: ReadOptions
) -> Iterator[Progress]:
    """Report the bytes read of all files; those of the files *done* count as read."""
    sizes = [head.path.stat().st_size for head in heads]
    label = heads[0].path.name if len(heads) == 1 else f"reading {len(heads)} files"
    with options.progress.step(label, sum(sizes)) as bar:
        if done:
            bar.advance(sum(file.bytes for file in done))
        yield bar


def read_into_checkpoint(
    store: Store,
    checkpoint: Checkpoint,
    heads: Sequence[FileHead],
    stored: int,
    spec: ConverterSpec,
    options: ReadOptions,
    crew: Crew,
) -> None:
    """Let a *crew* read the files behind *heads* that are not among those after the first *stored* ones."""
    done = checkpoint.files[stored:]

    def read(member: Member, item: tuple[int, FileHead]) -> None:
        number, head = item
        size, members = crew.at_file(member)
        with checkpoint.adding_file(number) as folder:
            hire = _loaders(head, number, folder, spec, members)
            file = read_file(member.store, head, spec, options, bar, hire, size)
            if spec.joined_by and options.stored_hashes is not None:
                file = replace(file, witnesses=_index(member.store, folder, spec))
            write_account(folder, file)

    with crew.at_work(), reading_progress(heads, done, options) as bar:
        items = enumerate(heads[len(done) :], len(checkpoint.files))
        in_order(items, crew.files, crew.member, read, lambda *_: checkpoint.add_next())
    for table in ("sources", "rejects"):
        store.connection.execute(f"truncate {table}")


def _index(store: Store, folder: Path, spec: ConverterSpec) -> list[list[Witness]]:
    """Write the index of the rows in *folder*, and return those that tell of the whole log."""
    pieces = sorted(folder.glob("*.parquet"))
    rows = rows_in("source", pieces, ", filename = 'piece'")
    number = "cast(parse_filename(piece, true) as integer)" if pieces else "0"
    return write_index(store, rows, number, spec, folder)


def _loaders(
    head: FileHead, number: int, folder: Path, spec: ConverterSpec, members: Callable[[int], Member]
) -> Callable[[int], "Loader"]:
    """Return what makes loaders of a file into Parquet files in *folder*, one for each of the *members*."""
    table, table_spec = table_for(head, spec)
    preparation, places = spec.preparation if table == "source" else None, count()

    def hire(worker: int) -> Loader:
        member = members(worker)
        database = member.store.connection
        database.execute(f"set variable file_no = {number}")
        pieces = ParquetPieces(database, table_spec, folder, places, worker)
        return Loader(member.store, member.folder, pieces, preparation)

    return hire


class Loader:
    """
    What loads the batches of a file over the connection of a *store*, one after the other.

    Their rows go to *pieces*, or to those that a *preparation* makes rows of.
    """

    def __init__(
        self, store: Store, folder: Path, pieces: Pieces, preparation: Preparation | None = None
    ) -> None:
        """Load batches with temporary files in *folder*."""
        self.store, self._folder, self._pieces = store, folder, pieces
        self._preparing = _Preparing(store, preparation, pieces) if preparation else None
        self._further, self._tasks = 0, pieces.further_tasks

    def load(self, batch: Batch) -> None:
        """Append the rows of *batch*, on any thread."""
        preparing = self._preparing
        batch.load(preparing.records if preparing else self._pieces, self._folder)
        if preparing and not preparing.needs_file:
            self._further += preparing.flush()

    def settle(self) -> int:
        """Do what is done in the order of batches; return how many rows there are beyond those read."""
        self._pieces.settle()
        tasks = self._pieces.further_tasks
        further, self._further, self._tasks = self._further + tasks - self._tasks, 0, tasks
        return further

    def finish(self) -> int:
        """Make rows of the records of the whole file where that takes all; return as `settle` does."""
        if not (self._preparing and self._preparing.needs_file):
            return 0
        self._further += self._preparing.flush()
        return self.settle()


def read_file(
    store: Store,
    head: FileHead,
    spec: ConverterSpec,
    options: ReadOptions,
    bar: Progress,
    hire: Callable[[int], Loader],
    size: int = 1,
) -> SourceFile:
    """
    Read one file into *store* by up to *size* loaders; return its description, its rejects are in the store.

    *hire* makes a loader by its number, from 0, that of the connection of *store*.
    """
    table, table_spec = table_for(head, spec)
    if spec.preparation and table == "source":
        table_spec = spec.preparation.record_table
    table_spec = replace(table_spec, options={**options.format_options, **table_spec.options})
    limits = block_limits(head, size, options.engine or Engine())
    source = Source(head.path, *limits, possible_processes(store, options.engine))
    counts, position, hired = RowCounts(), 0, cache(hire)
    rejects = list[Reject]()

    def settle(loader: Loader, batch: Batch) -> None:
        nonlocal position
        rejects.extend(count_batch(loader.store, head.path, batch, counts, strict=options.strict))
        counts.rows += loader.settle()
        bar.advance(source.position - position)
        position = source.position

    try:
        batches = iter(find_reader(spec.reader)(source, table_spec))
        if size == 1:  # the thread that reads makes the next one while one is loaded
            batches = map(made, batches)
        in_order(batches, size, hired, lambda loader, batch: loader.load(batch), settle)
        counts.rows += hired(0).finish()
        rejects += _count_truncation(store, source, counts, strict=options.strict)
        file = describe_file(head, source, spec.table_read.comment, table, counts, options.cluster)
        bar.advance(source.size - position)
    finally:
        source.close()
    return replace(file, rejects=[astuple(reject) for reject in rejects])


class _Preparing:
    """The *records* that are read where rows are made of them, and the *pieces* that these rows go to."""

    def __init__(self, store: Store, preparation: Preparation, pieces: Pieces) -> None:
        self.needs_file, self.store, self.pieces = preparation.needs_file, store, pieces
        self.records = TablePieces(store.connection, preparation.record_table, RECORD)
        # Columns that the SELECT lacks are missing.
        self.rows = (
            f"from {STAGING}source_empty union all by name"
            f" select *, getvariable('file_no')::integer as file_no from ({preparation.select})"
        )

    def flush(self) -> int:
        """Make rows of the records read, forget these, and return how many more rows there are."""
        (records,) = self.store.row(f"select count(*) from {RECORD}")
        try:
            rows = self.pieces.append(f"select {', '.join(self.pieces.columns)} from ({self.rows})")
        except duckdb.Error as error:
            if not is_fault(error):
                raise
            raise FaultySelectError(reason(error)) from error
        self.records.clear()
        return rows - int(records)


def describe_file(
    head: FileHead, source: Source, comment_mark: str, table: str, counts: RowCounts, cluster: str | None
) -> SourceFile:
    """Describe the file behind *head*, read from *source* into *table*, with the *counts* of its rows."""
    said = entries(head.comments(comment_mark)) if comment_mark else ()
    return SourceFile(
        file=as_text(head.path.name),
        folder=as_text(head.path.parent.name),
        name=as_text(head.name),
        bytes=source.size,
        modified=head.path.stat().st_mtime_ns,
        begins=head_digest(head),
        sha256=source.sha256(),
        header=(*said, (CLUSTER_KEY, cluster)) if cluster else said,
        table=table,
        rows=counts.rows,
        comments=counts.comments,
        rejected=counts.rejected,
        rejects=(),
    )


def table_for(head: FileHead, spec: ConverterSpec) -> tuple[str, TableSpec]:
    """Return the table that a file belongs to, judged by a pattern or the number of cells of its lines."""
    for name, table_spec in spec.explaining_tables.items():
        if contains := table_spec.options.get("contains"):
            belongs = re.search(contains, head.text) is not None
        elif first := table_spec.options.get("first"):
            rows = head.rows(table_spec.comment)
            belongs = 2 * sum(bool(re.match(first, row)) for row in rows) > len(rows)
        else:
            layout = LineLayout(table_spec.delimiter, table_spec.comment)
            belongs = head.width(layout) == len(table_spec.columns)
        if belongs:
            return name, table_spec
    return "source", spec.source_table


def _count_truncation(store: Store, source: Source, counts: RowCounts, *, strict: bool) -> Sequence[Reject]:
    """Count the end of truncated compressed data as one rejected row, and return it."""
    if not source.broken:
        return ()
    rejects = [Reject(counts.rows + 1, source.broken, "")]
    end = EncodedRecords(TableSpec({}), total=1, rejects=rejects)
    return count_batch(store, source.path, end, counts, strict=strict)
