"""
What a monitoring system adds up by itself: histograms by queue and project, and counters that only grow.

Labels are bounded: the queues, or the projects, with the most jobs, the rest as `REST`; a job without one has
no such label. A histogram is by one of both, so that the series do not multiply: with the core facts they are
1,500 at most. Counters are by the status of jobs that have ended, which no later log changes.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from gwa.metrics.presence import of_all_runs
from gwa.metrics.timeline import exact_sum
from gwa.report.document import Fact
from gwa.report.prometheus import Counter, Histogram, Watched
from gwa.store.engines.duckdb import literal
from gwa.store.schema import STATUS
from gwa.store.store import Store
from gwa.util.units import DAY, HOUR, MINUTE

MAXIMUM_NAMED: Final = 5
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

WAIT: Final = "Time that jobs waited, in seconds"

HISTOGRAMS: Final = (
    ("job_wait_seconds", WAIT, "queue", "wait_time", "jobs", SECONDS),
    ("project_wait_seconds", WAIT, "project", "wait_time", "jobs", SECONDS),
    ("job_run_seconds", "Time that jobs ran, in seconds", "queue", "run_time", "ran", SECONDS),
    ("job_processors", "Processors of jobs", "project", "n_procs", "ran", PROCESSORS),
)
"""Name, help, label, field, the jobs that have it, and the borders of the buckets."""

ENDED: Final = "(status is not null or run_time is not null)"


OF_TIMES: Final = ("years.", "months.", "weekdays.", "hours.")
BY_MONTH: Final = "_by_month"


def of_now(facts: Iterable[Fact]) -> list[Fact]:
    """Return *facts* without lists by time: a monitoring system keeps the times itself."""
    return [one for one in facts if not (one.id.startswith(OF_TIMES) or one.id.endswith(BY_MONTH))]


def watched(store: Store) -> Watched:
    """Return the histograms and counters of the jobs of *store*; what is not known has no series."""
    return (*(_histogram(store, *one) for one in HISTOGRAMS), *_counters(store))


def _label(store: Store, field: str) -> str:
    """Return the SQL of the label of a job by one of its fields."""
    if not store.has(field):
        return "cast(null as varchar)"
    counted = f"select {field} as name, count(*) as jobs from jobs where {field} <> '{REST}'"  # noqa: S608 - our own fields
    rows = store.rows(f"{counted} group by {field} order by jobs desc, name limit {MAXIMUM_NAMED}")
    if not rows:
        return f"case when {field} is not null then '{REST}' end"
    names = ", ".join(literal(str(name)) for name, _ in rows)
    return f"case when {field} in ({names}) then {field} when {field} is not null then '{REST}' end"


def _histogram(
    store: Store, name: str, text: str, label: str, field: str, jobs: str, borders: tuple[float, ...]
) -> Histogram:
    key = _label(store, LABELS[label])
    below = ", ".join(f"count(*) filter (where value <= {border!r})" for border in borders)
    rows = store.rows(
        f"select label, {below}, count(*), {exact_sum('value')} from ("  # noqa: S608 - our own fields
        f"select {key} as label, {field} as value from {jobs} where {field} is not null"
        ") as given group by label order by label"
    )
    series: dict[tuple[tuple[str, str], ...], tuple[tuple[int, ...], int, float]] = {
        ((label, str(said)),) if said is not None else (): (tuple(map(int, counts)), int(count), float(total))
        for said, *counts, count, total in rows
    }
    return Histogram(name, text, borders, series)


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
