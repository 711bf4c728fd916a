"""A look at the schedule: the jobs of some hours on their processors."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from gwa.analysis.base import Chapter, analysis
from gwa.metrics.calendar import Calendar
from gwa.metrics.timeline import QUARTER, counts, levels
from gwa.metrics.window import RUNNING
from gwa.report.document import Block, Note
from gwa.report.figures.gantt import Job, gantt, placed
from gwa.store.store import Store
from gwa.util.units import HOUR
from gwa.words.formatting import decimal
from gwa.words.formatting import number as number_text
from gwa.words.message import message

USUAL_STARTING: Final = 100
MINIMUM_STARTING: Final = 20
"""How many jobs start in an interval on average, and at least, if it is shown."""

MAXIMUM_INTERVALS: Final = 1_000_000
"""A log with times that are centuries apart is not searched."""

MAXIMUM_STARTING: Final = 200
"""Further jobs that start are not drawn."""

MAXIMUM_RUNNING: Final = 100
"""If more are running when the figure begins, all of them are left out."""

MINIMUM_START_SHARE: Final = 0.1
"""If their starts span less than this share of the time until half of them have ended, that time is drawn."""

JOBS: Final = """
select start_time, end_time, n_procs, user_id from ran
where {condition} order by start_time, end_time, n_procs, job_id limit {limit}
"""


@analysis(
    "Jobs on processors", Chapter.MODELLERS, facts=(), needs=("submit_time", "run_time", "n_procs"), order=10
)
def schedule(store: Store) -> Iterator[Block]:
    """
    Some hours of the schedule in which many processors were busy, with up to 200 jobs that start.

    The log is cut into intervals in which some 100 jobs start on average, and the busiest is shown of those
    in which 20 to 200 start and at most 100 were running before. Where there is none, it is the day on which
    half of all jobs had started.

    Logs do not say which processors a job had: each is drawn on the lowest that are free, in several pieces
    where those are not next to each other. So sizes, times and gaps are those of the log; places are not.
    """
    busiest = _busiest(store)
    start = busiest[0] if busiest else _first_day(store)
    if start is None:
        yield Note("No job is known to have started.")
        return
    until = f" and start_time < {busiest[1]!r}" if busiest else ""
    starting = _jobs(store, f"start_time >= {start!r}{until}", MAXIMUM_STARTING)
    running = _jobs(store, f"start_time < {start!r} and end_time > {start!r}", MAXIMUM_RUNNING + 1)
    left_out = len(running) > MAXIMUM_RUNNING
    jobs = [*([] if left_out else running), *starting]
    first = starting[0][0] if left_out else start
    end, truncated = (busiest[1], False) if busiest and not left_out else _end_of_figure(first, starting)
    notes = {
        message("Jobs that were running before are left out; there are too many."): left_out,
        message(
            "Only {maximum_starting} of the jobs that start are drawn.", maximum_starting=MAXIMUM_STARTING
        ): truncated,
    }
    yield gantt(
        "schedule",
        "Jobs on processors",
        placed(jobs),
        (first, end),
        "Processors",
        message(
            "{starting} jobs that start within {end} h, each as wide as it ran and as high "
            "as its processors, {max} at most.",
            starting=number_text(len(starting)),
            end=decimal((end - first) / HOUR, ".3g"),
            max=decimal(max((procs for _, _, procs, _ in jobs)), ","),
        ),
        zone=None if store.system.relative else store.system.timezone.key,
        note=" ".join(note for note, holds in notes.items() if holds),
    )


def _busiest(store: Store) -> tuple[float, float] | None:
    """Return the interval that shows most of what the system does; None where no interval is suitable."""
    started = counts(store, "start_time", QUARTER, "ran")
    if not len(started.bins):
        return None
    first, last = float(started.times[0]), float(started.times[-1]) + QUARTER
    jobs = int(started.counts.sum())
    width = max(float(np.ceil((last - first) * USUAL_STARTING / jobs / QUARTER)) * QUARTER, QUARTER)
    edges = np.arange(first, last + width, width)
    if len(edges) > MAXIMUM_INTERVALS:
        return None
    starting = started.per(edges)
    period = (first, float(edges[-1]))
    running, busy = levels(store, ("1", "n_procs"), RUNNING, "all_ran", width=QUARTER, period=period)
    before = running.values[
        np.searchsorted(running.begins, (edges[:-1] - first) // QUARTER, side="right") - 1
    ]
    suits = (starting >= MINIMUM_STARTING) & (starting <= MAXIMUM_STARTING) & (before <= MAXIMUM_RUNNING)
    if not suits.any():
        return None
    place = int(np.argmax(np.where(suits, busy.between(edges), -1.0)))
    return float(edges[place]), float(edges[place + 1])


def _first_day(store: Store) -> float | None:
    """Return the start of the day, in the zone of the trace, on which half of all jobs had started."""
    started = counts(store, "start_time", QUARTER, "ran")
    if not len(started.bins):
        return None
    first, last = float(started.times[0]), float(started.times[-1])
    days = Calendar.of(first, last, store.system.timezone, relative=store.system.relative)
    half = np.cumsum(started.per(days.edges))
    return float(days.edges[np.searchsorted(half, half[-1] / 2)])


def _end_of_figure(first: float, starting: Sequence[Job]) -> tuple[float, bool]:
    """Return the end of the figure, and whether more jobs start before it than are drawn."""
    last_start, ends = starting[-1][0], sorted(end for _, end, _, _ in starting)
    half = max(first + 1, ends[len(ends) // 2])
    if last_start - first >= MINIMUM_START_SHARE * (half - first):
        return last_start, False
    # All start at about the same time: show how long they run.
    return half, len(starting) == MAXIMUM_STARTING


def _jobs(store: Store, condition: str, limit: int) -> list[Job]:
    """Return the first jobs for which *condition* holds, in order of their start."""
    return [
        (float(start), float(end), int(procs), user)
        for start, end, procs, user in store.rows(JOBS.format(condition=condition, limit=limit))
    ]
