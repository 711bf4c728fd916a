"""How busy the system was."""

from collections.abc import Iterator, Mapping
from functools import partial

from gwa.analysis.base import Chapter, Drawing, analysis
from gwa.analysis.sections._size import size_line
from gwa.metrics.extremes import extremes
from gwa.metrics.timeline import Level, level
from gwa.metrics.window import LACKING, RUNNING, Cut, Window, present, recorded, unfinished, window
from gwa.report.document import Block, Fact, Facts, Note
from gwa.report.figures.series import series
from gwa.store.store import Period, Store
from gwa.words.formatting import decimal, fraction
from gwa.words.message import message
from gwa.words.unit import Unit

BIN = 600.0
"""Ten minutes: the archive's interval for utilization."""


@analysis(
    "Utilization",
    Chapter.UTILIZATION,
    facts=("utilization", "window"),
    needs=("run_time", "n_procs", "submit_time"),
)
def utilization(store: Store) -> Iterator[Block | Drawing]:
    """
    Busy processors as a fraction of all, over the time in which the log knows the load.

    A log of jobs submitted between two dates misses, early, those that ran already; one of jobs that ended
    between two dates misses, late, those that had not ended. The window of observation is the time in which
    at least 98 % of the load are expected to be known: it follows from the run times and waits of the jobs
    and from where the log is cut, which its first and last submissions and ends show. Mean, minimum, maximum
    and the mean over intervals that were not idle are of the window, the last three of averages over ten
    minutes. All jobs that ran in the window count, for the part that lies in it, whenever they were
    submitted; those that had not ended at the end of the log are taken to run until then. A workload that a
    model made lacks no job: its window is the time of its submissions.

    The mean over the span is that of the archives: CPU seconds of jobs that ran, divided by processors times
    the time from the first submission to the last end. Of a log that is cut it is too low.
    """
    span, cpus = recorded(store), store.system.cpus
    observed = window(store)
    yield _window_facts(observed)
    if span is None or span[1] <= span[0] or not cpus:
        yield Note("Utilization needs a first submission, a later end and a number of processors.")
        return
    # Where there is no window, the levels are unknown: a note says so.
    yield Facts(tuple(_level_facts(store, observed, cpus)), listed=bool(observed.period))
    yield Facts(tuple(_span_facts(store, observed, cpus)))
    yield from _remarks(observed, span)
    known = observed.known or (span[0], span[0])
    yield Drawing(partial(_figure, store, span, cpus, known))


CUT: Mapping[Cut, str] = {
    "none": "no",
    "start": message("at its start"),
    "end": message("at its end"),
    "both": message("at its start and its end"),
    "unknown": "unknown",
}


def _window_facts(observed: Window) -> Facts:
    unknown = "" if observed.period else "unknown"
    return Facts(
        (
            Fact("window.first", observed.first, "Load known from", "timestamp", text=unknown),
            Fact("window.last", observed.last, "Load known to", "timestamp", text=unknown),
            Fact("window.cut", observed.cut, "Log truncated", text=CUT[observed.cut]),
        ),
        listed=bool(observed.period),
    )


LEVELS: Mapping[str, tuple[str, Unit]] = {
    "mean": (message("Mean utilization"), "fraction"),
    "busy": (message("Busy processors, mean"), "count"),
    "min": (message("Minimum utilization"), "fraction"),
    "max": (message("Maximum utilization"), "fraction"),
    "mean_nonzero": (message("Mean utilization, where not idle"), "fraction"),
    "peak": (message("Maximum of busy processors"), "count"),
    "above_capacity": (message("Time with more busy processors than there are"), "fraction"),
}
"""Labels and units of what is of the window."""


def _level_facts(store: Store, observed: Window, cpus: int) -> Iterator[Fact]:
    """Yield the levels over the window."""
    values = _levels(store, cpus, observed.period) if observed.period else {}
    for name, (label, unit) in LEVELS.items():
        yield Fact(f"utilization.{name}", values.get(name), label, unit, text="" if values else "unknown")


def _span_facts(store: Store, observed: Window, cpus: int) -> Iterator[Fact]:
    """Yield the mean over the span, and, where there is no window, a lower bound of the levels."""
    if observed.borders and not observed.period:
        least = _busy(store, observed.borders).mean()
        yield Fact("utilization.at_least", least / cpus, "Mean utilization, at least", "fraction")
        yield Fact("utilization.busy_at_least", least, "Busy processors, mean, at least", "count")
    yield Fact("utilization.span_mean", _span_mean(store, cpus), "Mean utilization over the span", "fraction")
    yield Fact("utilization.unfinished", unfinished(store), "Jobs that had not ended", "count")


def _levels(store: Store, cpus: int, period: Period) -> dict[str, float]:
    busy = _busy(store, period)
    peak, seconds = extremes(store, cpus, period, width=BIN)
    return {
        "mean": busy.mean() / cpus,
        "busy": busy.mean(),
        "min": float(busy.values.min()) / cpus,
        "max": float(busy.values.max()) / cpus,
        "mean_nonzero": busy.mean_nonzero() / cpus,
        "peak": peak,
        "above_capacity": seconds / (period[1] - period[0]),
    }


def _busy(store: Store, period: Period) -> Level:
    """Return the busy processors in *period*."""
    return level(store, "n_procs", RUNNING, present(store), width=BIN, period=period)


def _span_mean(store: Store, cpus: int) -> float | None:
    """Return CPU seconds divided by processors times the time from first submission to last end."""
    first = store.row("select min(submit_time) from jobs")[0]
    last, seconds = store.row("select max(end_time), cast(sum(cpu_seconds) as double) from ran")
    if first is None or last is None or last <= first:
        return None
    return float(seconds / (cpus * (last - first)))


def _remarks(observed: Window, span: Period) -> Iterator[Note]:
    """Yield what a reader must know about the window."""
    missing = message("The log {lacking}. ", lacking=LACKING[observed.cut]) if observed.cut in LACKING else ""
    if observed.period is None:
        what = (
            message("the log is short compared with the run times of its jobs")
            if observed.borders
            else message("it has few jobs")
        )
        yield Note(
            message(
                "{missing}At no time is 98 % of the load known, as far as can be estimated: {what}. All"
                " levels are lower bounds.",
                missing=missing,
                what=what,
            ),
            "warning",
        )
    elif missing:
        share = (observed.period[1] - observed.period[0]) / (span[1] - span[0])
        yield Note(
            message(
                "{missing}Levels are over the {share} of its time in which 98 % of the load "
                "are expected to be known; figures show the rest in grey.",
                missing=missing,
                share=fraction(share),
            )
        )


def _figure(store: Store, span: Period, cpus: int, known: Period) -> Block:
    busy, is_inferred = _busy(store, span), store.system.cpus_inferred
    times, mean, low, high = busy.points()
    average, most = decimal(busy.mean(), ".0f"), decimal(busy.values.max(), ".0f")
    alt = (
        message("Busy processors: {mean} on average, at most {max}.", mean=average, max=most)
        if is_inferred
        else message(
            "Busy processors of {cpus}: {mean} on average, at most {max}.", cpus=cpus, mean=average, max=most
        )
    )
    return series(
        "utilization",
        "Busy processors",
        times,
        {"busy": (mean, low, high)},
        "Processors",
        alt,
        unit="count",
        zone=None if store.system.relative else store.system.timezone.key,
        reference=size_line(cpus, is_inferred=is_inferred),
        note="The line is the mean; the band goes from the smallest to the largest ten-minute average.",
        window=known,
    )
