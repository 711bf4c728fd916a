"""
A history of HTCondor of any size, in ads: the same bytes for the same number.

    python -m benchmarks.logs.condor FILE 1000000
"""

import sys
from pathlib import Path
from typing import Final

from benchmarks.logs._common import Job, written

AD: Final = """\
MyType = "Job"
ClusterId = %d
ProcId = 0
GlobalJobId = "submit.example.org#%d.0#%d"
Owner = "user%03d"
AcctGroup = "group%02d"
Cmd = "/opt/apps/bin/app%d"
Args = "--steps %d"
JobUniverse = 5
QDate = %d
JobStartDate = %d
JobCurrentStartDate = %d
CompletionDate = %d
EnteredCurrentStatus = %d
JobStatus = 4
ExitBySignal = FALSE
ExitCode = %d
RemoteUserCpu = %d.000000
RemoteSysCpu = 27.000000
ImageSize_RAW = %d
ImageSize = %d
RequestCpus = %d
RequestMemory = ifThenElse(MemoryUsage =!= undefined,MemoryUsage,( ImageSize + 1023 ) / 1024)
RequestDisk = DiskUsage
DiskUsage = 2048
LastRemoteHost = "slot1@node%02d.example.org"
*** Offset = 0 ClusterId = %d ProcId = 0 Owner = "user%03d" CompletionDate = %d
"""


def write(path: Path, rows: int) -> None:
    """Write a history of *rows* ads."""
    written(path, rows, _ad)


def _ad(job: Job) -> str:
    number, submit, start, end, user, procs, memory, code = job
    who = (number, number, submit, user, user % 23, user % 90, number % 977)
    times = (submit, start, start, end, end, code, (end - start) * procs)
    return AD % (*who, *times, memory, memory, procs, number % 90, number, user, end)


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]))
