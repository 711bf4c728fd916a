"""How the system performs: jobs in it, and jobs it gets done."""

from collections.abc import Iterator

import numpy as np

from gwa.analysis.base import Chapter, analysis
from gwa.metrics.calendar import Calendar, article
from gwa.metrics.clock import whole_quarters
from gwa.metrics.presence import present, recorded, waiting_times
from gwa.metrics.timeline import QUARTER, Counts, Floats, Level, counts, level
from gwa.metrics.window import RUNNING, WAITING, window
from gwa.report.document import Block, Note
from gwa.report.facts import spread, table
from gwa.report.figures.series import series
from gwa.statistics.sample import Sample
from gwa.store.store import Store
from gwa.words.formatting import decimal
from gwa.words.message import capitalized, joined, message

Intervals = tuple[str, Floats]
"""The name of the intervals of a figure, such as day, and their edges."""


@analysis(
    "Running and waiting jobs, throughput",
    Chapter.ARRIVALS,
    facts=("perf",),
    needs=("submit_time", "run_time", "n_procs"),
    order=2,
)
def performance(store: Store) -> Iterator[Block]:
    """
    Running and waiting jobs, as averages over each day; jobs that end in a day, and that complete.

    Days are those of the calendar in the trace's own time zone, within the whole quarter hours of the window
    in which the log knows the load; averages are exact, and the first and the last day may be incomplete. All
    jobs count that run or wait in the window, whenever they were submitted, and also those that wait in vain.
    Throughput counts every job that ran, on the day of its end; completions count those with status 1.
    Figures are of hours where the days are few.
    """
    period = window(store).period or recorded(store)
    if period is None or period[1] <= period[0] or not store.row("select count(*) from all_ran")[0]:
        yield Note("No job ran for any time.")
        return
    if window(store).period is None:
        yield Note(
            "The log does not know all of the load at any time: jobs running and waiting are lower bounds."
        )
    period = whole_quarters(period)
    first, last = period
    days = Calendar.of(first, last, store.system.timezone, relative=store.system.relative)
    intervals = days.shown(first, last)
    yield from _queue_blocks(store, period, days, intervals)
    yield from _throughput_blocks(store, days, intervals)


def _queue_blocks(
    store: Store, period: tuple[float, float], days: Calendar, intervals: Intervals
) -> Iterator[Block]:
    """Yield the running and the waiting jobs."""
    levels = {"running": level(store, "1", RUNNING, present(store), width=QUARTER, period=period)}
    if store.has("wait_time"):
        levels["waiting"] = level(store, "1", WAITING, waiting_times(store), width=QUARTER, period=period)
    else:
        yield Note("This trace records no waits: jobs are taken to start when they are submitted.")
    rows = {
        name: spread(
            f"perf.{name}", Sample.of(_averages(jobs, days.edges)), "count", message("{name} jobs", name=name)
        )
        for name, jobs in levels.items()
    }
    yield table("queue-by-day", message("Jobs running and waiting, averages over a day"), rows)
    interval, edges = intervals
    lines = {name: _averages(jobs, edges) for name, jobs in levels.items()}
    title, ylabel = (
        message("{capitalize} jobs", capitalize=capitalized(joined(message(" and "), lines))),
        message("Jobs, average over {interval}", interval=article(interval)),
    )
    yield _figure(store, "queue", title, intervals, lines, ylabel)


def _averages(jobs: Level, edges: Floats) -> Floats:
    """Return the mean number of jobs between *edges*, where it is known."""
    averages = jobs.between(edges)
    return averages[~np.isnan(averages)]


def _throughput_blocks(store: Store, days: Calendar, intervals: Intervals) -> Iterator[Block]:
    """Yield the jobs that ended, and those that completed."""
    throughput = {"ended": ("perf.throughput_per_day", _ends(store, "all_ran", days))}
    if store.has("status"):
        completed = _ends(store, "(from all_ran where status = 1)", days)
        throughput["completed"] = ("perf.completed_per_day", completed)
    else:
        yield Note("This trace does not record how jobs ended, so completions are not known.")
    rows = {
        name: spread(
            family, Sample.of(jobs.per(days.edges)), "count", message("jobs {name} in a day", name=name)
        )
        for name, (family, jobs) in throughput.items()
    }
    yield table("done-by-day", message("Jobs done in a day"), rows)
    interval, edges = intervals
    lines = {name: jobs.per(edges).astype(np.float64) for name, (_, jobs) in throughput.items()}
    title = message(
        "Jobs {lines} in {interval}", lines=joined(message(" and "), lines), interval=article(interval)
    )
    yield _figure(
        store,
        "throughput",
        title,
        intervals,
        lines,
        message("Jobs in {interval}", interval=article(interval)),
    )


def _ends(store: Store, table: str, days: Calendar) -> Counts:
    """Return how many jobs of *table* end in each quarter of an hour of the *days*."""
    ends = counts(store, "end_time", QUARTER, table)
    inside = (ends.times >= days.edges[0]) & (ends.times < days.edges[-1])
    return Counts(ends.width, ends.bins[inside], ends.counts[inside])


def _figure(
    store: Store, name: str, title: str, intervals: Intervals, lines: dict[str, Floats], ylabel: str
) -> Block:
    interval, edges = intervals
    summary = joined(
        "; ",
        (
            message(
                "{label}: {mean} on average, at most {max}",
                label=label,
                mean=decimal(values.mean(), ".1f"),
                max=decimal(values.max(), ".1f"),
            )
            for label, values in lines.items()
        ),
    )
    count = min(len(values) for values in lines.values())
    return series(
        name,
        title,
        edges[:count],
        {label: values[:count] for label, values in lines.items()},
        ylabel,
        message(
            "{title}, by {interval}. {summary}.",
            title=title,
            interval=interval,
            summary=capitalized(summary),
        ),
        unit="count",
        zone=None if store.system.relative else store.system.timezone.key,
    )
