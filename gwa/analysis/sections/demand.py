"""Whether the machine is large enough for its load."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from gwa.analysis.base import Chapter, analysis
from gwa.analysis.sections._size import size_line
from gwa.metrics.presence import present, waiting_times
from gwa.metrics.timeline import Floats, Ints, Level, level
from gwa.metrics.window import RUNNING, WAITING, window
from gwa.report.document import Block, Fact, Facts, Note
from gwa.report.figures.series import series
from gwa.statistics.numeric import dot
from gwa.store.store import Store
from gwa.words.formatting import decimal, fraction, number
from gwa.words.message import message

BIN: Final = 600.0
"""Ten minutes, as for utilization."""

REQUESTED: Final = "coalesce(nullif(n_procs, 0), req_n_procs, 0)"
"""The processors that a waiting job asks for; of one that never ran, what it requested."""

FULL: Final = 0.9
"""The utilization from which a machine is full: some of it is always down, or too small for the next job."""

SELDOM: Final = 0.05
"""The share of the time up to which demand exceeds the machine seldom."""


@analysis(
    "Demand and capacity",
    Chapter.UTILIZATION,
    facts=("demand",),
    needs=("submit_time", "run_time", "n_procs", "wait_time"),
    order=2,
)
def demand(store: Store) -> Iterator[Block]:
    """
    Whether the machine is large enough: the processors of running and of waiting jobs, against all.

    Demand is the number of processors of all jobs in the system, running or waiting, averaged over ten
    minutes within the window of observation. While it exceeds the machine, some jobs must wait. If nearly
    all processors are busy then, the machine is too small for its load; otherwise jobs wait beside idle
    processors, for reasons that its size alone does not explain.
    """
    period, cpus = window(store).period, store.system.cpus
    if period is None or not cpus or not store.system.size:
        yield Note(
            message("Whether the machine is large enough is unknown: its size changed.")
            if period and store.system.sizes
            else message("Whether the machine is large enough is unknown: its size is not recorded.")
            if period
            else message(
                "Whether the machine is large enough is unknown: the log does not know all of its load."
            )
        )
        return
    running = level(store, "n_procs", RUNNING, present(store), width=BIN, period=period)
    waiting = level(store, REQUESTED, WAITING, waiting_times(store), width=BIN, period=period)
    needed = _sum(running, waiting)
    above = needed.values > cpus
    seconds, busy = needed.durations, _aligned(running, needed.begins)
    values = {
        "mean": needed.mean() / cpus,
        "above": float(seconds[above].sum() / seconds.sum()),
        "busy_above": dot(busy[above], seconds[above]) / float(seconds[above].sum() * cpus)
        if above.any()
        else None,
    }
    yield Facts(
        tuple(Fact(f"demand.{name}", values[name], label, "fraction") for name, label in LABELS.items())
    )
    yield Note(_verdict(values["above"] or 0.0, values["busy_above"]))
    yield _figure(store, needed, cpus)


LABELS: Final = {
    "mean": message("Mean demand relative to the machine"),
    "above": message("Time in which demand exceeded the machine"),
    "busy_above": message("Mean utilization in that time"),
}


def _sum(running: Level, waiting: Level) -> Level:
    """Return the sum of two levels of the same intervals."""
    begins = merged(running.begins, waiting.begins)
    last = int(np.ceil((running.end - running.origin) / running.width))
    values = _aligned(running, begins) + _aligned(waiting, begins)
    lengths = np.diff(np.append(begins, max(last, int(begins[-1]) + 1)))
    return Level(running.origin, running.width, running.end, begins, lengths, values)


def merged(one: Ints, other: Ints) -> Ints:
    """
    Return the numbers of two rising arrays, each once: of long ones in a fiftieth of the time of a union.

    >>> merged(np.array([1, 4]), np.array([2, 4, 9])).tolist()
    [1, 2, 4, 9]
    """
    both: Ints = np.sort(np.concatenate((one, other)), kind="stable")
    return both[np.diff(both, prepend=both[:1] - 1) > 0]


def _aligned(one: Level, begins: Ints) -> Floats:
    """Return the values of a level where other runs begin."""
    values: Floats = one.values[np.searchsorted(one.begins, begins, side="right") - 1]
    return values


def _verdict(above: float, busy: float | None) -> str:
    """Return in words whether the machine was large enough."""
    if busy is None:
        return message("The machine was large enough for all running and waiting jobs at any time.")
    if above <= SELDOM:
        return message(
            "The machine was large enough for all running and waiting jobs for {enough} of the time.",
            enough=fraction(1 - above),
        )
    shares = {"above": fraction(above), "busy": fraction(busy)}
    if busy >= FULL:
        return message(
            "The machine was too small for {above} of the time: running and waiting jobs asked for more"
            " processors than it has, and {busy} of its processors were busy.",
            **shares,
        )
    return message(
        "For {above} of the time, running and waiting jobs asked for more processors than the machine has,"
        " yet only {busy} of its processors were busy. Jobs may not have fitted side by side, limits may have"
        " held them, or parts of the machine were reserved or down.",
        **shares,
    )


def _figure(store: Store, needed: Level, cpus: int) -> Block:
    times, mean, low, high = needed.points()
    return series(
        "demand",
        "Processors of running and waiting jobs",
        times,
        {message("running and waiting"): (mean, low, high)},
        "Processors",
        message(
            "Processors that running and waiting jobs asked for: {mean} on average, at most {maximum}. The"
            " machine has {cpus}.",
            mean=decimal(needed.mean(), ".0f"),
            maximum=decimal(float(needed.values.max()), ".0f"),
            cpus=number(cpus),
        ),
        unit="count",
        zone=None if store.system.relative else store.system.timezone.key,
        reference=size_line(cpus),
        note="The line is the mean; the band goes from the smallest to the largest ten-minute average.",
    )
