"""
Workflow Trace Archive: its tables of tasks, Parquet files below ``tasks/schema-1.0``. A task is a job.

Source: the archive's own tools (objects/task.py). Times there are milliseconds; -1 is missing. Users,
groups and sites are numbers and become U1, G1, S1. Processors are the amount of resources requested,
rounded up; the memory requested is shared out over them. Its unit differs between traces: it is
missing unless the option memory_unit says B, KB, MB or GB, as in -O memory_unit=MB. How a task ended is
not recorded; -O status=1 takes all as completed. Each workflow is a bag of tasks (GWF knows no
workflows); what a task had to wait for is kept beside the jobs.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import duckdb

from gwa.errors import TraceError
from gwa.formats.base import Format
from gwa.formats.builtin._columns import sources
from gwa.formats.builtin._parquet import TASKS, brief, columns_of, quoted
from gwa.ingest.cleaning import insert
from gwa.ingest.counting import RowCounts, finish_store
from gwa.ingest.source.head import FileHead
from gwa.store.options import ReadOptions
from gwa.store.store import Store
from gwa.store.system import overridden

KILOBYTES: Final = {"B": 1 / 1024, "KB": 1.0, "MB": 1024.0, "GB": 1024.0**2}
"""Kilobytes of each unit that the option ``memory_unit`` may name."""

STATUSES: Final = {"1": 1, "0": 0, "5": 5}

NUMBERS: Final = {
    "submit_time": "ts_submit / 1000",
    "wait_time": "wait_time / 1000",
    "run_time": "runtime / 1000",
    "n_procs": "nullif(ceil(resource_amount_requested), 0)",
    "req_n_procs": "nullif(ceil(resource_amount_requested), 0)",
    "req_memory": "memory_requested * getvariable('kilobytes')"
    " / greatest(ceil(resource_amount_requested), 1)",
    "req_local_disk_space": "disk_space_requested",
}
TEXTS: Final = {
    "user_id": "'U' || user_id",
    "group_id": "'G' || group_id",
    "executable_id": "type",
    "orig_site_id": "'S' || submission_site",
    "job_structure": "case when workflow_id is null then 'UNITARY' else 'BoT' end",
    "job_structure_params": "workflow_id",
}
MEASURED: Final = (
    "ts_submit", "wait_time", "runtime", "resource_amount_requested", "memory_requested",
    "disk_space_requested",
)  # fmt: skip
NAMED: Final = ("id", "user_id", "group_id", "type", "submission_site", "workflow_id")


def mismatch(head: FileHead) -> str | None:
    """Return why *head* is no table of tasks of the archive, or None."""
    try:
        lacking = sorted(TASKS.difference(columns_of(head)))
    except ValueError as error:
        return str(error)
    return f"is no table of tasks: it lacks {', '.join(lacking)}" if lacking else None


def read(heads: Sequence[FileHead], reading: ReadOptions) -> Store:
    """Return a store with the tasks of Parquet files as jobs."""
    for head in heads:
        if reason := mismatch(head):
            message = f"{head.path}: {reason}"
            raise TraceError(message)
    kilobytes, status = (
        _chosen(reading.options, "memory_unit", KILOBYTES),
        _chosen(reading.options, "status", STATUSES),
    )
    store = Store.create(reading.target, reading.engine)
    try:
        store.connection.execute("set variable kilobytes = cast($value as double)", {"value": kilobytes})
        store.connection.execute("set variable status = cast($value as integer)", {"value": status})
        _fill(store, heads, reading)
    except duckdb.Error as error:
        store.close()
        message = f"{heads[0].path}: cannot be read: {brief(error)}"
        raise TraceError(message) from error
    except BaseException:
        store.close()
        raise
    return store


def _chosen(options: Mapping[str, object], name: str, known: Mapping[str, float]) -> float | None:
    """Return what an option's value stands for, None where it is not given."""
    if name not in options:
        return None
    if options[name] not in known:
        message = f"the option {name} is '{options[name]}', expected one of {', '.join(known)}"
        raise TraceError(message)
    return known[str(options[name])]


def _fill(store: Store, heads: Sequence[FileHead], reading: ReadOptions) -> None:
    """Take over the tasks, cleaned and counted, and what each had to wait for."""
    store.set_header(overridden((), reading.system or {}))
    files = ", ".join("'" + quoted(head).replace("'", "''") + "'" for head in heads)
    store.connection.execute(
        f"create temp view file as from read_parquet([{files}], union_by_name = true, filename = false)"
    )
    there = {row[0]: str(row[1]) for row in store.rows("describe from file")}
    measured = [f"nullif(try_cast({name} as double), -1) as {name}" for name in MEASURED if name in there]
    named = [
        f"nullif(nullif(cast({name} as varchar), '-1'), '') as {name}" for name in NAMED if name in there
    ]
    missing = [f"null as {name}" for name in (*MEASURED, *NAMED) if name not in there]
    store.connection.execute(
        f"create temp view task as select {', '.join([*measured, *named, *missing])} from file"
    )
    mapped = {**NUMBERS, **TEXTS, "status": "getvariable('status')", "source_id": "id"}
    store.begin(["job_id", *(name for name in mapped if name != "source_id")])
    fields = ", ".join(f"{value} as {name}" for name, value in mapped.items())
    insert(store, f"(select {fields} from task)", list(mapped))
    if there.get("parents", "").endswith("INT[]"):
        _depend(store)
    counts = [_count(store, head) for head in heads]
    store.insert("sources", sources(heads, counts))
    finish_store(store, heads, "a table of tasks", RowCounts(sum(count.rows for count in counts)))


def _depend(store: Store) -> None:
    """Keep the parents of each task, as the numbers of their jobs."""
    store.connection.execute(
        "insert into dependencies"
        " select distinct child.job_id, parent.job_id, cast(null as double)"
        " from (select cast(id as varchar) as id, cast(unnest(parents) as varchar) as of from file) as link"
        " inner join source_ids as child on child.source_id = link.id"
        " inner join source_ids as parent on parent.source_id = link.of"
    )


def _count(store: Store, head: FileHead) -> RowCounts:
    ((rows,),) = store.rows("select num_rows from parquet_file_metadata($path)", {"path": quoted(head)})
    return RowCounts(int(rows))


FORMAT = Format(
    name="wta",
    title="Workflow Trace Archive: tasks in Parquet",
    names=(),
    notes=__doc__ or "",
    mismatch=mismatch,
    read=read,
)
