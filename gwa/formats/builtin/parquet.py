"""
Apache Parquet: the fields as typed columns, for pandas, Spark, DuckDB and others.

Missing is null, times are in seconds; extension fields are there where a job records them. What gwa
itself wrote is used where it stands, without copying, and keeps header, account and repairs in its metadata.
Other Parquet files of jobs are read too: columns may have the names of any edition of the archive, and
fields without one are missing.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import duckdb

from gwa.errors import TraceError
from gwa.formats.base import Format, new_store, require_match
from gwa.formats.builtin import _parquet as parquet
from gwa.formats.builtin._columns import fields_of, note_ignored, refuse_packed_name, source_rows
from gwa.formats.builtin._sealed import remark_unsealed
from gwa.formats.remote import address, is_remote, remote_files
from gwa.formats.tables.vocabulary import meanings
from gwa.ingest.cleaning import insert_jobs, is_clean
from gwa.ingest.counting import RowCounts, finish_store
from gwa.ingest.source.head import FileHead
from gwa.store.metadata import METADATA_KEY, pack, provenance_in, unpack
from gwa.store.options import ReadOptions
from gwa.store.schema import FIELDS, GWF_NAMES, NAMES, Field
from gwa.store.store import Store
from gwa.store.system import overridden
from gwa.store.versions import refuse_newer
from gwa.util.atomic import whole

LIST_QUERIES: Final = {
    "source_ids": "select job_id, unnest(source_ids) as source_id from file",
    "dependencies": "select job_id, unnest(dependencies, recursive := true) from file",
}
"""Tables that may have several rows per job: they are columns of lists in the file."""

FOLDERS: Final = ("year", "month")
"""Columns that DuckDB makes of the names of folders, such as those of a trace by months."""

INTEGER_TYPES: Final = {f"{sign}{size}INT" for sign in ("", "U") for size in ("TINY", "SMALL", "BIG", "HUGE")}
NUMERIC_TYPES: Final = {*INTEGER_TYPES, "INTEGER", "UINTEGER", "FLOAT", "DOUBLE", "DECIMAL"}

NOTHING: Final = '"NULL"'
"""The type of a column without any value, as pandas writes it."""

PER_SECOND: Final = {"DURATION(s)": 1.0, "DURATION(ms)": 1e3, "DURATION(us)": 1e6, "DURATION(ns)": 1e9}


def mismatch(head: FileHead) -> str | None:
    """Return the reason why *head* is not that of a Parquet file of jobs, or None."""
    try:
        columns = parquet.columns_of(head)
        if parquet.TASK_COLUMNS.issubset(columns):
            return "has times in milliseconds"
        fields = fields_of(columns)
    except ValueError as error:
        return str(error)
    others = [name for place, name in enumerate(columns) if place not in fields.values()]
    times = [name for name in others if meanings(name) and meanings(name)[0].role in {"start", "end"}]
    return f"has times that GWF has not ({times[0]})" if times else None


def read(heads: Sequence[FileHead], options: ReadOptions) -> Store:
    """Return a store with the jobs of Parquet files: a view of them if they need no cleaning."""
    require_match(heads, mismatch)
    parquet.refuse_bombs(heads)
    return _fill_or_close(Store.create(options.target, options.engine), heads, options)


def read_remote(path: Path, options: ReadOptions) -> Store:
    """Return a store with the jobs of the Parquet files at the URL *path*, which gwa must have written."""
    if options.on_spark:
        raise TraceError(f"{address(path)}: is an address, Spark reads what its workers see in a folder")
    with new_store(options) as store:
        heads = [FileHead(file, file.name, b"") for file in remote_files(store.connection, path)]
    return _fill_or_close(store, heads, options)


def _fill_or_close(store: Store, heads: Sequence[FileHead], options: ReadOptions) -> Store:
    """Fill *store* with the jobs of the files behind *heads*; close it if an error occurs."""
    try:
        _fill(store, heads, options)
    except (duckdb.Error, ValueError) as error:
        store.close()
        if isinstance(error, TraceError):
            raise
        reason = parquet.first_line(error) if isinstance(error, duckdb.Error) else error
        raise TraceError(f"{heads[0].path}: cannot be read: {reason}") from error
    except BaseException:
        store.close()
        raise
    return store


def _fill(store: Store, heads: Sequence[FileHead], options: ReadOptions) -> None:
    store.connection.execute(f"create temp view file as {parquet.rows_of(heads)}")
    metadata = [parquet.metadata_of(store, head) for head in heads]
    notes = [entries[METADATA_KEY] for entries in metadata if METADATA_KEY in entries]
    is_sealed = _are_checked(store, heads, metadata)
    types = {row[0]: row[1] for row in store.rows("describe from file")}
    ours = len(notes) == len(heads)
    if not ours and is_remote(heads[0].path):
        raise TraceError(f"{heads[0].path}: was not written by gwa: fetch it, and convert it here")
    if not ours:
        types |= _duration_types(heads[0])
    unknown = [name for name in types if name not in {*NAMES, *LIST_QUERIES, *FOLDERS}] if ours else []
    if is_sealed and ours:
        refuse_newer(heads[0].path, unknown, provenance_in(notes[0]))
    in_place = ours and not unknown and not options.is_copied and _has_our_columns(types)
    if not in_place or not _use_in_place(store, heads, types, options):
        if options.on_spark:
            raise TraceError(f"{heads[0].path}: is not as gwa writes it, which Spark needs: convert it first")
        _copy_jobs(store, heads, types, ours=ours)
    if notes:
        unpack(store, notes)
        store.remark_lacking()
        if not is_sealed and not is_remote(heads[0].path):
            remark_unsealed(store)
    if options.system:
        store.set_header(overridden(store.header, options.system))
    for name, sql in LIST_QUERIES.items():
        if ours and name in types and not options.on_spark:
            store.connection.execute(f"insert into {name} {sql}")


def _are_checked(store: Store, heads: Sequence[FileHead], metadata: Sequence[Mapping[str, str]]) -> bool:
    """
    Return whether each file has a checksum, which is that of its content; `TraceError` if one is not.

    Of files at an address only the parts that are needed are fetched, so nothing is checked.
    """
    if is_remote(heads[0].path):
        return False
    return min(parquet.is_checked(store, head, own) for head, own in zip(heads, metadata, strict=True))


def _has_our_columns(types: Mapping[str, str]) -> bool:
    """Whether the columns of a file have the types of the fields; extension fields may be missing."""
    return all(types.get(field.name, field.sql) == field.sql for field in FIELDS) and types.keys() >= {
        *GWF_NAMES
    }


def _use_in_place(
    store: Store, heads: Sequence[FileHead], types: Mapping[str, str], options: ReadOptions
) -> bool:
    """Define the jobs as a view of the files; if they need cleaning, undo that and return False."""
    columns = [
        field.name if field.name in types else f"cast(null as {field.sql}) as {field.name}"
        for field in FIELDS
    ]
    store.view(f"select {', '.join(columns)} {parquet.rows_of(heads)}")
    if options.engine and options.on_spark:
        store.over([str(head.path.absolute()) for head in heads], options.engine)
    if is_clean(store):
        store.files = [name for head in heads for name in (parquet.escaped_path(head), str(head.path))]
        return True
    store.connection.execute("drop view ran")
    store.connection.execute("drop view jobs")
    return False


def _duration_types(head: FileHead) -> dict[str, str]:
    """Return the columns that the Arrow schema declares as durations, which DuckDB reads as numbers."""
    import pyarrow as pa
    from pyarrow.parquet import read_schema

    try:
        schema = read_schema(head.path)
    except pa.ArrowException:
        return {}
    return {
        field.name: f"DURATION({field.type.unit})" for field in schema if pa.types.is_duration(field.type)
    }


def _copy_jobs(store: Store, heads: Sequence[FileHead], types: dict[str, str], *, ours: bool) -> None:
    """Copy the jobs, cleaned and counted."""
    output_columns = list(types)
    names = ", ".join(f"c{position}" for position in range(len(output_columns)))
    expressions, positions = {}, fields_of(output_columns)
    for name, position in positions.items():
        field = next(field for field in FIELDS if field.name == name)
        value = _field_sql(field, f"c{position}", types[output_columns[position]], heads[0].path)
        # In files of other programs -1 and empty text are missing values.
        missing = [] if ours else ["'-1'", "''"] if field.is_text else ["-1"]
        for text in missing:
            value = f"nullif({value}, {text})"
        expressions[name] = f"{value} as {name}"
    store.begin(["job_id", *expressions])
    insert_jobs(
        store, f"(select {', '.join(expressions.values())} from file as t({names}))", list(expressions)
    )
    counts = [parquet.row_counts(store, head) for head in heads]
    if not ours:
        store.insert("sources", source_rows(heads, counts))
        note_ignored(store, output_columns, positions, sum(count.rows for count in counts))
    finish_store(store, heads, "a table of jobs", RowCounts(sum(count.rows for count in counts)))


def _field_sql(field: Field, column: str, column_type: str, path: Path) -> str:
    """Return the SQL that converts a column of type *column_type* to *field*."""
    base = column_type.partition("(")[0]
    if field.is_text and (base in {"VARCHAR", "ENUM", "UUID", NOTHING} or base in INTEGER_TYPES):
        return f"cast({column} as varchar)"
    if field.is_text and base in NUMERIC_TYPES:
        # pandas stores whole numbers as doubles if one is missing.
        whole_number = f"{column} = trunc({column})"
        return (
            f"case when {whole_number} then cast(try_cast({column} as hugeint) as varchar)"
            f" else cast({column} as varchar) end"
        )
    if not field.is_text and base in {*NUMERIC_TYPES, NOTHING}:
        return f"try_cast({column} as {'bigint' if 'INT' in base else 'double'})"
    if field.name in {"submit_time", "eligible_time"} and (base.startswith("TIMESTAMP") or base == "DATE"):
        return f"epoch({column})"
    if field.unit == "s" and base == "DURATION":
        return f"{column} / {PER_SECOND[column_type]!r}"
    if field.unit == "s" and base == "INTERVAL":
        return f"epoch({column})"
    message = f"{path}: its {field.title} is {column_type}, expected {'text' if field.is_text else 'numbers'}"
    raise TraceError(message)


def write(store: Store, path: Path) -> None:
    """Write the jobs in order of submission, with everything else in the metadata."""
    refuse_packed_name(path)
    with whole(path) as part:
        parquet.write_sealed(store, "jobs", part, pack(store))


FORMAT = Format(
    name="parquet",
    title="Apache Parquet",
    names=("*.parquet",),
    notes=__doc__ or "",
    export="gwa convert LOG -o trace.parquet",
    mismatch=mismatch,
    read=read,
    write=write,
)
