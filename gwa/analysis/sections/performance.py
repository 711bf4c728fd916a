"""How the system performs: jobs in it, and jobs it gets done."""

from collections.abc import Iterator

import numpy as np

from gwa.analysis.base import Chapter, analysis
from gwa.metrics.timeline import QUARTER, Calendar, Floats, Level, article, counts, level
from gwa.report.document import Block, Note
from gwa.report.facts import spread, table
from gwa.report.figures.series import series
from gwa.statistics.sample import Sample
from gwa.store.store import Store

Intervals = tuple[str, Floats]
"""The name of the intervals of a figure, such as day, and their edges."""


@analysis(
    "Running and waiting jobs, throughput",
    Chapter.USAGE,
    facts=("perf",),
    needs=("submit_time", "run_time", "n_procs"),
    order=2,
)
def performance(store: Store) -> Iterator[Block]:
    """
    Running and waiting jobs, as averages over each day; jobs that end in a day, and that complete.

    Days are those of the calendar in the trace's own time zone, from the first submission to the
    last end; the first and the last day may be incomplete. Throughput counts every job that ran, on
    the day of its end; completions count those with status 1. Figures are of hours where the days are few.
    """
    first, last = store.row("select min(submit_time), max(end_time) from ran")
    if first is None or last <= first:
        yield Note("No job ran for any time.")
        return
    days = Calendar.of(first, last, store.system.timezone, relative=store.system.relative)
    intervals = days.shown(first, last)
    yield from _queue_blocks(store, (first, last), days, intervals)
    yield from _throughput_blocks(store, days, intervals)


def _queue_blocks(
    store: Store, period: tuple[float, float], days: Calendar, intervals: Intervals
) -> Iterator[Block]:
    """Yield the running and the waiting jobs."""
    spans = {"running": ("start_time", "end_time")}
    if store.has("wait_time"):
        spans["waiting"] = ("submit_time", "start_time")
    else:
        yield Note("This trace records no waits: jobs are taken to start when they are submitted.")
    levels = {
        name: level(store, "1", span, "ran", width=QUARTER, period=period) for name, span in spans.items()
    }
    rows = {
        name: spread(f"perf.{name}", Sample.of(_averages(jobs, days.edges)), "count", f"{name} jobs")
        for name, jobs in levels.items()
    }
    yield table("queue-by-day", "Jobs running and waiting, averages over a day", rows)
    interval, edges = intervals
    lines = {name: _averages(jobs, edges) for name, jobs in levels.items()}
    title, ylabel = f"{' and '.join(lines).capitalize()} jobs", f"Jobs, average over {article(interval)}"
    yield _figure(store, "queue", title, intervals, lines, ylabel)


def _averages(jobs: Level, edges: Floats) -> Floats:
    """Return the mean number of jobs between *edges*, where it is known."""
    averages = jobs.between(edges)
    return averages[~np.isnan(averages)]


def _throughput_blocks(store: Store, days: Calendar, intervals: Intervals) -> Iterator[Block]:
    """Yield the jobs that ended, and those that completed."""
    throughput = {"ended": ("perf.throughput_per_day", counts(store, "end_time", QUARTER, "ran"))}
    if store.has("status"):
        completed = counts(store, "end_time", QUARTER, "(from ran where status = 1)")
        throughput["completed"] = ("perf.completed_per_day", completed)
    else:
        yield Note("This trace does not record how jobs ended, so completions are not known.")
    rows = {
        name: spread(family, Sample.of(jobs.per(days.edges)), "count", f"jobs {name} in a day")
        for name, (family, jobs) in throughput.items()
    }
    yield table("done-by-day", "Jobs done in a day", rows)
    interval, edges = intervals
    lines = {name: jobs.per(edges).astype(np.float64) for name, (_, jobs) in throughput.items()}
    title = f"Jobs {' and '.join(lines)} in {article(interval)}"
    yield _figure(store, "throughput", title, intervals, lines, f"Jobs in {article(interval)}")


def _figure(
    store: Store, name: str, title: str, intervals: Intervals, lines: dict[str, Floats], ylabel: str
) -> Block:
    interval, edges = intervals
    summary = "; ".join(
        f"{label}: {values.mean():.1f} on average, at most {values.max():.1f}"
        for label, values in lines.items()
    )
    count = min(len(values) for values in lines.values())
    return series(
        name,
        title,
        edges[:count],
        {label: values[:count] for label, values in lines.items()},
        ylabel,
        f"{title}, by {interval}. {summary[0].upper()}{summary[1:]}.",
        unit="count",
        zone=None if store.system.relative else store.system.timezone.key,
    )
