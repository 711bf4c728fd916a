"""
The store: a DuckDB file with all that gwa knows of a trace, opened without reading it through.

Other programs see all fields in its view ``jobs``, and beside it ``header``, ``rejects``,
``repairs`` and ``provenance``. It is of DuckDB's storage version 1.0.0, which older ones read too.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import duckdb

from gwa.errors import OutputError, TraceError
from gwa.formats.base import Format, new_store, require_match
from gwa.formats.builtin._columns import is_packed, refuse_packed_name
from gwa.ingest.source.head import FileHead
from gwa.store.metadata import provenance
from gwa.store.options import ReadOptions
from gwa.store.schema import FIELDS
from gwa.store.store import MAGIC, TABLES, Store
from gwa.store.system import overridden
from gwa.util.atomic import whole

MAGIC_POSITION: Final = slice(8, 8 + len(MAGIC))
"""The position of the magic bytes in a DuckDB file."""

FIRST_BLOCK_OFFSET: Final = 3 * 4096
"""The offset of the first block in a DuckDB file."""

BATCH_ROWS: Final = 100_000
"""Rows held in memory at a time while they are copied between stores."""


def mismatch(head: FileHead) -> str | None:
    """Return the reason why *head* is not that of a store, or None."""
    if head.data[MAGIC_POSITION] != MAGIC:
        return "is not a DuckDB file"
    if is_packed(head):
        return "is a compressed DuckDB file: unpack it first"
    return None


def read(heads: Sequence[FileHead], options: ReadOptions) -> Store:
    """Open a store, or copy it to the target."""
    require_match(heads, mismatch)
    if len(heads) > 1:
        message = f"{heads[1].path}: cannot join several stores, expected one: convert their logs together"
        raise TraceError(message)
    store = Store.open(heads[0].path, options.engine)
    try:
        _refuse_truncated(store, heads[0].path)
        if options.system:
            # This table takes precedence over the one in the file, which stays unchanged.
            store.connection.execute("create temp table header as from header")
            store.set_header(overridden(store.header, options.system))
        return _copy_to_target(store, options) if options.target else store
    except BaseException:
        store.close()
        raise


def _refuse_truncated(store: Store, path: Path) -> None:
    """Raise `TraceError` for a truncated file, which DuckDB would detect only during a query."""
    ((last,),) = store.rows("select max(block_id) from pragma_storage_info('recorded')")
    ((size,),) = store.rows(
        "select block_size from pragma_database_size() where database_name not in ('temp')"
    )
    if last is not None and path.stat().st_size < FIRST_BLOCK_OFFSET + (last + 1) * size:
        message = f"{path}: is cut off: jobs at its end are missing"
        raise TraceError(message)


def _copy_to_target(store: Store, options: ReadOptions) -> Store:
    """Return a copy of *store* at the target, and close the original."""
    with new_store(options) as copy:
        _copy(store, copy)
    store.close()
    return copy


def _copy(source: Store, target: Store) -> None:
    """Copy all tables to an empty store; fields that no job records, or that are constant, are not stored."""
    recorded, constants = _varying_and_constant(source)
    target.begin(recorded, constants)
    order = "order by submit_time nulls first, job_id"
    _copy_rows(source, target, f"select {', '.join(recorded)} from jobs {order}", "recorded")
    for name in TABLES.keys() - {"provenance"}:
        _copy_rows(source, target, f"from {name} order by all", name)
    target.note(provenance(source))


def _varying_and_constant(store: Store) -> tuple[list[str], dict[str, str]]:
    """Return the recorded fields whose values vary, and the texts of those that are the same in all jobs."""
    jobs = int(store.row("select count(*) from jobs")[0])
    texts = [field.name for field in FIELDS if field.is_text]
    extremes = store.row(f"select {', '.join(f'min({name}), max({name})' for name in texts)} from jobs")
    constants = {
        name: low
        for name, low, high in zip(texts, extremes[::2], extremes[1::2], strict=True)
        if low is not None and low == high and store.known[name] == jobs
    }
    names = [field.name for field in FIELDS if store.known[field.name] and field.name not in constants]
    return names if "job_id" in names else ["job_id", *names], constants


def _copy_rows(source: Store, target: Store, select: str, table: str) -> None:
    """Append the rows of *select* to a table of *target*, a batch at a time."""
    reader = source.connection.sql(select).to_arrow_reader(BATCH_ROWS)
    target.connection.register("batches", reader)
    try:
        target.connection.execute(f"insert into {table} select * from batches")
    finally:
        target.connection.unregister("batches")
        reader.close()


def write(store: Store, path: Path) -> None:
    """Write a copy of *store*."""
    refuse_packed_name(path)
    log = Path(f"{path}.wal")
    if log.exists():
        message = f"{path}: another program has it open, or broke off: there is a {log.name}"
        raise OutputError(message)
    with whole(path) as part:
        try:
            with Store.create(part) as copy:
                _copy(store, copy)
                copy.flush()
        except duckdb.Error as error:
            message = f"{path}: cannot be written: {str(error).splitlines()[0]}"
            raise OutputError(message) from error


FORMAT = Format(
    name="duckdb",
    title="gwa's store",
    names=("*.duckdb",),
    notes=__doc__ or "",
    export="gwa convert LOG -o trace.duckdb",
    mismatch=mismatch,
    read=read,
    write=write,
)
