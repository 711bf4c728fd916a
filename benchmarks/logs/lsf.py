"""
An lsb.acct of LSF of any size: the same bytes for the same number of rows.

    python -m benchmarks.logs.lsf FILE 1000000
"""

import sys
from pathlib import Path
from typing import Final

from benchmarks.logs._common import Job, written

ROW: Final = (
    '"JOB_FINISH" "10.1" %d %d %d 33554434 %d %d 0 0 %d "user%03d" "normal" "select[type == any]" "" ""'
    ' "login1.example.org" "/home/user%03d" "" "out.%%J" "" "%d.%d" 0 1 "%d*host%03d.example.org" %d 60.0'
    ' "" "/opt/apps/bin/app%d -n ""%d""" %d.000000 12.000000 3748 0 -1 0 0 436 4 0 928 0 -1 0 0 0 19 2 -1 ""'
    ' "default" %d %d "" "" 0 %d %d "" "" "" "" 0 "" 0 "" -1 "" "" "" "" -1 "" "" 5136 "" %d "" "" 0 0 3600 0'
    ' 1024 "select[type == any] order[r15s:pg] " "" -1 "" -1 0 "" 0 0 "" 600 "/home" 0\n'
)


def write(path: Path, rows: int) -> None:
    """Write an accounting file of *rows* rows."""
    written(path, rows, _line)


def _line(job: Job) -> str:
    number, submit, start, end, user, procs, memory, code = job
    ended = (end, number, 1000 + user, procs, submit, start, user, user, submit, number, procs, number % 200)
    status = 32 if code else 64
    used = (
        status,
        user % 90,
        number % 97,
        (end - start) * procs,
        code * 256,
        procs,
        memory,
        4 * memory,
        start,
    )
    return ROW % (*ended, *used)


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]))
