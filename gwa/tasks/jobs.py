"""All jobs of a trace as arrays: what they asked for, when they ran, and what became of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self

import numpy as np

from gwa.metrics.local_time import local, submissions
from gwa.metrics.waits import queued
from gwa.statistics.sample import Floats, Ints
from gwa.store.schema import NOT_ENDED
from gwa.store.store import Store

NEVER: Final = np.inf
"""When something happens that never happened, as far as the log knows."""

UNKNOWN: Final = -1
"""The code of a name that is not recorded."""

JOBS: Final = """
select job_id, submit_time as submit, {local} as local, wait_time as wait, {queued} as queued,
    run_time as run, {unfinished} as unfinished, coalesce(req_n_procs, n_procs) as procs, n_nodes as nodes,
    coalesce(req_gpus, n_gpus) as gpus, req_time as request, req_memory, status, max_memory, energy,
    queue_id as queue, partition_id as "partition", qos, coalesce(project_id, group_id) as project,
    user_id as "user", executable_id as executable, coalesce(bounds, '') as bounds
from jobs where submit_time is not null order by submit_time, job_id
"""

ASKED: Final = ("procs", "nodes", "gpus", "request", "req_memory")
NAMES: Final = ("queue", "partition", "qos", "project", "user", "executable")

BOUNDED: Final = {"wait": "wait_time", "run_time": "run_time", "max_memory": "max_memory", "energy": "energy"}
"""The fields of outcomes that may be lower bounds."""

COMPLETED: Final = 1
"""The status of a job that completed."""


@dataclass(frozen=True, eq=False)
class SubmittedJobs:
    """
    All jobs with a known submission, in its order, for a machine of *cpus* processors, if known.

    Arrays of equal length: *job*, the number in the trace; *submit*, Unix time in s, or since the unknown
    zero of the trace; *clock*, the same by the clock of the site, nan where dates are not known; *start* and
    *end*, `NEVER` where there is none; *left*, when the job left the queue, to start or not, nan where it is
    not known. *asked* are the numbers requested (`ASKED`), nan where unknown; *names* the codes of `NAMES` in
    the order of their first submission, `UNKNOWN` where there is none; *outcomes* what became of the job,
    nan where it is not known: by the names of the tasks.
    """

    job: Ints
    submit: Floats
    clock: Floats
    start: Floats
    end: Floats
    left: Floats
    asked: Mapping[str, Floats]
    names: Mapping[str, Ints]
    outcomes: Mapping[str, Floats]
    cpus: int | None

    def __len__(self) -> int:
        """Return the number of jobs."""
        return self.submit.size

    @classmethod
    def of(cls, store: Store) -> Self:
        """
        Return the jobs of *store*.

        The wait to be foretold is that for the system, as for `gwa wait`: without the time in which a job
        could not start, whatever the system did. A missing wait of a job that ran means that it started at
        once, as in all of gwa, but is no outcome. What a trace calls a lower bound is no outcome either.
        """
        import pandas as pd

        span = submissions(store, "submit_time is not null")
        frame = store.frame(
            JOBS.format(
                local=local(store, "submit_time", span) if span else "cast(null as double)",
                queued=queued(store),
                unfinished=f"({NOT_ENDED})" if store.has("status") else "false",
            )
        )

        def number(name: str) -> Floats:
            return np.asarray(frame[name].astype("Float64").to_numpy(np.float64, na_value=np.nan))

        submit, wait, run = number("submit"), number("wait"), number("run")
        started = ~np.isnan(run) | frame["unfinished"].fillna(value=False).to_numpy(bool)
        start = np.where(started, submit + np.nan_to_num(wait), NEVER)
        end = np.where(np.isnan(run), NEVER, start + np.nan_to_num(run))
        status = number("status")
        outcomes = {
            "wait": np.where(started, number("queued"), np.nan),
            "run_time": run,
            "failure": np.where(np.isnan(status) | np.isnan(run), np.nan, status != COMPLETED),
            "max_memory": np.where(np.isnan(run), np.nan, number("max_memory")),
            "energy": np.where(np.isnan(run), np.nan, number("energy")),
        }
        for name, field in BOUNDED.items():
            is_bound = frame["bounds"].str.contains(rf"\b{field}\b", regex=True).to_numpy(bool)
            outcomes[name] = np.where(is_bound, np.nan, outcomes[name])
        return cls(
            job=frame["job_id"].to_numpy(np.int64),
            submit=submit,
            clock=number("local"),
            start=start,
            end=end,
            left=np.where(started, start, submit + wait),
            asked={name: number(name) for name in ASKED},
            names={name: pd.factorize(frame[name])[0].astype(np.int64) for name in NAMES},
            outcomes=outcomes,
            cpus=store.system.cpus,
        )
