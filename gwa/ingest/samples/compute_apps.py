"""
Memory of the programs on GPUs that ``nvidia-smi --query-compute-apps=… --format=csv`` writes.

There is a row for each process, added up for each GPU and second. A GPU without processes has no row: at that
time nothing is known of it. Paths of programs are private, and not read.

Source: nvidia-smi(1), https://docs.nvidia.com/deploy/nvidia-smi/index.html; ``--help-query-compute-apps``.
"""

from typing import Final

from gwa.errors import DefinitionError
from gwa.ingest.node_samples import Head, SampleReader
from gwa.ingest.samples.nvidia_smi import CLOCK, cell, header_of, number

EXPORT: Final = (
    "nvidia-smi --query-compute-apps=timestamp,gpu_uuid,pid,used_memory --format=csv -l 30 \\\n"
    "  > $(hostname -s).csv"
)

MEMORY: Final = ("used_gpu_memory", "used_memory")


def fits(head: Head) -> bool:
    """Whether the head has titles of a query of processes."""
    columns = header_of(head) or {}
    return "pid" in columns and any(title in columns for title in MEMORY)


def select(head: Head) -> str:
    """Return the query of samples."""
    columns = header_of(head) or {}
    if not {"timestamp", "uuid"} <= columns.keys():
        raise DefinitionError(
            "has no times or GPUs, expected --query-compute-apps=timestamp,gpu_uuid,… as well"
        )
    memory = next(title for title in MEMORY if title in columns)
    return f"""
    select device, date_trunc('second', clock) as clock, sum(mib) * 1024 as kb
    from (
        select
            nullif({cell(columns, "uuid")}, '') as device,
            try_strptime({cell(columns, "timestamp")}, {CLOCK}) as clock,
            {cell(columns, "pid")} as pid,
            max({number(columns, memory)}) as mib
        from (
            select string_split(line, ',') as f
            from given
            where not regexp_matches(line, '^ *([a-z._]+,.*)?timestamp[, ]') and trim(line) <> ''
        ) as cells
        group by all
    ) as processes
    group by all
    """


COMPUTE_APPS: Final = SampleReader(
    "compute-apps", "memory of processes, of nvidia-smi --query-compute-apps as CSV", fits, select, EXPORT
)
