"""
Workflow Trace Archive: its tables of tasks, Parquet files below ``tasks/schema-1.0``. A task is a job.

Source: the archive's own tools (objects/task.py). Times there are milliseconds; -1 is missing. Users,
groups and sites are numbers and become U1, G1, S1. Processors are the amount of resources requested,
rounded up; the memory requested is shared out over them. Its unit differs between traces: it is
missing unless the option memory_unit says B, KB, MB or GB, as in -O memory_unit=MB. How a task ended is
not recorded; -O status=1 takes all as completed. Each workflow is a bag of tasks (GWF knows no
workflows); what a task had to wait for is kept beside the jobs.
"""

from collections.abc import Sequence
from typing import Final

import duckdb

from gwa.errors import TraceError
from gwa.formats.base import Format, new_store, require_match
from gwa.formats.builtin import _parquet as parquet
from gwa.formats.builtin._columns import source_rows
from gwa.ingest.cleaning import insert_jobs, number_by_submission
from gwa.ingest.counting import RowCounts, finish_store
from gwa.ingest.source.head import FileHead
from gwa.store.options import ReadOptions
from gwa.store.store import Store
from gwa.store.system import overridden

KILOBYTES: Final = {"B": 1 / 1024, "KB": 1.0, "MB": 1024.0, "GB": 1024.0**2}
"""Kilobytes of each unit that the option ``memory_unit`` may name."""

NUMBER_MAPPINGS: Final = {
    "submit_time": "ts_submit / 1000",
    "wait_time": "wait_time / 1000",
    "run_time": "runtime / 1000",
    "n_procs": "nullif(ceil(resource_amount_requested), 0)",
    "req_n_procs": "nullif(ceil(resource_amount_requested), 0)",
    "req_memory": "memory_requested * getvariable('kilobytes')"
    " / greatest(ceil(resource_amount_requested), 1)",
    "req_local_disk_space": "disk_space_requested",
}
TEXT_MAPPINGS: Final = {
    "user_id": "'U' || user_id",
    "group_id": "'G' || group_id",
    "executable_id": "type",
    "orig_site_id": "'S' || submission_site",
    "job_structure": "case when workflow_id is null then 'UNITARY' else 'BoT' end",
    "job_structure_params": "workflow_id",
}
NUMBER_COLUMNS: Final = (
    "ts_submit", "wait_time", "runtime", "resource_amount_requested", "memory_requested",
    "disk_space_requested",
)  # fmt: skip
NAME_COLUMNS: Final = ("id", "user_id", "group_id", "type", "submission_site", "workflow_id")


def mismatch(head: FileHead) -> str | None:
    """Return the reason why *head* is not that of a table of tasks of the archive, or None."""
    try:
        missing = sorted(parquet.TASK_COLUMNS.difference(parquet.columns_of(head)))
    except ValueError as error:
        return str(error)
    return f"is not a table of tasks: it lacks {', '.join(missing)}" if missing else None


def read(heads: Sequence[FileHead], options: ReadOptions) -> Store:
    """Return a store with the tasks of Parquet files as jobs."""
    require_match(heads, mismatch)
    parquet.refuse_bombs(heads)
    kilobytes = KILOBYTES.get(str(options.format_options.get("memory_unit")))
    status = options.format_options.get("status")
    try:
        with new_store(options) as store:
            store.connection.execute("set variable kilobytes = cast($value as double)", {"value": kilobytes})
            store.connection.execute("set variable status = cast($value as integer)", {"value": status})
            _fill(store, heads, options)
    except duckdb.Error as error:
        raise TraceError(f"{heads[0].path}: cannot be read: {parquet.first_line(error)}") from error
    return store


def _fill(store: Store, heads: Sequence[FileHead], options: ReadOptions) -> None:
    """Insert the tasks, cleaned and counted, and their dependencies."""
    store.set_header(overridden((), options.system or {}))
    store.connection.execute(f"create temp view file as {parquet.rows_of(heads)}")
    types = {row[0]: str(row[1]) for row in store.rows("describe from file")}
    numbers = [
        f"nullif(try_cast({name} as double), -1) as {name}" for name in NUMBER_COLUMNS if name in types
    ]
    names = [
        f"nullif(nullif(cast({name} as varchar), '-1'), '') as {name}"
        for name in NAME_COLUMNS
        if name in types
    ]
    missing = [f"null as {name}" for name in (*NUMBER_COLUMNS, *NAME_COLUMNS) if name not in types]
    store.connection.execute(
        f"create temp view task as select {', '.join([*numbers, *names, *missing])} from file"
    )
    expressions = {**NUMBER_MAPPINGS, **TEXT_MAPPINGS, "status": "getvariable('status')", "source_id": "id"}
    store.begin(["job_id", *(name for name in expressions if name != "source_id")])
    fields = ", ".join(f"{value} as {name}" for name, value in expressions.items())
    insert_jobs(store, f"(select {fields} from task)", list(expressions))
    number_by_submission(store)
    if types.get("parents", "").endswith("INT[]"):
        _insert_dependencies(store)
    counts = [parquet.row_counts(store, head) for head in heads]
    store.insert("sources", source_rows(heads, counts))
    finish_store(store, heads, "a table of tasks", RowCounts(sum(count.rows for count in counts)))


def _insert_dependencies(store: Store) -> None:
    """Insert the parents of each task, as the numbers of their jobs."""
    store.connection.execute(
        "insert into dependencies"
        " select distinct child.job_id, parent.job_id, cast(null as double)"
        " from (select cast(id as varchar) as id, cast(unnest(parents) as varchar) as of from file) as link"
        " inner join source_ids as child on child.source_id = link.id"
        " inner join source_ids as parent on parent.source_id = link.of"
        " order by all"
    )


FORMAT = Format(
    name="wta",
    title="Workflow Trace Archive: tasks in Parquet",
    names=(),
    notes=__doc__ or "",
    export="unzip TRACE.zip\ngwa convert TRACE/tasks/schema-1.0 -o trace.parquet",
    mismatch=mismatch,
    read=read,
    options={"memory_unit": " | ".join(KILOBYTES), "status": "1 | 0 | 5"},
)
