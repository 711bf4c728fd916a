"""Load a log with gwa, then the busy and the queued processors over time, in bins of ten minutes."""

import sys

import gwa
from gwa.metrics.timeline import level

with gwa.open(sys.argv[1]) as trace:
    period = trace.store.row("select min(submit_time), max(end_time) from ran")
    levels = [
        level(trace.store, "n_procs", span, "ran", width=600.0, period=period)
        for span in (("start_time", "end_time"), ("submit_time", "start_time"))
    ]
    print(len(trace), *(one.values.max() for one in levels))
