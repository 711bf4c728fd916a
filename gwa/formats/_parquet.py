"""What formats share that are kept in Parquet files."""

from collections.abc import Sequence
from glob import escape
from typing import Final

import duckdb

from gwa.formats._tables import is_packed
from gwa.readers.head import Head

MAGIC: Final = b"PAR1"

TASKS: Final = frozenset(
    {"id", "ts_submit", "runtime", "wait_time", "resource_amount_requested", "workflow_id"}
)
"""Columns that together only tables of tasks of the Workflow Trace Archive have."""


def columns_of(head: Head) -> Sequence[str]:
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


def quoted(head: Head) -> str:
    """Return the path of *head* such that DuckDB takes no sign in it for a pattern."""
    return escape(str(head.path))


def brief(error: duckdb.Error) -> str:
    """Return the first line of what DuckDB says."""
    return str(error).splitlines()[0].partition(": ")[2]
