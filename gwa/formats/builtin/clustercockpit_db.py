"""
ClusterCockpit's database of jobs: the table ``job`` of job.db, in SQLite.

Source: the migrations of cc-backend, internal/repository/migrations/sqlite3, whose later versions rename
columns (hpc_user, cluster_partition) and add submit_time, 0 where it is not known. The mapping is that of the
format clustercockpit: gwa formats clustercockpit tells its decisions.

The database knows each job once it has started, also those that run still; it is read as it is on disk, so
copy it, or stop the server, while another program writes to it.
"""

import sqlite3
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Final

from gwa.errors import TraceError
from gwa.formats.base import Format, new_store, require_match
from gwa.formats.definition import parse_definition
from gwa.ingest.pipeline import ingest
from gwa.ingest.source.head import FileHead
from gwa.ingest.source.sqlite import has_table, read_only, reason_against
from gwa.ingest.spec import ConverterSpec
from gwa.store.options import ReadOptions
from gwa.store.store import Store
from gwa.util.assets import asset

DEFINITION: Final = "clustercockpit.sql"

COLUMNS: Final[Mapping[str, Sequence[str]]] = {
    "job_id": ("job_id",),
    "owner": ("hpc_user", "user"),
    "project": ("project",),
    "cluster": ("hpc_cluster", "cluster"),
    "sub_cluster": ("subcluster",),
    "partition": ("cluster_partition", "partition"),
    "array_id": ("array_job_id",),
    "nodes": ("num_nodes",),
    "threads": ("num_hwthreads",),
    "accelerators": ("num_acc",),
    "walltime": ("walltime",),
    "state": ("job_state",),
    "submitted": ("submit_time",),
    "started": ("start_time",),
    "duration": ("duration",),
    "resources": ("resources",),
    "job_name": ("meta_data",),
}
"""The columns of the mapping, and what versions of the database call them, the newest first."""

NEEDED: Final = ("job_id", "job_state", "start_time", "duration", "num_nodes")


@cache
def _spec() -> ConverterSpec:
    """Return the mapping of ClusterCockpit's jobs."""
    return parse_definition(DEFINITION, asset("converters", DEFINITION).read_text(encoding="utf-8"))[1]


def _names(database: sqlite3.Connection) -> Collection[str]:
    """Return the names of the columns of the table of jobs; raise `ValueError` if it is not one."""
    if not has_table(database, "job"):
        raise ValueError("is a SQLite file without a table job")
    names = {str(column[0]) for column in database.execute("select * from job limit 0").description}
    if missing := [name for name in NEEDED if name not in names]:
        raise ValueError(f"is a SQLite file whose table job has no column {missing[0]}")
    return names


def _query(names: Collection[str]) -> str:
    """Return the SELECT of the columns of the mapping from a table with columns of these *names*."""
    cells = []
    for column in _spec().source_table.columns:
        found = next((f'"{name}"' for name in COLUMNS[column] if name in names), "null")
        if column == "job_name" and found != "null":
            found = f"case when json_valid({found}) then json_extract({found}, '$.jobName') end"
        cells.append(found)
    return f"select {', '.join(cells)} from job"


def mismatch(head: FileHead) -> str | None:
    """Return the reason why *head* is not that of such a database, or None."""
    return reason_against(head, _names)


def read(heads: Sequence[FileHead], options: ReadOptions) -> Store:
    """Return a store with the jobs; raise `TraceError` for databases of several versions."""
    require_match(heads, mismatch)
    queries = set[str]()
    for head in heads:
        with read_only(head.path) as database:
            queries.add(_query(_names(database)))
    if len(queries) > 1:
        raise TraceError(f"{heads[0].path}: the databases are of different versions: convert them one by one")
    table = replace(_spec().source_table, options={"query": queries.pop()})
    with new_store(options) as store:
        ingest(
            store, heads, replace(_spec(), title=FORMAT.title, source_table=table, reader="sqlite"), options
        )
    return store


FORMAT = Format(
    name="clustercockpit-db",
    title="ClusterCockpit: its database of jobs (job.db)",
    names=("job.db",),
    notes=__doc__ or "",
    export="sqlite3 /opt/monitoring/cc-backend/var/job.db '.backup job.db'",
    mismatch=mismatch,
    read=read,
)
