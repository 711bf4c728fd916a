"""
What a monitoring system adds up by itself: histograms by queue and project, and counters that only grow.

Labels are bounded: the queues and the projects with the most jobs, the rest as `REST`; a job without a queue
or project has no such label. Counters are by the status of jobs that have ended, which no later log changes.
"""

from collections.abc import Mapping
from typing import Final

from gwa.metrics.presence import of_all_runs
from gwa.metrics.timeline import exact_sum
from gwa.report.prometheus import Counter, Histogram, Watched
from gwa.store.engines.duckdb import literal
from gwa.store.schema import STATUS
from gwa.store.store import Store
from gwa.util.units import DAY, HOUR, MINUTE

MAXIMUM_NAMED: Final = 10
"""The number of queues, and of projects, that have a label of their own."""

REST: Final = "other"
"""The label of all others; a queue that is called so is one of them."""

LABELS: Final[Mapping[str, str]] = {"queue": "queue_id", "project": "project_id"}

SECONDS: Final = tuple(
    float(border)
    for border in (
        1, 10, MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR,
        DAY, 2 * DAY, 3 * DAY, 7 * DAY, 14 * DAY,
    )
)  # fmt: skip
PROCESSORS: Final = tuple(float(2**power) for power in range(0, 17, 2))

HISTOGRAMS: Final = (
    ("job_wait_seconds", "Time that jobs waited, in seconds", "wait_time", "jobs", SECONDS),
    ("job_run_seconds", "Time that jobs ran, in seconds", "run_time", "ran", SECONDS),
    ("job_processors", "Processors of jobs", "n_procs", "ran", PROCESSORS),
)
"""Name, help, field, the jobs that have it, and the borders of the buckets."""

ENDED: Final = "(status is not null or run_time is not null)"


def watched(store: Store) -> Watched:
    """Return the histograms and counters of the jobs of *store*; what is not known has no series."""
    labels = {label: _label(store, field) for label, field in LABELS.items() if store.has(field)}
    return (*(_histogram(store, labels, *one) for one in HISTOGRAMS), *_counters(store))


def _label(store: Store, field: str) -> str:
    """Return the SQL of the label of a job by one of its fields."""
    counted = f"select {field} as name, count(*) as jobs from jobs where {field} <> '{REST}'"  # noqa: S608 - our own fields
    rows = store.rows(f"{counted} group by {field} order by jobs desc, name limit {MAXIMUM_NAMED}")
    if not rows:
        return f"case when {field} is not null then '{REST}' end"
    names = ", ".join(literal(str(name)) for name, _ in rows)
    return f"case when {field} in ({names}) then {field} when {field} is not null then '{REST}' end"


def _histogram(
    store: Store,
    labels: Mapping[str, str],
    name: str,
    text: str,
    field: str,
    jobs: str,
    borders: tuple[float, ...],
) -> Histogram:
    keys = ", ".join(f"{sql} as {label}" for label, sql in labels.items())
    below = ", ".join(f"count(*) filter (where value <= {border!r})" for border in borders)
    given = f"select {keys + ', ' if keys else ''}{field} as value from {jobs} where {field} is not null"  # noqa: S608 - our own fields
    by = f"group by {', '.join(labels)} order by {', '.join(labels)}" if labels else ""
    rows = store.rows(
        f"select {', '.join([*labels, below])}, count(*), {exact_sum('value')} from ({given}) as given {by}"  # noqa: S608 - as above
    )
    series = {}
    for row in rows:
        said, counts, count, total = row[: len(labels)], row[len(labels) : -2], row[-2], row[-1]
        if count:
            series[_known(tuple(labels), said)] = (tuple(map(int, counts)), int(count), float(total))
    return Histogram(name, text, borders, series)


def _known(labels: tuple[str, ...], values: tuple[object, ...]) -> tuple[tuple[str, str], ...]:
    """Return the *labels* that have a value."""
    return tuple(
        (label, str(value)) for label, value in zip(labels, values, strict=True) if value is not None
    )


def _counters(store: Store) -> tuple[Counter, ...]:
    """Return how many jobs ended, by status, and how much of the system they had held."""
    names = " ".join(f"when {number} then {literal(name)}" for number, name in STATUS.items())
    gpus = exact_sum("all_gpu_seconds") if store.has("n_gpus") else "null"
    rows = store.rows(
        f"select case status {names} else 'unknown' end as said, count(*),"  # noqa: S608 - our own SQL
        f" {exact_sum('case when n_procs >= 1 then all_cpu_seconds end')}, {gpus}"
        f" from {of_all_runs(store, 'jobs')} where {ENDED} group by said order by said"
    )
    kinds = (
        ("ended_jobs_total", "Jobs that have ended, by how", 1),
        ("cpu_seconds_total", "Processor seconds that ended jobs had held", 2),
        ("gpu_seconds_total", "GPU seconds that ended jobs had held", 3),
    )
    return tuple(
        Counter(name, text, {(("status", row[0]),): row[place] for row in rows if row[place] is not None})
        for name, text, place in kinds
    )
