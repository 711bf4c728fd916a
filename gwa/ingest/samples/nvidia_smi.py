"""
Samples of GPUs, and of the processes on them, that ``nvidia-smi`` writes: answers to queries, or monitors.

``--query-gpu=… --format=csv`` writes a row for each GPU, ``--query-compute-apps=…`` one for each process,
which are added up for each GPU and second. There is a blank behind each comma, a unit in the header and,
without ``nounits``, in each cell; what is not known is ``[N/A]``, ``[Not Supported]`` or ``[Unknown Error]``.
Where files were appended the header comes again. A GPU without processes has no row of these: at that time
nothing is known of it. ``utilization.gpu`` is the percent of time over the past sample period, of a sixth of
a second to a second, in which one or more kernels ran.

``dmon -o DT`` prints the columns that driver and ``-s`` choose, with date and time before each line; ``pmon
-o DT`` prints those of processes, added up again. Two lines that begin with ``#`` name columns and units, and
come again with each screen; ``-`` is no value, beside a process no use, and a GPU without processes has one
line of ``-``. ``sm`` of a GPU is a reading of the same kind as ``utilization.gpu``; of a process it is a mean
over the time since the sample before, and a tenth too low. Times are whole seconds, of which one is left out
now and then.

Times are those of the node's clock, without a zone, and nothing names the node. Paths and names of programs
are private, and not read.

Source: nvidia-smi(1), https://docs.nvidia.com/deploy/nvidia-smi/index.html, also on monitoring of devices and
processes; ``--help-query-gpu`` and ``--help-query-compute-apps``: names in the query and titles in the header
are the same.
"""

from collections.abc import Iterable
from typing import Final

from gwa.errors import DefinitionError
from gwa.ingest.node_samples import Head, SampleReader

Columns = dict[str, int]
"""The numbers of columns, from 1, by their titles; of several with one title, the first."""

TITLES: Final = {
    "gpu_uuid": "uuid",
    "gpu_name": "name",
    "power.draw.average": "power.draw",
    "power.draw.instant": "power.draw",
    "gpu_bus_id": "pci.bus_id",
}
"""Titles that mean the same as others."""

MEASURED: Final = ("utilization.gpu", "power.draw", "memory.used")
"""Columns of which a query of GPUs has at least one."""

MEMORY: Final = ("used_gpu_memory", "used_memory")
"""Columns of which a query of processes has one."""

MONITORED: Final = ("sm", "pwr", "fb")
"""Columns of which a monitor of GPUs has at least one."""

QUERIED_CELLS: Final = """
    select string_split(line, ',') as f
    from given
    where not regexp_matches(line, '^ *([a-z._]+,.*)?timestamp[, ]') and trim(line) <> ''
"""

MONITORED_CELLS: Final = r"""
    select string_split_regex(trim(line), '\s+') as f
    from given
    where not starts_with(trim(line), '#') and trim(line) <> ''
"""


def _numbered(titles: Iterable[str]) -> Columns:
    return {title: place for place, title in reversed([*enumerate(titles, 1)])}


def _queried(head: Head) -> Columns:
    """Return the columns of a query, by their titles without units; none where there is no header."""
    for line in head.lines:
        titles = [title.strip().partition(" [")[0] for title in line.split(",")]
        if len(titles) > 1 and any(title in {*MEASURED, *TITLES, "timestamp"} for title in titles):
            return _numbered(TITLES.get(title, title) for title in titles)
    return {}


def _monitored(head: Head, *titles: str) -> Columns:
    """Return the columns of a monitor; none where the head is of no monitor, or one without *titles*."""
    for line in head.lines:
        words = line.replace("#", " ", 1).lower().split()
        if line.lstrip().startswith("#") and {"gpu", *titles} <= {*words}:
            return _numbered(words)
    return {}


def _has(columns: Columns, measured: Iterable[str], *, of_processes: bool) -> bool:
    """Whether one of the columns *measured* is there, and, as it should be, processes are told or not."""
    return not columns.keys().isdisjoint(measured) and ("pid" in columns) == of_processes


def _cell(columns: Columns, title: str) -> str:
    """Return the SQL of the text in a column; null where there is none."""
    return f"trim(f[{columns[title]}])" if title in columns else "cast(null as varchar)"


def _number(columns: Columns, title: str) -> str:
    """Return the SQL of the number in a column of a query, whatever unit is behind it."""
    return f"try_cast(split_part({_cell(columns, title)}, ' ', 1) as double)"


def _value(columns: Columns, title: str) -> str:
    """Return the SQL of the number in a column of a monitor, whose cells hold no blanks."""
    return f"try_cast(f[{columns[title]}] as double)" if title in columns else "cast(null as double)"


def _clock(columns: Columns) -> str:
    """Return the SQL for the time in a row of a query."""
    return f"try_strptime({_cell(columns, 'timestamp')}, '%Y/%m/%d %H:%M:%S.%f')"


def _moment(columns: Columns) -> str:
    """Return the SQL of device and time in a line of a monitor; raise `DefinitionError` where it has none."""
    if (columns.get("date"), columns.get("time")) != (1, 2):
        raise DefinitionError("has no dates and times, expected those of the option -o DT as well")
    gpu = f"f[{columns['gpu']}]"
    return f"""
        case when try_cast({gpu} as integer) is not null then {gpu} end as device,
        try_cast({gpu} as integer) as place,
        try_strptime(concat(f[1], ' ', f[2]), '%Y%m%d %H:%M:%S') as clock"""


def _of_gpus(head: Head) -> str:
    columns = _queried(head)
    if "timestamp" not in columns or not {"uuid", "index", "pci.bus_id"} & columns.keys():
        lacking = "timestamp" if "timestamp" not in columns else "index or uuid"
        raise DefinitionError(f"has no column {lacking}, expected --query-gpu=timestamp,index,uuid,… as well")
    identity = next(title for title in ("uuid", "index", "pci.bus_id") if title in columns)
    return f"""
    select
        nullif({_cell(columns, identity)}, '') as device,
        try_cast({_cell(columns, "index")} as integer) as place,
        {_cell(columns, "name")} as model,
        {_clock(columns)} as clock,
        {_number(columns, "utilization.gpu")} / 100 as use,
        {_number(columns, "power.draw")} as watts,
        {_number(columns, "memory.used")} * 1024 as kb
    from ({QUERIED_CELLS}) as cells
    """


def _of_processes(head: Head) -> str:
    columns = _queried(head)
    if not {"timestamp", "uuid"} <= columns.keys():
        raise DefinitionError(
            "has no times or GPUs, expected --query-compute-apps=timestamp,gpu_uuid,… as well"
        )
    memory = next(title for title in MEMORY if title in columns)
    return f"""
    select device, date_trunc('second', clock) as clock, sum(mib) * 1024 as kb
    from (
        select
            nullif({_cell(columns, "uuid")}, '') as device,
            {_clock(columns)} as clock,
            {_cell(columns, "pid")} as pid,
            max({_number(columns, memory)}) as mib
        from ({QUERIED_CELLS}) as cells
        group by all
    ) as processes
    group by all
    """


def _of_monitored_gpus(head: Head) -> str:
    columns = _monitored(head)
    return f"""
    select {_moment(columns)},
        {_value(columns, "sm")} / 100 as use,
        {_value(columns, "pwr")} as watts,
        {_value(columns, "fb")} * 1024 as kb
    from ({MONITORED_CELLS}) as cells
    """


def _of_monitored_processes(head: Head) -> str:
    columns = _monitored(head, "pid", "sm")
    use = f"coalesce({_value(columns, 'sm')}, case when f[{columns['sm']}] = '-' then 0 end)"
    return f"""
    select {_moment(columns)},
        least(sum({use}) / 100, 1.0) as mean_use,
        sum({_value(columns, "fb")}) * 1024 as kb
    from ({MONITORED_CELLS}) as cells
    group by 1, 2, 3
    """


READERS: Final = (
    SampleReader(
        "nvidia-smi",
        "samples of nvidia-smi --query-gpu as CSV, of each GPU and time",
        lambda head: _has(_queried(head), MEASURED, of_processes=False),
        _of_gpus,
        "# On each node, into a file that is called as the node is.\n"
        "nvidia-smi --query-gpu=timestamp,index,uuid,name,utilization.gpu,memory.used,power.draw \\\n"
        "  --format=csv -l 30 > $(hostname -s).csv",
    ),
    SampleReader(
        "compute-apps",
        "memory of processes, of nvidia-smi --query-compute-apps as CSV",
        lambda head: _has(_queried(head), MEMORY, of_processes=True),
        _of_processes,
        "nvidia-smi --query-compute-apps=timestamp,gpu_uuid,pid,used_memory --format=csv -l 30 \\\n"
        "  > $(hostname -s).csv",
    ),
    SampleReader(
        "dmon",
        "nvidia-smi dmon with dates and times",
        lambda head: _has(_monitored(head), MONITORED, of_processes=False),
        _of_monitored_gpus,
        "nvidia-smi dmon -o DT -s pum -d 30 > $(hostname -s).txt",
    ),
    SampleReader(
        "pmon",
        "nvidia-smi pmon with dates and times",
        lambda head: bool(_monitored(head, "pid", "sm")),
        _of_monitored_processes,
        "nvidia-smi pmon -o DT -s um -d 10 > $(hostname -s).txt",
    ),
)
