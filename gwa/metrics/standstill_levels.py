"""
What was busy when jobs were submitted, started and ended, in memory: each kind of event is sorted by itself.

It gives what the query `gwa.metrics.stillness.LEVELS` gives, of a log that fits, in less of its time.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gwa.metrics.spans import are_whole, fits
from gwa.metrics.timeline import Floats
from gwa.store.store import Store
from gwa.util.units import HOUR

JOBS: Final = "select job_id, submitted, started, ended, n_procs, waited from ({jobs}) as job"


@dataclass(frozen=True)
class Levels:
    """
    Busy processors *after* each start and end, and *before* each idle stretch, by its begin.

    Of jobs that were submitted while none waited and outside idle stretches, *busy* is what was busy with
    their own, and *waits* are their waits in whole seconds.
    """

    after: Floats
    before: dict[float, float]
    busy: Floats
    waits: Floats


@dataclass(frozen=True)
class _Sums:
    """What events at *times*, ascending, add up to: *upto* has the sum before each, and that of all."""

    times: Floats
    upto: Floats

    def before(self, moments: Floats) -> Floats:
        return self.upto[np.searchsorted(self.times, moments, side="left")]

    def until(self, moments: Floats) -> Floats:
        return self.upto[np.searchsorted(self.times, moments, side="right")]


def levels(store: Store, jobs: str, idle: str, minute: float, every: int) -> Levels | None:
    """
    Return the levels of the query *jobs*, in one hour in *every*; None where the engine must find them.

    The query *idle* yields idle stretches; before one is a *minute* before it begins.
    """
    if not fits(store):
        return None
    found = store.arrays(JOBS.format(jobs=jobs))
    # Events of one kind at one moment come by the numbers of their jobs.
    by_number = np.argsort(np.asarray(found.pop("job_id")), kind="stable")
    submitted, started, ended, procs, waited = (
        np.asarray(column, np.float64)[by_number] for column in found.values()
    )
    if not are_whole(procs):
        return None
    stretches = store.arrays(idle)
    begin, finish = (np.sort(np.asarray(stretches[name], np.float64)) for name in ("begin", "finish"))
    ran = ended > started
    starts, begun = _added(started, np.where(ran, procs, 0.0), waited)
    (ends,) = _added(ended[ran], procs[ran])
    at_start, at_end = (np.flatnonzero(_is_looked_at(one.times, every)) for one in (starts, ends))
    after_starts = starts.upto[at_start + 1] - ends.until(starts.times[at_start])
    after_ends = starts.before(ends.times[at_end]) - ends.upto[at_end + 1]
    before = starts.until(begin - minute) - ends.until(begin - minute)
    jobs_waited = np.flatnonzero(waited > 0)
    jobs_waited = jobs_waited[np.argsort(submitted[jobs_waited], kind="stable")]
    moments = submitted[jobs_waited]
    queued = np.arange(len(moments)) - begun.before(moments)
    is_idle = np.searchsorted(begin, moments, side="right") > np.searchsorted(finish, moments, side="right")
    alone = _is_looked_at(moments, every) & (queued <= 0) & ~is_idle
    chosen, moments = jobs_waited[alone], moments[alone]
    return Levels(
        np.concatenate((after_starts, after_ends)),
        dict(zip(begin.tolist(), before.tolist(), strict=True)),
        starts.before(moments) - ends.before(moments) + procs[chosen],
        np.ceil(started[chosen] - moments),
    )


def _added(times: Floats, *amounts: Floats) -> list[_Sums]:
    """Add up each of *amounts* in order of *times*; those of one moment in their own order."""
    order = np.argsort(times, kind="stable")
    return [_Sums(times[order], np.concatenate(([0.0], np.cumsum(one[order])))) for one in amounts]


def _is_looked_at(times: Floats, every: int) -> NDArray[np.bool_]:
    """Whether each of *times* lies in one hour in *every*."""
    is_looked_at: NDArray[np.bool_] = np.floor(times / HOUR) % every == 0
    return is_looked_at
