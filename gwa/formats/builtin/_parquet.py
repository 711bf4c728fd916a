"""Shared by formats that consist of Parquet files."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import duckdb

from gwa.errors import TraceError
from gwa.formats.builtin._columns import is_packed
from gwa.formats.builtin._sealed import check
from gwa.formats.remote import address
from gwa.ingest.counting import RowCounts
from gwa.ingest.source.head import FileHead
from gwa.store.engines.duckdb import literal
from gwa.store.metadata import METADATA_KEY
from gwa.store.schema import EXTENSION_NAMES, GWF_NAMES
from gwa.store.store import Store
from gwa.util import seal

MAGIC: Final = b"PAR1"

WRITER: Final = "DuckDB"
"""How the program begins its name that writes what gwa writes."""

FOOTER_END: Final = 8
"""The bytes behind the footer of a file: its length, and the magic bytes again."""

TASK_COLUMNS: Final = frozenset(
    {"id", "ts_submit", "runtime", "wait_time", "resource_amount_requested", "workflow_id"}
)
"""Columns by which tables of tasks of the Workflow Trace Archive are recognised."""

LIST_COLUMNS: Final = {
    "source_ids": ("source_id", "source_id"),
    "dependencies": ("struct_pack(preceding_job, think_time)", "preceding_job, think_time"),
}
"""Columns of lists from tables that may have several rows per job: the elements, and their order."""

ROWS_PER_BYTE: Final = 10
ROWS_OF_ANY_FILE: Final = 1_000_000
"""The most rows that are read: jobs that differ in their times take more than a tenth of a byte each."""


def columns_of(head: FileHead) -> Sequence[str]:
    """Return the names of the columns of a file; raise `ValueError` if it is not a Parquet file."""
    if not head.data.startswith(MAGIC):
        raise ValueError("is not a Parquet file")
    if is_packed(head):
        raise ValueError("is Parquet inside another compression: unpack it first")
    with duckdb.connect() as database:
        try:
            found = database.execute(
                "describe from read_parquet($path)", {"path": escaped_path(head)}
            ).fetchall()
        except duckdb.Error as error:
            raise ValueError(f"cannot be read: {first_line(error)}") from error
    return [row[0] for row in found]


def escaped_path(head: FileHead) -> str:
    """Return the path of *head*, escaped so that DuckDB does not read it as a pattern."""
    return address(head.path)


def rows_of(heads: Sequence[FileHead]) -> str:
    """Return the query for the rows of all files."""
    files = ", ".join(literal(escaped_path(head)) for head in heads)
    return f"from read_parquet([{files}], union_by_name = true)"


def refuse_bombs(heads: Sequence[FileHead]) -> None:
    """Raise `TraceError` for a file that unpacks to more rows than jobs of a log can be packed in."""
    for head in heads:
        with duckdb.connect() as database:
            query = "select num_rows from parquet_file_metadata($path)"
            ((rows,),) = database.execute(query, {"path": escaped_path(head)}).fetchall()
        size = head.path.stat().st_size
        if rows > ROWS_OF_ANY_FILE + ROWS_PER_BYTE * size:
            raise TraceError(f"{head.path}: has {rows:,} rows in {size:,} bytes, which no log of jobs has")


def write_sealed(store: Store, jobs: str, path: Path, note: str) -> None:
    """Write the relation *jobs* with a *note* in the metadata, and a checksum of all there."""
    empty = seal.blank()
    store.connection.execute(
        f"copy ({jobs_query(jobs, output_columns(store))}) to $path"
        f" (format parquet, compression zstd, kv_metadata {{{METADATA_KEY}: $note, {seal.KEY}: $seal}})",
        {"path": str(path), "note": note, "seal": empty},
    )
    seal.seal(path, empty)


def metadata_of(store: Store, head: FileHead) -> dict[str, str]:
    """Return the keys and values in the metadata of a file."""
    rows = store.rows("select key, value from parquet_kv_metadata($path)", {"path": escaped_path(head)})
    return {key.decode(errors="replace"): value.decode(errors="replace") for key, value in rows}


def is_checked(store: Store, head: FileHead, metadata: Mapping[str, str]) -> bool:
    """
    Return whether a file has a checksum, which is that of its content; raise `TraceError` if it is not.

    Other programs take the metadata along when they write a file of their own, to which it does not fit.
    """
    path = {"path": escaped_path(head)}
    ((made_by, footer),) = store.rows(
        "select created_by, footer_size from parquet_file_metadata($path)", path
    )
    found = metadata.get(seal.KEY)
    if found is not None and not str(made_by).startswith(WRITER):
        return False
    return check(head.path, found, max(0, head.path.stat().st_size - footer - FOOTER_END))


def row_counts(store: Store, head: FileHead) -> RowCounts:
    """Count the rows of a file, by its metadata."""
    ((rows,),) = store.rows("select num_rows from parquet_file_metadata($path)", {"path": escaped_path(head)})
    return RowCounts(int(rows))


def first_line(error: duckdb.Error) -> str:
    """Return the first line of an error message of DuckDB."""
    return str(error).splitlines()[0].partition(": ")[2]


def output_columns(store: Store) -> list[str]:
    """Return the columns to write: the fields of GWF, and the extensions and lists that are not empty."""
    recorded = [name for name in EXTENSION_NAMES if store.has(name)]
    return [
        *GWF_NAMES,
        *recorded,
        *(name for name in LIST_COLUMNS if store.row(f"select count(*) from {name}")[0]),
    ]


def jobs_query(jobs: str, columns: Sequence[str]) -> str:
    """Return the query for *columns* of the relation *jobs*, in order of submission."""
    restriction = "" if jobs == "jobs" else f" semi join {jobs} as wanted using (job_id)"
    joins = "".join(
        f" left join (select job_id, list({value} order by {order}) as {name} from {name}{restriction}"
        f" group by job_id) as {name}_of using (job_id)"
        for name, (value, order) in LIST_COLUMNS.items()
        if name in columns
    )
    return f"select {', '.join(columns)} from {jobs} as jobs{joins} order by submit_time nulls first, job_id"
