"""The jobs of a workload as arrays, recorded or generated, from which realism is measured."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from gwa.errors import TraceError
from gwa.models.streams import Block
from gwa.statistics.sample import Floats, Ints
from gwa.store.schema import MAXIMUM_DURATION
from gwa.store.store import Store
from gwa.util.units import DAY, HOUR, WEEK

MAXIMUM_JOBS: Final = 2_000_000
"""Jobs of a trace that are measured; later ones are ignored."""

UNKNOWN_USER: Final = -1

PERIODS: Final = (WEEK, DAY, HOUR)
"""A week, a day and an hour, into which workloads are split."""

MINIMUM_PERIODS: Final = 4

COLUMNS: Final = """
with known as (select user_id, row_number() over (order by user_id) as number from (
    select distinct user_id from ran where user_id is not null) as users)
select submit_time, run_time, n_procs, req_time, coalesce(number, -1) as user_number
from ran left join known on ran.user_id = known.user_id
where submit_time is not null order by submit_time, job_id
"""


@dataclass(frozen=True, eq=False)
class JobArrays:
    """
    The jobs that ran, in the order of submission, and the processors of their system, *cpus*.

    Arrays of equal length: *submit*, *run* and *requested* time in seconds (nan if no time was requested),
    *procs*, and *user* as a number, `UNKNOWN_USER` if it is unknown.
    """

    submit: Floats
    run: Floats
    procs: Ints
    requested: Floats
    user: Ints
    cpus: int

    def __len__(self) -> int:
        """Return the number of jobs."""
        return self.submit.size

    @classmethod
    def of(cls, store: Store, limit: int = MAXIMUM_JOBS) -> Self:
        """Return the first *limit* jobs in *store* that ran and whose submission time is known."""
        columns = store.arrays(f"{COLUMNS} limit {limit:d}")
        submit, run, requested = (_floats(columns[name]) for name in ("submit_time", "run_time", "req_time"))
        procs, user = (np.asarray(columns[name]).astype(np.int64) for name in ("n_procs", "user_number"))
        cpus = store.system.cpus or int(procs.max(initial=1))
        return cls(submit, run, procs, requested, user, cpus)

    @classmethod
    def from_blocks(cls, blocks: Iterable[Block], cpus: int) -> Self:
        """Return the jobs that a model generated, for a system of *cpus* processors."""
        jobs = list(blocks)

        def column(name: str, missing: float) -> NDArray[Any]:
            size = sum(block["submit_time"].size for block in jobs)
            if not size or name not in jobs[0]:
                return np.full(size, missing)
            return np.concatenate([block[name] for block in jobs])

        submit, run, procs = (column(name, 0.0) for name in ("submit_time", "run_time", "n_procs"))
        requested, user = column("req_time", np.nan), column("user_id", UNKNOWN_USER)
        return cls(
            _floats(submit), np.minimum(_floats(run), MAXIMUM_DURATION), procs.astype(np.int64),
            _floats(requested), user.astype(np.int64), cpus,
        )  # fmt: skip

    def with_cpus(self, cpus: int) -> Self:
        """Return the same jobs for a system of *cpus* processors."""
        return replace(self, cpus=cpus)

    def take(self, indices: NDArray[Any], submit: Floats) -> Self:
        """Return the jobs at *indices*, with the submission times *submit*."""
        return replace(
            self,
            submit=submit,
            run=self.run[indices],
            procs=self.procs[indices],
            requested=self.requested[indices],
            user=self.user[indices],
        )


def workload(store: Store, name: str) -> JobArrays:
    """Return the jobs of a trace called *name*; raise `TraceError` where none ran at a known time."""
    jobs = JobArrays.of(store)
    if not len(jobs):
        raise TraceError(f"{name}: no job ran at a known time, expected a workload")
    return jobs


def choose_period(first: float, last: float) -> float | None:
    """Return the longest of `PERIODS` that fits four times between *first* and *last*, if any does."""
    return next((period for period in PERIODS if last - first >= MINIMUM_PERIODS * period), None)


def split_halves(whole: JobArrays, block: int = 1) -> tuple[JobArrays, JobArrays] | None:
    """
    Split a workload into its even and its odd weeks, each without the time between its weeks.

    *block* consecutive weeks stay together. Shorter workloads are split by days or hours (`choose_period`);
    None is returned if they are too short for that. Hours of the day, and days of the week if split by weeks,
    are preserved.
    """
    length = choose_period(whole.submit[0], whole.submit[-1]) if len(whole) else None
    if length is None:
        return None
    number = np.floor(whole.submit / length)
    block_number, position = np.divmod(number - number[0], block)
    submit = whole.submit - length * (number - (block_number // 2 * block + position))
    even, odd = (np.flatnonzero(block_number % 2 == parity) for parity in (0, 1))
    if not min(even.size, odd.size):
        return None
    return whole.take(even, submit[even]), whole.take(odd, submit[odd])


def bootstrap(whole: JobArrays, rng: np.random.Generator) -> JobArrays:
    """Resample jobs and interarrival gaps independently with replacement, which destroys their order."""
    gaps = np.diff(whole.submit)
    drawn = rng.choice(gaps, len(whole) - 1) if gaps.size else gaps
    submit = whole.submit[:1] + np.concatenate(([0.0], np.cumsum(drawn)))
    return whole.take(rng.integers(len(whole), size=len(whole)), submit[: len(whole)])


def _floats(column: NDArray[Any]) -> Floats:
    """Convert a column to doubles, masked values to nan."""
    return np.ma.filled(np.ma.asarray(column).astype(np.float64), np.nan)
