"""
Instance events like those of Google's traces of 2019, of any number: the same bytes for the same number.

    python -m benchmarks.logs.google2019 instance_events-000000000000.json 1000000

An instance has three events.
"""

import sys
from pathlib import Path
from typing import Final

from benchmarks.logs._common import START, Job, written

EVENTS: Final = 3
SECOND: Final = 1_000_000
INSTANCES: Final = 40
ROW: Final = (
    '{"time":"%d","type":"%d","collection_id":"%d","scheduling_class":"%d","collection_type":"0",'
    '"priority":"%d","alloc_collection_id":"0","instance_index":"%d","machine_id":"%d",'
    '"alloc_instance_index":"0","resource_request":{"cpus":%.4f,"memory":%.4f},"constraint":[]}\n'
)


def write(path: Path, rows: int) -> None:
    """Write about *rows* events: those of whole instances."""
    written(path, rows, _lines, EVENTS)


def _lines(job: Job) -> str:
    number, submit, start, end, user, procs, *_, code = job
    collection, instance = divmod(number, INSTANCES)
    said = (330_587_000_000 + collection, user % 4, user % 360, instance)
    request = (procs / 400, user / 4000)
    return "".join(
        ROW % (600 * SECOND + (time - START) * SECOND, kind, *said, number % 9600, *request)
        for time, kind in ((submit, 0), (start, 3), (end, 5 if code else 6))
    )


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]))
