"""
Events of Globus' scheduler event generator, of any number: the same bytes for the same number.

    python -m benchmarks.logs.seg FILE 1000000

A job has three events.
"""

import sys
from pathlib import Path
from typing import Final

from benchmarks.logs._common import Job, written

EVENTS: Final = 3


def write(path: Path, rows: int) -> None:
    """Write a log of about *rows* events: those of whole jobs."""
    written(path, rows, _lines, EVENTS)


def _lines(job: Job) -> str:
    number, submit, start, end, _, _, _, code = job
    name = f"{number}.batch.example.org"
    return f"001;{submit};{name};1;0\n001;{start};{name};2;0\n001;{end};{name};{4 if code else 8};{code}\n"


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]))
