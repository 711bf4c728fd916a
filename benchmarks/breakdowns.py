"""
Eight breakdowns against the same by hand: ``python -m benchmarks.breakdowns STORE``.

By hand a query of DuckDB for each dimension has jobs, CPU time, median and 95th percentile of the wait, and
the median run time. gwa has those, all other measures that the log records, and the orders of all lists.
Printed are the CPU seconds of both and their ratio, medians of runs that take turns.
"""

import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Final

import gwa
from gwa.breakdown.breakdown import breakdown
from gwa.breakdown.dimensions import recorded
from gwa.store.store import Store

DIMENSIONS: Final = 8
RUNS: Final = 3

BY_HAND: Final = """
select {key} as key, count(*) as jobs, sum(run_time * n_procs) as cpu_seconds,
    quantile_cont(wait_time, 0.5) as wait_median, quantile_cont(wait_time, 0.95) as wait_p95,
    quantile_cont(run_time, 0.5) as runtime_median
from jobs group by key order by cpu_seconds desc
"""


def ours(store: Store) -> None:
    """Break down the jobs by the first dimensions that the log records."""
    for dimension in recorded(store)[:DIMENSIONS]:
        breakdown(store, dimension, "by_cpu")


def by_hand(store: Store) -> None:
    """Ask the same dimensions one by one."""
    for dimension in recorded(store)[:DIMENSIONS]:
        if classes := dimension.of(store):
            store.rows(BY_HAND.format(key=classes.key))


def seconds(path: str, work: Callable[[Store], None]) -> float:
    """Return the CPU seconds of some *work* on the store at *path*, which is opened and looked at before."""
    with gwa.open(path) as trace:
        trace.store.settle()
        recorded(trace.store)  # finds the classes before the clock runs
        begin = time.process_time()
        work(trace.store)
        return time.process_time() - begin


def main(path: str) -> None:
    """Print both, and their ratio."""
    pairs = [(seconds(path, ours), seconds(path, by_hand)) for _ in range(RUNS)]
    ratio = median(one / other for one, other in pairs)
    print(f"gwa {median(one for one, _ in pairs):.2f} s, by hand {median(o for _, o in pairs):.2f} s of CPU")
    print(f"{ratio:.2f} times as long")


if __name__ == "__main__":
    main(sys.argv[1])
