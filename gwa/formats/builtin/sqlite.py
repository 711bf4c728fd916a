"""
SQLite, as the Grid Workloads Archive publishes its traces: one table ``Jobs``.

Missing is NULL; -1 and empty text are read as missing too, unless gwa wrote the file: then header,
account and repairs stand in ``gwa_metadata``. Nothing in a file is executed: ``Jobs`` must be a plain
table, and it is only ever read from the first row to the last.
"""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote

import duckdb

from gwa.errors import OutputError, TraceError
from gwa.formats.base import Format
from gwa.formats.builtin._arrow import text, typed
from gwa.formats.builtin._columns import fields_of, is_packed, refuse_packed_name, sources
from gwa.ingest.batch import Records
from gwa.ingest.cleaning import insert
from gwa.ingest.counting import RowCounts, count_batch, finish_store
from gwa.ingest.source.head import FileHead
from gwa.ingest.spec import TableSpec
from gwa.store.metadata import KEY, pack, unpack
from gwa.store.options import ReadOptions
from gwa.store.schema import BY_NAME, FIELDS, Field
from gwa.store.store import Store
from gwa.store.system import overridden
from gwa.util.atomic import whole

MAGIC: Final = b"SQLite format 3\x00"

BATCH: Final = 20_000
"""Rows that are held in memory at a time."""

TITLES: Final = {"n_procs": "NProc", "average_cpu_time": "UsedCPUTime", "used_memory": "UsedMemory"}
"""Columns that the archive's SQLite edition calls otherwise than its text."""

SECONDS: Final = ("submit_time", "wait_time", "run_time")
"""Columns that are INTEGER in the archive's edition, although they may hold fractions."""

NOTE: Final = "gwa_metadata"
SIDES: Final = {
    "source_ids": ("gwa_source_ids", ("job_id", "source_id")),
    "dependencies": ("gwa_dependencies", ("job_id", "preceding_job", "think_time")),
}
"""Tables and columns of our own, beside Jobs."""


def mismatch(head: FileHead) -> str | None:
    """Return why *head* is no SQLite file of jobs, or None."""
    if not head.data.startswith(MAGIC):
        return "is no SQLite file"
    if is_packed(head):
        return "is a compressed SQLite file: unpack it first"
    for end in ("-wal", "-journal"):
        beside = Path(f"{head.path}{end}")
        if beside.exists() and beside.stat().st_size:
            return f"another program is writing to it: there is a {beside.name}"
    try:
        with _opened(head) as database:
            _places(database)
    except sqlite3.Error as error:
        return f"cannot be read: {error}"
    except ValueError as error:
        return str(error)
    return None


@contextmanager
def _opened(head: FileHead) -> Iterator[sqlite3.Connection]:
    """Open a file such that it can neither be changed nor do anything by itself."""
    address = f"file:{quote(str(head.path.resolve()))}?mode=ro&immutable=1"
    with closing(sqlite3.connect(address, uri=True)) as database:
        database.text_factory = bytes
        for setting in ("trusted_schema = off", "cell_size_check = on", "query_only = on"):
            database.execute(f"pragma {setting}")
        yield database


def _has(database: sqlite3.Connection, table: str) -> bool:
    """Whether there is a plain *table*; raise `ValueError` for a view or a virtual table of that name."""
    found = database.execute(
        "select type, sql from sqlite_master where lower(name) = ? and type in ('table', 'view')",
        [table.lower()],
    ).fetchall()
    if [
        kind
        for kind, sql in found
        if kind != b"table" or not (sql or b"").upper().startswith(b"CREATE TABLE")
    ]:
        raise ValueError(f"its {table} is no plain table")
    return bool(found)


def _places(database: sqlite3.Connection) -> dict[str, int]:
    """Return in which column of Jobs each field stands; raise `ValueError` where there is no such table."""
    if not _has(database, "Jobs"):
        raise ValueError("is a SQLite file without a table Jobs")
    described = database.execute("select * from Jobs limit 0").description
    return fields_of([str(column[0]) for column in described])


def read(heads: Sequence[FileHead], reading: ReadOptions) -> Store:
    """Return a store with the jobs of SQLite files."""
    for head in heads:
        if reason := mismatch(head):
            message = f"{head.path}: {reason}"
            raise TraceError(message)
    store = Store.create(reading.target, reading.engine)
    try:
        _fill(store, heads, reading)
    except BaseException:
        store.close()
        raise
    return store


def _fill(store: Store, heads: Sequence[FileHead], reading: ReadOptions) -> None:
    places = []
    for head in heads:
        with _opened(head) as database:
            places.append(_places(database))
    store.begin(["job_id", *(name for found in places for name in found)])
    counts, notes, total = [], [], RowCounts()
    for head, found in zip(heads, places, strict=True):
        count = RowCounts()
        try:
            with _opened(head) as database:
                note = _note(database)
                notes += note
                _load(store, database, _select(found, ours=bool(note)), (head, found, count, reading))
                if note:
                    _load_sides(store, database)
        except (sqlite3.Error, duckdb.Error, ValueError) as error:
            if isinstance(error, TraceError):
                raise
            message = f"{head.path}: cannot be read beyond row {count.rows}: {str(error).splitlines()[0]}"
            raise TraceError(message) from error
        counts.append(count)
        total.add(count)
    finish_store(store, heads, "a table Jobs", total)
    _describe(store, heads, reading, notes, counts)


def _describe(
    store: Store,
    heads: Sequence[FileHead],
    reading: ReadOptions,
    notes: Sequence[str],
    counts: Sequence[RowCounts],
) -> None:
    """Fill in what is known of the trace beside its jobs."""
    if notes:
        try:
            unpack(store, notes)
        except ValueError as error:
            message = f"{heads[0].path}: {error}"
            raise TraceError(message) from error
    else:
        store.insert("sources", sources(heads, counts))
    if reading.system:
        store.set_header(overridden(store.header, reading.system))


def _note(database: sqlite3.Connection) -> list[str]:
    """Return what gwa noted in a file when it wrote it, if it did."""
    if not _has(database, NOTE):
        return []
    rows = database.execute(f"select value from {NOTE} where key = ?", [KEY])
    return [str(text(value)) for (value,) in rows]


def _select(places: Mapping[str, int], *, ours: bool) -> str:
    """Return the SELECT from a batch; where others write -1 or nothing, they mean that it is missing."""
    columns = []
    for name in places:
        missing = f"nullif(nullif({name}, '-1'), '')" if BY_NAME[name].is_text else f"nullif({name}, -1)"
        columns.append(f"{name if ours else missing} as {name}")
    return f"select {', '.join(columns)} from batch"


def _load(
    store: Store,
    database: sqlite3.Connection,
    select: str,
    job: tuple[FileHead, Mapping[str, int], RowCounts, ReadOptions],
) -> None:
    """Append the rows of Jobs to the store."""
    head, places, count, reading = job
    cursor = database.execute("select * from Jobs")
    with reading.progress.step(head.path.name) as bar:
        while rows := cursor.fetchmany(BATCH):
            batch, rejects = typed(rows, places, count.rows + 1)
            part = Records(TableSpec({}), total=len(rows), rejects=rejects)
            count_batch(store, head.path, part, count, strict=reading.strict)
            store.connection.register("batch", batch)
            insert(store, f"({select})", list(places))
            store.connection.unregister("batch")
            bar.advance(len(rows))


def _load_sides(store: Store, database: sqlite3.Connection) -> None:
    for name, (table, columns) in SIDES.items():
        if _has(database, table):
            cursor = database.execute(f"select {', '.join(columns)} from {table}")
            while rows := cursor.fetchmany(BATCH):
                cells = [[text(cell) if isinstance(cell, bytes) else cell for cell in row] for row in rows]
                store.insert(name, [tuple(row) for row in cells])


def write(store: Store, path: Path) -> None:
    """Write the jobs in order of submission into ``Jobs``, and what else is known beside it."""
    refuse_packed_name(path)
    with whole(path) as part:
        try:
            with closing(sqlite3.connect(part, isolation_level=None)) as database:
                # Nobody else sees the file before it is whole, so it needs no journal.
                for setting in ("journal_mode = off", "synchronous = off", "locking_mode = exclusive"):
                    database.execute(f"pragma {setting}")
                database.execute("begin")
                _write_tables(store, database)
                database.execute("commit")
        except sqlite3.Error as error:
            message = f"{path}: cannot be written: {error}"
            raise OutputError(message) from error


def _write_tables(store: Store, database: sqlite3.Connection) -> None:
    titles = {field.name: TITLES.get(field.name, field.title) for field in FIELDS}
    columns = ", ".join(f"{titles[field.name]} {_affinity(field)}" for field in FIELDS)
    database.execute(f"create table Jobs ({columns})")
    known = [field.name for field in FIELDS if store.known[field.name]]
    select = f"select {', '.join(known)} from jobs order by submit_time nulls first, job_id"
    _write(store, database, "Jobs", [titles[name] for name in known], select)
    database.execute(f"create table {NOTE} (key TEXT, value TEXT)")
    database.execute(f"insert into {NOTE} values (?, ?)", [KEY, pack(store)])
    for name, (table, keys) in SIDES.items():
        if store.row(f"select count(*) from {name}")[0]:
            database.execute(f"create table {table} ({', '.join(keys)})")
            _write(store, database, table, keys, f"select {', '.join(keys)} from {name} order by all")


def _affinity(field: Field) -> str:
    """Return the type of a column in the archive's edition."""
    if field.is_text:
        return "TEXT"
    return "INTEGER" if field.is_whole or field.name in SECONDS else "REAL"


def _write(
    store: Store, database: sqlite3.Connection, table: str, columns: Sequence[str], select: str
) -> None:
    """Append the rows of *select* to a table; columns that nobody records take no time."""
    insertion = f"insert into {table} ({', '.join(columns)}) values ({', '.join('?' * len(columns))})"
    found = store.connection.execute(select)
    while rows := found.fetchmany(BATCH):
        database.executemany(insertion, rows)


FORMAT = Format(
    name="sqlite",
    title="SQLite edition of the Grid Workloads Archive",
    names=("*.sqlite", "*.db3", "*.sqlite3", "*.db"),
    notes=__doc__ or "",
    mismatch=mismatch,
    read=read,
    write=write,
)
