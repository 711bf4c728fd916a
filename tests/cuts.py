"""Logs that are cut as accounting dumps are, and what was busy in the whole of them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gwa.store.account import Account
from gwa.store.store import Store

CUTS = ("none", "end", "start", "both")


class Jobs(NamedTuple):
    """Moments of jobs, in seconds, and their processors."""

    submit: NDArray[np.float64]
    start: NDArray[np.float64]
    end: NDArray[np.float64]
    procs: NDArray[np.int64]

    def where(self, chosen: NDArray[np.bool_]) -> "Jobs":
        return Jobs(self.submit[chosen], self.start[chosen], self.end[chosen], self.procs[chosen])


def cut(jobs: Jobs, kind: str, borders: tuple[float, float]) -> Jobs:
    """Return what a dump between *borders* holds: by end, by submission, by both, or all that were there."""
    first, last = borders
    low = jobs.submit if kind in {"start", "both"} else jobs.end
    high = jobs.end if kind in {"end", "both"} else jobs.submit
    return jobs.where((low >= first) & (high < last))


def busy(jobs: Jobs, period: tuple[float, float]) -> float:
    """Return the mean of busy processors in a period, job by job."""
    first, last = period
    seconds = np.clip(np.minimum(jobs.end, last) - np.maximum(jobs.start, first), 0, None)
    return float((jobs.procs * seconds).sum() / (last - first))


def to_store(jobs: Jobs, cpus: int | None = None) -> Store:
    """Return the jobs as a store of their own."""
    import pyarrow as pa

    store = Store.create()
    store.begin(["job_id", "submit_time", "wait_time", "run_time", "n_procs"])
    table = pa.table(
        {
            "job_id": np.arange(1, len(jobs.submit) + 1),
            "submit_time": np.asarray(jobs.submit, float),
            "wait_time": np.asarray(jobs.start - jobs.submit, float),
            "run_time": np.asarray(jobs.end - jobs.start, float),
            "n_procs": np.asarray(jobs.procs, int),
        }
    )
    store.connection.register("given", table)
    store.connection.execute("insert into recorded by name from given")
    store.connection.unregister("given")
    store.set_header((("Processors", str(cpus)),) if cpus else ())
    store.set_account(Account(len(jobs.submit), len(jobs.submit), 0, 0, 0))
    return store
