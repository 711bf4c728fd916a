"""
Audit records of GRAM of any number: the same bytes for the same number.

    python -m benchmarks.logs.gram_audit FILE 1000000
"""

import sys
from pathlib import Path
from time import gmtime, strftime
from typing import Final

from benchmarks.logs._common import Job, written

ROW: Final = (
    '"https://ce.example.org:2119/%d/%d/","%d.batch","/DC=org/DC=example/CN=user%03d","grid%03d","NULL","%s",'
    '"%s","NULL","NULL","NULL","5.0.1","pbs","&(executable=/opt/bin/app%d)(count=%d)(maxWallTime=%d)'
    '(maxMemory=%d)(queue=long)(project=p%02d)","%s","true"\n'
)


def write(path: Path, rows: int) -> None:
    """Write *rows* records."""
    written(path, rows, _row)


def _row(job: Job) -> str:
    number, submit, start, end, user, procs, memory, code = job
    stamps = [strftime("%a %b %e %H:%M:%S UTC %Y", gmtime(time)) for time in (submit, submit + 3)]
    asked = (user % 90, procs, (end - start) // 60 + 1, memory // 1000 + 1, user % 23)
    return ROW % (number, submit, number, user, user, *stamps, *asked, "false" if code else "true")


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]))
