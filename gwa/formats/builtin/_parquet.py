"""What formats share that are kept in Parquet files."""

from collections.abc import Sequence
from typing import Final

import duckdb

from gwa.formats.builtin._columns import is_packed
from gwa.formats.remote import address
from gwa.ingest.source.head import FileHead
from gwa.store.schema import NAMES
from gwa.store.store import Store

MAGIC: Final = b"PAR1"

TASKS: Final = frozenset(
    {"id", "ts_submit", "runtime", "wait_time", "resource_amount_requested", "workflow_id"}
)
"""Columns that together only tables of tasks of the Workflow Trace Archive have."""


LISTS: Final = {
    "source_ids": ("source_id", "source_id"),
    "dependencies": ("struct_pack(preceding_job, think_time)", "preceding_job"),
}
"""Tables that may have several rows for each job: what their columns of lists hold, and in which order."""


def columns_of(head: FileHead) -> Sequence[str]:
    """Return the names of the columns of a file; raise `ValueError` when it is no Parquet file."""
    if not head.data.startswith(MAGIC):
        raise ValueError("is no Parquet file")
    if is_packed(head):
        raise ValueError("is Parquet inside another compression: unpack it first")
    with duckdb.connect() as database:
        try:
            found = database.execute("describe from read_parquet($path)", {"path": quoted(head)}).fetchall()
        except duckdb.Error as error:
            raise ValueError(f"cannot be read: {brief(error)}") from error
    return [row[0] for row in found]


def quoted(head: FileHead) -> str:
    """Return the path of *head* such that DuckDB takes no sign in it for a pattern."""
    return address(head.path)


def brief(error: duckdb.Error) -> str:
    """Return the first line of what DuckDB says."""
    return str(error).splitlines()[0].partition(": ")[2]


def columns(store: Store) -> list[str]:
    """Return the columns that jobs are written with: the fields, and lists of what may be many."""
    found = list(NAMES)
    if store.row("select count(*) from source_ids")[0]:
        found.append("source_ids")
    if store.row("select count(*) from dependencies")[0]:
        found.append("dependencies")
    return found


def relation(jobs: str, wanted: Sequence[str]) -> str:
    """Return the query for the columns *wanted* of the relation *jobs*, in order of submission."""
    theirs = "" if jobs == "jobs" else f" semi join {jobs} as wanted using (job_id)"
    joins = "".join(
        f" left join (select job_id, list({value} order by {order}) as {name} from {name}{theirs}"
        f" group by job_id) as {name}_of using (job_id)"
        for name, (value, order) in LISTS.items()
        if name in wanted
    )
    return f"select {', '.join(wanted)} from {jobs} as jobs{joins} order by submit_time nulls first, job_id"
