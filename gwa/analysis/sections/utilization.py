"""How busy the system was."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from gwa.analysis.base import Chapter, Drawing, analysis
from gwa.analysis.sections._size import size_line
from gwa.metrics.busy import BIN, Busy, busy, busy_in
from gwa.metrics.extremes import extremes
from gwa.metrics.presence import recorded, unfinished
from gwa.metrics.timeline import Level
from gwa.metrics.window import LACKING, Cut, Window, window
from gwa.report.document import Block, Fact, Facts, Note, list_of, note_of
from gwa.report.figures.series import series
from gwa.store.store import Period, Store
from gwa.words.formatting import decimal, fraction
from gwa.words.message import Message, message
from gwa.words.unit import Unit


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

    Where no such window is known, all that the log shows is a lower bound, and it is of the whole time of the
    log. Where the number of processors is not recorded there is no utilization: the most that were ever busy
    is a lower bound of it, which gives neither a share nor a bound of one.

    The mean over the span is that of the archives: CPU seconds of jobs that ran, divided by processors times
    the time from the first submission to the last end. Of a log that is cut it is too low.
    """
    span = recorded(store)
    observed, found = window(store), busy(store)
    yield _window_facts(observed)
    if span is None or span[1] <= span[0] or not store.system.cpus:
        yield Note("Utilization needs a first submission, a later end and a number of processors.")
        return
    facts = [*_level_facts(store, found), *_bound_facts(store, found), *_span_facts(store)]
    # What is unknown of all of them is said once, in a note.
    yield Facts(tuple(fact for fact in facts if fact.value is not None))
    yield Facts((*(fact for fact in facts if fact.value is None), *_kind_facts(store, found)), listed=False)
    yield from _remarks(observed, span)
    known = observed.known or (span[0], span[0])
    yield Drawing(partial(_figure, store, span, found, known))


CUT: Mapping[Cut, str] = {
    "none": "no",
    "start": message("at its start"),
    "end": message("at its end"),
    "both": message("at its start and its end"),
    "unknown": "unknown",
}


def _window_facts(observed: Window) -> Facts:
    unknown = "" if observed.period else "unknown"
    return list_of(
        Fact("window.first", observed.first, "Load known from", "timestamp", text=unknown),
        Fact("window.last", observed.last, "Load known to", "timestamp", text=unknown),
        Fact("window.cut", observed.cut, "Log truncated", text=CUT[observed.cut]),
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


def _level_facts(store: Store, found: Busy) -> Iterator[Fact]:
    """Yield the levels over the window; shares of the system where its size is recorded."""
    values = _levels(store, found) if found.kind == "value" else {}
    for name, (label, unit) in LEVELS.items():
        value = values.get(name)
        yield Fact(f"utilization.{name}", value, label, unit, text="" if value is not None else "unknown")


def _levels(store: Store, found: Busy) -> dict[str, float]:
    assert found.levels is not None  # noqa: S101 - a value has them
    assert found.period is not None  # noqa: S101
    level, period, system = found.levels, found.period, store.system
    pieces = system.sizes_in(period) or [(*period, system.cpus or 0)]
    found_in = [extremes(store, cpus, (begin, end), width=BIN) for begin, end, cpus in pieces]
    levels = {"busy": level.mean(), "peak": max(one.busy for one in found_in)}
    if not system.largest:
        return levels
    above = sum(one.above for one in found_in) / (period[1] - period[0])
    if system.size:
        return levels | _shares([(level, system.size)]) | {"above_capacity": above}
    parts = [(busy_in(store, (begin, end)), cpus) for begin, end, cpus in pieces]
    return levels | _shares(parts) | {"above_capacity": above}


def _shares(parts: Sequence[tuple[Level, int]]) -> dict[str, float]:
    """Return the shares of the processors that were busy, of the *parts* of a time: levels and sizes."""
    lasting = [float(level.durations.sum()) for level, _ in parts]
    nonzero = [float(level.durations[level.values > 0].sum()) for level, _ in parts]
    sizes = [size for _, size in parts]
    return {
        "mean": _mean_share([level.mean() for level, _ in parts], sizes, lasting),
        "min": min(float(level.values.min()) / size for level, size in parts),
        "max": max(float(level.values.max()) / size for level, size in parts),
        "mean_nonzero": _mean_share([level.mean_nonzero() for level, _ in parts], sizes, nonzero),
    }


def _mean_share(means: Sequence[float], sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """Return the mean share that was busy of machines of *sizes*, each of which lasted some *seconds*."""
    if len(means) == 1:
        return means[0] / sizes[0]
    there = sum(size * length for size, length in zip(sizes, seconds, strict=True))
    busy = sum(mean * length for mean, length in zip(means, seconds, strict=True))
    return busy / there if there else 0.0


def _bound_facts(store: Store, found: Busy) -> Iterator[Fact]:
    """Yield, where there is no window, a lower bound of the levels over all the time of the log."""
    if found.kind == "at least" and found.mean is not None:
        size = store.system.mean_size(found.period) if found.period else None
        least = found.mean / size if size else None
        text = "" if size else "unknown"
        yield Fact("utilization.at_least", least, "Mean utilization, at least", "fraction", text=text)
        yield Fact("utilization.busy_at_least", found.mean, "Busy processors, mean, at least", "count")


def _span_facts(store: Store) -> Iterator[Fact]:
    """Yield the mean over the span, as archives have it, and how many jobs had not ended."""
    mean = _span_mean(store)
    text = "" if mean is not None else "unknown"
    yield Fact("utilization.span_mean", mean, "Mean utilization over the span", "fraction", text=text)
    yield Fact("utilization.unfinished", unfinished(store), "Jobs that had not ended", "count")


def _kind_facts(store: Store, found: Busy) -> Iterator[Fact]:
    """Yield of which time the mean is, of which kind, and what share it is of the most that were busy."""
    first, last = found.period or (None, None)
    most = store.system.cpus if store.system.cpus_inferred and found.kind == "value" else None
    yield Fact("utilization.kind", found.kind, "Mean of busy processors: a value, or a bound")
    yield Fact("utilization.first", first, "Mean of busy processors, from", "timestamp")
    yield Fact("utilization.last", last, "Mean of busy processors, to", "timestamp")
    yield Fact(
        "utilization.of_most_busy",
        found.mean / most if most and found.mean is not None else None,
        "Mean of busy processors, as a share of the most ever busy",
        "fraction",
    )


def _span_mean(store: Store) -> float | None:
    """Return CPU seconds divided by processors times the time from first submission to last end."""
    first = store.row("select min(submit_time) from jobs")[0]
    last, seconds = store.row("select max(end_time), cast(sum(cpu_seconds) as double) from ran")
    size = None if first is None or last is None else store.system.mean_size((first, last))
    return float(seconds / (size * (last - first))) if size else None


def _remarks(observed: Window, span: Period) -> Iterator[Note]:
    """Yield what a reader must know about the window."""
    missing = message("The log {lacking}. ", lacking=LACKING[observed.cut]) if observed.cut in LACKING else ""
    if observed.period is None:
        what = observed.lack or (
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
        yield note_of(
            "{missing}Levels are over the {share} of its time in which 98 % of the load "
            "are expected to be known; figures show the rest in grey.",
            missing=missing,
            share=fraction(share),
        )


def _figure(store: Store, span: Period, found: Busy, known: Period) -> Block:
    shown, size = busy_in(store, span), store.system.size
    times, mean, low, high = shown.points()
    return series(
        "utilization",
        "Busy processors",
        times,
        {"busy": (mean, low, high)},
        "Processors",
        _in_words(found if found.levels else Busy("at least", span, shown), size),
        unit="count",
        zone=None if store.system.relative else store.system.timezone.key,
        reference=size_line(store.system.cpus or 0, is_inferred=size is None),
        note="The line is the mean; the band goes from the smallest to the largest ten-minute average.",
        window=known,
    )


def _in_words(found: Busy, size: int | None) -> Message:
    """Return what the figure shows, for those who do not see it: the mean is the one of the sentences."""
    assert found.levels is not None  # noqa: S101 - the caller has them
    words = {"mean": decimal(found.levels.mean(), ".0f"), "max": decimal(found.levels.values.max(), ".0f")}
    if found.kind == "value":
        what = message("{mean} on average where the load is known, at most {max}", **words)
    else:
        what = message("at least {mean} on average, at one time at least {max}", **words)
    if size is None:
        return message("Busy processors: {what}.", what=what)
    return message("Busy processors of {cpus}: {what}.", cpus=size, what=what)
