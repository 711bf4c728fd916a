"""
The window of observation: the time in which a log is expected to know at least 98 % of the load.

A log of jobs *submitted* between two dates misses, early, the jobs that ran already. A log of jobs that
*ended* between two dates, as most accounting dumps are, misses, late, those that had not ended. Where a log
is cut shows in it: at a border that is not cut, jobs are in the system, and the log knows them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil, floor, log
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gwa.metrics.lacking import lacking
from gwa.metrics.presence import bounds, present, unfinished
from gwa.statistics.numeric import dot
from gwa.store.store import Period, Store, overlap
from gwa.util.units import MINUTE
from gwa.words.message import message

Cut = Literal["none", "start", "end", "both", "unknown"]
"""Which borders of the log lack jobs."""

LACKING: Final[Mapping[str, str]] = {
    "start": message("lacks jobs that were submitted before its start"),
    "end": message("lacks jobs that had not ended at its end"),
    "both": message("may lack jobs that ran across its start or its end"),
}
"""What a log does, by where it is cut."""

Floats = NDArray[np.float64]

KNOWN: Final = 0.98
"""The minimum share of the load that is known within the window."""

MINIMUM_SHARE: Final = 0.2
"""A window that would be a smaller part of the log is none: the log is short against its own jobs."""

MINIMUM_JOBS: Final = 50
"""Fewer jobs do not tell where their log was cut."""

FEW: Final = 1 / (1 - KNOWN)
"""Fewer jobs that carry the load do not tell how long an edge is: one that is missing is over 2 % of it."""

COMPLETE: Final = -1.3
"""The minimum evidence (`_evidence`) of a border that is not cut."""

UNDECIDED: Final = 0.6
"""By how much the evidence of two complete borders may differ, so that neither is taken for cut."""

LISTED_SHARE: Final = 0.5
"""The minimum share of the jobs in the system at any time that a log lists at a border which is not cut."""

AGE_WEIGHT: Final = 2 / 3
"""The weight of ages against that of counts in the evidence."""

RUNNING: Final = ("start_time", "end_time")
WAITING: Final = ("submit_time", "submit_time + wait_time")
"""From when to when a job runs or waits, which it may do in vain."""


@dataclass(frozen=True)
class Window:
    """
    The window of observation of a trace: its *first* and *last* second, and where the log is *cut*.

    Both are None where nowhere 98 % of the load are expected to be known. Between the *borders* of the log
    what it says of the load is a lower bound; they are None where it has too few jobs.
    """

    first: float | None
    last: float | None
    cut: Cut
    borders: Period | None = None
    is_generated: bool = False
    """Whether a model made the jobs: then none is missing, at any time."""
    lack: str = ""
    """What else than a cut keeps the log from knowing the load, at any time; empty where nothing does."""

    @property
    def period(self) -> Period | None:
        """The first and the last second, if there is a window."""
        return None if self.first is None or self.last is None else (self.first, self.last)

    @property
    def known(self) -> Period | None:
        """The time outside of which jobs may be missing: figures show what lies there in grey."""
        return self.borders if self.is_generated else self.period


def window(store: Store) -> Window:
    """
    Return the window of observation of *store*: that of the whole log, within the period asked for.

    A period in the midst of the log is cut nowhere.
    """
    whole = store.whole.once("window", lambda: _log_window(store.whole))
    if store.period is None:
        return whole
    if whole.period is None:
        borders = whole.borders and overlap(whole.borders, store.period)
        return replace(whole, borders=borders if borders and borders[0] < borders[1] else None)
    shared = overlap(whole.period, store.period)
    if shared is None or shared[1] <= shared[0]:
        return Window(None, None, whole.cut, store.period)
    first, last = shared
    if whole.is_generated:
        return Window(first, last, "none", overlap(whole.borders, store.period), is_generated=True)
    cut_early, cut_late = first > store.period[0], last < store.period[1]
    cut: Cut = ("both" if cut_late else "start") if cut_early else ("end" if cut_late else "none")
    return Window(first, last, cut, (first, last))


def _log_window(store: Store) -> Window:
    """
    Return the window of a whole log.

    Where ends are cut at b, it closes at b − x: the load known there is that of jobs with a residual run
    time of x at most. Where submissions are cut at a, it opens at a + x: the load known there is that of
    jobs submitted x before at most.
    """
    if store.has_all_generated and (made := _generated_window(store)):
        return made
    found = _window_between_cuts(store)
    if found.period and (lack := lacking(store, 1 - KNOWN)):
        return Window(None, None, found.cut, found.borders, lack=lack)
    if found.period and _carrying(store) < FEW:
        return Window(None, None, found.cut, found.borders)
    return found


def _carrying(store: Store) -> float:
    """
    Return how many jobs carry the load: (Σ n·r)² / Σ (n·r)², Kish's effective size of a sample (1965).

    Equal jobs all do; of a log in which a few hold most, hardly more than those.
    """
    held = f"(select n_procs * (end_time - start_time) as held from {present(store)} as present) as held"
    (jobs,) = store.row(f"select sum(held) * sum(held) / nullif(sum(held * held), 0) as jobs from {held}")
    return jobs or 0.0


def _window_between_cuts(store: Store) -> Window:
    """Return the window of a log that knows of all jobs when they ran, but of those beyond its cuts."""
    jobs = f"{present(store)} as present where submit_time is not null and end_time > start_time"
    moments = store.keep(
        "window_moments",
        "select count(*) as jobs, min(submit_time) as opened, max(submit_time) as submitted,"
        f" min(end_time) as ended, max(end_time) as closed from {jobs}",
    )
    count, opened, submitted, ended, closed = store.row(f"select * from {moments}")
    if count < MINIMUM_JOBS:
        return Window(None, None, "unknown")
    borders = store.keep(
        "window_borders",
        f"select count(*) filter (where submit_time < {ended!r}) as inside,"
        f" count(*) filter (where end_time > {submitted!r}) as beyond,"
        f" count(*) filter (where submit_time = {opened!r}) as listed from {jobs}",
    )
    inside, beyond, listed = store.row(f"select * from {borders}")
    sojourns = _weights(store, jobs, "end_time - submit_time", "1")
    span = closed - opened
    cut = _cut(
        _evidence(sojourns, span, inside, ended - opened, listed),
        _evidence(sojourns, span, beyond, closed - submitted, unfinished(store)),
    )
    first = opened + _oldest_age(store, jobs) if cut in {"start", "both"} else ended
    last = closed - _longest_residual(store, jobs) if cut in {"end", "both"} else submitted
    limits = (
        opened if cut in {"start", "both"} else ended,
        closed if cut in {"end", "both"} else submitted,
    )
    first, last = float(ceil(first)), float(floor(last))
    if last - first < max(MINIMUM_SHARE * (limits[1] - limits[0]), 1.0):
        return Window(None, None, cut, limits if limits[1] > limits[0] else None)
    return Window(first, last, cut, limits)


def _generated_window(store: Store) -> Window | None:
    """
    Return the window of a workload that a model made, None if all its jobs are submitted at once.

    It is the time of its submissions: afterwards the last jobs run on machines that empty. Its borders are
    the first submission and the last end, between which all is known.
    """
    (submitted,) = store.row("select max(submit_time) from all_jobs")
    borders = bounds(store)
    if borders is None or not borders[0] < submitted:
        return None
    return Window(borders[0], submitted, "none", borders, is_generated=True)


def _cut(early: float, late: float) -> Cut:
    """
    Return where a log is cut, by the evidence that its borders are not.

    >>> _cut(0.5, -4), _cut(-4, 0.5), _cut(-3, -4), _cut(0.5, 0.3)
    ('end', 'start', 'both', 'none')
    """
    if max(early, late) < COMPLETE:
        return "both"
    if min(early, late) > COMPLETE and abs(early - late) < UNDECIDED:
        return "none"
    return "end" if early > late else "start"


class _Weights(NamedTuple):
    """Distinct *values* in seconds, ascending, and what each weighs."""

    values: Floats
    weights: Floats

    def capped(self, limits: Floats) -> Floats:
        """Return the weighted sum of the lesser of value and limit, for each of *limits*."""
        below = np.searchsorted(self.values, limits, side="right")
        weights = np.concatenate(([0.0], np.cumsum(self.weights)))
        sums = np.concatenate(([0.0], np.cumsum(self.weights * self.values)))
        total: Floats = sums[below] + limits * (weights[-1] - weights[below])
        return total


def _weights(store: Store, jobs: str, value: str, weight: str) -> _Weights:
    """Return the whole seconds of *value* over *jobs*, each with the sum of *weight*: always small."""
    query = (
        f"select cast(floor({value}) as double) as seconds, cast(sum({weight}) as double) as weight"
        f" from {jobs} group by cast(floor({value}) as double)"
    )
    kept = store.keep_once("weights", query)
    columns = store.arrays(f"select * from {kept} order by seconds")
    return _Weights(np.asarray(columns["seconds"], np.float64), np.asarray(columns["weight"], np.float64))


def _evidence(sojourns: _Weights, span: float, jobs: int, age: float, listed: int) -> float:
    """
    Return the evidence that a border of a log is not cut: log ratios, about 0 where nothing is missing.

    At such a border as many *jobs* are in the system as at any time, by Little's law their sojourns over
    the *span*, and the oldest *age* of them, or residual, is not small against the mean residual sojourn,
    E[s²] / 2 E[s]. A log that has many *listed* as present at its border, submitted in its first second or
    not ended in its last, is not cut there.
    """
    work = dot(sojourns.values, sojourns.weights)
    if not work or not span or listed * span >= LISTED_SHARE * work:
        return 0.0
    residual = dot(sojourns.values**2, sojourns.weights) / (2 * work)
    return (1 - AGE_WEIGHT) * log(max(jobs, 0.5) * span / work) + AGE_WEIGHT * log(
        (age + MINUTE) / (residual + MINUTE)
    )


def _longest_residual(store: Store, jobs: str) -> float:
    """
    Return the residual run time that 98 % of the load do not exceed.

    It is x where G(x) = Σ n·min(r, x) / Σ n·r, the distribution of residuals of renewal theory weighted by
    processors, is 0.98.
    """
    run_times = _weights(store, jobs, "end_time - start_time", "n_procs")
    return _where_known(run_times.values, run_times.capped(run_times.values))


def _oldest_age(store: Store, jobs: str) -> float:
    """
    Return the age since submission that 98 % of the load do not exceed.

    It is x where A(x) = Σ n·(min(w + r, x) − min(w, x)) / Σ n·r, the share of running work of at most that
    age, is 0.98.
    """
    waits = _weights(store, jobs, "start_time - submit_time", "n_procs")
    sojourns = _weights(store, jobs, "end_time - submit_time", "n_procs")
    ages = np.union1d(waits.values, sojourns.values)
    return _where_known(ages, sojourns.capped(ages) - waits.capped(ages))


def _where_known(seconds: Floats, work: Floats) -> float:
    """Return where the rising *work* reaches the share that must be known."""
    return float(np.interp(KNOWN * work[-1], np.append(0.0, work), np.append(0.0, seconds)))
