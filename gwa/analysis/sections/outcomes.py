"""How jobs end."""

from collections.abc import Iterator

from gwa.analysis.base import Chapter, analysis
from gwa.metrics.outcomes import cpu_seconds_by_status, jobs_by_status
from gwa.report.document import Block, Column, Fact, Facts, Table
from gwa.store.schema import STATUS
from gwa.store.store import Store


@analysis(
    "Outcomes",
    Chapter.JOBS,
    facts=("jobs.completed", "jobs.failed", "jobs.cancelled", "jobs.unknown"),
    needs=("status",),
    order=5,
)
def outcomes(store: Store) -> Iterator[Block]:
    """
    How jobs ended, and the CPU time that went into each ending.

    Of a period, these are the jobs that ended in it; those that never ran ended when they stopped waiting.
    """
    jobs, seconds = jobs_by_status(store), cpu_seconds_by_status(store)
    names: list[tuple[int | None, str]] = [*STATUS.items(), (None, "unknown")]
    yield Facts(
        tuple(
            Fact(f"jobs.{name}.count", jobs.get(code, 0), f"{name.capitalize()} jobs", "count")
            for code, name in names
        ),
        listed=False,
    )
    total = sum(seconds.values()) or 1.0
    yield Table(
        "outcomes",
        "How jobs ended",
        (
            Column("outcome", "Outcome"),
            Column("jobs", "Jobs", "count"),
            Column("share", "Share of jobs", "fraction"),
            Column("cpu_seconds", "CPU time", "cpu seconds"),
            Column("cpu_share", "Share of CPU time", "fraction"),
        ),
        tuple(
            (
                name,
                jobs[code],
                jobs[code] / sum(jobs.values()),
                seconds.get(code, 0.0),
                seconds.get(code, 0.0) / total,
            )
            for code, name in names
            if jobs.get(code)
        ),
    )
