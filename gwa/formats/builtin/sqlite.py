"""
SQLite, as the Grid Workloads Archive publishes its traces: one table ``Jobs``.

Missing is NULL; -1 and empty text are read as missing too, unless gwa wrote the file: then header,
account and repairs stand in ``gwa_metadata``. Nothing in a file is executed: ``Jobs`` must be a plain
table, and it is only ever read from the first row to the last.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

import duckdb

from gwa.errors import OutputError, TraceError
from gwa.formats.base import Format, new_store, require_match
from gwa.formats.builtin._cells import cell_text
from gwa.formats.builtin._columns import fields_of, note_ignored, refuse_packed_name, source_rows
from gwa.formats.builtin._sealed import check, remark_unsealed
from gwa.ingest.batch import EncodedRecords
from gwa.ingest.cleaning import insert_jobs
from gwa.ingest.counting import RowCounts, count_batch, finish_store
from gwa.ingest.source.head import FileHead
from gwa.ingest.source.sqlite import has_table, read_only, reason_against
from gwa.ingest.spec import TableSpec
from gwa.store.metadata import METADATA_KEY, pack, provenance_in, unpack
from gwa.store.options import ReadOptions
from gwa.store.schema import BY_NAME, EXTENSION_NAMES, FIELDS, Field
from gwa.store.store import Store
from gwa.store.system import overridden
from gwa.store.versions import refuse_newer
from gwa.util import seal
from gwa.util.atomic import whole

BATCH_ROWS: Final = 20_000
"""Rows held in memory at a time."""

TITLES: Final = {"n_procs": "NProc", "average_cpu_time": "UsedCPUTime", "used_memory": "UsedMemory"}
"""Columns whose names differ between the archive's SQLite edition and its text."""

TIMES: Final = ("submit_time", "wait_time", "run_time")
"""Columns that are INTEGER in the archive's edition, although they may hold fractions."""

CHANGES: Final = slice(24, 28)
"""Where in a file its changes are counted."""

WRITTEN_ONCE: Final = bytes([0, 0, 0, 1])

NOTE_TABLE: Final = "gwa_metadata"
EXTRA_TABLES: Final = {
    "source_ids": ("gwa_source_ids", ("job_id", "source_id")),
    "dependencies": ("gwa_dependencies", ("job_id", "preceding_job", "think_time")),
}
"""Tables and columns that gwa adds to Jobs."""


def mismatch(head: FileHead) -> str | None:
    """Return the reason why *head* is not that of a SQLite file of jobs, or None."""
    return reason_against(head, _field_positions)


def _columns(database: sqlite3.Connection) -> list[str]:
    """Return the columns of Jobs; raise `ValueError` if there is no such table."""
    if not has_table(database, "Jobs"):
        raise ValueError("is a SQLite file without a table Jobs")
    return [str(column[0]) for column in database.execute("select * from Jobs limit 0").description]


def _field_positions(database: sqlite3.Connection) -> dict[str, int]:
    """Map fields to positions of columns of Jobs; raise `ValueError` if there is no such table."""
    return fields_of(_columns(database))


def read(heads: Sequence[FileHead], options: ReadOptions) -> Store:
    """Return a store with the jobs of SQLite files."""
    require_match(heads, mismatch)
    with new_store(options) as store:
        _fill(store, heads, options)
    return store


def _fill(store: Store, heads: Sequence[FileHead], options: ReadOptions) -> None:
    positions, are_sealed = [], []
    for head in heads:
        with read_only(head.path) as database:
            positions.append(_field_positions(database))
            are_sealed.append(_is_checked(head.path, database))
    store.begin(["job_id", *(name for field_positions in positions for name in field_positions)])
    file_counts, notes, total = [], [], RowCounts()
    for head, field_positions, is_sealed in zip(heads, positions, are_sealed, strict=True):
        counts = RowCounts()
        try:
            with read_only(head.path) as database:
                note = _read_notes(database)
                notes += note
                select = _mapping_query(field_positions, ours=bool(note))
                if note and is_sealed:
                    unknown = [
                        name
                        for place, name in enumerate(_columns(database))
                        if place not in field_positions.values()
                    ]
                    refuse_newer(head.path, unknown, provenance_in(note[0]))
                _load_jobs(store, database, select, (head, field_positions, counts, options))
                note_ignored(store, _columns(database), field_positions, counts.rows)
                if note:
                    _load_extra_tables(store, database)
        except (sqlite3.Error, duckdb.Error, ValueError) as error:
            if isinstance(error, TraceError):
                raise
            message = f"{head.path}: cannot be read beyond row {counts.rows}: {str(error).splitlines()[0]}"
            raise TraceError(message) from error
        file_counts.append(counts)
        total.add(counts)
    finish_store(store, heads, "a table Jobs", total)
    _fill_metadata(store, heads, options, notes, file_counts)
    if notes:
        store.remark_lacking()
        if not all(are_sealed):
            remark_unsealed(store)


def _fill_metadata(
    store: Store,
    heads: Sequence[FileHead],
    options: ReadOptions,
    notes: Sequence[str],
    file_counts: Sequence[RowCounts],
) -> None:
    """Fill the tables beside the jobs."""
    if notes:
        try:
            unpack(store, notes)
        except ValueError as error:
            raise TraceError(f"{heads[0].path}: {error}") from error
    else:
        store.insert("sources", source_rows(heads, file_counts))
    if options.system:
        store.set_header(overridden(store.header, options.system))


def _read_notes(database: sqlite3.Connection, key: str = METADATA_KEY) -> list[str]:
    """Return the note in a file that gwa wrote, as a list of at most one."""
    if not has_table(database, NOTE_TABLE):
        return []
    rows = database.execute(f"select value from {NOTE_TABLE} where key = ?", [key])
    return [str(cell_text(value)) for (value,) in rows]


def _is_checked(path: Path, database: sqlite3.Connection) -> bool:
    """
    Return whether a file has a checksum, which is that of its content; raise `TraceError` if it is not.

    Other programs may have changed it since: SQLite counts the changes.
    """
    try:
        found = _read_notes(database, seal.KEY)
    except (sqlite3.Error, ValueError) as error:
        raise TraceError(f"{path}: is damaged: {error}: copy it again, or convert its log again") from error
    with path.open("rb") as file:
        is_changed = file.read(CHANGES.stop)[CHANGES] != WRITTEN_ONCE
    return not (found and is_changed) and check(path, found[0] if found else None)


def _mapping_query(positions: Mapping[str, int], *, ours: bool) -> str:
    """Return the SELECT from a batch; in files of other programs -1 and empty text are missing values."""
    columns = []
    for name in positions:
        missing = f"nullif(nullif({name}, '-1'), '')" if BY_NAME[name].is_text else f"nullif({name}, -1)"
        columns.append(f"{name if ours else missing} as {name}")
    return f"select {', '.join(columns)} from batch"


def _load_jobs(
    store: Store,
    database: sqlite3.Connection,
    select: str,
    file: tuple[FileHead, Mapping[str, int], RowCounts, ReadOptions],
) -> None:
    """Append the rows of Jobs to the store, and count them."""
    from gwa.formats.builtin._arrow import typed_table  # imports pyarrow, which few commands need

    head, positions, counts, options = file
    cursor = database.execute("select * from Jobs")
    with options.progress.step(head.path.name) as bar:
        while rows := cursor.fetchmany(BATCH_ROWS):
            batch, rejects = typed_table(rows, positions, counts.rows + 1)
            records = EncodedRecords(TableSpec({}), total=len(rows), rejects=rejects)
            count_batch(store, head.path, records, counts, strict=options.strict)
            store.connection.register("batch", batch)
            insert_jobs(store, f"({select})", list(positions))
            store.connection.unregister("batch")
            bar.advance(len(rows))


def _load_extra_tables(store: Store, database: sqlite3.Connection) -> None:
    for name, (table, columns) in EXTRA_TABLES.items():
        if has_table(database, table):
            cursor = database.execute(f"select {', '.join(columns)} from {table}")
            while rows := cursor.fetchmany(BATCH_ROWS):
                cells = [
                    [cell_text(cell) if isinstance(cell, bytes) else cell for cell in row] for row in rows
                ]
                store.insert(name, [tuple(row) for row in cells])


def write(store: Store, path: Path) -> None:
    """Write the jobs in order of submission into ``Jobs``, and the rest into tables beside it."""
    refuse_packed_name(path)
    with whole(path) as part:
        try:
            empty = seal.blank()
            with closing(sqlite3.connect(part, isolation_level=None)) as database:
                # The file is invisible to others until it is complete, so it needs no journal.
                for setting in ("journal_mode = off", "synchronous = off", "locking_mode = exclusive"):
                    database.execute(f"pragma {setting}")
                database.execute("begin")
                _write_tables(store, database, empty)
                database.execute("commit")
            seal.seal(part, empty)
        except sqlite3.Error as error:
            raise OutputError(f"{path}: cannot be written: {error}") from error


def _write_tables(store: Store, database: sqlite3.Connection, empty: str) -> None:
    titles = {field.name: TITLES.get(field.name, field.title) for field in FIELDS}
    columns = ", ".join(
        f"{titles[field.name]} {_affinity(field)}"
        for field in FIELDS
        if field.name not in EXTENSION_NAMES or store.has(field.name)
    )
    database.execute(f"create table Jobs ({columns})")
    known = [field.name for field in FIELDS if store.known[field.name]]
    select = f"select {', '.join(known)} from jobs order by submit_time nulls first, job_id"
    _write_rows(store, database, "Jobs", [titles[name] for name in known], select)
    database.execute(f"create table {NOTE_TABLE} (key TEXT, value TEXT)")
    notes = [(METADATA_KEY, pack(store)), (seal.KEY, empty)]
    database.executemany(f"insert into {NOTE_TABLE} values (?, ?)", notes)
    for name, (table, keys) in EXTRA_TABLES.items():
        if store.row(f"select count(*) from {name}")[0]:
            database.execute(f"create table {table} ({', '.join(keys)})")
            _write_rows(store, database, table, keys, f"select {', '.join(keys)} from {name} order by all")


def _affinity(field: Field) -> str:
    """Return the type of a column in the archive's edition."""
    if field.is_text:
        return "TEXT"
    return "INTEGER" if field.is_whole or field.name in TIMES else "REAL"


def _write_rows(
    store: Store, database: sqlite3.Connection, table: str, columns: Sequence[str], select: str
) -> None:
    """Append the rows of *select* to a table."""
    insertion = f"insert into {table} ({', '.join(columns)}) values ({', '.join('?' * len(columns))})"
    cursor = store.connection.execute(select)
    while rows := cursor.fetchmany(BATCH_ROWS):
        database.executemany(insertion, rows)


FORMAT = Format(
    name="sqlite",
    title="SQLite edition of the Grid Workloads Archive",
    names=("*.sqlite", "*.db3", "*.sqlite3", "*.db"),
    notes=__doc__ or "",
    export="gwa convert LOG -o trace.sqlite",
    mismatch=mismatch,
    read=read,
    write=write,
)
