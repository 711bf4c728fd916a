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

Shown = tuple[str, Floats]
"""What a figure is drawn by, such as a day, and the edges of these intervals."""


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
    shown = days.shown(first, last)
    yield from _queue(store, (first, last), days, shown)
    yield from _done(store, days, shown)


def _queue(store: Store, period: tuple[float, float], days: Calendar, shown: Shown) -> Iterator[Block]:
    """Yield how many jobs were running and waiting."""
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
    by, edges = shown
    lines = {name: _averages(jobs, edges) for name, jobs in levels.items()}
    title, ylabel = f"{' and '.join(lines).capitalize()} jobs", f"Jobs, average over {article(by)}"
    yield _figure(store, "queue", title, shown, lines, ylabel)


def _averages(jobs: Level, edges: Floats) -> Floats:
    """Return how many jobs there were on average between *edges*, where that is known."""
    found = jobs.between(edges)
    return found[~np.isnan(found)]


def _done(store: Store, days: Calendar, shown: Shown) -> Iterator[Block]:
    """Yield how many jobs ended, and completed."""
    ended = {"ended": ("perf.throughput_per_day", counts(store, "end_time", QUARTER, "ran"))}
    if store.has("status"):
        good = counts(store, "end_time", QUARTER, "(from ran where status = 1)")
        ended["completed"] = ("perf.completed_per_day", good)
    else:
        yield Note("This trace does not record how jobs ended, so completions are not known.")
    rows = {
        name: spread(family, Sample.of(jobs.per(days.edges)), "count", f"jobs {name} in a day")
        for name, (family, jobs) in ended.items()
    }
    yield table("done-by-day", "Jobs done in a day", rows)
    by, edges = shown
    lines = {name: jobs.per(edges).astype(np.float64) for name, (_, jobs) in ended.items()}
    title = f"Jobs {' and '.join(lines)} in {article(by)}"
    yield _figure(store, "throughput", title, shown, lines, f"Jobs in {article(by)}")


def _figure(
    store: Store, name: str, title: str, shown: Shown, lines: dict[str, Floats], ylabel: str
) -> Block:
    by, edges = shown
    said = "; ".join(
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
        f"{title}, by {by}. {said[0].upper()}{said[1:]}.",
        unit="count",
        zone=None if store.system.relative else store.system.timezone.key,
    )
