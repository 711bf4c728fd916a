"""
Samples of GPUs that ``nvidia-smi --query-gpu=… --format=csv`` writes, with and without units.

There is a blank behind each comma, a unit in the header and, without ``nounits``, in each cell; what is not
known is ``[N/A]``, ``[Not Supported]`` or ``[Unknown Error]``. Where files were appended the header comes
again. Times are those of the node's clock, without a zone, and nothing names the node.

Source: nvidia-smi(1), https://docs.nvidia.com/deploy/nvidia-smi/index.html, and ``--help-query-gpu``: names
in the query and titles in the header are the same; ``utilization.gpu`` is the percent of time over the past
sample period, of a sixth of a second to a second, in which one or more kernels ran.
"""

from typing import Final

from gwa.errors import DefinitionError
from gwa.ingest.node_samples import Head, SampleReader

TITLES: Final = {
    "gpu_uuid": "uuid",
    "gpu_name": "name",
    "power.draw.average": "power.draw",
    "power.draw.instant": "power.draw",
    "gpu_bus_id": "pci.bus_id",
}
"""Titles that mean the same as others."""

MEASURED: Final = ("utilization.gpu", "power.draw", "memory.used")
"""Columns of which a file has at least one."""

CLOCK: Final = "'%Y/%m/%d %H:%M:%S.%f'"
EXPORT: Final = (
    "# On each node, into a file that is called as the node is.\n"
    "nvidia-smi --query-gpu=timestamp,index,uuid,name,utilization.gpu,memory.used,power.draw \\\n"
    "  --format=csv -l 30 > $(hostname -s).csv"
)


def header_of(head: Head) -> dict[str, int] | None:
    """Return the numbers of the columns, from 1, by their titles without units; None without a header."""
    for line in head.lines:
        titles = [title.strip().partition(" [")[0] for title in line.split(",")]
        if len(titles) > 1 and any(title in {*MEASURED, *TITLES, "timestamp"} for title in titles):
            return {TITLES.get(title, title): place for place, title in reversed([*enumerate(titles, 1)])}
    return None


def cell(columns: dict[str, int], title: str) -> str:
    """Return the SQL of the text in a column; null where there is none."""
    return f"trim(f[{columns[title]}])" if title in columns else "cast(null as varchar)"


def number(columns: dict[str, int], title: str) -> str:
    """Return the SQL of the number in a column, whatever unit is behind it."""
    return f"try_cast(split_part({cell(columns, title)}, ' ', 1) as double)"


def fits(head: Head) -> bool:
    """Whether the head has titles of a query of GPUs."""
    return "pid" not in (columns := header_of(head) or {}) and any(title in columns for title in MEASURED)


def select(head: Head) -> str:
    """Return the query of samples."""
    columns = header_of(head) or {}
    if "timestamp" not in columns or not {"uuid", "index", "pci.bus_id"} & columns.keys():
        lacking = "timestamp" if "timestamp" not in columns else "index or uuid"
        raise DefinitionError(f"has no column {lacking}, expected --query-gpu=timestamp,index,uuid,… as well")
    identity = next(title for title in ("uuid", "index", "pci.bus_id") if title in columns)
    return f"""
    select
        nullif({cell(columns, identity)}, '') as device,
        try_cast({cell(columns, "index")} as integer) as place,
        {cell(columns, "name")} as model,
        try_strptime({cell(columns, "timestamp")}, {CLOCK}) as clock,
        {number(columns, "utilization.gpu")} / 100 as use,
        {number(columns, "power.draw")} as watts,
        {number(columns, "memory.used")} * 1024 as kb
    from (
        select string_split(line, ',') as f
        from given
        where not regexp_matches(line, '^ *([a-z._]+,.*)?timestamp[, ]') and trim(line) <> ''
    ) as cells
    """


NVIDIA_SMI: Final = SampleReader(
    "nvidia-smi", "samples of nvidia-smi --query-gpu as CSV, of each GPU and time", fits, select, EXPORT
)
