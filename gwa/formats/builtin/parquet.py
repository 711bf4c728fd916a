"""
Apache Parquet: the 29 fields as typed columns, for pandas, Spark, DuckDB and others.

Missing is null, times are in seconds. What gwa itself wrote is used where it stands, without
copying, and keeps header, account and repairs in its metadata. Other Parquet files of jobs are read
too: columns may have the names of any edition of the archive, and fields without one are missing.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import duckdb

from gwa.errors import TraceError
from gwa.formats.base import Format
from gwa.formats.builtin._columns import fields_of, refuse_packed_name, sources
from gwa.formats.builtin._parquet import TASKS, brief, columns, columns_of, quoted, relation
from gwa.formats.remote import address, is_remote, reach
from gwa.ingest.cleaning import insert, is_clean
from gwa.ingest.counting import RowCounts, finish_store
from gwa.ingest.source.head import FileHead
from gwa.store.metadata import KEY, pack, unpack
from gwa.store.options import ReadOptions
from gwa.store.schema import FIELDS, NAMES, Field
from gwa.store.store import Store
from gwa.store.system import overridden
from gwa.util.atomic import whole

SIDES: Final = {
    "source_ids": "select job_id, unnest(source_ids) as source_id from file",
    "dependencies": "select job_id, unnest(dependencies, recursive := true) from file",
}
"""Tables that may have several rows for each job: they are columns of lists in the file."""

WHOLE: Final = {f"{sign}{size}INT" for sign in ("", "U") for size in ("TINY", "SMALL", "BIG", "HUGE")}
NUMBERS: Final = {*WHOLE, "INTEGER", "UINTEGER", "FLOAT", "DOUBLE", "DECIMAL"}

PER_SECOND: Final = {"DURATION(s)": 1.0, "DURATION(ms)": 1e3, "DURATION(us)": 1e6, "DURATION(ns)": 1e9}


def mismatch(head: FileHead) -> str | None:
    """Return why *head* is no Parquet file of jobs, or None."""
    try:
        columns = columns_of(head)
        fields_of(columns)
    except ValueError as error:
        return str(error)
    return "has times in milliseconds" if TASKS.issubset(columns) else None


def read(heads: Sequence[FileHead], reading: ReadOptions) -> Store:
    """Return a store with the jobs of Parquet files: a view of them where that is safe."""
    for head in heads:
        if reason := mismatch(head):
            message = f"{head.path}: {reason}"
            raise TraceError(message)
    return _opened(Store.create(reading.target, reading.engine), heads, reading)


def read_remote(path: Path, reading: ReadOptions) -> Store:
    """Return a store with the jobs of the Parquet at the address *path*, which gwa must have written."""
    if reading.on_spark:
        raise TraceError(f"{address(path)}: is an address, Spark reads what its workers see in a folder")
    store = Store.create(reading.target, reading.engine)
    try:
        heads = [FileHead(file, file.name, b"") for file in reach(store.connection, path)]
    except BaseException:
        store.close()
        raise
    return _opened(store, heads, reading)


def _opened(store: Store, heads: Sequence[FileHead], reading: ReadOptions) -> Store:
    """Return *store* with the jobs of *heads*, or close it."""
    try:
        _open(store, heads, reading)
    except (duckdb.Error, ValueError) as error:
        store.close()
        if isinstance(error, TraceError):
            raise
        why = brief(error) if isinstance(error, duckdb.Error) else error
        message = f"{heads[0].path}: cannot be read: {why}"
        raise TraceError(message) from error
    except BaseException:
        store.close()
        raise
    return store


def _open(store: Store, heads: Sequence[FileHead], reading: ReadOptions) -> None:
    store.connection.execute(f"create temp view file as {_rows(heads)}")
    notes = [note for head in heads for note in _notes(store, head)]
    types = {row[0]: row[1] for row in store.rows("describe from file")}
    ours = len(notes) == len(heads)
    if not ours and is_remote(heads[0].path):
        raise TraceError(f"{heads[0].path}: was not written by gwa: fetch it, and convert it here")
    if not ours:
        types |= _durations(heads[0])
    in_place = ours and not reading.target and all(types.get(field.name) == field.sql for field in FIELDS)
    if not in_place or not _is_view(store, heads, reading):
        if reading.on_spark:
            raise TraceError(f"{heads[0].path}: is not as gwa writes it, which Spark needs: convert it first")
        _copy(store, heads, types, ours=ours)
    if notes:
        unpack(store, notes)
    if reading.system:
        store.set_header(overridden(store.header, reading.system))
    for name, sql in SIDES.items():
        if ours and name in types and not reading.on_spark:
            store.connection.execute(f"insert into {name} {sql}")


def _rows(heads: Sequence[FileHead]) -> str:
    """Return the query for the rows of all files."""
    files = ", ".join("'" + quoted(head).replace("'", "''") + "'" for head in heads)
    return f"from read_parquet([{files}], union_by_name = true)"


def _is_view(store: Store, heads: Sequence[FileHead], reading: ReadOptions) -> bool:
    """Use the jobs where they stand; False, and nothing done, where they are not clean."""
    store.view(f"select {', '.join(NAMES)} {_rows(heads)}")
    if reading.engine and reading.on_spark:
        store.over([str(head.path.absolute()) for head in heads], reading.engine)
    if is_clean(store):
        return True
    store.connection.execute("drop view ran")
    store.connection.execute("drop view jobs")
    return False


def _notes(store: Store, head: FileHead) -> list[str]:
    """Return what gwa noted in a file when it wrote it, if it did."""
    return [
        note.decode()
        for key, note in store.rows(
            "select key, value from parquet_kv_metadata($path)", {"path": quoted(head)}
        )
        if key == KEY.encode()
    ]


def _durations(head: FileHead) -> dict[str, str]:
    """Return the columns that Arrow's programs know as durations, which are plain numbers for others."""
    import pyarrow as pa
    from pyarrow.parquet import read_schema

    try:
        schema = read_schema(head.path)
    except pa.ArrowException:
        return {}
    return {
        field.name: f"DURATION({field.type.unit})" for field in schema if pa.types.is_duration(field.type)
    }


def _copy(store: Store, heads: Sequence[FileHead], types: dict[str, str], *, ours: bool) -> None:
    """Take the jobs over, cleaned and counted."""
    columns = list(types)
    names = ", ".join(f"c{place}" for place in range(len(columns)))
    mapped = {}
    for name, place in fields_of(columns).items():
        field = next(field for field in FIELDS if field.name == name)
        value = _value(field, f"c{place}", types[columns[place]], heads[0].path)
        # Where others write -1 or nothing, they mean that it is missing.
        marks = [] if ours else ["'-1'", "''"] if field.is_text else ["-1"]
        for mark in marks:
            value = f"nullif({value}, {mark})"
        mapped[name] = f"{value} as {name}"
    store.begin(["job_id", *mapped])
    insert(store, f"(select {', '.join(mapped.values())} from file as t({names}))", list(mapped))
    counts = [_count(store, head) for head in heads]
    if not ours:
        store.insert("sources", sources(heads, counts))
    finish_store(store, heads, "a table of jobs", RowCounts(sum(count.rows for count in counts)))


def _count(store: Store, head: FileHead) -> RowCounts:
    ((rows,),) = store.rows("select num_rows from parquet_file_metadata($path)", {"path": quoted(head)})
    return RowCounts(int(rows))


def _value(field: Field, column: str, kind: str, path: Path) -> str:
    """Return the SQL that makes a column of type *kind* one of *field*'s."""
    base = kind.partition("(")[0]
    if field.is_text and (base in {"VARCHAR", "ENUM", "UUID"} or base in WHOLE):
        return f"cast({column} as varchar)"
    if field.is_text and base in NUMBERS:
        # pandas makes doubles of whole numbers when one is missing.
        whole_number = f"{column} = trunc({column})"
        return (
            f"case when {whole_number} then cast(try_cast({column} as hugeint) as varchar)"
            f" else cast({column} as varchar) end"
        )
    if not field.is_text and base in NUMBERS:
        return f"try_cast({column} as {'bigint' if 'INT' in base else 'double'})"
    if field.name == "submit_time" and (base.startswith("TIMESTAMP") or base == "DATE"):
        return f"epoch({column})"
    if field.unit == "s" and base == "DURATION":
        return f"{column} / {PER_SECOND[kind]!r}"
    if field.unit == "s" and base == "INTERVAL":
        return f"epoch({column})"
    message = f"{path}: its {field.title} is {kind}, expected {'text' if field.is_text else 'numbers'}"
    raise TraceError(message)


def write(store: Store, path: Path) -> None:
    """Write the jobs in order of submission, with what else is known in the metadata."""
    refuse_packed_name(path)
    with whole(path) as part:
        store.connection.execute(
            f"copy ({relation('jobs', columns(store))})"
            f" to $part (format parquet, compression zstd, kv_metadata {{{KEY}: $note}})",
            {"part": str(part), "note": pack(store)},
        )


FORMAT = Format(
    name="parquet",
    title="Apache Parquet",
    names=("*.parquet",),
    notes=__doc__ or "",
    mismatch=mismatch,
    read=read,
    write=write,
)
