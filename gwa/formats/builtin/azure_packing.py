"""
Azure's trace of 2020 for packing: virtual machines and their types, in SQLite.

Source: AzureTracesForPacking2020.md in Azure/AzurePublicDataset; names of columns were not seen in a file.
How many processors a machine has is not said: -O machine_cores=64, say, states it.

Each virtual machine is a job, which starts when it is created: it does not wait. Times are days from the
beginning of the trace, in fractions; they become seconds, and stay relative. A machine with a time below 0
existed before: its submission is 0, and its run time counts from there. One without an end was alive
when the trace ended: it has no run time and no status. Others ended; whether well is not known. What ended
before the trace began is refused.

Processors are known only as a share of those of a physical machine, one share for each kind of machine that
can hold the type: -O machine_cores states how many the largest kind has, whose share is the least; they are
rounded to whole ones, at least 1. ReqResources has the least shares of processors and memory, as in
cpu:0.0625,ram:0.03125. The user is the tenant (T), the queue the priority (P0 is high, P1 low), the
executable the type (V). Not kept: disks, networks, and which kinds of machine can hold a type.
"""

import sqlite3
from collections.abc import Sequence
from typing import Final

from gwa.errors import TraceError
from gwa.formats.base import Format, new_store, require_match
from gwa.ingest.pipeline import ingest
from gwa.ingest.source.head import FileHead
from gwa.ingest.source.sqlite import has_table, reason_against
from gwa.ingest.spec import ConverterSpec, RepairStep, TableSpec
from gwa.store.options import ReadOptions
from gwa.store.store import Store

TABLES: Final = ("vm", "vmType")

ROWS: Final = """
select vm.vmId, vm.tenantId, vm.vmTypeId, vm.priority, vm.starttime, vm.endtime, kind.core, kind.memory
from vm left join (
    select vmTypeId, min(core) as core, min(memory) as memory from vmType group by vmTypeId
) as kind on kind.vmTypeId = vm.vmTypeId
"""

SELECT: Final = """
with machine as (
    select
        *,
        try_cast(starttime as double) * 86400 as begun,
        try_cast(endtime as double) * 86400 as ended,
        greatest(begun, 0) as created,
        try_cast(core as double) as cpus,
        case when cpus > 0 then greatest(round(cpus * getvariable('machine_cores')::double), 1) end as procs
    from source
)

select
    file_no,
    line,
    case
        when begun is null then 'its starttime is missing or no number'
        when endtime is not null and ended is null then 'its endtime is not a number'
        when ended < 0 then 'ended before the trace began'
    end as reject,
    vmId as source_id,
    created as submit_time,
    0 as wait_time,
    ended - created as run_time,
    procs as n_procs,
    procs as req_n_procs,
    if(endtime is null, 'alive at the end', 'deleted') as state,
    'T' || tenantId as user_id,
    'V' || vmTypeId as executable_id,
    'P' || priority as queue_id,
    nullif(concat_ws(',', 'cpu:' || cpus, 'ram:' || try_cast(memory as double)), '') as req_resources,
    'UNITARY' as job_structure
from machine
"""

SPEC: Final = ConverterSpec(
    title="Azure's trace of 2020 for packing",
    source_table=TableSpec(
        columns=dict.fromkeys(
            ("vmId", "tenantId", "vmTypeId", "priority", "starttime", "endtime", "core", "memory"), "varchar"
        ),
        options={"query": ROWS},
        numbered=True,
    ),
    select=SELECT,
    reader="sqlite",
    header={"Computer": "Azure, virtual machines of one zone"},
    steps=(
        RepairStep(
            "alive at the end",
            "machines were alive when the trace ended: run time and status are not known",
            "select count(*) from recorded where state = 'alive at the end'",
        ),
        RepairStep(
            "existed before",
            "machines existed when the trace began: their run time counts from there",
            "select count(*) from recorded where submit_time = 0",
        ),
    ),
)


def mismatch(head: FileHead) -> str | None:
    """Return the reason why *head* is not that of such a file, or None."""
    return reason_against(head, _look)


def _look(database: sqlite3.Connection) -> None:
    """Raise `ValueError` where a table is missing, or is not as expected."""
    missing = [table for table in TABLES if not has_table(database, table)]
    if missing:
        raise ValueError(f"is a SQLite file without a table {missing[0]}")
    database.execute(f"{ROWS} limit 0")


def read(heads: Sequence[FileHead], options: ReadOptions) -> Store:
    """Return a store with the jobs; raise `TraceError` unless it is stated what a machine has."""
    require_match(heads, mismatch)
    if "machine_cores" not in options.format_options:
        raise TraceError(
            f"{heads[0].path}: its processors are shares of a machine: how many has the largest one?"
            " Answer as in: -O machine_cores=64"
        )
    with new_store(options) as store:
        ingest(store, heads, SPEC, options)
    return store


FORMAT = Format(
    name="azure-packing",
    title=SPEC.title,
    names=("packing_trace*.sqlite",),
    notes=__doc__ or "",
    export="gwa fetch azure-packing-2020\n"
    "gwa convert packing_trace_zone_a_v1.sqlite -o packing.parquet -O machine_cores=64",
    mismatch=mismatch,
    read=read,
    options={"machine_cores": "a number"},
)
