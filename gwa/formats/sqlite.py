"""
SQLite, as the Grid Workloads Archive publishes its traces: one table ``Jobs``.

Missing is NULL; -1 and empty text are read as missing too, unless gwa wrote the file: then header,
account and repairs stand in ``gwa_metadata``. Nothing in a file is executed: ``Jobs`` must be a plain
table, and is only ever read from the first row to the last.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import pyarrow as pa

from gwa.cleaning import insert
from gwa.errors import OutputError, TraceError
from gwa.formats import Format, Reading
from gwa.formats._cells import Cells
from gwa.formats._tables import fields_of, is_packed, refuse_packed_name, sources
from gwa.ingest import Count, settle, tally
from gwa.metadata import KEY, pack, unpack
from gwa.output import whole
from gwa.readers.head import Head
from gwa.readers.lines import Part
from gwa.schema import BY_NAME, FIELDS, NAMES, Field
from gwa.store import Store
from gwa.system import overridden

MAGIC: Final = b"SQLite format 3\x00"
BATCH: Final = 20_000
"""Rows that are held in memory at a time."""

NAMED: Final = {"n_procs": "NProc", "average_cpu_time": "UsedCPUTime", "used_memory": "UsedMemory"}
"""Columns that the archive's SQLite edition calls otherwise than its text."""

WHOLE: Final = {"job_id", "submit_time", "wait_time", "run_time", "n_procs", "req_n_procs", "status"}

SIDES: Final = {
    "source_ids": ("job_id", "source_id"),
    "dependencies": ("job_id", "preceding_job", "think_time"),
}


def refuses(head: Head) -> str | None:
    """Return why *head* is no SQLite file of jobs, or None."""
    if not head.data.startswith(MAGIC):
        return "is no SQLite file"
    if is_packed(head):
        return "is a compressed SQLite file: unpack it first"
    busy = [end for end in ("-wal", "-journal") if _size(Path(f"{head.path}{end}"))]
    if busy:
        return f"another program is writing to it: there is a {head.path.name}{busy[0]}"
    try:
        with _opened(head) as database:
            fields_of(_columns(database))
    except sqlite3.Error as error:
        return f"cannot be read: {error}"
    except ValueError as error:
        return str(error)
    return None


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


@contextmanager
def _opened(head: Head) -> Iterator[sqlite3.Connection]:
    """Open a file such that it can neither be changed nor do anything by itself."""
    address = f"file:{quote(str(head.path.resolve()))}?mode=ro&immutable=1"
    with closing(sqlite3.connect(address, uri=True)) as database:
        database.text_factory = bytes
        for setting in ("trusted_schema = off", "cell_size_check = on", "query_only = on"):
            database.execute(f"pragma {setting}")
        yield database


def _columns(database: sqlite3.Connection) -> list[str]:
    """Return the names of the columns of Jobs; raise `ValueError` where that is no plain table."""
    found = database.execute("select type, sql from sqlite_master where lower(name) = 'jobs'").fetchall()
    if not found:
        raise ValueError("is a SQLite file without a table Jobs")
    if [kind for kind, sql in found if kind != b"table" or not sql.upper().startswith(b"CREATE TABLE")]:
        raise ValueError("its Jobs is no plain table")
    return [column[0] for column in database.execute("select * from Jobs limit 0").description]


def read(heads: Sequence[Head], reading: Reading) -> Store:
    """Return a store with the jobs of SQLite files."""
    for head in heads:
        if reason := refuses(head):
            message = f"{head.path}: {reason}"
            raise TraceError(message)
    store = Store.create(reading.target, reading.engine)
    try:
        _fill(store, heads, reading)
    except BaseException:
        store.close()
        raise
    return store


def _fill(store: Store, heads: Sequence[Head], reading: Reading) -> None:
    places = []
    for head in heads:
        with _opened(head) as database:
            places.append(fields_of(_columns(database)))
    store.begin(["job_id", *(name for found in places for name in found)])
    total, notes, rows = Count(), [], []
    for head, found in zip(heads, places, strict=True):
        count = Count()
        with _opened(head) as database:
            try:
                note = _note(database)
                _load(store, database, found, Loading(head, note is not None, reading, count))
                if note is not None:
                    notes.append(note)
                    _load_sides(store, database)
            except sqlite3.Error as error:
                message = f"{head.path}: cannot be read beyond row {count.rows}: {error}"
                raise TraceError(message) from error
        rows.append(count.rows)
        total.add(count)
    settle(store, heads, "a table Jobs", total)
