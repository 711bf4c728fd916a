"""
Samples of the processes on GPUs that ``nvidia-smi pmon -o DT`` prints, added up for each GPU and second.

``sm`` is a mean over the time since the sample before, unlike readings of the whole GPU, and a tenth too
low; ``-`` beside a process is no use, and a GPU without processes has one line of ``-``. Names of programs
are private, and not read.

Source: nvidia-smi(1), section on process monitoring, https://docs.nvidia.com/deploy/nvidia-smi/index.html.
"""

from typing import Final

from gwa.ingest.node_samples import Head, SampleReader
from gwa.ingest.samples.dmon import CELLS, moment_of, monitored, value

EXPORT: Final = "nvidia-smi pmon -o DT -s um -d 10 > $(hostname -s).txt"


def fits(head: Head) -> bool:
    """Whether the head is that of a monitor of processes."""
    return monitored(head, "pid", "sm") is not None


def select(head: Head) -> str:
    """Return the query of samples."""
    columns = monitored(head, "pid", "sm") or {}
    return f"""
    select {moment_of(columns)},
        least(sum(coalesce({value(columns, "sm")}, case when f[{columns["sm"]}] = '-' then 0 end)) / 100, 1.0)
            as mean_use,
        sum({value(columns, "fb")}) * 1024 as kb
    from ({CELLS}) as cells
    group by 1, 2, 3
    """


PMON: Final = SampleReader("pmon", "nvidia-smi pmon with dates and times", fits, select, EXPORT)
