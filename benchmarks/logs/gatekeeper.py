"""
Lines of a GRAM gatekeeper of any number: the same bytes for the same number.

    python -m benchmarks.logs.gatekeeper FILE 1000000

A job has four lines.
"""

import sys
from pathlib import Path
from time import gmtime, strftime
from typing import Final

from benchmarks.logs._common import Job, written

LINES: Final = 4


def write(path: Path, rows: int) -> None:
    """Write a log of about *rows* lines: those of whole jobs."""
    written(path, rows, _lines, LINES)


def _lines(job: Job) -> str:
    number, submit, start, end, user, *_ = job
    manager = f"{strftime('%Y-%m-%d.%H:%M:%S', gmtime(submit))}.{number % 32768:010}.{number // 32768:010}"
    said = (
        (submit, f"for /DC=org/DC=example/CN=user{user:03} on 192.0.2.{number % 250}"),
        (submit, f"mapped to grid{user:03} ({5000 + user}, {1000 + user % 23})"),
        (start, f"has GRAM_SCRIPT_JOB_ID {number}.batch manager type pbs"),
        (end, "JM exiting"),
    )
    return "".join(
        f"JMA {strftime('%Y/%m/%d %H:%M:%S', gmtime(time))} GATEKEEPER_JM_ID {manager} {text}\n"
        for time, text in said
    )


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]))
