"""
Samples of GPUs that ``nvidia-smi dmon -o DT`` prints: the columns that driver and ``-s`` choose.

Two lines that begin with ``#`` name columns and units, and come again with each screen; ``-`` is no value.
Times are whole seconds of the node's clock, of which one is left out now and then. ``sm`` is a reading of the
same kind as ``utilization.gpu``.

Source: nvidia-smi(1), section on device monitoring, https://docs.nvidia.com/deploy/nvidia-smi/index.html;
``-o DT`` puts date and time before each line.
"""

from typing import Final

from gwa.errors import DefinitionError
from gwa.ingest.node_samples import Head, SampleReader

EXPORT: Final = "nvidia-smi dmon -o DT -s pum -d 30 > $(hostname -s).txt"

CLOCK: Final = "try_strptime(concat(f[1], ' ', f[2]), '%Y%m%d %H:%M:%S')"
"""The SQL of the moment that a line begins with."""


def monitored(head: Head, *names: str) -> dict[str, int] | None:
    """
    Return the numbers of the columns of a monitor of nvidia-smi, from 1, by their names.

    None where the head is of no monitor, or one without the columns *names*. Without ``Date`` and ``Time``
    those are missing.
    """
    for line in head.lines:
        words = line.replace("#", " ", 1).lower().split()
        if line.lstrip().startswith("#") and "gpu" in words and {*names} <= {*words}:
            return {word: place for place, word in reversed([*enumerate(words, 1)])}
    return None


def require_times(columns: dict[str, int]) -> None:
    """Raise `DefinitionError` for a monitor without dates and times."""
    if (columns.get("date"), columns.get("time")) != (1, 2):
        raise DefinitionError("has no dates and times, expected those of the option -o DT as well")


def value(columns: dict[str, int], name: str) -> str:
    """Return the SQL of the number in a column; null where there is none."""
    return f"try_cast(f[{columns[name]}] as double)" if name in columns else "cast(null as double)"


CELLS: Final = r"""
    select string_split_regex(trim(line), '\s+') as f
    from given
    where not starts_with(trim(line), '#') and trim(line) <> ''
"""


def fits(head: Head) -> bool:
    """Whether the head is that of a monitor of devices."""
    columns = monitored(head) or {}
    return "pid" not in columns and bool({"sm", "pwr", "fb"} & columns.keys())


def moment_of(columns: dict[str, int]) -> str:
    """Return the SQL of the device and the time of a line; raise `DefinitionError` where it has no time."""
    require_times(columns)
    gpu = f"f[{columns['gpu']}]"
    return f"""
        case when try_cast({gpu} as integer) is not null then {gpu} end as device,
        try_cast({gpu} as integer) as place,
        {CLOCK} as clock"""


def select(head: Head) -> str:
    """Return the query of samples."""
    columns = monitored(head) or {}
    return f"""
    select {moment_of(columns)},
        {value(columns, "sm")} / 100 as use,
        {value(columns, "pwr")} as watts,
        {value(columns, "fb")} * 1024 as kb
    from ({CELLS}) as cells
    """


DMON: Final = SampleReader("dmon", "nvidia-smi dmon with dates and times", fits, select, EXPORT)
