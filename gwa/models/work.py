"""
The work of a log and of a model: what run times are multiplied by so that a fitted model keeps the load.

A maximum-likelihood fit keeps the shape of run times, not their mean, of which a few long jobs are the
most. Work, processors times run time, is what keeps processors busy.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Self

import numpy as np

from gwa.errors import ModelError
from gwa.statistics.sample import Floats, Ints
from gwa.statistics.search import root
from gwa.store.store import Store
from gwa.util.units import DAY

CALIBRATION_JOBS: Final = 1 << 18
"""Jobs of a model whose mean work is computed."""

MAXIMUM_STRETCH: Final = 1000.0
"""The factor, up or down, beyond which run times are not stretched."""


@dataclass(frozen=True)
class Submitted:
    """The *jobs* of a log that ran, their *work* in CPU seconds, and the *seconds* of their submissions."""

    jobs: int
    work: float
    seconds: float

    @classmethod
    def of(cls, store: Store, table: str = "ran") -> Self:
        """Return the amounts of the jobs in *table* whose submission is known."""
        jobs, work, seconds = store.row(
            "select count(*), sum(run_time * cast(n_procs as double)), max(submit_time) - min(submit_time)"
            f" from {table} where submit_time is not null"
        )
        return cls(int(jobs), float(work or 0.0), float(seconds or 0.0))

    @property
    def busy(self) -> float:
        """Processors that are busy in the mean over the submissions."""
        return self.work / max(self.seconds, 1.0)

    @property
    def per_day(self) -> float:
        """Jobs a day."""
        return self.jobs * DAY / max(self.seconds, 1.0)

    @property
    def mean_work(self) -> float:
        """CPU seconds of a job."""
        return self.work / max(self.jobs, 1)

    @property
    def mean_gap(self) -> float:
        """Seconds from one submission to the next."""
        return self.seconds / max(self.jobs - 1, 1)


def stretch(procs: Ints, run_time: Floats, mean_work: float, final: Callable[[Floats], Floats]) -> float:
    """
    Return what drawn run times are multiplied by, so that the mean work of jobs is *mean_work*.

    *final* rounds and cuts run times as the model does. Where no factor up to `MAXIMUM_STRETCH` is enough, as
    for run times that are cut, the factor is 1: `gwa.models.load_check` tells what load comes out.
    """

    def excess(logarithm: float) -> float:
        return float((procs * final(run_time * np.exp(logarithm))).mean()) - mean_work

    bound = float(np.log(MAXIMUM_STRETCH))
    if not mean_work > 0 or excess(-bound) > 0 or excess(bound) < 0:
        return 1.0
    return float(np.exp(root(excess, -bound, bound, 1e-5)))


def known_gap(gap: float | None) -> float:
    """Return a mean gap; raise `ModelError` if it is unknown or infinite."""
    if gap is None or not np.isfinite(gap):
        raise ModelError("arrivals: have no known mean gap, expected a process that has")
    return gap
