"""A machine, its scheduler and the jobs that are submitted to it, as recorded or changed."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from gwa.errors import SimulationError, TraceError
from gwa.metrics.presence import of_all_runs
from gwa.metrics.presence import recorded as recorded_time
from gwa.metrics.waits import eligible, queued
from gwa.simulation.backfilling import schedule
from gwa.simulation.jobs import UNLIMITED, Jobs
from gwa.statistics.sample import Floats, Ints
from gwa.store.store import Store

NEW: Final = -1
"""The number of a job that the log does not have."""

PROCESSORS, GPUS = "processors", "GPUs"
"""What a machine has of which jobs hold some: the pool that is replayed."""

ROWS: Final = """
select {eligible} as submit, {queued} as wait, all_seconds as run, {size} as size,
    req_time as requested, cast({queue} as varchar) as queue, cast({user} as varchar) as user_name
from {ran} where submit_time is not null and run_time is not null and {size} > 0 order by submit, job_id
"""


@dataclass(frozen=True, eq=False)
class World:
    """
    Jobs in the order of submission, as arrays of equal length, and the machine that they are submitted to.

    *submit*, *wait*, *run* and *requested* are in seconds; a wait that is not recorded and a time that was
    not requested are nan. A job is submitted when it could have started, which is later for one that was
    held. *size* is how many processors, or GPUs, a job holds; *job* is its number in the log, `NEW` for one
    that the log does not have; *queue* and *user* are names, empty where they are not recorded.

    *capacity* is how many processors, or GPUs, the machine has, *policy* the name of the scheduler's, see
    `gwa.simulation.backfilling.schedule`; *unit* is what sizes and capacity count: `PROCESSORS` or `GPUS`.
    *ceilings* are the processors that users may hold at once, by name; others have none.
    """

    submit: Floats
    wait: Floats
    run: Floats
    requested: Floats
    size: Ints
    job: Ints
    queue: NDArray[np.str_]
    user: NDArray[np.str_]
    capacity: int
    policy: str
    unit: str = PROCESSORS
    ceilings: Mapping[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        """Return the number of jobs."""
        return self.submit.size

    @property
    def span(self) -> float:
        """Seconds from the first submission to the last."""
        return float(self.submit[-1] - self.submit[0]) if len(self) else 0.0

    def only(self, kept: NDArray[np.bool_]) -> Self:
        """Return this world with the jobs that are *kept*."""
        return self.taking(np.flatnonzero(kept))

    def taking(self, rows: Ints, submit: Floats | None = None) -> Self:
        """Return this world with the jobs of *rows*, submitted at other times if those are given."""
        times = self.submit[rows] if submit is None else submit
        rows = rows[np.argsort(times, kind="stable")]
        columns = {name: getattr(self, name)[rows] for name in COLUMNS}
        return replace(self, **{**columns, "submit": np.sort(times)})

    @property
    def load(self) -> float:
        """The share of the machine that the jobs would keep busy from the first submission to the last."""
        return float(self.run @ self.size) / (self.capacity * self.span) if self.span else 0.0

    def at_load(self, load: float) -> Self:
        """
        Return this world with the gaps between submissions scaled to a *load*, from second 0 on.

        Raise `SimulationError` where no gap, or no job, takes time.
        """
        if not self.load > 0:
            raise SimulationError(
                "all jobs are submitted at once, or none takes time: their load cannot be scaled"
            )
        return replace(self, submit=(self.submit - self.submit[0]) * (self.load / load))

    def starts(self) -> Floats:
        """Return when each job starts under the policy, in seconds, by simulation."""
        estimate = np.where(self.requested > 0, self.requested, self.run)
        sizes = np.minimum(self.size, self.capacity)
        jobs = Jobs.of(self.submit, self.run, sizes, estimate, self.user, self._limit)
        return schedule(jobs, self.capacity, self.policy)

    @property
    def _limit(self) -> Ints | None:
        """What the user of each job may hold at once; None without ceilings."""
        if not self.ceilings:
            return None
        names, user = np.unique(self.user, return_inverse=True)
        return np.array([self.ceilings.get(name, UNLIMITED) for name in names.tolist()], np.int64)[user]


COLUMNS: Final = ("submit", "wait", "run", "requested", "size", "job", "queue", "user")
"""The fields of a world that have a value for each job."""


def recorded(store: Store, policy: str, unit: str = PROCESSORS) -> World:
    """
    Return the jobs of *store* that ran, on the machine that the log states.

    Raise `TraceError` where no job can be replayed, or where the log does not state the size of the machine.
    """
    has_gpus = unit == GPUS
    size = "cast(ceil(n_gpus) as bigint)" if has_gpus else "n_procs"
    if has_gpus and not store.has("n_gpus"):
        raise TraceError("no job records GPUs, expected a log that does for --gpus")
    queue = "queue_id" if store.has("queue_id") else "partition_id"
    columns = store.arrays(
        ROWS.format(
            ran=of_all_runs(store, "ran"),
            eligible=eligible(store),
            queued=queued(store),
            size=size,
            queue=queue,
            user="user_id",
        )
    )
    sizes = np.asarray(columns["size"], np.int64)
    if not sizes.size:
        (jobs,) = store.row("select count(*) as jobs from jobs")
        raise TraceError(
            f"none of {jobs:,} jobs has a known submission, run time and size, nothing can be replayed"
        )
    system = store.system.within(recorded_time(store) or (0.0, 0.0))
    if system.sizes and not has_gpus:
        raise TraceError(
            "the number of processors changed, and a replay has one number, expected a log of a time with one"
        )
    capacity = system.gpus if has_gpus else system.cpus
    submit, wait, run, requested = (_known(columns[name]) for name in ("submit", "wait", "run", "requested"))
    return World(
        submit, wait, run, requested, sizes, np.arange(sizes.size), _names(columns["queue"]),
        _names(columns["user_name"]), capacity or _most_busy(submit, wait, run, sizes), policy, unit,
    )  # fmt: skip


def _known(values: object) -> Floats:
    """Return *values* with nan where they are unknown: engines mask them, with any number below the mask."""
    return np.ma.filled(np.ma.asarray(values, np.float64), np.nan)


def _names(values: object) -> NDArray[np.str_]:
    """Return *values* as text, empty where they are unknown: an engine masks them."""
    return np.array(["" if name is None else str(name) for name in np.ma.asarray(values, object).tolist()])


def _most_busy(submit: Floats, wait: Floats, run: Floats, size: Ints) -> int:
    """Return how many processors were ever busy at once: the least that the machine can have had."""
    start = submit + np.nan_to_num(wait)
    times = np.concatenate([start + run, start])
    order = np.argsort(times, kind="stable")
    busy = np.cumsum(np.concatenate([-size, size])[order])
    return int(max(busy.max(initial=0), size.max()))
