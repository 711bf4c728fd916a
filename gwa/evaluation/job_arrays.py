"""A workload as arrays: what realism is measured of, whether a trace recorded it or a model made it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from gwa.models.streams import Block
from gwa.statistics.sample import Floats, Ints
from gwa.store.schema import LONGEST
from gwa.store.store import Store
from gwa.util.units import DAY, HOUR, WEEK

MOST: Final = 2_000_000
"""Jobs that are looked at; of a longer trace, the first."""

NOBODY: Final = -1

PERIODS: Final = (WEEK, DAY, HOUR)
"""What workloads are cut into."""

FEWEST_PERIODS: Final = 4

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
    The jobs that ran, in the order of submission, and the *cpus* of the system that they are for.

    Arrays of one length: *submit*, *run* and *requested* time in seconds (nan where none was requested),
    *procs*, and *user*, numbers that stand for names (`NOBODY` where unknown).
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
    def of(cls, store: Store, most: int = MOST) -> Self:
        """Return the jobs in *store* that ran and whose submission is known, the first *most* of them."""
        found = store.arrays(f"{COLUMNS} limit {most:d}")
        submit, run, requested = (_floats(found[name]) for name in ("submit_time", "run_time", "req_time"))
        procs, user = (np.asarray(found[name]).astype(np.int64) for name in ("n_procs", "user_number"))
        cpus = store.system.cpus or int(procs.max(initial=1))
        return cls(submit, run, procs, requested, user, cpus)

    @classmethod
    def made(cls, blocks: Iterable[Block], cpus: int) -> Self:
        """Return the jobs that a model made, for a system of *cpus* processors."""
        several = list(blocks)

        def column(name: str, missing: float) -> NDArray[Any]:
            size = sum(block["submit_time"].size for block in several)
            if not size or name not in several[0]:
                return np.full(size, missing)
            return np.concatenate([block[name] for block in several])

        submit, run, procs = (column(name, 0.0) for name in ("submit_time", "run_time", "n_procs"))
        requested, user = column("req_time", np.nan), column("user_id", NOBODY)
        return cls(
            _floats(submit), np.minimum(_floats(run), LONGEST), procs.astype(np.int64),
            _floats(requested), user.astype(np.int64), cpus,
        )  # fmt: skip

    def on(self, cpus: int) -> Self:
        """Return the same jobs for a system of *cpus* processors."""
        return replace(self, cpus=cpus)

    def take(self, which: NDArray[Any], submit: Floats) -> Self:
        """Return the jobs at places *which*, submitted at the moments *submit*."""
        return replace(
            self,
            submit=submit,
            run=self.run[which],
            procs=self.procs[which],
            requested=self.requested[which],
            user=self.user[which],
        )


def period(first: float, last: float) -> float | None:
    """Return the longest of `PERIODS` that is four times in the span from *first* to *last*, if any is."""
    return next((one for one in PERIODS if last - first >= FEWEST_PERIODS * one), None)


def halves(whole: JobArrays, block: int = 1) -> tuple[JobArrays, JobArrays] | None:
    """
    Return the even and the odd weeks of a workload, put together without what was between them.

    Weeks are taken *block* by block. Shorter workloads are cut by days or hours (`period`); None for what is
    too short for that. Hours of the day, and in weeks days of the week, stay what they are.
    """
    length = period(whole.submit[0], whole.submit[-1]) if len(whole) else None
    if length is None:
        return None
    place = np.floor(whole.submit / length)
    turn, rest = np.divmod(place - place[0], block)
    earlier = whole.submit - length * (place - (turn // 2 * block + rest))
    even, odd = (np.flatnonzero(turn % 2 == parity) for parity in (0, 1))
    if not min(even.size, odd.size):
        return None
    return whole.take(even, earlier[even]), whole.take(odd, earlier[odd])


def bootstrapped(whole: JobArrays, rng: np.random.Generator) -> JobArrays:
    """Return as many jobs, and gaps between them, drawn one by one with replacement: no order is left."""
    gaps = np.diff(whole.submit)
    drawn = rng.choice(gaps, len(whole) - 1) if gaps.size else gaps
    submit = whole.submit[:1] + np.concatenate(([0.0], np.cumsum(drawn)))
    return whole.take(rng.integers(len(whole), size=len(whole)), submit[: len(whole)])


def _floats(column: NDArray[Any]) -> Floats:
    """Return numbers as doubles, those that are masked as nan."""
    found: Floats = np.ma.filled(np.ma.asarray(column).astype(np.float64), np.nan)
    return found
