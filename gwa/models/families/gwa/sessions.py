"""The sessions of a trace: jobs of a user with gaps below an hour, in bags with gaps below two minutes."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gwa.metrics.bags import TEXT
from gwa.statistics.sample import Floats, Ints
from gwa.store.store import Store
from gwa.util.units import HOUR

BREAK: Final = float(HOUR)
"""A session ends when its user submits nothing for this many seconds."""

PAUSE: Final = TEXT.gap or 0.0
"""A bag ends when its user submits nothing for this many seconds."""

MAXIMUM_JOBS: Final = 1_000_000
"""Jobs of a trace that are fitted; later ones are ignored."""

COLUMNS: Final = """
select submit_time, run_time, n_procs, req_time,
case when user_id is null then -job_id - 1 else dense_rank() over (order by user_id) end as user_number
from (select * from ran where submit_time is not null order by submit_time, job_id limit {limit}) as earliest
order by user_number, submit_time, job_id
"""


@dataclass(frozen=True, eq=False)
class Sessions:
    """
    Jobs sorted by user, session, bag and submission time, as arrays of equal length.

    *user*, *session* and *bag* are numbers from 0; *gap* is the time since the job before in the session, nan
    for its first job.
    """

    submit: Floats
    run: Floats
    procs: Ints
    requested: Floats
    user: Ints
    session: Ints
    bag: Ints
    gap: Floats
    has_users: bool

    @classmethod
    def of(cls, store: Store) -> "Sessions":
        """Return the sessions of the jobs that ran; each job without a user is a session of its own."""
        columns = store.arrays(COLUMNS.format(limit=MAXIMUM_JOBS))
        submit, run, requested, users = (
            np.ma.filled(np.ma.asarray(columns[name]).astype(np.float64), np.nan)
            for name in ("submit_time", "run_time", "req_time", "user_number")
        )
        gap = np.diff(submit, prepend=np.nan)
        new_user = np.diff(users, prepend=np.nan) != 0
        new_session = new_user | ~(gap < BREAK)
        new_bag = new_session | ~(gap < PAUSE)
        user, session, bag = (np.cumsum(is_new) - 1 for is_new in (new_user, new_session, new_bag))
        gap[new_session] = np.nan
        procs = np.asarray(columns["n_procs"]).astype(np.int64)
        return cls(submit, run, procs, requested, user, session, bag, gap, bool((users > 0).any()))

    def first_jobs(self, group: Ints) -> NDArray[np.intp]:
        """Return the index of the first job of each *group*: users, sessions or bags."""
        return np.flatnonzero(np.diff(group, prepend=-1))
