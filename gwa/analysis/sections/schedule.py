"""A look at the schedule: the jobs of some hours on their processors."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from gwa.analysis.base import Chapter, analysis
from gwa.metrics.timeline import QUARTER, Calendar, counts
from gwa.report.document import Block, Note
from gwa.report.figures.gantt import Job, gantt, placed
from gwa.store.store import Store
from gwa.util.units import HOUR

STARTING: Final = 200
"""So many jobs that start are shown."""

RUNNING: Final = 100
"""If more ran when they start, those are left out."""

BRIEF: Final = 0.1
"""If their starts take less than this part of the time until half of them have ended, that time is shown."""

SHOWN: Final = """
select start_time, end_time, n_procs, user_id from ran
where {condition} order by start_time, end_time, n_procs, job_id limit {limit}
"""


@analysis(
    "Jobs on processors", Chapter.USAGE, facts=(), needs=("submit_time", "run_time", "n_procs"), order=3
)
def schedule(store: Store) -> Iterator[Block]:
    """
    Some hours of the schedule: up to 200 jobs, from the day on which half of all jobs had started.

    Logs do not say which processors a job had: each is drawn on the lowest that are free, in several pieces
    where those are not next to each other. So sizes, times and gaps are those of the log; places are not.
    """
    begin = _middle(store)
    if begin is None:
        yield Note("No job is known to have started.")
        return
    starting = _jobs(store, f"start_time >= {begin!r}", STARTING)
    before = _jobs(store, f"start_time < {begin!r} and end_time > {begin!r}", RUNNING + 1)
    left_out = len(before) > RUNNING
    jobs = [*([] if left_out else before), *starting]
    first = starting[0][0] if left_out else begin
    last, brief = _end(first, starting)
    notes = {
        "Jobs that were running before are left out; there are too many.": left_out,
        f"Only {STARTING} of the jobs that start are drawn.": brief,
    }
    yield gantt(
        "schedule",
        "Jobs on processors",
        placed(jobs),
        (first, last),
        "Processors",
        f"{len(starting)} jobs that start within {(last - first) / HOUR:.3g} h, each as wide as it ran and as"
        f" high as its processors, {max(procs for _, _, procs, _ in jobs):,} at most.",
        zone=None if store.system.relative else store.system.timezone.key,
        note=" ".join(note for note, holds in notes.items() if holds),
    )


def _middle(store: Store) -> float | None:
    """Return when the day begins, by the clock of the trace, on which half of all jobs had started."""
    started = counts(store, "start_time", QUARTER, "ran")
    if not len(started.bins):
        return None
    first, last = float(started.times[0]), float(started.times[-1])
    days = Calendar.of(first, last, store.system.timezone, relative=store.system.relative)
    half = np.cumsum(started.per(days.edges))
    return float(days.edges[np.searchsorted(half, half[-1] / 2)])


def _end(first: float, starting: Sequence[Job]) -> tuple[float, bool]:
    """Return the end of what is drawn, and whether more jobs start until then than are drawn."""
    last, ends = starting[-1][0], sorted(end for _, end, _, _ in starting)
    half = max(first + 1, ends[len(ends) // 2])
    if last - first >= BRIEF * (half - first):
        return last, False
    # All start at about the same time: what is to be seen is how long they run.
    return half, len(starting) == STARTING


def _jobs(store: Store, condition: str, limit: int) -> list[Job]:
    """Return the first jobs for which *condition* holds, in order of their start."""
    return [
        (float(start), float(end), int(procs), user)
        for start, end, procs, user in store.rows(SHOWN.format(condition=condition, limit=limit))
    ]
