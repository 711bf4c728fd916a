"""Shared by formats that consist of Parquet files."""

from collections.abc import Sequence
from typing import Final

import duckdb

from gwa.formats.builtin._columns import is_packed
from gwa.formats.remote import address
from gwa.ingest.counting import RowCounts
from gwa.ingest.source.head import FileHead
from gwa.store.schema import NAMES
from gwa.store.store import Store

MAGIC: Final = b"PAR1"

TASK_COLUMNS: Final = frozenset(
    {"id", "ts_submit", "runtime", "wait_time", "resource_amount_requested", "workflow_id"}
)
"""Columns by which tables of tasks of the Workflow Trace Archive are recognised."""


LIST_COLUMNS: Final = {
    "source_ids": ("source_id", "source_id"),
    "dependencies": ("struct_pack(preceding_job, think_time)", "preceding_job"),
}
"""Columns of lists from tables that may have several rows per job: the elements, and their order."""


def columns_of(head: FileHead) -> Sequence[str]:
    """Return the names of the columns of a file; raise `ValueError` if it is not a Parquet file."""
    if not head.data.startswith(MAGIC):
        raise ValueError("is no Parquet file")
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


def row_counts(store: Store, head: FileHead) -> RowCounts:
    """Count the rows of a file, by its metadata."""
    ((rows,),) = store.rows("select num_rows from parquet_file_metadata($path)", {"path": escaped_path(head)})
    return RowCounts(int(rows))


def first_line(error: duckdb.Error) -> str:
    """Return the first line of an error message of DuckDB."""
    return str(error).splitlines()[0].partition(": ")[2]


def output_columns(store: Store) -> list[str]:
    """Return the columns to write: the fields, and the columns of lists that are not empty."""
    return [*NAMES, *(name for name in LIST_COLUMNS if store.row(f"select count(*) from {name}")[0])]


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
