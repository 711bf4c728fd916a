"""Rigid parallel jobs, as a scheduler of a cluster sees them."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gwa.errors import SimulationError

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Names = NDArray[np.str_]

Ceilings = tuple[Integers, Integers]
"""The number of the user of each job, and the processors that this user may hold at once."""

NONE = -1
"""The number of no job, task or place."""

UNLIMITED = 2**62
"""The processors that a user without a ceiling may hold."""


@dataclass(frozen=True)
class Jobs:
    """
    Jobs in order of submission: *submit*, *run* and *estimate* in seconds, and *procs*.

    A job needs all its processors from its start to its end. The scheduler knows the estimate, which
    is never below the run time, nor below a second: what has no length could not be planned for. *user* are
    names, for policies that look at them, and *limit* the processors that the user of each job may hold at
    once; a job that is larger than that runs when its user holds nothing else.
    """

    submit: Floats
    run: Floats
    procs: Integers
    estimate: Floats
    user: Names | None = None
    limit: Integers | None = None

    @classmethod
    def of(
        cls,
        submit: ArrayLike,
        run: ArrayLike,
        procs: ArrayLike,
        estimate: ArrayLike | None = None,
        user: Names | None = None,
        limit: Integers | None = None,
    ) -> Self:
        """
        Return the jobs described by columns of the same length, sorted by submission.

        An estimate that is missing or below the run time becomes the run time, since in a log such a
        job was not killed. Raise `SimulationError` for what is not a job.
        """
        columns = [np.asarray(column, np.float64) for column in (submit, run, procs)]
        estimates = columns[1] if estimate is None else np.asarray(estimate, np.float64)
        given = (*columns, estimates, *(one for one in (user, limit) if one is not None))
        if len({column.shape for column in given}) > 1 or estimates.ndim != 1:
            raise SimulationError("the columns of the jobs differ in their length")
        for name, column, minimum in zip(("submit", "run", "procs"), columns, (-np.inf, 0, 1), strict=True):
            bad = ~(np.isfinite(column) & (column >= minimum))
            if bad.any():
                row = int(np.argmax(bad))
                raise SimulationError(f"job {row}: its {name} is {column[row]:g}")
        order = np.argsort(columns[0], kind="stable")
        times, runs, sizes = (column[order] for column in columns)
        longest = np.maximum(np.fmax(estimates[order], runs), 1.0)
        users = None if user is None else user[order]
        limits = None if limit is None else limit[order]
        return cls(times, runs, sizes.astype(np.int64), longest, users, limits)

    def __len__(self) -> int:
        """Return the number of jobs."""
        return len(self.submit)

    @property
    def ceilings(self) -> Ceilings | None:
        """The users of the jobs and what each may hold; None without ceilings."""
        if self.limit is None or self.user is None:
            return None
        _, owner = np.unique(self.user, return_inverse=True)
        return owner, np.maximum(self.limit, self.procs)

    def refuse_larger(self, cpus: int) -> None:
        """Raise `SimulationError` when a job needs more processors than there are."""
        if len(self) and self.procs.max() > cpus:
            row = int(np.argmax(self.procs > cpus))
            raise SimulationError(f"job {row} needs {self.procs[row]} processors, and there are {cpus}")
