"""The sessions of a trace: what a user submits without an hour's break, in bags without two minutes'."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gwa.metrics.bags import TEXT
from gwa.statistics.sample import Floats, Ints
from gwa.store.store import Store
from gwa.util.units import HOUR

BREAK: Final = HOUR
"""A session ends where a user submits nothing for so many seconds."""

PAUSE: Final = TEXT.gap or 0.0
"""A bag ends where a user submits nothing for so many seconds."""

MOST: Final = 1_000_000
"""Jobs that a fit looks at; of a longer trace, the first."""

COLUMNS: Final = """
select submit_time, run_time, n_procs, req_time,
case when user_id is null then -job_id - 1 else dense_rank() over (order by user_id) end as user_number
from (select * from ran where submit_time is not null order by submit_time, job_id limit {most}) as earliest
order by user_number, submit_time, job_id
"""


@dataclass(frozen=True, eq=False)
class Sessions:
    """
    Jobs by user, session and bag, each in the order of submission, as arrays of one length.

    *user*, *session* and *bag* number from 0 whose they are; *gap* is the time since the job before in the
    session, nan for its first.
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
        """Return the jobs of *store* that ran; each of an unknown user is a session of its own."""
        found = store.arrays(COLUMNS.format(most=MOST))
        submit, run, requested, users = (
            np.ma.filled(np.ma.asarray(found[name]).astype(np.float64), np.nan)
            for name in ("submit_time", "run_time", "req_time", "user_number")
        )
        gap = np.diff(submit, prepend=np.nan)
        new_user = np.diff(users, prepend=np.nan) != 0
        new_session = new_user | ~(gap < BREAK)
        new_bag = new_session | ~(gap < PAUSE)
        user, session, bag = (np.cumsum(new) - 1 for new in (new_user, new_session, new_bag))
        gap[new_session] = np.nan
        procs = np.asarray(found["n_procs"]).astype(np.int64)
        return cls(submit, run, procs, requested, user, session, bag, gap, bool((users > 0).any()))

    def firsts(self, group: Ints) -> NDArray[np.intp]:
        """Return the places of the first job of each group."""
        return np.flatnonzero(np.diff(group, prepend=-1))
