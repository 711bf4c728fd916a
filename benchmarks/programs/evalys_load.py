"""Load a log with evalys, then the busy and the queued processors over time."""

import sys

from evalys.workload import Workload  # type: ignore[import-not-found]

workload = Workload.from_csv(sys.argv[1])
print(len(workload.df), workload.utilisation["load"].max(), workload.queue["load"].max())
