"""How the system performs: jobs in it, and jobs it gets done."""

from collections.abc import Iterator

import numpy as np

from gwa.analysis import Chapter, analysis
from gwa.blocks import Block, Note
from gwa.figures import series
from gwa.statistics.sample import Sample
from gwa.store import Store
from gwa.summary import spread, table
from gwa.timeline import QUARTER, Calendar, Floats, counts, level


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
    the day of its end; completions count those with status 1.
    """
    first, last = store.row("select min(submit_time), max(end_time) from ran")
    if first is None or last <= first:
        yield Note("No job ran for any time.")
        return
    days = Calendar.of(first, last, store.system.timezone, relative=store.system.relative)
    running = _daily(store, ("start_time", "end_time"), (first, last), days.edges)
    rows = {"running": spread("perf.running", Sample.of(running), "count", "running jobs")}
    lines = {"running": running}
    if store.has("wait_time"):
        lines["waiting"] = _daily(store, ("submit_time", "start_time"), (first, last), days.edges)
        rows["waiting"] = spread("perf.waiting", Sample.of(lines["waiting"]), "count", "waiting jobs")
    else:
        yield Note("This trace records no waits: jobs are taken to start when they are submitted.")
    yield table("queue-by-day", "Jobs running and waiting, averages over a day", rows)
    yield _figure(store, "queue", "Running and waiting jobs", days.edges, lines, "Jobs, daily average")
    yield from _done(store, days)


def _daily(store: Store, span: tuple[str, str], period: tuple[float, float], edges: Floats) -> Floats:
    """Return how many jobs were between two moments on average, for each day."""
    of_day = level(store, "1", span, "ran", width=QUARTER, period=period).between(edges)
    return of_day[~np.isnan(of_day)]


def _done(store: Store, days: Calendar) -> Iterator[Block]:
    ended = counts(store, "end_time", QUARTER, "ran").per(days.edges)
    rows = {"ended": spread("perf.throughput_per_day", Sample.of(ended), "count", "jobs ended in a day")}
    lines = {"ended": ended.astype(np.float64)}
    if store.has("status"):
        good = counts(store, "end_time", QUARTER, "(from ran where status = 1)").per(days.edges)
        what = "jobs completed in a day"
        rows["completed"] = spread("perf.completed_per_day", Sample.of(good), "count", what)
        lines["completed"] = good.astype(np.float64)
    else:
        yield Note("This trace does not record how jobs ended, so completions are not known.")
    yield table("done-by-day", "Jobs done in a day", rows)
    yield _figure(
        store, "throughput", "Jobs ended and completed in a day", days.edges, lines, "Jobs in a day"
    )


def _figure(
    store: Store, name: str, title: str, edges: Floats, lines: dict[str, Floats], ylabel: str
) -> Block:
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
        f"{title}, by day. {said[0].upper()}{said[1:]}.",
        unit="count",
        zone=None if store.system.relative else store.system.timezone.key,
    )
